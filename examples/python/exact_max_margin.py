"""Exact max-margin attention of fifty random data sets, each with its certificate."""

import numpy as np

import ntpcore as ntp
from ntpcore.data.generate import random_dataset

rng = np.random.default_rng(7)
print("data set  samples  queries  support vectors  squared norm")
for number in range(50):
    closed = number % 2 == 0  # every second data set has all prefixes of its sentences
    data = random_dataset(rng, vocab_size=8, sentences=20, max_length=5, prefix_closed=closed)
    star = ntp.max_margin(data)
    if errors := star.certificate_errors():
        raise SystemExit(f"data set {number}: {errors[0]}")
    vectors = sum(len(pairs) for pairs in star.support_vectors.values())
    sizes = f"{number:8}  {data.sample_count:7}  {len(star.columns):7}  {vectors:15}"
    print(f"{sizes}  {star.norm_squared}")
print("50 certificates accepted")
