"""`ntpcore sweep`: a grid of runs from one TOML file, one row for each run."""
