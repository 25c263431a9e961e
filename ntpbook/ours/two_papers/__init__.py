"""The chapter `two_papers`."""
