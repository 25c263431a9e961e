"""Beyond the assumptions: what of the theory survives when one switch is turned."""
