"""The chapter `huang2024_s4_realizable`."""
