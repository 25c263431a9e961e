"""From notebooks to a book: environment, execution, records, what `make` calls."""
