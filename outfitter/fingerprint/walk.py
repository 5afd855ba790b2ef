"""The walk of a fingerprint: list by descriptor, trust what stat vouches for, read the rest (spec/60).

Reads only; follows no link; opens no fifo, socket or device; holds at most 24 descriptors a process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from errno import ELOOP, ENOENT, ENOTDIR
from itertools import islice
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from operator import attrgetter
from stat import S_IFBLK, S_IFCHR, S_IFDIR, S_IFIFO, S_IFLNK, S_IFMT, S_IFREG, S_IFSOCK

from blake3 import blake3

from outfitter.fingerprint.cursor import Cursor
from outfitter.fingerprint.hash_file import (
    BUFFER_SIZE,
    CHANGED,
    DIRECTORY,
    EXECUTABLE,
    FILE,
    LINK,
    OTHER,
    PENDING,
    UNREADABLE,
    VANISHED,
    Draft,
    Finding,
    examine,
    opened,
    packed,
    packed_directory,
    word,
)
from outfitter.fingerprint.tree import NO_DIGEST, NO_STAT, STAT, Folder, aligned, doubted, join, sealed_one, vouched

_name = attrgetter("name")


def entries_of(descriptor: int) -> tuple[list[bytes], list[os.DirEntry[str]]]:
    """The raw names in an open directory, ascending, and their entries in the same order. Raises `OSError`."""
    with os.scandir(descriptor) as found:
        entries = sorted(found, key=_name)
    joined = os.fsencode("\0".join([entry.name for entry in entries]))
    if not joined.isascii():
        entries.sort(key=lambda entry: os.fsencode(entry.name))
        joined = b"\0".join([os.fsencode(entry.name) for entry in entries])
    return (joined.split(b"\0") if entries else []), entries


def names_of(descriptor: int) -> tuple[bytes, int]:
    """The names in an open directory, ascending by their raw bytes, joined by NUL; and how many. Raises `OSError`."""
    names = os.listdir(descriptor)
    names.sort()
    joined = os.fsencode("\0".join(names))
    # Only among ASCII is the order of the text surely that of its bytes.
    return joined if joined.isascii() else b"\0".join(sorted(joined.split(b"\0"))), len(names)


def stats_of(descriptor: int, names: Sequence[bytes]) -> bytes:
    """The stat column of these names by one lstat each; `NO_STAT` for one that is gone or cannot be looked at."""
    pack, stat = STAT.pack, os.stat
    column = []
    for name in names:
        try:
            s = stat(name, dir_fd=descriptor, follow_symlinks=False)
        except OSError:
            column.append(NO_STAT)
            continue
        mode = s.st_mode
        if mode & 0o170000 == S_IFDIR:
            column.append(pack(s.st_dev, s.st_ino, 0, 0, 0, mode))
        else:
            column.append(pack(s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns, mode))
    return b"".join(column)


_SPECIAL = {S_IFIFO: b"fifo", S_IFSOCK: b"socket", S_IFBLK: b"block", S_IFCHR: b"char"}
# A file this much older than the scan cannot have been written during it, even where the file system's clock is another machine's.
SETTLED_NS = 10 * 10**9
# So many entries listed are worth reading before the listing is done; each time it takes twice as many.
AHEAD_FILES = 500
SUBFOLDER = bytes([DIRECTORY])


class Pass:
    """One fingerprint under way: what is known, how far it is to be trusted, and the directories found so far."""

    __slots__ = (
        "buffer",
        "cross",
        "cursor",
        "device",
        "drafts",
        "enough",
        "folders",
        "known",
        "limit",
        "only_known",
        "read",
        "same",
        "seen",
        "settled",
        "unread",
    )

    def __init__(
        self, root: int, known: Mapping[bytes, Folder], limit: int | None, cross: bool, *, only_known: bool = False
    ) -> None:
        """`limit` is the time (ns) from which on a known row is racy, None where none is; `cross` is whether mounts are entered.

        With `only_known`, whatever is not among the known entries does not count.
        """
        self.only_known = only_known
        self.cursor = Cursor(root)
        self.device = os.fstat(root).st_dev
        self.known = known
        self.limit = limit
        self.cross = cross
        self.folders: dict[bytes, Folder] = {}
        self.drafts: dict[bytes, Draft] = {}
        self.same: Mapping[bytes, Folder] = {}
        self.seen: Mapping[bytes, tuple[bytes, bytes]] = {}
        # Private: each worker has its own; and no page of it is there before it is used.
        self.buffer = memoryview(mmap(-1, BUFFER_SIZE, flags=MAP_PRIVATE | MAP_ANONYMOUS))
        self.read = self.unread = 0
        self.enough = AHEAD_FILES
        self.settled = time.time_ns() - SETTLED_NS

    def list_from(self, path: bytes, listed: Callable[[], None] | None = None) -> None:
        """List the directory at `path` and all below it, `listed` called now and then; raises `OSError` where `path` itself cannot be listed."""
        waiting = self.list_one(path)
        while waiting:
            if listed and self.unread >= self.enough:
                listed()
            below = waiting.pop()
            same = self.same.get(below)
            if same is not None:
                self.folders[below] = same
                if SUBFOLDER in same.tags:
                    waiting += subfolders(same)
                continue
            try:
                waiting += self.list_one(below)
            except OSError as error:
                self._fail(below, error)

    def list_known(self) -> None:
        """List the known directories, as far as they are there, and nothing below them."""
        for path in sorted(self.known):
            try:
                self.list_one(path)
            except OSError:
                continue

    def list_one(self, path: bytes) -> list[bytes]:
        """List one directory; its subdirectories come back, last first, for a walk that pops them."""
        known = self.known.get(path)
        if known is None:
            draft = self._list_new(path)
        elif path in self.same:
            self.folders[path] = known
            return subfolders(known)
        else:
            names, stats = self.seen.get(path) or self._look_at(path, known)
            if names == known.names and vouched(known, stats, self.limit):
                self.folders[path] = known
                return subfolders(known)
            draft = self._recall(known, names, stats)
        self.unread += len(draft.names)
        return _joined(path, draft.names, draft.tags) if DIRECTORY in draft.tags else []

    def _list_new(self, path: bytes) -> Draft:
        """A directory of which nothing is known: the listing itself says which entries are regular files."""
        descriptor = self.cursor.at(path)
        names, entries = entries_of(descriptor)
        draft = self.drafts[path] = Draft(path, names)
        for index in [i for i, entry in enumerate(entries) if not entry.is_file(follow_symlinks=False)]:
            self._classify(draft, index, descriptor)
        return draft

    def names_at(self, descriptor: int, known: Folder) -> tuple[bytes, int]:
        """The names in a known directory that count, ascending, joined by NUL; and how many."""
        names, count = names_of(descriptor)
        if not self.only_known or names == known.names:
            return names, count
        wanted = frozenset(known.children())
        there = [name for name in (names.split(b"\0") if count else []) if name in wanted]
        return b"\0".join(there), len(there)

    def _look_at(self, path: bytes, known: Folder) -> tuple[bytes, bytes]:
        """The names and the stat column of a known directory as it is now."""
        descriptor = self.cursor.at(path)
        names, count = self.names_at(descriptor, known)
        return names, stats_of(descriptor, names.split(b"\0") if count else [])

    def _recall(self, known: Folder, names: bytes, stats: bytes) -> Draft:
        """A directory that changed: children keep what is known of them where their stat vouches for it; the others are looked at."""
        before = aligned(known, names, len(stats) // STAT.size)
        draft = opened(before, stats)
        modes = memoryview(stats).cast("q")[5::6]
        others = []
        for index in doubted(before, stats, self.limit):
            draft.targets.pop(index, None)
            if S_IFMT(modes[index]) == S_IFREG:
                draft.tags[index] = PENDING
            else:
                others.append(index)
        # Workers may have looked at it, and it may be gone since: then there is no draft of it.
        descriptor = self.cursor.at(known.path) if others else -1
        self.drafts[known.path] = draft
        for index in others:
            self._classify(draft, index, descriptor)
        return draft

    def _classify(self, draft: Draft, index: int, descriptor: int) -> None:
        """What a child is, by lstat; regular files stay pending, with their stat."""
        name = draft.names[index]
        try:
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            kind = S_IFMT(status.st_mode)
            if kind == S_IFREG:
                draft.put(index, (PENDING, packed(status), NO_DIGEST, ""))
            elif kind == S_IFLNK:
                target = os.readlink(name, dir_fd=descriptor)
                draft.put(index, (LINK, packed(status), blake3(target).digest(), ""))
                draft.targets[index] = target
            elif kind == S_IFDIR:
                away = status.st_dev != self.device and not self.cross
                tag, note = (UNREADABLE, "EXDEV") if away else (DIRECTORY, "")
                draft.put(index, (tag, packed_directory(status), NO_DIGEST, note))
            else:
                draft.put(index, (OTHER, packed(status), blake3(_SPECIAL.get(kind, b"char")).digest(), ""))
        except OSError as error:
            gone = error.errno == ENOENT
            draft.put(index, (VANISHED if gone else UNREADABLE, NO_STAT, NO_DIGEST, "" if gone else word(error)))

    def _fail(self, path: bytes, error: OSError) -> None:
        """A subdirectory that cannot be listed: gone, or no directory any more, or unreadable."""
        parent, _, name = path.rpartition(b"/")
        draft = self._open_again(parent)
        index = draft.names.index(name)
        if error.errno == ENOENT:
            draft.put(index, (VANISHED, NO_STAT, NO_DIGEST, ""))
        elif error.errno in (ENOTDIR, ELOOP):
            draft.tags[index] = CHANGED
        else:
            draft.put(index, (UNREADABLE, draft.stat(index), NO_DIGEST, word(error)))

    def _open_again(self, path: bytes) -> Draft:
        """The draft of a directory; one that was kept as known becomes a draft again."""
        known = self.folders.pop(path, None)
        if known is not None:
            self.drafts[path] = opened(known, known.stats)
        return self.drafts[path]

    def pending(self, start: int = 0) -> list[tuple[Draft, Sequence[int]]]:
        """The files still to be read, by directory, in the order of the walk, from the `start`th directory on."""
        found: list[tuple[Draft, Sequence[int]]] = []
        for draft in islice(self.drafts.values(), start, None):
            if PENDING in draft.tags:
                tags = draft.tags
                whole = tags.count(PENDING) == len(tags)
                found.append(
                    (draft, range(len(tags)) if whole else [i for i, tag in enumerate(tags) if tag == PENDING])
                )
        return found

    def read_here(self, work: Sequence[tuple[Draft, Sequence[int]]]) -> None:
        """Read pending files in this process."""
        for draft, indexes in work:
            try:
                descriptor = self.cursor.at(draft.path)
            except OSError as error:
                gone = error.errno in (ENOENT, ENOTDIR, ELOOP)
                lost: Finding = (VANISHED if gone else UNREADABLE, NO_STAT, NO_DIGEST, "" if gone else word(error))
                for index in indexes:
                    draft.put(index, lost)
                continue
            for index in indexes:
                finding = examine(descriptor, draft.names[index], self.buffer, self.settled)
                draft.put(index, finding)
                self.read += finding[0] in (FILE, EXECUTABLE)

    def put_together(self) -> None:
        """Make folders of the drafts in which nothing is open any more.

        Where nothing was known, one without subdirectories has its digest, too; beside known ones, which come with theirs,
        it is the missing digest that says what changed.
        """
        for path in [path for path, draft in self.drafts.items() if draft.is_settled()]:
            folder = self.drafts.pop(path).folder()
            self.folders[path] = folder if self.known or SUBFOLDER in folder.tags else sealed_one(folder, {})

    def settle_changed(self) -> bool:
        """Look again at what was no longer what its listing said; whether there is more to read or list after that."""
        again = [draft for draft in self.drafts.values() if CHANGED in draft.tags]
        for draft in again:
            for index in [index for index, tag in enumerate(draft.tags) if tag == CHANGED]:
                descriptor = self.cursor.at(draft.path)
                self._classify(draft, index, descriptor)
                if draft.tags[index] == DIRECTORY and not self.only_known:
                    below = join(draft.path, draft.names[index])
                    try:
                        self.list_from(below)
                    except OSError as error:
                        self._fail(below, error)
        return bool(again)


def subfolders(known: Folder) -> list[bytes]:
    """The paths of a directory's subdirectories, last first."""
    return _joined(known.path, known.children(), known.tags) if SUBFOLDER in known.tags else []


def _joined(path: bytes, names: Sequence[bytes], tags: bytes | bytearray) -> list[bytes]:
    return [join(path, name) for name, tag in zip(names, tags, strict=True) if tag == DIRECTORY][::-1]
