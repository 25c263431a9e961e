"""Checks of Tian, Wang, Chen, Du (2023), one module per page."""
