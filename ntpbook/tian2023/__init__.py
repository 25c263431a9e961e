"""Tian, Wang, Chen and Du (2023), chapter by chapter."""
