"""The chapter `huang2024_s5_stage2`."""
