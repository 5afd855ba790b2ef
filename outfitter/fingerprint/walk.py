"""List a tree by descriptors, keep what an unchanged stat confirms, and hash the rest (spec/60).

Only reads. Follows no symlink, opens no fifo, socket or device, and keeps at most 24 descriptors open in a process.
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
    EntryHash,
    FolderBuilder,
    errno_name,
    hash_entry,
    packed,
    packed_directory,
    reopen,
)
from outfitter.fingerprint.tree import (
    NO_DIGEST,
    NO_STAT,
    STAT,
    Folder,
    aligned,
    join,
    maybe_changed,
    seal_folder,
    unchanged,
)

Wanted = Callable[[bytes], bool]
"""Raw path → whether somebody needs the content of a file there."""
_name = attrgetter("name")


def entries_of(descriptor: int) -> tuple[list[bytes], list[os.DirEntry[str]]]:
    """Return the raw names in an open directory, ascending, and their entries in the same order.

    Raises `OSError`.
    """
    with os.scandir(descriptor) as listing:
        entries = sorted(listing, key=_name)
    joined = os.fsencode("\0".join([entry.name for entry in entries]))
    if not joined.isascii():
        entries.sort(key=lambda entry: os.fsencode(entry.name))
        joined = b"\0".join([os.fsencode(entry.name) for entry in entries])
    return (joined.split(b"\0") if entries else []), entries


def names_of(descriptor: int) -> tuple[bytes, int]:
    """Return the names in an open directory, ascending by raw bytes and joined by NUL, and their number.

    Raises `OSError`.
    """
    names = os.listdir(descriptor)
    names.sort()
    joined = os.fsencode("\0".join(names))
    # Text and bytes are sure to sort alike only in ASCII.
    return joined if joined.isascii() else b"\0".join(sorted(joined.split(b"\0"))), len(names)


def stats_of(descriptor: int, names: Sequence[bytes]) -> bytes:
    """Return the stat column of names, one lstat each; `NO_STAT` where lstat fails."""
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
# A file this much older than the scan was not written during it, even if another machine's clock stamps the file system.
SETTLED_NS = 10 * 10**9
# Hashing starts before the listing ends once this many entries wait; the number doubles each time.
AHEAD_FILES = 500
SUBFOLDER = bytes([DIRECTORY])


class TreeScan:
    """One scan in progress: the known folders, how far to trust them, and the directories read so far.

    `unchanged` and `current` are what workers already compared: folders that are as known, and the names and stats of others.
    """

    __slots__ = (
        "buffer",
        "builders",
        "cross",
        "current",
        "cursor",
        "device",
        "files_read",
        "folders",
        "hash_ahead_at",
        "known",
        "limit",
        "only_known",
        "settled_before",
        "unchanged",
        "unread_entries",
        "wanted",
        "whole",
    )

    def __init__(
        self,
        root: int,
        known: Mapping[bytes, Folder],
        limit: int | None,
        cross: bool,
        *,
        only_known: bool = False,
        whole: bool = False,
        wanted: Wanted | None = None,
    ) -> None:
        """Scan below the open directory `root`; `cross` tells whether to enter mounts.

        `limit` is the time (ns) from which on a known row is racy, or None if none is. With `only_known`, entries that are
        not known do not count. With `whole`, files that are mostly holes are read like any other.
        What is not `wanted` is not read, and has no digest: an added file, or a known one of another size.
        """
        self.only_known = only_known
        self.whole = whole
        self.wanted = wanted
        self.cursor = Cursor(root)
        self.device = os.fstat(root).st_dev
        self.known = known
        self.limit = limit
        self.cross = cross
        self.folders: dict[bytes, Folder] = {}
        self.builders: dict[bytes, FolderBuilder] = {}
        self.unchanged: Mapping[bytes, Folder] = {}
        self.current: Mapping[bytes, tuple[bytes, bytes]] = {}
        # A private mapping gives each forked worker its own copy, and no page exists before it is used.
        self.buffer = memoryview(mmap(-1, BUFFER_SIZE, flags=MAP_PRIVATE | MAP_ANONYMOUS))
        self.files_read = self.unread_entries = 0
        self.hash_ahead_at = AHEAD_FILES
        self.settled_before = time.time_ns() - SETTLED_NS

    def list_below(self, path: bytes, listed: Callable[[], None] | None = None) -> None:
        """List the directory at `path` and all below it, calling `listed` now and then.

        Raises `OSError` if `path` itself cannot be listed.
        """
        waiting = self.list_directory(path)
        while waiting:
            if listed and self.unread_entries >= self.hash_ahead_at:
                listed()
            below = waiting.pop()
            unchanged_folder = self.unchanged.get(below)
            if unchanged_folder is not None:
                self.folders[below] = unchanged_folder
                if SUBFOLDER in unchanged_folder.tags:
                    waiting += subfolders(unchanged_folder)
                continue
            try:
                waiting += self.list_directory(below)
            except OSError as error:
                self._fail(below, error)

    def list_known(self) -> None:
        """List the known directories that still exist, and nothing below them."""
        for path in sorted(self.known):
            try:
                self.list_directory(path)
            except OSError:
                continue

    def list_directory(self, path: bytes) -> list[bytes]:
        """List one directory; return its subdirectories, last first, for a walk that pops them."""
        known = self.known.get(path)
        if known is None:
            builder = self._list_new(path)
        elif path in self.unchanged:
            self.folders[path] = known
            return subfolders(known)
        else:
            names, stats = self.current.get(path) or self._stat_children(path, known)
            if names == known.names and unchanged(known, stats, self.limit):
                self.folders[path] = known
                return subfolders(known)
            builder = self._list_changed(known, names, stats)
        self.unread_entries += len(builder.names)
        return _joined(path, builder.names, builder.tags) if DIRECTORY in builder.tags else []

    def _list_new(self, path: bytes) -> FolderBuilder:
        """List a directory that is not known; the listing itself tells which entries are regular files."""
        descriptor = self.cursor.at(path)
        names, entries = entries_of(descriptor)
        builder = self.builders[path] = FolderBuilder(path, names)
        for index in [i for i, entry in enumerate(entries) if not entry.is_file(follow_symlinks=False)]:
            self._classify(builder, index, descriptor)
        if self.wanted:
            self._pass_over(builder, [i for i, tag in enumerate(builder.tags) if tag == PENDING], descriptor)
        return builder

    def _pass_over(self, builder: FolderBuilder, indexes: Sequence[int], descriptor: int) -> None:
        """Store the stat of those pending files that are not wanted."""
        for index in indexes:
            if self.wanted and not self.wanted(join(builder.path, builder.names[index])):
                self._classify(builder, index, descriptor)
                mode = STAT.unpack(builder.stat(index))[5]
                # Opening one that its owner may not read tells that, which is said with the change.
                if builder.tags[index] == PENDING and mode & 0o400:
                    builder.tags[index] = EXECUTABLE if mode & 0o100 else FILE

    def names_at(self, descriptor: int, known: Folder) -> tuple[bytes, int]:
        """Return the names in a known directory that count, ascending and joined by NUL, and their number."""
        names, count = names_of(descriptor)
        if not self.only_known or names == known.names:
            return names, count
        wanted = frozenset(known.children())
        there = [name for name in (names.split(b"\0") if count else []) if name in wanted]
        return b"\0".join(there), len(there)

    def _stat_children(self, path: bytes, known: Folder) -> tuple[bytes, bytes]:
        """Return the names and the stat column of a known directory as it is now."""
        descriptor = self.cursor.at(path)
        names, count = self.names_at(descriptor, known)
        return names, stats_of(descriptor, names.split(b"\0") if count else [])

    def _list_changed(self, known: Folder, names: bytes, stats: bytes) -> FolderBuilder:
        """Build a directory that changed: keep children that an unchanged stat confirms, look at the others."""
        before = aligned(known, names, len(stats) // STAT.size)
        builder = reopen(before, stats)
        modes = memoryview(stats).cast("q")[5::6]
        others = []
        resized = []
        sizes, sizes_before = memoryview(stats).cast("q")[2::6], memoryview(before.stats).cast("q")[2::6]
        for index in maybe_changed(before, stats, self.limit):
            builder.targets.pop(index, None)
            if S_IFMT(modes[index]) == S_IFREG:
                builder.tags[index] = PENDING
                if sizes[index] != sizes_before[index]:
                    resized.append(index)
            else:
                others.append(index)
        # The directory may be gone since a worker compared it; then it must not get a builder.
        descriptor = self.cursor.at(known.path) if others or (resized and self.wanted) else -1
        self.builders[known.path] = builder
        for index in others:
            self._classify(builder, index, descriptor)
        if self.wanted:
            self._pass_over(builder, resized, descriptor)
        return builder

    def _classify(self, builder: FolderBuilder, index: int, descriptor: int) -> None:
        """Determine a child's type by lstat; a regular file stays pending, with its stat."""
        name = builder.names[index]
        try:
            status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            kind = S_IFMT(status.st_mode)
            if kind == S_IFREG:
                builder.put(index, (PENDING, packed(status), NO_DIGEST, ""))
            elif kind == S_IFLNK:
                target = os.readlink(name, dir_fd=descriptor)
                builder.put(index, (LINK, packed(status), blake3(target).digest(), ""))
                builder.targets[index] = target
            elif kind == S_IFDIR:
                away = status.st_dev != self.device and not self.cross
                tag, note = (UNREADABLE, "EXDEV") if away else (DIRECTORY, "")
                builder.put(index, (tag, packed_directory(status), NO_DIGEST, note))
            else:
                builder.put(index, (OTHER, packed(status), blake3(_SPECIAL.get(kind, b"char")).digest(), ""))
        except OSError as error:
            gone = error.errno == ENOENT
            builder.put(
                index, (VANISHED if gone else UNREADABLE, NO_STAT, NO_DIGEST, "" if gone else errno_name(error))
            )

    def _fail(self, path: bytes, error: OSError) -> None:
        """Record a subdirectory that cannot be listed: gone, no longer a directory, or unreadable."""
        parent, _, name = path.rpartition(b"/")
        builder = self._reopen(parent)
        index = builder.names.index(name)
        if error.errno == ENOENT:
            builder.put(index, (VANISHED, NO_STAT, NO_DIGEST, ""))
        elif error.errno in (ENOTDIR, ELOOP):
            builder.tags[index] = CHANGED
        else:
            builder.put(index, (UNREADABLE, builder.stat(index), NO_DIGEST, errno_name(error)))

    def _reopen(self, path: bytes) -> FolderBuilder:
        """Return the builder of a directory, reopening one that was kept as known."""
        known = self.folders.pop(path, None)
        if known is not None:
            self.builders[path] = reopen(known, known.stats)
        return self.builders[path]

    def pending(self, start: int = 0) -> list[tuple[FolderBuilder, Sequence[int]]]:
        """Return the files to hash by directory, in walk order, from the `start`th directory on."""
        work: list[tuple[FolderBuilder, Sequence[int]]] = []
        for builder in islice(self.builders.values(), start, None):
            if PENDING in builder.tags:
                tags = builder.tags
                whole = tags.count(PENDING) == len(tags)
                work.append(
                    (builder, range(len(tags)) if whole else [i for i, tag in enumerate(tags) if tag == PENDING])
                )
        return work

    def hash_here(self, work: Sequence[tuple[FolderBuilder, Sequence[int]]]) -> None:
        """Hash pending files in this process."""
        for builder, indexes in work:
            try:
                descriptor = self.cursor.at(builder.path)
            except OSError as error:
                gone = error.errno in (ENOENT, ENOTDIR, ELOOP)
                lost: EntryHash = (
                    VANISHED if gone else UNREADABLE,
                    NO_STAT,
                    NO_DIGEST,
                    "" if gone else errno_name(error),
                )
                for index in indexes:
                    builder.put(index, lost)
                continue
            for index in indexes:
                entry = hash_entry(descriptor, builder.names[index], self.buffer, self.settled_before, self.whole)
                builder.put(index, entry)
                self.files_read += entry[0] in (FILE, EXECUTABLE)

    def build_folders(self) -> None:
        """Turn every complete builder into a folder.

        Without known folders, one that has no subdirectories also gets its digest now. With known folders, which bring their
        digests, a missing digest marks what changed.
        """
        for path in [path for path, builder in self.builders.items() if builder.is_complete()]:
            folder = self.builders.pop(path).folder()
            self.folders[path] = folder if self.known or SUBFOLDER in folder.tags else seal_folder(folder, {})

    def classify_changed(self) -> bool:
        """Look again at entries whose type changed after the listing; return whether there were any."""
        again = [builder for builder in self.builders.values() if CHANGED in builder.tags]
        for builder in again:
            for index in [index for index, tag in enumerate(builder.tags) if tag == CHANGED]:
                descriptor = self.cursor.at(builder.path)
                self._classify(builder, index, descriptor)
                if builder.tags[index] == DIRECTORY and not self.only_known:
                    below = join(builder.path, builder.names[index])
                    try:
                        self.list_below(below)
                    except OSError as error:
                        self._fail(below, error)
        return bool(again)


def subfolders(known: Folder) -> list[bytes]:
    """Return the paths of a directory's subdirectories, last first."""
    return _joined(known.path, known.children(), known.tags) if SUBFOLDER in known.tags else []


def _joined(path: bytes, names: Sequence[bytes], tags: bytes | bytearray) -> list[bytes]:
    return [join(path, name) for name, tag in zip(names, tags, strict=True) if tag == DIRECTORY][::-1]
