"""What pages are made of: the look of figures, figures that move."""
