"""Bridge.

Reads: the record, both snapshots, the changes; asks where a `prompt` path changed and there is a terminal.
Adds: `Settlement`.
Effects: writes durable state, three-way, never removing; keeps what could not be saved.
"""

from __future__ import annotations

from outfitter.host import Host
from outfitter.model.outcome import Change, Settlement, Snapshot
from outfitter.model.projection import Record
from outfitter.model.settings import Settings
from outfitter.railway import Effect


def bridge(
    host: Host,
    settings: Settings | None,
    record: Record,
    baseline: Snapshot,
    actual: Snapshot,
    changes: tuple[Change, ...],
) -> Effect[Settlement]:
    """Give every change its ending (spec/50); total: one file's failure never stops the others. `settings` None: recovery."""
    raise NotImplementedError
