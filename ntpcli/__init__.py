"""The program `ntpcore`, a module or package for each command."""
