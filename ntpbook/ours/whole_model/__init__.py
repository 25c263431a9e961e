"""The first chapter: both models in plain numpy, and how many digits they keep."""
