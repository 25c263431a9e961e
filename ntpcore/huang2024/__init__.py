<<<<<<< HEAD
"""The first paper: transformer, both stages of Algorithm 1, bounds, predictions, very long runs."""
=======
"""The dynamics of Huang, Liang and Yang (NeurIPS 2024)."""
>>>>>>> convergence
