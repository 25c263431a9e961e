"""What the site is made of: graph, ledger, formulas, downloads, styles."""
