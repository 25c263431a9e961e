"""The late phase: the sharp rate, the logarithm, bounds for all later steps, the loss."""
