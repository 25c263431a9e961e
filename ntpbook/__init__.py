"""The code of the book's chapters: checks and what they need, one folder for each chapter."""
