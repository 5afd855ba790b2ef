"""Unified diffs of what changed in text files, for `outfitter diff --content` (spec/50): never of a credential file."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from outfitter.cli.render import one_line
from outfitter.host import Host
from outfitter.model.outcome import Change
from outfitter.model.projection import Record
from outfitter.originals import DIRECTORY, LIMIT, secret_name

_BRIDGED = ("credentials", "member")


def contents(host: Host, record: Record, changes: tuple[Change, ...]) -> Iterator[tuple[str, str]]:
    """(path, unified diff or a remark) of each file that was added, changed or deleted, in order."""
    hidden = {bridge.path for bridge in record.bridges if bridge.rule in _BRIDGED}
    for change in changes:
        if change.size_before is None and change.size_after is None:
            continue
        if change.path in hidden or secret_name(change.path):
            yield change.path, f"{one_line(change.path)}: may hold credentials, not shown"
        else:
            yield change.path, _content(host, record, change)


def _content(host: Host, record: Record, change: Change) -> str:
    name = one_line(change.path)
    if max(change.size_before or 0, change.size_after or 0) > LIMIT:
        return f"{name}: larger than {LIMIT // 1024} KiB, not shown"
    old = b"" if change.size_before is None else _read(host, f"{record.root}/{DIRECTORY}/{change.path}")
    new = b"" if change.size_after is None else _read(host, _now(record, change))
    if old is None or new is None:
        return f"{name}: {'its first' if old is None else 'its present'} content is not there, not shown"
    if b"\0" in old + new:
        return f"{name}: binary"
    return _unified(name, old, new) or f"{name}: no text changed"


def _now(record: Record, change: Change) -> str:
    """Where the present content is: behind a link, at its durable place."""
    state = next((state for state in record.states if state.key == change.state_path), None)
    if change.outcome != "durable" or state is None or not state.durable:
        return f"{record.projection}/{change.path}"
    inside = change.path[len(state.key) :] if state.key.endswith("/") else ""
    return posixpath.join(state.durable, inside) if inside else state.durable


def _unified(name: str, old: bytes, new: bytes) -> str:
    from difflib import unified_diff

    before, after = (side.decode("utf-8", "replace").splitlines() for side in (old, new))
    lines = unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm="")
    return "\n".join(one_line_keeping_tabs(line) for line in lines)


def one_line_keeping_tabs(text: str) -> str:
    """A line of a diff that cannot command the terminal; tabs stay."""
    return "\t".join(one_line(part) for part in text.split("\t"))


def _read(host: Host, path: str) -> bytes | None:
    try:
        return host.sources.read(path)
    except OSError:
        return None
