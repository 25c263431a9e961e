"""What limits the digits of a number; `result`, `most`, and `least` take one of these or words.

A page shows them when a reader points at the number: "2 digits shown; limited by ...".
"""

from __future__ import annotations

ENCLOSURE = "the width of an enclosure"
EXACT_FRACTION = "rounding of an exact fraction"
INTEGRATOR = "the integrator's tolerance"
LONG_RUN = "rounding errors, which a long run amplifies"
SEEDS = "the spread over seeds"
SIXTY_DIGITS = "arithmetic with sixty digits"
TWO_TIMES = "the choice of two times"
