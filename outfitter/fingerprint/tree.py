"""Fingerprinted trees in packed form: the children of a directory are columns of bytes.

Comparing an unchanged directory is then one comparison of bytes. Pure. The contract (spec/60) defines digests and tags.
Paths are raw bytes relative to the root of the tree, with `/` between their parts.
"""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from struct import Struct
from typing import NamedTuple, overload

from blake3 import blake3

from outfitter.model.outcome import Identity, Row, Tree

CONTEXT = "outfitter 2026-11-30 tree v1"
DIGEST_SIZE = 32
NO_DIGEST = bytes(DIGEST_SIZE)

# device, inode, size, mtime_ns, ctime_ns, st_mode of one child.
STAT = Struct("<QQqqqQ")
NO_STAT = STAT.pack(0, 0, 0, 0, 0, 0)
# The st_mode type bits for each tag, for rows that were not read by a scan.
_TYPE_BITS = {"f": 0o100000, "x": 0o100000, "l": 0o120000, "d": 0o040000}
_KEYED = blake3(derive_key_context=CONTEXT)


class ChildExtra(NamedTuple):
    """What few children have and the columns do not hold: a symlink's raw target, or a note.

    `child` is the child's index; a folder's extras are in ascending order of it.
    """

    child: int
    target: bytes
    note: str


class Folder(NamedTuple):
    """One directory: its children in ascending order of their raw names, one column for each property.

    `names` are joined by NUL; a child has one byte in `tags`, one STAT in `stats` and 32 bytes in `digests`. `newest` is the
    latest mtime or ctime (ns) of a child that is not a directory. `digest` is the directory's own; it is empty until the
    digests of its subdirectories are in `digests`.
    """

    path: bytes
    names: bytes
    tags: bytes
    stats: bytes
    digests: bytes
    extras: tuple[ChildExtra, ...] = ()
    newest: int = 0
    digest: bytes = b""

    def children(self) -> list[bytes]:
        """Return the names, in order."""
        return self.names.split(b"\0") if self.tags else []

    def index_of(self, name: bytes) -> int:
        """Return the index of a child, or -1."""
        if not name or not self.tags:
            return -1
        offset = (b"\0" + self.names + b"\0").find(b"\0" + name + b"\0")
        return self.names.count(b"\0", 0, offset) if offset > 0 else offset

    def row(self, index: int, name: bytes) -> Row:
        """Return one child as a row; `name` is `children()[index]`."""
        device, inode, size, mtime, ctime, mode = STAT.unpack_from(self.stats, index * STAT.size)
        position = bisect_left(self.extras, index, key=itemgetter(0))
        extra = self.extras[position] if position < len(self.extras) else None
        target, note = extra[1:] if extra and extra.child == index else (b"", "")
        digest = self.digests[index * DIGEST_SIZE : (index + 1) * DIGEST_SIZE]
        identity = Identity(device, inode, mtime, ctime)
        return Row(join(self.path, name), chr(self.tags[index]), digest, size, mode & 0o7777, identity, target, note)


