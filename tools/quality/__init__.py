"""Lint, audits, and the tests that reach a change."""
