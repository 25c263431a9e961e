"""Huang, Liang and Yang (2024), chapter by chapter."""
