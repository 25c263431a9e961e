"""Algorithm 1 of Huang et al. (2024) against the rate and the norm bounds of Theorem 1."""

import numpy as np

import ntpcore as ntp
from ntpcore.huang2024 import bounds

data = ntp.from_sentences(["S V O P", "V O P", "O P P", "P S V"])
found = ntp.fit(data, steps=100_000, record=[10**power for power in range(1, 6)])
assert found.run is not None, found.scope  # the bounds presume Assumption 1
constants, t = found.run.constants, found.steps
# Corrected, 1 / pi_min stands for the number of samples in the bound on the direction.
log_bound = bounds.log_thm_1_direction(constants, np.log(t), rarity=bounds.PI_MIN)
lower, upper = bounds.thm_1_norm(constants, t)
norms = [np.linalg.norm(found.W(step)) for step in t.tolist()]

print("  step      1 - cos  Theorem 1  lower bound     norm  upper bound")
for row in zip(t, found.one_minus_cos, np.exp(log_bound), lower, norms, upper, strict=True):
    print("{:6}  {:11.3e}  {:9.2e}  {:11.3f}  {:7.2f}  {:11.2f}".format(*row))
slope = np.polyfit(np.log(t), np.log(found.one_minus_cos), 1)[0]
print(f"1 - cos falls like t^{slope:.2f}; the bound, log(t)^2 / t, falls more slowly")
log_start = bounds.thm_1_speaks_from(constants, rarity=bounds.PI_MIN)
print(f"the bound is below that of the norms alone from step {np.exp(log_start):.2g} on")
