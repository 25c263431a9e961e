"""The tools behind `make`: environment, notebooks, site. None of it is part of ntpcore."""
