"""Fingerprint.

Reads: `Projected`.
Adds: the baseline `Snapshot`.
Effects: reads the projection; writes the baseline file once.
"""

from __future__ import annotations

import posixpath

from attrs import evolve
from returns.result import Failure, Success

from outfitter.fingerprint.tree import pack
from outfitter.host import Runs, Trees
from outfitter.model.errors import EffectFailed
from outfitter.model.outcome import Snapshot, Tree, path_text
from outfitter.model.projection import BaselineTaken, Projected
from outfitter.railway import Effect, Outcome, attempt

_OPERATION = "take the baseline of the projection"


def fingerprint(trees: Trees, runs: Runs, projected: Projected) -> Effect[BaselineTaken]:
    """The projection before the harness starts; what we wrote ourselves is not read again.

    An entry that cannot be read is read once more. Errors: `EffectFailed` where the projection or an entry in it still cannot
    be read, for what the harness writes below it could not be told from what was there; or where the baseline file cannot be
    written.
    """

    def take() -> Outcome[BaselineTaken]:
        tree = _scan(trees, projected)
        if not tree.complete:
            return Failure(_unread(tree, projected.record.projection))
        record = evolve(projected.record, baseline_digest=tree.digest.hex())
        durable = pack(projected.durable)
        trees.save_baseline(record.root + "/baseline", tree, durable)
        notices = (*projected.notices, *runs.journal(record))
        return Success(BaselineTaken(record, Snapshot(tree, durable), notices))

    return attempt(_OPERATION, take)


def _scan(trees: Trees, projected: Projected) -> Tree:
    """Scan the projection, and once more if something in it, or all of it, could not be read."""
    place = projected.record.projection
    try:
        tree = trees.scan(place, projected.rows, 0, True)
    except OSError:
        return trees.scan(place, projected.rows, 0, True)
    return tree if tree.complete else trees.scan(place, projected.rows, 0, True)


def _unread(tree: Tree, projection: str) -> EffectFailed:
    row = next(row for row in tree.rows if row.tag == "u")
    return EffectFailed(_OPERATION, posixpath.join(projection, path_text(row.path)), f"cannot be read ({row.note})")
