"""The coupled flow of decoder and attention at long times."""
