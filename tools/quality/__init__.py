"""Lint, audits and fuzzing."""
