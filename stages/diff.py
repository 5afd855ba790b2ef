"""Diff.

Reads: the record, the baseline and the actual snapshot.
Adds: the changes, each with its zone, strategy and what the policy does to it.
Effects: none.
"""

from __future__ import annotations

from outfitter.model.outcome import Change, Snapshot
from outfitter.model.projection import Record
from outfitter.railway import Outcome


def diff(record: Record, baseline: Snapshot, actual: Snapshot) -> Outcome[tuple[Change, ...]]:
    """Every change in the projection, and every linked file whose durable bytes changed, sorted by raw path (spec/50)."""
    raise NotImplementedError
