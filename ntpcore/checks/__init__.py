"""One check per claim: `huang2024` by page, `on_data` for a reader's own file."""
