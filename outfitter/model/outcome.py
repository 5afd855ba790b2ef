"""What came of a run: trees before and after, changes, and their settlement (spec/50, spec/60)."""

import sys
import typing
from collections.abc import Sequence
from typing import Literal, Self

from attrs import frozen

from outfitter.model.request import Notice
from outfitter.model.value import NamedTuple, Value

ChangeKind = Literal["added", "modified", "deleted", "mode", "kind", "replaced-link", "relinked"]
Zone = Literal["generated", "declared", "unknown"]
ChangeOutcome = Literal[
    "durable", "adopted", "conflict", "bridged", "discarded", "warned", "failed", "persisted", "unreadable"
]
SETTLED: tuple[ChangeOutcome, ...] = ("durable", "adopted", "bridged", "persisted", "discarded")

# The coarsest clock step of the file systems we trust: times closer together than this say nothing (spec/60).
GRANULARITY_NS = 20_000_000


_ENCODING = sys.getfilesystemencoding()


def path_bytes(path: str) -> bytes:
    """Return a path as in `Row.path`: in the locale's encoding, in UTF-8 what that cannot spell."""
    try:
        return path.encode(_ENCODING, "surrogateescape")
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogateescape")


def path_text(path: bytes) -> str:
    """Return a raw path as `str`, bytes outside the encoding as surrogates: the inverse of `path_bytes`."""
    return path.decode(_ENCODING, "surrogateescape")


class Identity(typing.NamedTuple):
    """A file's identity: if it is unchanged and not racy, so are the file's bytes (spec/60)."""

    device: int
    inode: int
    mtime_ns: int
    ctime_ns: int


class Row(typing.NamedTuple):
    """One entry of a fingerprinted tree, by its raw relative path.

    `tag` is one of `f x l d o u` (spec/60); `size` is in bytes, `mode` the permission bits.

    `note` is "" or what the reader must know: `unstable`, or for `u` the errno's name; for `l` the raw target is in `target`.
    """

    path: bytes
    tag: str
    digest: bytes
    size: int
    mode: int
    identity: Identity
    target: bytes = b""
    note: str = ""


@frozen(eq=False, repr=False)
class Tree(Value):
    """A directory's fingerprint: rows sorted by raw path, the root digest, and when it was taken (ns)."""

    rows: Sequence[Row]
    digest: bytes
    complete: bool
    taken_ns: int
    files_read: int = 0
    files_cached: int = 0


@frozen(eq=False, repr=False)
class Snapshot(Value):
    """A projection and the durable counterparts of its files at one moment.

    The one taken before the harness starts is the baseline, the one after it ended the actual state. `durable` rows carry the
    projection-relative path, and the size, digest, permission bits and identity of the durable file (its final target);
    an absent durable counterpart has no row. What lies behind a directory link is in neither.
    """

    tree: Tree
    durable: Sequence[Row]


class Change(NamedTuple):
    """One difference between baseline and projection (spec/50); `path` is projection-relative."""

    path: str
    change: ChangeKind
    zone: Zone
    state_path: str
    strategy: str
    outcome: ChangeOutcome
    size_before: int | None = None
    size_after: int | None = None
    note: str = ""


class ChildExit(NamedTuple):
    """How the harness ended: its own code, or the signal that killed it (then `code` is 128 + signal)."""

    code: int
    signal: int = 0


class Settlement(NamedTuple):
    """Every change of a run with its final outcome, what to say, and whether all could be saved.

    `entries` and `unreadable` count the actual tree's rows, `final_digest` is its fingerprint in hex. `place` is where the run
    directory is, if it was moved to a place that is known.
    """

    changes: tuple[Change, ...] = ()
    notices: tuple[Notice, ...] = ()
    saved: bool = True
    final_digest: str = ""
    complete: bool = True
    entries: int = 0
    unreadable: int = 0
    place: str = ""

    def over(self, tree: Tree) -> Self:
        """The same settlement, with what the actual tree says of itself."""
        return self._replace(
            final_digest=tree.digest.hex(),
            complete=tree.complete,
            entries=len(tree.rows),
            unreadable=0 if tree.complete else sum(row.tag == "u" for row in tree.rows),
        )
