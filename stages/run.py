"""Run.

Reads: the launch plan, the run's lock and record.
Adds: `ChildExit`.
Effects: journals phase `started`, starts the harness, forwards signals, waits.
"""

from __future__ import annotations

from collections.abc import Callable

from outfitter.host import Processes, Runs, Token
from outfitter.model.outcome import ChildExit
from outfitter.model.projection import LaunchPlan, Record
from outfitter.railway import Effect


def run(
    processes: Processes, runs: Runs, plan: LaunchPlan, token: Token, record: Record, meanwhile: Callable[[], None]
) -> Effect[ChildExit]:
    """The harness's end: its code, or the signal it died of. `meanwhile` is called once, after the start."""
    raise NotImplementedError
