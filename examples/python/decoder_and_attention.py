"""Decoder and attention of Tian et al. (2023): heights, and how attention becomes sparse."""

import numpy as np

from ntpcore.tian2023 import coupled, decoder

M, eta = 1000, 0.1
steps = np.array([1, 10, 100, 1000])
heights = decoder.recursion(M, eta, int(steps[-1]))[steps]  # M h*, equation (33)
print("updates  M h* (33)  M h (45)  Lambert W")
for row in zip(steps, heights, decoder.height(M, eta * steps),
               decoder.closed_form(M, eta * steps), strict=True):  # fmt: skip
    print("{:7}  {:9.4f}  {:8.4f}  {:9.4f}".format(*row))

# Two classes with one common token and two distinct tokens each, one of them rare.
data = coupled.Symmetric(K=2, M=100, common=(1.0,), distinct=(0.6, 0.4))
path = coupled.descend(data, eta_Y=0.5, eta_Z=0.5, steps=[0, 10, 100, 1000, 10_000])
print("\n  step  common  frequent    rare   f.f'  entropy of the distinct tokens")
for step, scores, overlap, entropy in zip(
    path.t, path.scores, path.epsilon, path.entropy, strict=True
):
    shares = "  {:6.4f}    {:6.4f}  {:6.4f}".format(*scores)
    print(f"{step:6.0f}{shares}  {overlap:5.3f}  {entropy:7.4f}")
first, last = path.scores[0], path.scores[-1]
print("attention leaves the common token:", bool(last[0] < first[0]))
