"""Fingerprint.

Reads: `Projected`; after the harness, the baseline.
Adds: the baseline `Snapshot`; after the harness, the actual one.
Effects: reads the projection and the durable counterparts; writes the baseline file once.
"""

from __future__ import annotations

from outfitter.host import Durable, Runs, Trees
from outfitter.model.outcome import Snapshot
from outfitter.model.projection import Based, Projected, Record
from outfitter.railway import Effect


def fingerprint(trees: Trees, runs: Runs, projected: Projected) -> Effect[Based]:
    """The projection before the harness starts; what we wrote ourselves is not read again."""
    raise NotImplementedError


def fingerprint_again(trees: Trees, durable: Durable, record: Record, baseline: Snapshot) -> Effect[Snapshot]:
    """The projection after the harness ended, and the durable files that changed meanwhile; unchanged files are not read."""
    raise NotImplementedError
