"""Chapters on Huang, Liang and Yang (NeurIPS 2024)."""
