"""Chapters on Tian, Wang, Chen and Du (2023)."""
