"""Diff.

Reads: the record, the baseline and the actual snapshot.
Adds: the changes, each with its zone, strategy and what the policy does to it.
Effects: none.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from blake3 import blake3
from returns.result import Success

from outfitter.fingerprint.tree import Rows, compare, join, pack
from outfitter.model.outcome import Change, ChangeKind, ChangeOutcome, Row, Snapshot, path_bytes, path_text
from outfitter.model.projection import Record
from outfitter.railway import Outcome
from outfitter.run.ownership import Owner, index_paths, owner_of

_SPECIAL = {blake3(kind.encode()).digest(): kind for kind in ("fifo", "socket", "block", "char")}
_REGULAR = "fx"

Difference = tuple[bytes, Row | None, Row | None]


def diff(record: Record, baseline: Snapshot, actual: Snapshot) -> Outcome[tuple[Change, ...]]:
    """Return every change in the projection and behind its links, sorted by raw path (spec/50).

    An added or deleted directory is named only where nothing below it is: its content tells the rest.
    """
    held = index_paths(record)
    linked = frozenset(_linked_files(record, baseline))
    before, after = _picked(baseline.durable, linked), _picked(actual.durable, linked)
    changes: dict[bytes, Change] = {}
    for path, old, new in _telling(list(compare(baseline.tree, actual.tree))):
        name = path_text(path)
        changes[path] = _change(name, owner_of(held, name), old, new, before.get(path))
    for path in linked:
        one, other = before.get(path), after.get(path)
        if path not in changes and one and (one.digest != other.digest if other else True):
            changes[path] = _written_through(path_text(path), owner_of(held, path_text(path)), one, other)
    return Success(tuple(changes[path] for path in sorted(changes)))


def _picked(rows: Sequence[Row], paths: frozenset[bytes]) -> dict[bytes, Row]:
    """The few rows that matter of what may be a hundred thousand."""
    packed = pack(rows)
    found = {path: packed.at(path) for path in paths}
    return {path: row for path, row in found.items() if row}


def _telling(differences: list[Difference]) -> Iterator[Difference]:
    """All but the directories that came or went with something below them."""
    full = {posixpath.dirname(path) for path, _, _ in differences}
    for path, old, new in differences:
        only = new if old is None else old if new is None else None
        if not (only and only.tag == "d" and path in full):
            yield path, old, new


def _change(path: str, ground: Owner, old: Row | None, new: Row | None, behind: Row | None) -> Change:
    kind = change_kind(old, new)
    sized = behind or old
    return Change(
        path,
        kind,
        ground.zone,
        ground.state_path,
        ground.strategy,
        policy(ground, kind, new),
        sized.size if sized and (behind or sized.tag in _REGULAR) else None,
        new.size if new and new.tag in _REGULAR else None,
        _note(new),
    )


def change_kind(old: Row | None, new: Row | None) -> ChangeKind:
    """What happened to one path, from its tags and digests before and after (spec/50)."""
    if old is None:
        return "added"
    if new is None:
        return "deleted"
    if old.tag == "l":
        return "relinked" if new.tag == "l" else "replaced-link" if new.tag in "fxdu" else "kind"
    if old.tag in "fxu" and new.tag in "fxu":
        return "mode" if {old.tag, new.tag} == {"f", "x"} and old.digest == new.digest else "modified"
    return "modified" if {old.tag, new.tag} == {"d", "u"} else "kind"


def policy(ground: Owner, kind: ChangeKind, new: Row | None) -> ChangeOutcome:
    """Return what the strategy does to a change, before the bridge has tried it."""
    if ground.strategy == "discard":
        return "discarded"
    if new is not None and new.tag == "u":
        return "unreadable"
    if ground.strategy in ("warn", "prompt"):
        return "warned"
    if ground.strategy == "error":
        return "failed"
    if kind in ("deleted", "relinked") or (new is not None and new.tag in "lo"):
        return "discarded"
    return "bridged" if ground.bridge else "adopted"


def _note(new: Row | None) -> str:
    if new is None:
        return ""
    if new.tag == "o":
        return _SPECIAL.get(new.digest, "special file")
    return f"link to {path_text(new.target)}" if new.tag == "l" else new.note


def _written_through(path: str, ground: Owner, one: Row, other: Row | None) -> Change:
    kind: ChangeKind = "modified" if other else "deleted"
    seen = other is not None and other.tag != "u"
    after = other.size if other and seen else None
    note = f"could not be looked at ({other.note})" if other and not seen else ""
    return Change(path, kind, ground.zone, ground.state_path, ground.strategy, "durable", one.size, after, note)


def _linked_files(record: Record, baseline: Snapshot) -> Iterator[bytes]:
    """Projection paths of the links that stand for durable state, as they were at launch."""
    rows: Rows = pack(baseline.tree.rows)
    for state in record.states:
        if state.handling != "symlink":
            continue
        path = path_bytes(state.key.rstrip("/"))
        folder = rows.folders.get(path) if state.key.endswith("/") else None
        if folder is not None:
            names = enumerate(folder.children())
            yield from (join(path, name) for i, name in names if folder.tags[i] == ord("l"))
        elif (row := rows.at(path)) and row.tag == "l":
            yield path
