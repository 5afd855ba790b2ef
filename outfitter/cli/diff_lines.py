"""What a run wrote, as lines for people and as the document of `outfitter diff --json` (spec/50). Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from outfitter.host import Host
from outfitter.model.outcome import Change
from outfitter.model.projection import Record
from outfitter.model.wording import counted
from outfitter.render import one_line
from outfitter.run.baseline_texts import DIRECTORY, LIMIT, secret_name
from outfitter.run.unobserved import EVERYTHING, unobserved

FOLD_ABOVE = 20

LEGEND = """\
columns: what changed | what was done about it | path (sizes); before a run is
settled the second says what would be done
  added, modified, deleted   mode: the execute bit
  kind                       a file became a directory, and so on
  replaced-link              a file took the place of our symlink
  relinked                   the link leads elsewhere now
  durable, adopted           written through a link; a replaced link, copied
  bridged, persisted         merged back by its own rule; copied as you said
  discarded                  thrown away
  warned, failed             reported, by warn or error
  conflict                   not saved, kept: outfitter conflicts
  unreadable                 could not be read"""


class Fold(NamedTuple):
    """Alike changes below one directory, in one line; a single change is a fold of its own path."""

    path: str
    change: str
    outcome: str
    alike: int
    before: int
    after: int
    note: str = ""


def plain(text: str, _outcome: str) -> str:
    """No colour."""
    return text


def coloured(text: str, outcome: str) -> str:
    """An outcome in the colour of what it asks for: a look, a thought, nothing."""
    colour = {"conflict": "31", "failed": "31", "unreadable": "31", "warned": "33", "discarded": "2"}.get(outcome, "32")
    return f"\x1b[{colour}m{text}\x1b[0m"


def diff_lines(
    record: Record, changes: Sequence[Change], unfolded: bool, paint: Callable[[str, str], str] = plain
) -> Iterator[str]:
    """A block for each zone and state path, then the counts. `unfolded`: one line a change, however many."""
    if record.changes is None:
        yield "this run is not settled: the second column says what would be done"
    for (zone, key, strategy), group in _grouped(changes).items():
        title = key if zone == "declared" else "generated files" if zone == "generated" else "undeclared"
        yield f"{one_line(title)} ({strategy})"
        for fold in _folded(group, unfolded):
            yield f"  {fold.change:<13} {paint(f'{fold.outcome:<10}', fold.outcome)} {_what(fold)}"
    unseen = unobserved(record)
    if unseen:
        yield f"unobserved: {_unseen(record, unseen)}"
    yield _counts_line(changes, bool(unseen))


def diff_document(record: Record, changes: Sequence[Change]) -> dict[str, Any]:
    """The whole of it, for programs; `schema_version` is added where it is printed."""
    return {
        "run": {
            "id": record.run_id,
            "agent": record.agent,
            "harness": record.harness,
            "root": record.root,
            "phase": record.phase,
            "settled": record.changes is not None,
            "started_ns": record.started_ns,
        },
        "changes": [change._asdict() for change in changes],
        "unobserved": list(unobserved(record)),
        "counts": {
            "total": len(changes),
            "by_change": _counted(change.change for change in changes),
            "by_zone": _counted(change.zone for change in changes),
            "by_outcome": _counted(change.outcome for change in changes),
        },
    }


def _grouped(changes: Iterable[Change]) -> dict[tuple[str, str, str], list[Change]]:
    """Changes by zone, state path and strategy: declared first, undeclared last, each in order of path."""
    order = {"declared": 0, "generated": 1, "unknown": 2}
    groups: dict[tuple[str, str, str], list[Change]] = {}
    for change in changes:
        groups.setdefault((change.zone, change.state_path, change.strategy), []).append(change)
    return dict(sorted(groups.items(), key=lambda item: (order[item[0][0]], item[0][1:])))


def _folded(group: list[Change], unfolded: bool) -> list[Fold]:
    if unfolded or len(group) <= FOLD_ABOVE:
        return [_fold(change, change.path, 0) for change in group]
    alike = _alike(group)
    folds: dict[tuple[str, str, str], Fold] = {}
    for change in group:
        place = next((above for above in _above(change.path) if _folds(alike, above)), None)
        if place is None and alike.direct[_direct(change)] > FOLD_ABOVE:
            place = posixpath.dirname(change.path)
        key = (change.path if place is None else f"{place}/", change.change, change.outcome)
        one = _fold(change, *((change.path, 0) if place is None else (f"{place}/" if place else "./", 1)))
        seen = folds.get(key)
        folds[key] = one if seen is None else _joined(seen, one)
    return list(folds.values())


class _Alike(NamedTuple):
    """By directory: how many changes are below it, whether they are all alike; and by directory and kind, those directly in it."""

    below: dict[str, int]
    kind: dict[str, tuple[str, str] | None]
    direct: dict[tuple[str, str, str], int]


def _alike(group: list[Change]) -> _Alike:
    found = _Alike({}, {}, {})
    for change in group:
        kind = (change.change, change.outcome)
        found.direct[_direct(change)] = found.direct.get(_direct(change), 0) + 1
        for above in _above(change.path):
            found.below[above] = found.below.get(above, 0) + 1
            found.kind[above] = kind if found.kind.get(above, kind) == kind else None
    return found


def _folds(alike: _Alike, directory: str) -> bool:
    return alike.below[directory] > FOLD_ABOVE and alike.kind[directory] is not None


def _direct(change: Change) -> tuple[str, str, str]:
    return posixpath.dirname(change.path), change.change, change.outcome


def _above(path: str) -> list[str]:
    """The directories above a path, the projection itself aside, outermost first."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]


