"""Hypothesis profiles, chosen by HYPOTHESIS_PROFILE: quick (default), ci, deep. Disk work has no deadline."""

import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.machine import Machine

ROOT = Path(__file__).resolve().parents[1]

# A suite that was started in the background or by `nohup` ignores these, and every process it starts would inherit that.
for _number in (signal.SIGHUP, signal.SIGQUIT):
    signal.signal(_number, signal.SIG_DFL)
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

_SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]
_PLAIN = settings(deadline=None, suppress_health_check=_SLOW_IS_FINE)
settings.register_profile("quick", _PLAIN, max_examples=40, stateful_step_count=15)
settings.register_profile("ci", _PLAIN, max_examples=80, stateful_step_count=25, derandomize=True, print_blob=True)
settings.register_profile("deep", _PLAIN, max_examples=2000, stateful_step_count=60)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci" if os.environ.get("CI") else "quick"))


def pytest_runtest_teardown():
    """A test that changed the working directory changes it for none that follows."""
    os.chdir(ROOT)


@pytest.fixture
def machine(tmp_path):
    """A throw-away machine; closed so that directories a test locked can be removed."""
    top = tmp_path / "m"
    top.mkdir()
    made = Machine(top)
    yield made
    made.close()
