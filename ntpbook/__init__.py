"""The chapters of the book, a folder for each: rows of the catalogue, checks, figures."""
