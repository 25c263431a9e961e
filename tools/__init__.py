"""The tools behind `make`: environment, notebooks, site. None of it is part of ntpcore."""

import sys

# Loading jsonschema compiles a grammar of addresses for a second where the package for that is
# installed, as it is for Jupyter's server. The build checks no addresses.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
