"""The first paper: transformer, both stages of Algorithm 1, bounds, and long runs."""
