<<<<<<< HEAD
"""Huang, Liang and Yang (2024), chapter by chapter."""
=======
"""Chapters on Huang, Liang and Yang (NeurIPS 2024)."""
>>>>>>> convergence
