"""Fingerprinted trees, packed: a directory's children are columns of bytes, so that an unchanged directory is one comparison.

Pure. Digests and tags are those of spec/60; paths are raw bytes relative to the tree's root, parts joined by `/`.
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
# The type bits of st_mode that a tag stands for; only rows that came from elsewhere are packed with them.
_TYPE_BITS = {"f": 0o100000, "x": 0o100000, "l": 0o120000, "d": 0o040000}
_KEYED = blake3(derive_key_context=CONTEXT)


class Remark(NamedTuple):
    """What few children have beside the columns: a link's raw target, or a note. In ascending order of `place`, the child's index."""

    place: int
    target: bytes
    note: str


class Folder(NamedTuple):
    """One directory: its children in ascending order of their raw names, a column for each property.

    `names` are joined by NUL, `tags` one byte, `stats` one STAT, `digests` 32 bytes a child. `newest` is the latest mtime or
    ctime (ns) of a child that is no directory; `digest` the directory's own, once its subdirectories' are in `digests`.
    """

    path: bytes
    names: bytes
    tags: bytes
    stats: bytes
    digests: bytes
    remarks: tuple[Remark, ...] = ()
    newest: int = 0
    digest: bytes = b""

    def children(self) -> list[bytes]:
        """The names, in order."""
        return self.names.split(b"\0") if self.tags else []

    def place(self, name: bytes) -> int:
        """The index of a child, -1 where there is none."""
        if not name or not self.tags:
            return -1
        at = (b"\0" + self.names + b"\0").find(b"\0" + name + b"\0")
        return self.names.count(b"\0", 0, at) if at > 0 else at

    def row(self, index: int, name: bytes) -> Row:
        """One child as a row; `name` is `children()[index]`."""
        device, inode, size, mtime, ctime, mode = STAT.unpack_from(self.stats, index * STAT.size)
        place = bisect_left(self.remarks, index, key=itemgetter(0))
        noted = self.remarks[place] if place < len(self.remarks) else None
        target, note = noted[1:] if noted and noted.place == index else (b"", "")
        digest = self.digests[index * DIGEST_SIZE : (index + 1) * DIGEST_SIZE]
        identity = Identity(device, inode, mtime, ctime)
        return Row(join(self.path, name), chr(self.tags[index]), digest, size, mode & 0o7777, identity, target, note)


class Rows(Sequence[Row]):
    """Packed rows: a sequence in ascending order of raw paths, whose items are made when they are asked for."""

    __slots__ = ("_count", "_order", "folders")

    def __init__(self, folders: Mapping[bytes, Folder]) -> None:
        """`folders` by path; the root's is `b""`."""
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
        """The row at a path, or None."""
        parent, name = posixpath.split(path)
        folder = self.folders.get(parent)
        place = folder.place(name) if folder else -1
        return folder.row(place, name) if folder and place >= 0 else None


def join(parent: bytes, name: bytes) -> bytes:
    """A child's path; the root's is empty."""
    return parent + b"/" + name if parent else name


def in_order(folders: Mapping[bytes, Folder]) -> list[tuple[bytes, Folder, int]]:
    """(path, folder, index) of every child of every folder, in ascending order of raw paths."""
    every = [
        (join(folder.path, name), folder, index)
        for folder in folders.values()
        for index, name in enumerate(folder.children())
    ]
    every.sort(key=itemgetter(0))
    return every


def pack(rows: Iterable[Row]) -> Rows:
    """Any rows, in any order, as packed rows; packed ones are handed back. A path that comes twice counts once, the last time."""
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
        tuple([Remark(i, row.target, row.note) for i, row in enumerate(rows) if row.target or row.note]),
        max([max(row.identity.mtime_ns, row.identity.ctime_ns) for row in rows if row.tag != "d"], default=0),
    )


def packed_row(row: Row) -> bytes:
    """A row's stat column, as a scan would find it."""
    device, inode, mtime, ctime = row.identity
    return STAT.pack(device, inode, row.size, mtime, ctime, row.mode | _TYPE_BITS.get(row.tag, 0))


