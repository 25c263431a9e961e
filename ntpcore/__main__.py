"""`python -m ntpcore`."""

from ntpcore.cli import main

main()
