"""Chapters of our own results, beside those of the papers."""
