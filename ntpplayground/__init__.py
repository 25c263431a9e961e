"""What the playground of the book computes in the browser."""
