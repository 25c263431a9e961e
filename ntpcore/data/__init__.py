"""Data sets, the partial orders in them, texts and generators."""
