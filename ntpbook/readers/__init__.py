"""The chapters on data of a reader's own."""