def folder_digest(names: Sequence[bytes], tags: bytes, digests: bytes) -> bytes:
    """A directory's digest (spec/60) from its children's names in ascending order, their tags and their digests."""
    hasher = _KEYED.copy()
    ends = range(DIGEST_SIZE, len(digests) + 1, DIGEST_SIZE)
    parts = [b"%c%b\0%b" % (t, n, digests[e - DIGEST_SIZE : e]) for t, n, e in zip(tags, names, ends, strict=True)]
    hasher.update(b"".join(parts))
    return hasher.digest()


def seal(folders: Mapping[bytes, Folder]) -> dict[bytes, Folder]:
    """The same folders with every directory's digest filled in, its own and in its parent's column, from the leaves up.

    A folder that comes with its digest keeps it, unless one below it comes without. The root's folder must be among them.
    """
    sealed = dict(folders)
    for path in sorted(_unsealed(folders), key=_depth, reverse=True):
        sealed[path] = sealed_one(sealed[path], sealed)
    return sealed


def sealed_one(folder: Folder, sealed: Mapping[bytes, Folder]) -> Folder:
    """A folder with its digest; those of its subdirectories are among `sealed`."""
    path, _, tags, stats, digests, remarks, newest, _ = folder
    names = folder.children()
    if b"d" in tags:
        digests = _with_subfolders(folder, names, sealed)
    return Folder(path, folder.names, tags, stats, digests, remarks, newest, folder_digest(names, tags, digests))


def _unsealed(folders: Mapping[bytes, Folder]) -> set[bytes]:
    """The folders whose digest must be made: those without, and all above them."""
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
    """The digest column with each subdirectory's digest."""
    column = bytearray(folder.digests)
    index = folder.tags.find(b"d")
    while index >= 0:
        column[index * DIGEST_SIZE : (index + 1) * DIGEST_SIZE] = sealed[join(folder.path, names[index])].digest
        index = folder.tags.find(b"d", index + 1)
    return bytes(column)


def tree_of(folders: Mapping[bytes, Folder], taken_ns: int, files_read: int = 0, files_cached: int = 0) -> Tree:
    """The fingerprint of a whole directory: `folders` holds one for the root and for each row tagged `d`."""
    sealed = seal(folders)
    complete = not any(b"u" in folder.tags for folder in sealed.values())
    return Tree(Rows(sealed), sealed[b""].digest, complete, taken_ns, files_read, files_cached)


def compare(before: Tree, after: Tree) -> Iterator[tuple[bytes, Row | None, Row | None]]:
    """Yield (raw path, row before or None, row after or None) for every path that differs, in ascending order of raw paths.

    A path differs if it is in one tree alone, or if its tag or its digest differs: other permission bits, times and inodes
    do not count. Directories come only where they were added, deleted or became another kind, then with everything
    below them. What lies below a directory that either tree could not read is unknown, and is not yielded.
    """
    left, right = pack(before.rows).folders, pack(after.rows).folders
    found: list[tuple[bytes, Row | None, Row | None]] = []
    for path in left.keys() | right.keys():
        one, other = left.get(path), right.get(path)
        if one is None or other is None or not _alike(one, other):
            found += _differences(one, other)
    found.sort(key=itemgetter(0))
    blind = {path for path, old, new in found if _unread_directory(old, new)}
    for path, old, new in found:
        if not (blind and _below(path, blind)):
            yield path, old, new


def _below(path: bytes, above: set[bytes]) -> bool:
    while path:
        path = posixpath.dirname(path)
        if path in above:
            return True
    return False


def _alike(one: Folder, other: Folder) -> bool:
    return (one.names, one.tags, one.digests) == (other.names, other.tags, other.digests)


def _unread_directory(old: Row | None, new: Row | None) -> bool:
    return old is not None and new is not None and {old.tag, new.tag} == {"d", "u"}


def _differences(one: Folder | None, other: Folder | None) -> Iterator[tuple[bytes, Row | None, Row | None]]:
    old, new = _keyed(one), _keyed(other)
    for name in old.keys() | new.keys():
        (i, tag, digest), (j, tag_now, digest_now) = old.get(name, _ABSENT), new.get(name, _ABSENT)
        if tag != tag_now or (digest != digest_now and tag != _DIRECTORY):
            before = one.row(i, name) if one and i >= 0 else None
            after = other.row(j, name) if other and j >= 0 else None
            yield join((one or other or _EMPTY).path, name), before, after


