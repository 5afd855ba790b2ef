"""What every bridge works on, and what it returns for each path. Effects only through `Durable`."""

import json
import posixpath
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from outfitter.fingerprint.tree import Folder, pack
from outfitter.host import Durable, Unsaved
from outfitter.model.errors import os_error_text
from outfitter.model.outcome import Change, ChangeOutcome, Row, Snapshot, path_bytes, path_text
from outfitter.model.projection import Record

Find = Callable[[str], Row | None]
Topic = Literal["session history", "credentials", "account", "replaced link", "persisted change", "plugin registry"]
# conflict: both sides changed. truncated: a log came back shorter. refused: nothing to carry. failed: could not be written.
# unsupported-type: not a regular file, so there is no rule to copy it by.
FailureKind = Literal["", "conflict", "truncated", "refused", "failed", "unsupported-type"]


class BridgeContext(NamedTuple):
    """A run that ended, with its trees.

    For a projection-relative path, `seeded` finds the row of the baseline, `behind` that of the durable file at launch, `now` that
    of the projection after the run.
    """

    durable: Durable
    record: Record
    seeded: Find
    behind: Find
    now: Find

    def source(self, path: str) -> str:
        """Return the absolute path of a projected file."""
        return posixpath.join(self.record.projection, path)


class FileResult(NamedTuple):
    """What became of one path: its outcome and, if it could not be carried, why.

    `failure` is the kind, `reason` the words, `kept` the path in the conflict store, `target` the durable path. `saved` False:
    the only copy is the projection's.
    """

    path: str
    outcome: ChangeOutcome
    topic: Topic = "session history"
    failure: FailureKind = ""
    reason: str = ""
    kept: str = ""
    target: str = ""
    saved: bool = True


def bridge_context(durable: Durable, record: Record, baseline: Snapshot, actual: Snapshot) -> BridgeContext:
    """Return what the bridges need; nothing is read from disk."""
    return BridgeContext(
        durable,
        record,
        finder(baseline.tree.rows),
        finder(baseline.durable),
        finder(actual.tree.rows),
    )


def finder(rows: Sequence[Row]) -> Find:
    """Return a lookup of rows by path, which packs and indexes them as far as they are asked for."""
    folders: dict[bytes, Folder] = {}
    indexed: dict[bytes, dict[bytes, int]] = {}

    def find(path: str) -> Row | None:
        parent, name = posixpath.split(path_bytes(path))
        if not folders and rows:
            folders.update(pack(rows).folders)
        folder = folders.get(parent)
        if folder is None:
            return None
        if parent not in indexed:
            indexed[parent] = {child: index for index, child in enumerate(folder.children())}
        index = indexed[parent].get(name)
        return None if index is None else folder.row(index, name)

    return find


def unsupported_type(context: BridgeContext, change: Change, topic: Topic, reason: str, key: str) -> FileResult:
    """Return the result for what is not a regular file; `key` is its declared path.

    A fifo or a socket holds nothing. A directory, or a symlink to something else that this run wrote, may be the only way to
    it: then the projection must stay.
    """
    now = context.now(change.path)
    stranded = now is not None and (now.tag in "du" or (now.tag == "l" and _leads_to_loss(context, now, key)))
    return FileResult(change.path, "discarded", topic, "unsupported-type", reason, saved=not stranded)


def _leads_to_loss(context: BridgeContext, link: Row, key: str) -> bool:
    """Return whether a symlink leads to a projected entry that is not carried by `key` anyway."""
    root, at = (
        context.record.projection,
        posixpath.join(context.record.projection, path_text(posixpath.dirname(link.path))),
    )
    target = posixpath.normpath(posixpath.join(at, path_text(link.target)))
    if not target.startswith(root + "/"):
        return False
    inner = target[len(root) + 1 :]
    if inner == path_text(link.path) or (key.endswith("/") and inner.startswith(key)):
        return False
    names = inner.split("/")
    for depth in range(1, len(names) + 1):
        row = context.now("/".join(names[:depth]))
        if row is None or row.tag == "l":
            return row is not None
    return True


def store_conflict(
    context: BridgeContext, result: FileResult, target: str, credential: bool = False, member: str = ""
) -> FileResult:
    """Store the projected content of a failed result; if that fails, too, the projection must stay."""
    result = result._replace(target=target)
    unsaved = Unsaved(context.record.run_id, result.path, result.reason, target, credential, member)
    try:
        return result._replace(kept=context.durable.keep(context.source(result.path), unsaved))
    except OSError as error:
        return result._replace(
            reason=f"{result.reason}; it could not be stored either: {os_error_text(error)}", saved=False
        )


def parsed(content: bytes) -> Any:
    """Return a JSON value, a byte-order mark allowed; None for anything else."""
    try:
        return json.loads(content.removeprefix(b"\xef\xbb\xbf").decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def unreadable(change: Change, topic: Topic) -> FileResult:
    """Return the result for an entry that could not be read: it stays in the projection."""
    return FileResult(change.path, "unreadable", topic, "failed", change.note or "could not be read", saved=False)
