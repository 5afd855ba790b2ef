"""What stands in the run directory beside the projection and belongs to nobody else: found, named, and never removed."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence

from outfitter.bridging.telling import SAMPLED, listed
from outfitter.host import Durable
from outfitter.model.outcome import Row, Snapshot
from outfitter.model.projection import Record
from outfitter.model.request import Notice
from outfitter.model.wording import counted
from outfitter.tree import GRANULARITY_NS
from outfitter.zones import text


def written(durable: Durable, record: Record, baseline: Snapshot, found: Sequence[Row]) -> tuple[Row, ...]:
    """Those of the files beside the projection that are not, unchanged, what Outfitter had put into it.

    A projection that was moved as it was holds nothing that a run wrote.
    """
    known = {row.identity: row for row in baseline.tree.rows if row.tag in "fx"}
    settled = baseline.tree.taken_ns - GRANULARITY_NS

    def is_new(row: Row) -> bool:
        seeded = known.get(row.identity)
        if seeded is None or seeded.size != row.size:
            return True
        if max(row.identity.mtime_ns, row.identity.ctime_ns) < settled:
            return False
        try:
            now = durable.look(posixpath.join(record.root, text(row.path)), None, None)
        except OSError:
            return True
        return now is None or now.digest != seeded.digest

    return tuple(row for row in found if is_new(row))


def beside_notice(record: Record, found: Iterable[Row], gone: bool) -> Notice:
    """Where it is, and how the run ends for good: one line, by the names beside the projection."""
    groups: dict[str, list[Row]] = {}
    for row in found:
        groups.setdefault(text(row.path).split("/", 1)[0], []).append(row)
    places = [_counted(posixpath.join(record.root, name), rows) for name, rows in groups.items()]
    how = "the projection was moved or replaced while the harness ran" if gone else "written beside the projection"
    message = f"{how}: not saved, still in {listed(places, SAMPLED)}"
    back = f"move it back to {record.projection}, or " if gone else ""
    return Notice("warning", "beside", message, f"{back}take it from there, then: outfitter recover")


def _counted(place: str, rows: Sequence[Row]) -> str:
    if len(rows) == 1 and "/" not in text(rows[0].path):
        return place
    return f"{place} ({counted(len(rows), 'file')})"
