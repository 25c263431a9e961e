"""The chapter `huang2024_s4_prefix_closure`."""
