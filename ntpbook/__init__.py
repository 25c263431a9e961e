"""The chapters of the book: what each page needs beside the library."""
