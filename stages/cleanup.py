"""Clean up.

Reads: how the occupied run ended.
Adds: `Report`.
Effects: removes or retains the run directory, forgets its journal, releases the lock.
"""

from __future__ import annotations

from outfitter.host import Occupied, Runs
from outfitter.model.projection import Prepared, Report, Settled
from outfitter.railway import Effect, Outcome


def cleanup(runs: Runs, prepared: Prepared, occupied: Occupied, outcome: Outcome[Settled]) -> Effect[Report]:
    """Always succeeds: what could not be removed or saved is a notice, and never replaces the first error (spec/50)."""
    raise NotImplementedError
