"""The chapter `huang2024_s7_reach`."""
