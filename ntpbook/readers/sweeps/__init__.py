"""The chapter `readers_sweeps`."""