def _fold(change: Change, path: str, count: int) -> Fold:
    before, after = change.size_before or 0, change.size_after or 0
    return Fold(path, change.change, change.outcome, count, before, after, _sizes(change) if not count else "")


def _joined(one: Fold, other: Fold) -> Fold:
    return one._replace(alike=one.alike + other.alike, before=one.before + other.before, after=one.after + other.after)


def _what(fold: Fold) -> str:
    if not fold.alike:
        return one_line(fold.path) + fold.note
    return f"{one_line(fold.path)}  ({fold.alike} alike, {bytes_text(max(fold.before, fold.after))})"


def _sizes(change: Change) -> str:
    sizes = [bytes_text(size) for size in (change.size_before, change.size_after) if size is not None]
    parts = [" → ".join(sizes), one_line(change.note)]
    text = ", ".join(part for part in parts if part)
    return f"  ({text})" if text else ""


def bytes_text(size: int) -> str:
    """A size for people: bytes below 10,000, then KiB, MiB and so on with one decimal."""
    if size < 10_000:
        return f"{size} B"
    number, units = float(size), ("KiB", "MiB", "GiB", "TiB")
    for unit in units:
        number /= 1024
        if number < 1000 or unit == units[-1]:
            break
    return f"{number:.1f} {unit}"


def _counted(words: Iterable[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    return dict(sorted(counts.items()))


def _unseen(record: Record, keys: tuple[str, ...]) -> str:
    """Say where the harness could write without being watched, and why."""
    if EVERYTHING in keys:
        return f"{one_line(record.native)}, which {record.harness} writes directly in a run like this one"
    return f"{', '.join(map(one_line, keys))}: links to directories of yours"


def _counts_line(changes: Sequence[Change], limited: bool) -> str:
    if not changes:
        return "no changes were observed" if limited else "no changes"
    kinds = ", ".join(f"{count} {word}" for word, count in _counted(change.change for change in changes).items())
    ends = ", ".join(f"{count} {word}" for word, count in _counted(change.outcome for change in changes).items())
    return f"{counted(len(changes), 'change')}: {kinds} | {ends}"


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
