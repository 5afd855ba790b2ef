"""Hypothesis profiles, chosen by HYPOTHESIS_PROFILE: quick (default), ci, deep. Disk work has no deadline."""

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.machine import Machine

_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large]}
settings.register_profile("quick", max_examples=40, stateful_step_count=15, **_COMMON)
settings.register_profile("ci", max_examples=80, stateful_step_count=25, derandomize=True, print_blob=True, **_COMMON)
settings.register_profile("deep", max_examples=2000, stateful_step_count=60, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "quick"))


@pytest.fixture
def machine(tmp_path):
    """A throw-away machine; closed so that directories a test locked can be removed."""
    top = tmp_path / "m"
    top.mkdir()
    made = Machine(top)
    yield made
    made.close()
