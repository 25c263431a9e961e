"""The chapter `readers_realizable`."""
