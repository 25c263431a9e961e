<<<<<<< HEAD
"""The chapters of the book, a folder for each: rows of the catalogue, checks, figures."""
=======
"""The chapters of the book: what each page needs beside the library."""
>>>>>>> convergence
