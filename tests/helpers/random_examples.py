"""Random examples of Hypothesis: neither chance nor a busy machine decides.

They are the same in every run, none has to be quick, and making them may take as long as it takes.
For a long search: `pytest --hypothesis-profile=many`.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("tests", PATIENT, derandomize=True)
settings.register_profile("many", PATIENT, max_examples=10_000)
settings.load_profile("tests")
