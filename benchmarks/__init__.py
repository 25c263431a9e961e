"""Side-by-side measurements against named peers; `make bench` runs them."""
