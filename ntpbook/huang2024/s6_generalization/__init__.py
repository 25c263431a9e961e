"""The chapter `huang2024_s6_generalization`."""
