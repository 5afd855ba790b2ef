"""Fingerprint.

Reads: `Projected`.
Adds: the baseline `Snapshot`.
Effects: reads the projection; writes the baseline file once.
"""

from __future__ import annotations

from attrs import evolve
from returns.result import Success

from outfitter.fingerprint.tree import pack
from outfitter.host import Runs, Trees
from outfitter.model.outcome import Snapshot
from outfitter.model.projection import Based, Projected
from outfitter.railway import Effect, Outcome, attempt


def fingerprint(trees: Trees, runs: Runs, projected: Projected) -> Effect[Based]:
    """The projection before the harness starts; what we wrote ourselves is not read again.

    Errors: `EffectFailed` where the projection cannot be listed or the baseline file cannot be written.
    """

    def take() -> Outcome[Based]:
        tree = trees.scan(projected.record.projection, projected.rows, 0, True)
        record = evolve(projected.record, baseline_digest=tree.digest.hex())
        durable = pack(projected.durable)
        trees.save_baseline(record.root + "/baseline", tree, durable)
        notices = (*projected.notices, *runs.journal(record))
        return Success(Based(record, Snapshot(tree, durable), notices))

    return attempt("take the baseline of the projection", take)
