"""Executable companion to Huang et al. (2024) and Tian et al. (2023) on next-token prediction."""
