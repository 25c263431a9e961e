"""The second paper: sequence classes, decoder, back-propagated gradient, attention, snapping."""
