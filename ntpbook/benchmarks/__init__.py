"""The chapter `benchmarks`."""
