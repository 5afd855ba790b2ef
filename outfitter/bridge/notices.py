"""What the user is told after a run: one notice a kind of trouble, one a state path, however many files there are (spec/50). Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence

from outfitter.bridge.context import Aftermath, Item, Topic, Trouble
from outfitter.host import Durable
from outfitter.model import wording
from outfitter.model.outcome import GRANULARITY_NS, Change, Row, Snapshot, path_text
from outfitter.model.projection import Record
from outfitter.model.request import Level, Notice
from outfitter.model.wording import counted

# So many paths stand in a line: every one that must be found again, a few of those that are gone anyway.
NAMED, SAMPLED = 100, 5
LONGEST = 600
_WATCHED = ("warn", "error", "prompt")
_TOLD = ("warned", "failed", "unreadable")

_LOGINS = "; MCP authorisations from this run were not saved either"


def trouble_notices(record: Record, items: Iterable[Item]) -> Iterator[Notice]:
    """One warning a topic and kind of trouble, naming the paths by reason, and where the contents are."""
    groups: dict[tuple[Topic, Trouble], list[Item]] = {}
    for item in items:
        if item.trouble:
            groups.setdefault((item.topic, item.trouble), []).append(item)
    for (topic, trouble), group in groups.items():
        yield _trouble(record, topic, trouble, group)


def _trouble(record: Record, topic: Topic, trouble: Trouble, group: list[Item]) -> Notice:
    kept = sorted({item.kept.rpartition("/")[0] for item in group if item.kept})
    text = f"{topic} {'not carried over' if trouble == 'odd' else 'not saved'}: {_by_reason(group)}"
    if topic == "credentials" and trouble in ("conflict", "failed"):
        text += _LOGINS
    if kept:
        where = group[0].kept if len(group) == 1 else ", ".join(kept)
        files = "file was" if len(group) == 1 else "files were"
        text += f"; the durable {files} left as before, this run's kept in {where}"
    stays = [item for item in group if not item.saved]
    if stays:
        text += f"; still in {record.projection}"
    hints = ["outfitter conflicts list"] if kept else []
    hints += [f"{_mending(record, stays)}, then: outfitter recover"] if stays else []
    return Notice("warning", f"{topic.replace(' ', '-')}-{trouble}", text, "; ".join(hints))


def _mending(record: Record, stays: list[Item]) -> str:
    """What to do about items whose only copy is in the run directory, so that recovery can save them, or need not."""
    from shlex import quote

    odd = [item for item in stays if item.trouble == "odd"]
    shut = [item for item in stays if item.ending == "unreadable"]
    ways = [f"chmod -R u+rwX {quote(record.projection)}"] if shut else []
    if odd:
        places = listed([f"{record.projection}/{item.path}" for item in odd], SAMPLED)
        ways.append(f"move what you need out of {places}, and remove it there")
    if len(odd) + len(shut) < len(stays):
        ways.append("mend the place that it belongs to, or the directory for conflicts")
    return "; ".join(ways)


def _by_reason(group: list[Item]) -> str:
    reasons: dict[str, list[str]] = {}
    for item in sorted(group):
        reasons.setdefault(item.reason, []).append(_place(item))
    return "; ".join(f"{listed(paths, NAMED)} ({reason})" for reason, paths in reasons.items())


def _place(item: Item) -> str:
    """A path, with its durable place where that is not plain from it."""
    return item.path if item.topic == "session history" or not item.target else f"{item.path} for {item.target}"


def kept_notice(after: Aftermath, items: Iterable[Item]) -> Iterator[Notice]:
    """How much is kept by now, of all runs, said by a launch that added to it (spec/50)."""
    if any(item.kept for item in items):
        try:
            count, size = after.durable.kept()
        except OSError:
            return
        files = wording.counted(count, "file")
        yield Notice(
            "notice",
            "conflicts-kept",
            f"kept until you take or drop it: {files}, {wording.counted(size, 'byte')} in all",
        )


def policy_notices(record: Record, changes: Sequence[Change], hushed: frozenset[str] = frozenset()) -> Iterator[Notice]:
    """One notice for each state path that warns or fails, with counts and the first few paths; `hushed` state paths were asked about."""
    groups: dict[tuple[str, str, str], list[Change]] = {}
    for change in changes:
        if change.outcome in _TOLD and change.strategy in _WATCHED and change.state_path not in hushed:
            groups.setdefault((change.zone, change.state_path, change.strategy), []).append(change)
    skipped = [key for zone, key, strategy in groups if strategy == "prompt" and zone == "declared"]
    if skipped:
        yield Notice("notice", "prompt-skipped", f"prompt skipped: non-interactive: {', '.join(skipped)}")
    for (zone, key, strategy), group in groups.items():
        yield _policy(record, zone, key, strategy, group)


def _policy(record: Record, zone: str, key: str, strategy: str, group: list[Change]) -> Notice:
    failing = strategy == "error"
    what = {"declared": key, "generated": "generated files"}.get(zone, "undeclared writes")
    text = f"{what}: {change_counts(group)}, not kept"
    if zone != "declared" or len(group) > 1 or group[0].path != key or _remark(group[0]):
        text += f": {listed([_named(change) for change in group], NAMED if failing else SAMPLED)}"
    if zone == "unknown" and strategy == "prompt":
        text += "; an undeclared write has no durable destination, so there is nothing to ask"
    level: Level = "error" if failing else "warning"
    return Notice(level, f"state-{zone}-{strategy}", text, "" if failing else _hint(record, zone, key))


def _hint(record: Record, zone: str, key: str) -> str:
    """What to do to have it otherwise next time; what Outfitter generates is kept under no strategy."""
    if key in record.generated:
        return ""
    keeps = any(state.key == key and state.durable and "symlink" in state.allowed for state in record.states)
    if zone == "declared":
        return f"to keep what is written there: state_persistence: {{{key}: symlink}}" if keeps else ""
    return "" if record.retained else "to look at them: --retain-projection, then outfitter diff"


def change_counts(group: Iterable[Change]) -> str:
    """`3 added, 1 modified (1 unreadable)`."""
    counts: dict[str, int] = {}
    unreadable = 0
    for change in group:
        counts[change.change] = counts.get(change.change, 0) + 1
        unreadable += change.outcome == "unreadable"
    text = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    return text + (f" ({unreadable} unreadable)" if unreadable else "")


def _remark(change: Change) -> str:
    return "unreadable" if change.outcome == "unreadable" else change.note


def _named(change: Change) -> str:
    return f"{change.path} ({_remark(change)})" if _remark(change) else change.path


def _short(path: str) -> str:
    """A path that no terminal could show, by its two ends."""
    return path if len(path) <= LONGEST else f"{path[: LONGEST // 2]}…{path[-LONGEST // 2 :]}"


def listed(paths: Sequence[str], most: int) -> str:
    """Paths in one line, the first `most` of them, and how many more there are."""
    return wording.listed(map(_short, paths), most)


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
            now = durable.look(posixpath.join(record.root, path_text(row.path)), None, None)
        except OSError:
            return True
        return now is None or now.digest != seeded.digest

    return tuple(row for row in found if is_new(row))


def beside_notice(record: Record, found: Iterable[Row], gone: bool) -> Notice:
    """Where it is, and how the run ends for good: one line, by the names beside the projection."""
    groups: dict[str, list[Row]] = {}
    for row in found:
        groups.setdefault(path_text(row.path).split("/", 1)[0], []).append(row)
    places = [_counted(posixpath.join(record.root, name), rows) for name, rows in groups.items()]
    how = "the projection was moved or replaced while the harness ran" if gone else "written beside the projection"
    message = f"{how}: not saved, still in {listed(places, SAMPLED)}"
    back = f"move it back to {record.projection}, or " if gone else ""
    return Notice("warning", "beside", message, f"{back}take it from there, then: outfitter recover")


def _counted(place: str, rows: Sequence[Row]) -> str:
    if len(rows) == 1 and "/" not in path_text(rows[0].path):
        return place
    return f"{place} ({counted(len(rows), 'file')})"