class Rows(Sequence[Row]):
    """Packed rows as a sequence in ascending order of raw paths; items are created on access."""

    __slots__ = ("_count", "_order", "folders")

    def __init__(self, folders: Mapping[bytes, Folder]) -> None:
        """Take folders by path; the root's path is `b""`."""
        self.folders = folders
        self._count = -1
        self._order: list[tuple[bytes, Folder, int]] | None = None

    def __len__(self) -> int:
        if self._count < 0:
            self._count = sum([len(folder.tags) for folder in self.folders.values()])
        return self._count

    def __iter__(self) -> Iterator[Row]:
        for path, folder, index in self._sorted():
            yield folder.row(index, posixpath.basename(path))

    def _sorted(self) -> list[tuple[bytes, Folder, int]]:
        if self._order is None:
            self._order = in_order(self.folders)
        return self._order

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return tuple(self)[index]
        path, folder, position = self._sorted()[index]
        return folder.row(position, posixpath.basename(path))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(mine == theirs for mine, theirs in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def at(self, path: bytes) -> Row | None:
        """Return the row at a path, or None."""
        parent, name = posixpath.split(path)
        folder = self.folders.get(parent)
        index = folder.index_of(name) if folder else -1
        return folder.row(index, name) if folder and index >= 0 else None


def join(parent: bytes, name: bytes) -> bytes:
    """Return a child's path; the path of the root is empty."""
    return parent + b"/" + name if parent else name


def in_order(folders: Mapping[bytes, Folder]) -> list[tuple[bytes, Folder, int]]:
    """Return (path, folder, index) of every child of every folder, in ascending order of raw paths."""
    every = [
        (join(folder.path, name), folder, index)
        for folder in folders.values()
        for index, name in enumerate(folder.children())
    ]
    every.sort(key=itemgetter(0))
    return every


def pack(rows: Iterable[Row]) -> Rows:
    """Return rows, which may be in any order, as packed rows; packed rows are returned as they are.

    If a path occurs twice, its last row counts.
    """
    if isinstance(rows, Rows):
        return rows
    groups: dict[bytes, dict[bytes, Row]] = {b"": {}}
    for row in rows:
        parent, name = posixpath.split(row.path)
        groups.setdefault(parent, {})[name] = row
        if row.tag == "d":
            groups.setdefault(row.path, {})
    return Rows({path: _folder(path, group) for path, group in groups.items()})


def _folder(path: bytes, group: Mapping[bytes, Row]) -> Folder:
    names = sorted(group)
    rows = [group[name] for name in names]
    return Folder(
        path,
        b"\0".join(names),
        "".join([row.tag for row in rows]).encode("ascii"),
        b"".join([packed_row(row) for row in rows]),
        b"".join([row.digest for row in rows]),
        tuple([ChildExtra(i, row.target, row.note) for i, row in enumerate(rows) if row.target or row.note]),
        max([max(row.identity.mtime_ns, row.identity.ctime_ns) for row in rows if row.tag != "d"], default=0),
    )


def packed_row(row: Row) -> bytes:
    """Return a row's stat column as a scan would read it."""
    device, inode, mtime, ctime = row.identity
    return STAT.pack(device, inode, row.size, mtime, ctime, row.mode | _TYPE_BITS.get(row.tag, 0))


def folder_digest(names: Sequence[bytes], tags: bytes, digests: bytes) -> bytes:
    """Return a directory's digest (spec/60) from its children's names, tags and digests.

    The names are in ascending order; the tags and the digests (32 bytes each) are in the same order.
    """
    hasher = _KEYED.copy()
    ends = range(DIGEST_SIZE, len(digests) + 1, DIGEST_SIZE)
    parts = [b"%c%b\0%b" % (t, n, digests[e - DIGEST_SIZE : e]) for t, n, e in zip(tags, names, ends, strict=True)]
    hasher.update(b"".join(parts))
    return hasher.digest()


def seal(folders: Mapping[bytes, Folder]) -> dict[bytes, Folder]:
    """Return the folders with every directory's digest filled in, in itself and in its parent's column.

    A folder that has its digest keeps it unless a folder below it has none. The root's folder must be among them.
    """
    sealed = dict(folders)
    for path in sorted(_unsealed(folders), key=_depth, reverse=True):
        sealed[path] = seal_folder(sealed[path], sealed)
    return sealed


def seal_folder(folder: Folder, sealed: Mapping[bytes, Folder]) -> Folder:
    """Return a folder with its digest; its subdirectories with theirs are in `sealed`."""
    path, _, tags, stats, digests, extras, newest, _ = folder
    names = folder.children()
    if b"d" in tags:
        digests = _with_subfolders(folder, names, sealed)
    return Folder(path, folder.names, tags, stats, digests, extras, newest, folder_digest(names, tags, digests))


def _unsealed(folders: Mapping[bytes, Folder]) -> set[bytes]:
    """Return the paths of folders that need a digest: those without one, and all above them."""
    without = [path for path, folder in folders.items() if not folder.digest]
    if len(without) == len(folders):
        return set(without)
    stale: set[bytes] = set()
    for path in without:
        above = path
        while above not in stale:
            stale.add(above)
            above = posixpath.dirname(above)
    return stale


def _depth(path: bytes) -> int:
    return path.count(b"/") + 1 if path else 0


def _with_subfolders(folder: Folder, names: Sequence[bytes], sealed: Mapping[bytes, Folder]) -> bytes:
    """Return the digest column with the digest of each subdirectory filled in."""
    column = bytearray(folder.digests)
    index = folder.tags.find(b"d")
    while index >= 0:
        column[index * DIGEST_SIZE : (index + 1) * DIGEST_SIZE] = sealed[join(folder.path, names[index])].digest
        index = folder.tags.find(b"d", index + 1)
    return bytes(column)


def tree_of(folders: Mapping[bytes, Folder], taken_ns: int, files_read: int = 0, files_cached: int = 0) -> Tree:
    """Return the tree of a whole directory: `folders` has one for the root and for each row tagged `d`."""
    sealed = seal(folders)
    complete = not any(b"u" in folder.tags for folder in sealed.values())
    return Tree(Rows(sealed), sealed[b""].digest, complete, taken_ns, files_read, files_cached)


def compare(before: Tree, after: Tree) -> Iterator[tuple[bytes, Row | None, Row | None]]:
    """Yield (raw path, row before, row after) for every path that differs, in ascending order of paths.

    A row is None where that tree has no entry. A path differs if it is in one tree only, or if its tag or its digest differs;
    other permission bits, times and inodes do not count. A directory is yielded only if it was added, deleted or changed its
    kind, and then with everything below it. What is below a directory that `after` could not read is unknown and not yielded;
    below one that only `before` could not read, everything counts as added.
    """
    left, right = pack(before.rows).folders, pack(after.rows).folders
    differences: list[tuple[bytes, Row | None, Row | None]] = []
    for path in left.keys() | right.keys():
        old_folder, new_folder = left.get(path), right.get(path)
        if old_folder is None or new_folder is None or not _same_columns(old_folder, new_folder):
            differences += _differences(old_folder, new_folder)
    differences.sort(key=itemgetter(0))
    unread = {path for path, old, new in differences if _unread_directory(old, new)}
    for path, old, new in differences:
        if not (unread and _below(path, unread)):
            yield path, old, new


def _below(path: bytes, above: set[bytes]) -> bool:
    while path:
        path = posixpath.dirname(path)
        if path in above:
            return True
    return False


def _same_columns(before: Folder, after: Folder) -> bool:
    return (before.names, before.tags, before.digests) == (after.names, after.tags, after.digests)


def _unread_directory(old: Row | None, new: Row | None) -> bool:
    return old is not None and new is not None and (old.tag, new.tag) == ("d", "u")


def _differences(before: Folder | None, after: Folder | None) -> Iterator[tuple[bytes, Row | None, Row | None]]:
    old, new = _by_name(before), _by_name(after)
    for name in old.keys() | new.keys():
        (i, tag, digest), (j, tag_now, digest_now) = old.get(name, _ABSENT), new.get(name, _ABSENT)
        if tag != tag_now or (digest != digest_now and tag != _DIRECTORY):
            old_row = before.row(i, name) if before and i >= 0 else None
            new_row = after.row(j, name) if after and j >= 0 else None
            yield join((before or after or _EMPTY).path, name), old_row, new_row


_ABSENT = (-1, 0, b"")
_EMPTY = Folder(b"", b"", b"", b"", b"")
_DIRECTORY = ord("d")


def _by_name(folder: Folder | None) -> dict[bytes, tuple[int, int, bytes]]:
    if folder is None:
        return {}
    ends = range(DIGEST_SIZE, len(folder.digests) + 1, DIGEST_SIZE)
    return {
        name: (index, folder.tags[index], folder.digests[end - DIGEST_SIZE : end])
        for index, (name, end) in enumerate(zip(folder.children(), ends, strict=True))
    }


def reparent(rows: Sequence[Row], prefix: bytes) -> dict[bytes, Folder]:
    """Return the folders of `rows` as they are below the directory `prefix` (raw, no slash at its end)."""
    paths = ((join(prefix, path) if path else prefix, folder) for path, folder in pack(rows).folders.items())
    return {path: folder._replace(path=path) for path, folder in paths}


def concat(parts: Iterable[Mapping[bytes, Folder]], rows: Sequence[Row]) -> Rows:
    """Return folders and single rows as one tree.

    A folder is packed again if it occurs twice or if some of the single rows belong to it.
    """
    merged: dict[bytes, Folder] = {}
    single = list(rows)
    for part in parts:
        for path, folder in part.items():
            if path in merged:
                single += Rows({path: folder})
            else:
                merged[path] = folder
    for path in {posixpath.dirname(row.path) for row in single} & merged.keys():
        single += Rows({path: merged.pop(path)})
    return Rows({**pack(single).folders, **merged})


UNREADABLE = b"u"
# Columns are compared this many rows at a time first, then row by row where a block differs.
BLOCK = 32
# A stat record that matches no real entry.
_NEVER = b"\xff" * STAT.size


def unchanged(known: Folder, stats: bytes, limit: int | None) -> bool:
    """Return whether a whole directory is as known: equal stats, nothing racy, unreadable or noted.

    `stats` are of the same names in the same order. `limit` is the time (ns) from which on a row is racy, or None if none is.
    """
    if stats != known.stats or UNREADABLE in known.tags or (limit is not None and known.newest >= limit):
        return False
    return not any(extra.note for extra in known.extras)


def maybe_changed(known: Folder, stats: bytes, limit: int | None) -> list[int]:
    """Return the indexes of children that must be looked at again, in order; arguments as for `unchanged`."""
    suspects = set(_differing(known.stats, stats))
    suspects.update(extra.child for extra in known.extras if extra.note)
    if UNREADABLE in known.tags:
        suspects.update(index for index, tag in enumerate(known.tags) if tag == UNREADABLE[0])
    if limit is not None and known.newest >= limit:
        fields = memoryview(stats).cast("q")
        times = zip(fields[3::6], fields[4::6], strict=True)
        suspects.update([index for index, (mtime, ctime) in enumerate(times) if mtime >= limit or ctime >= limit])
    return sorted(suspects)


def _differing(known: bytes, current: bytes) -> list[int]:
    """Return the rows in which two stat columns of the same length differ."""
    size, span = STAT.size, BLOCK * STAT.size
    return [
        offset // size
        for start in range(0, len(known), span)
        if known[start : start + span] != current[start : start + span]
        for offset in range(start, min(start + span, len(known)), size)
        if known[offset : offset + size] != current[offset : offset + size]
    ]


def aligned(known: Folder, names: bytes, count: int) -> Folder:
    """Return the known folder in the order of `count` other names (raw, ascending, joined by NUL).

    A name that is not known gets a stat that no entry has.
    """
    if names == known.names and count == len(known.tags):
        return known
    indexes = {name: index for index, name in enumerate(known.children())}
    order = [indexes.get(name, -1) for name in (names.split(b"\0") if count else [])]
    new_index = {old: new for new, old in enumerate(order)}
    extras = tuple([e._replace(child=new_index[e.child]) for e in known.extras if e.child in new_index])
    return known._replace(
        names=names,
        tags=bytes([known.tags[index] if index >= 0 else 0 for index in order]),
        stats=_reorder(known.stats, order, STAT.size, _NEVER),
        digests=_reorder(known.digests, order, DIGEST_SIZE, NO_DIGEST),
        extras=extras,
    )


def _reorder(column: bytes, order: list[int], size: int, missing: bytes) -> bytes:
    return b"".join([column[i * size : (i + 1) * size] if i >= 0 else missing for i in order])