_ABSENT = (-1, 0, b"")
_EMPTY = Folder(b"", b"", b"", b"", b"")
_DIRECTORY = ord("d")


def _keyed(folder: Folder | None) -> dict[bytes, tuple[int, int, bytes]]:
    if folder is None:
        return {}
    ends = range(DIGEST_SIZE, len(folder.digests) + 1, DIGEST_SIZE)
    return {
        name: (index, folder.tags[index], folder.digests[end - DIGEST_SIZE : end])
        for index, (name, end) in enumerate(zip(folder.children(), ends, strict=True))
    }


def moved(rows: Sequence[Row], prefix: bytes) -> dict[bytes, Folder]:
    """The folders of `rows` as they are below the directory `prefix` (raw, no slash at its end)."""
    places = ((join(prefix, path) if path else prefix, folder) for path, folder in pack(rows).folders.items())
    return {path: folder._replace(path=path) for path, folder in places}


def together(parts: Iterable[Mapping[bytes, Folder]], rows: Sequence[Row]) -> Rows:
    """Folders and single rows as one; a folder that some of the rows belong to is packed anew, and so is one that comes twice."""
    whole: dict[bytes, Folder] = {}
    more = list(rows)
    for part in parts:
        for path, folder in part.items():
            if path in whole:
                more += Rows({path: folder})
            else:
                whole[path] = folder
    for path in {posixpath.dirname(row.path) for row in more} & whole.keys():
        more += Rows({path: whole.pop(path)})
    return Rows({**pack(more).folders, **whole})


UNREADABLE = b"u"
# Columns are compared so many rows at a time before single rows are.
BLOCK = 32
# What no lstat says.
_NEVER = b"\xff" * STAT.size


def vouched(known: Folder, stats: bytes, limit: int | None) -> bool:
    """Whether a whole directory is as known: every stat the same, none racy, nothing unreadable or noted.

    `stats` are of the same names in the same order. `limit` is the time (ns) from which on a row is racy, None where none is.
    """
    if stats != known.stats or UNREADABLE in known.tags or (limit is not None and known.newest >= limit):
        return False
    return not any(remark.note for remark in known.remarks)


def doubted(known: Folder, stats: bytes, limit: int | None) -> list[int]:
    """The children whose stat does not vouch for what is known of them, in order; arguments as for `vouched`."""
    doubts = set(_differing(known.stats, stats))
    doubts.update(remark.place for remark in known.remarks if remark.note)
    if UNREADABLE in known.tags:
        doubts.update(index for index, tag in enumerate(known.tags) if tag == UNREADABLE[0])
    if limit is not None and known.newest >= limit:
        words = memoryview(stats).cast("q")
        times = zip(words[3::6], words[4::6], strict=True)
        doubts.update([index for index, (mtime, ctime) in enumerate(times) if mtime >= limit or ctime >= limit])
    return sorted(doubts)


def _differing(one: bytes, other: bytes) -> list[int]:
    """The rows in which two stat columns of the same length differ."""
    size, span = STAT.size, BLOCK * STAT.size
    return [
        at // size
        for start in range(0, len(one), span)
        if one[start : start + span] != other[start : start + span]
        for at in range(start, min(start + span, len(one)), size)
        if one[at : at + size] != other[at : at + size]
    ]


def aligned(known: Folder, names: bytes, count: int) -> Folder:
    """What is known, in the order of `count` other names (raw, ascending, joined by NUL); one that is not known has a stat
    that no entry has."""
    if names == known.names and count == len(known.tags):
        return known
    places = {name: place for place, name in enumerate(known.children())}
    order = [places.get(name, -1) for name in (names.split(b"\0") if count else [])]
    now = {place: index for index, place in enumerate(order)}
    remarks = tuple([r._replace(place=now[r.place]) for r in known.remarks if r.place in now])
    return known._replace(
        names=names,
        tags=bytes([known.tags[place] if place >= 0 else 0 for place in order]),
        stats=_picked(known.stats, order, STAT.size, _NEVER),
        digests=_picked(known.digests, order, DIGEST_SIZE, NO_DIGEST),
        remarks=remarks,
    )


def _picked(column: bytes, order: list[int], size: int, missing: bytes) -> bytes:
    return b"".join([column[place * size : (place + 1) * size] if place >= 0 else missing for place in order])
