"""Notices after a run: one per kind of failure and one per state path, for any number of files. Pure."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence

from outfitter.bridge.context import BridgeContext, FailureKind, FileResult, Topic
from outfitter.host import Durable
from outfitter.model import wording
from outfitter.model.outcome import GRANULARITY_NS, Change, Row, Snapshot, path_text
from outfitter.model.projection import Record
from outfitter.model.request import Level, Notice
from outfitter.model.wording import counted

# How many paths a line names: all that must be found again, a few of those that are discarded.
NAMED, SAMPLED = 100, 5
LONGEST = 600
_WATCHED = ("warn", "error", "prompt")
_TOLD = ("warned", "failed", "unreadable")

# Codes are printed in JSON, and outlive what the kinds are called here.
FAILURE_CODES: Mapping[FailureKind, str] = {"unsupported-type": "odd", "truncated": "cut"}
_LOGINS = "; MCP authorisations from this run were not saved either"


def failure_notices(record: Record, items: Iterable[FileResult]) -> Iterator[Notice]:
    """Yield one warning per topic and kind of failure: the paths by reason, and where the contents are."""
    groups: dict[tuple[Topic, FailureKind], list[FileResult]] = {}
    for item in items:
        if item.failure:
            groups.setdefault((item.topic, item.failure), []).append(item)
    for (topic, failure), group in groups.items():
        yield _failure_notice(record, topic, failure, group)


def _failure_notice(record: Record, topic: Topic, failure: FailureKind, group: list[FileResult]) -> Notice:
    kept = sorted({item.kept.rpartition("/")[0] for item in group if item.kept})
    text = f"{topic} {'not carried over' if failure == 'unsupported-type' else 'not saved'}: {_by_reason(group)}"
    if topic == "credentials" and failure in ("conflict", "failed"):
        text += _LOGINS
    if kept:
        where = group[0].kept if len(group) == 1 else ", ".join(kept)
        files = "file was" if len(group) == 1 else "files were"
        text += f"; the durable {files} left as before, this run's kept in {where}"
    stays = [item for item in group if not item.saved]
    if stays:
        text += f"; still in {record.projection}"
    hints = ["outfitter conflicts list"] if kept else []
    hints += [f"{_ways_to_save(record, stays)}, then: outfitter recover"] if stays else []
    return Notice("warning", f"{topic.replace(' ', '-')}-{FAILURE_CODES.get(failure, failure)}", text, "; ".join(hints))


def _ways_to_save(record: Record, stays: list[FileResult]) -> str:
    """Return what to do about results whose only copy is in the run directory."""
    from shlex import quote

    unsupported = [item for item in stays if item.failure == "unsupported-type"]
    unreadable = [item for item in stays if item.outcome == "unreadable"]
    ways = [f"chmod -R u+rwX {quote(record.projection)}"] if unreadable else []
    if unsupported:
        paths = listed([f"{record.projection}/{item.path}" for item in unsupported], SAMPLED)
        ways.append(f"move what you need out of {paths}, and remove it there")
    if len(unsupported) + len(unreadable) < len(stays):
        ways.append("make its target (or the conflicts directory) writable")
    return "; ".join(ways)


def _by_reason(group: list[FileResult]) -> str:
    reasons: dict[str, list[str]] = {}
    for item in sorted(group):
        reasons.setdefault(item.reason, []).append(_place(item))
    return "; ".join(f"{listed(paths, NAMED)} ({reason})" for reason, paths in reasons.items())


def _place(item: FileResult) -> str:
    """Return a path, with its durable target if the path does not show it."""
    return item.path if item.topic == "session history" or not item.target else f"{item.path} for {item.target}"


def kept_notice(context: BridgeContext, items: Iterable[FileResult]) -> Iterator[Notice]:
    """Say how much the conflict store holds, of all runs, if this run added to it (spec/50)."""
    if any(item.kept for item in items):
        try:
            count, size = context.durable.kept()
        except OSError:
            return
        files = wording.counted(count, "file")
        yield Notice(
            "notice",
            "conflicts-kept",
            f"kept until you take or drop it: {files}, {wording.counted(size, 'byte')} in all",
        )


def policy_notices(record: Record, changes: Sequence[Change], hushed: frozenset[str] = frozenset()) -> Iterator[Notice]:
    """Yield one notice per state path that warns or fails; `hushed` state paths were asked about."""
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
    """Return how to keep such changes next time; no strategy keeps what Outfitter generates."""
    if key in record.generated:
        return ""
    keeps = any(state.key == key and state.durable and "symlink" in state.allowed for state in record.states)
    if zone == "declared":
        return f"to keep what is written there: state_persistence: {{{key}: symlink}}" if keeps else ""
    return "" if record.retained else "to look at them: --retain-projection, then outfitter diff"


def change_counts(group: Iterable[Change]) -> str:
    """Return counts such as `3 added, 1 modified (1 unreadable)`."""
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
    """Shorten a path that no terminal could show to its two ends."""
    return path if len(path) <= LONGEST else f"{path[: LONGEST // 2]}…{path[-LONGEST // 2 :]}"


def listed(paths: Sequence[str], most: int) -> str:
    """Return the first `most` paths in one line, and how many more there are."""
    return wording.listed(map(_short, paths), most)


def written_strays(durable: Durable, record: Record, baseline: Snapshot, found: Sequence[Row]) -> tuple[Row, ...]:
    """Return the strays that are not unchanged files of the projection.

    A projection that was moved as a whole holds nothing that a run wrote.
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


def stray_notice(record: Record, found: Iterable[Row], gone: bool) -> Notice:
    """Say in one line where the strays are, and how to end the run."""
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
