"""Checks of Huang, Liang and Yang (2024), a module per page of the book."""
