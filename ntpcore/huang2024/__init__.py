"""The dynamics of Huang, Liang and Yang (NeurIPS 2024)."""
