"""The chapter `huang2024_a_gradients`."""
