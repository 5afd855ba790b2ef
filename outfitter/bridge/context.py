"""What every bridge works on: the run's record, the trees before and after, and what came of one path. Pure but for `keep`."""

import json
import posixpath
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

from outfitter.fingerprint.tree import Folder, pack
from outfitter.host import Durable, Unsaved
from outfitter.model.errors import os_error_text
from outfitter.model.outcome import Change, Ending, Row, Snapshot, path_bytes, path_text
from outfitter.model.projection import Record

Find = Callable[[str], Row | None]
Topic = Literal["session history", "credentials", "account", "replaced link", "persisted change", "plugin registry"]
# conflict: both sides changed. cut: a log came back shortened. refused: nothing to carry. failed: could not be written.
# odd: no regular file, so no rule to copy it by.
Trouble = Literal["", "conflict", "cut", "refused", "failed", "odd"]


class Aftermath(NamedTuple):
    """A run that ended. `seeded` finds a path's row in the baseline, `behind` its durable counterpart's at launch, `now` today's."""

    durable: Durable
    record: Record
    seeded: Find
    behind: Find
    now: Find

    def source(self, path: str) -> str:
        """Where the projected file is."""
        return posixpath.join(self.record.projection, path)


class Item(NamedTuple):
    """What became of one path: its ending, and where there was trouble what kind, why, and where the content was kept.

    `target` is the durable place it belongs to, where there is one.
    `saved` False: the only copy is the projection's.
    """

    path: str
    ending: Ending
    topic: Topic = "session history"
    trouble: Trouble = ""
    reason: str = ""
    kept: str = ""
    target: str = ""
    saved: bool = True


def aftermath(durable: Durable, record: Record, baseline: Snapshot, actual: Snapshot) -> Aftermath:
    """Gather what the bridges need; nothing is read from disk."""
    return Aftermath(
        durable,
        record,
        finder(baseline.tree.rows),
        finder(baseline.durable),
        finder(actual.tree.rows),
    )


def finder(rows: Sequence[Row]) -> Find:
    """Look rows up by path: packed on the first question at all, each directory's names indexed on the first about it."""
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


def odd(after: Aftermath, change: Change, topic: Topic, reason: str, key: str) -> Item:
    """What is no regular file where one was to be carried; `key` is its declared path.

    A fifo or a socket holds nothing. A directory, or a link to something else that this run wrote, may be the only way to it:
    then the projection must stay.
    """
    now = after.now(change.path)
    stranded = now is not None and (now.tag in "du" or (now.tag == "l" and _leads_to_loss(after, now, key)))
    return Item(change.path, "discarded", topic, "odd", reason, saved=not stranded)


def _leads_to_loss(after: Aftermath, link: Row, key: str) -> bool:
    """Whether a link leads to an entry of the projection that `key`, if that is a directory, does not carry for itself."""
    root, at = after.record.projection, posixpath.join(after.record.projection, path_text(posixpath.dirname(link.path)))
    target = posixpath.normpath(posixpath.join(at, path_text(link.target)))
    if not target.startswith(root + "/"):
        return False
    inner = target[len(root) + 1 :]
    if inner == path_text(link.path) or (key.endswith("/") and inner.startswith(key)):
        return False
    names = inner.split("/")
    for depth in range(1, len(names) + 1):
        row = after.now("/".join(names[:depth]))
        if row is None or row.tag == "l":
            return row is not None
    return True


def keep(after: Aftermath, item: Item, target: str, credential: bool = False, member: str = "") -> Item:
    """Keep the projected content of an item in trouble under `conflicts/`; where even that fails, the projection must stay."""
    item = item._replace(target=target)
    unsaved = Unsaved(after.record.run_id, item.path, item.reason, target, credential, member)
    try:
        return item._replace(kept=after.durable.keep(after.source(item.path), unsaved))
    except OSError as error:
        return item._replace(reason=f"{item.reason}; not kept either: {os_error_text(error)}", saved=False)


def parsed(content: bytes) -> Any:
    """A JSON value, a byte-order mark before it allowed; None for anything else."""
    try:
        return json.loads(content.removeprefix(b"\xef\xbb\xbf").decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def unreadable(change: Change, topic: Topic) -> Item:
    """An entry that should have been carried over, but could not be read: it stays in the projection."""
    return Item(change.path, "unreadable", topic, "failed", change.note or "could not be read", saved=False)
