"""Hash one entry, the innermost loop of every fingerprint, and collect results (spec/60)."""

from __future__ import annotations

import os
from errno import ELOOP, ENOENT, ENOTDIR, ENXIO, errorcode
from stat import S_IFMT, S_IFREG

from blake3 import blake3

from outfitter.fingerprint.tree import DIGEST_SIZE, NO_DIGEST, NO_STAT, STAT, ChildExtra, Folder
from outfitter.sparse import is_sparse, sparse_digest

BUFFER_SIZE = 1 << 20

FILE, EXECUTABLE, LINK, DIRECTORY, OTHER, UNREADABLE = b"fxldou"
# Tags of children without a result: to be hashed, gone, or no longer of the listed type.
PENDING, VANISHED, CHANGED = b".-?"
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

EntryHash = tuple[int, bytes, bytes, str]
"""(tag, packed stat, digest, note) of one entry."""
_CHANGED: EntryHash = (CHANGED, NO_STAT, NO_DIGEST, "")


class FolderBuilder:
    """A directory while its children are hashed: columns as in `Folder`, still open to change."""

    __slots__ = ("digests", "names", "notes", "path", "stats", "tags", "targets")

    def __init__(self, path: bytes, names: list[bytes]) -> None:
        """All children are pending."""
        self.path = path
        self.names = names
        self.tags = bytearray([PENDING]) * len(names)
        self.stats = bytearray(STAT.size * len(names))
        self.digests = bytearray(DIGEST_SIZE * len(names))
        self.targets: dict[int, bytes] = {}
        self.notes: dict[int, str] = {}

    def put(self, index: int, entry: EntryHash) -> None:
        """Store the result for one child."""
        self.tags[index], stat, digest, note = entry
        self.stats[index * STAT.size : (index + 1) * STAT.size] = stat
        self.digests[index * DIGEST_SIZE : (index + 1) * DIGEST_SIZE] = digest
        if note:
            self.notes[index] = note

    def stat(self, index: int) -> bytes:
        """Return one child's packed stat."""
        return bytes(self.stats[index * STAT.size : (index + 1) * STAT.size])

    def is_complete(self) -> bool:
        """Return whether every child has a result."""
        return PENDING not in self.tags and CHANGED not in self.tags

    def folder(self) -> Folder:
        """Return the finished directory without the children that vanished."""
        if VANISHED in self.tags:
            self._drop_vanished()
        special = sorted(self.targets.keys() | self.notes.keys()) if self.targets or self.notes else ()
        extras = tuple([ChildExtra(i, self.targets.get(i, b""), self.notes.get(i, "")) for i in special])
        stats = bytes(self.stats)
        columns = (b"\0".join(self.names), bytes(self.tags), stats, bytes(self.digests))
        return Folder(self.path, *columns, extras, newest_of(stats))

    def _drop_vanished(self) -> None:
        kept = [index for index, tag in enumerate(self.tags) if tag != VANISHED]
        new_index = {index: number for number, index in enumerate(kept)}
        digests = [self.digests[i * DIGEST_SIZE : (i + 1) * DIGEST_SIZE] for i in kept]
        self.targets = {new_index[i]: target for i, target in self.targets.items() if i in new_index}
        self.notes = {new_index[i]: note for i, note in self.notes.items() if i in new_index}
        self.names = [self.names[i] for i in kept]
        self.stats = bytearray().join([self.stat(i) for i in kept])
        self.digests = bytearray().join(digests)
        self.tags = bytearray([self.tags[i] for i in kept])


def newest_of(stats: bytes) -> int:
    """Return the latest mtime or ctime (ns) in a stat column; directories have none there."""
    fields = memoryview(stats).cast("q")
    return max(max(fields[3::6], default=0), max(fields[4::6], default=0))


def reopen(known: Folder, stats: bytes) -> FolderBuilder:
    """Return a known directory as a builder with `stats` as its stat column."""
    builder = FolderBuilder(known.path, known.children())
    builder.tags[:], builder.stats[:], builder.digests[:] = known.tags, stats, known.digests
    builder.targets = {extra.child: extra.target for extra in known.extras if extra.target}
    return builder


def hash_entry(directory: int, name: bytes, buffer: memoryview, settled: int, whole: bool) -> EntryHash:
    """Return the digest of one regular file, and the stat that belongs to the bytes read.

    `buffer` is scratch space of BUFFER_SIZE. `settled` is a time (ns) well before this scan began: a file whose times are
    older was not written during the scan, so one look at its stat is enough. `whole` as for `_watched`.
    """
    try:
        descriptor = os.open(name, _OPEN, dir_fd=directory)
    except OSError as error:
        return _unopened(directory, name, error)
    try:
        # If a pipe has taken the file's place, reading at an offset fails and takes nothing out of it.
        count = os.preadv(descriptor, (buffer,), 0)
        s = os.fstat(descriptor)
        mode = s.st_mode
        if s.st_mtime_ns < settled and s.st_ctime_ns < settled and mode & 0o170000 == S_IFREG:
            if count == s.st_size and count < BUFFER_SIZE:
                digest = blake3(buffer[:count]).digest()
                return EXECUTABLE if mode & 0o100 else FILE, packed(s), digest, ""
            return _watched(descriptor, s, count, buffer, whole)
        return _watched(descriptor, s, 0, buffer, whole) if mode & 0o170000 == S_IFREG else _CHANGED
    except OSError as error:
        return _unread(descriptor, error)
    finally:
        os.close(descriptor)


def _watched(descriptor: int, before: os.stat_result, count: int, buffer: memoryview, whole: bool) -> EntryHash:
    """Hash a file that is large or young; `before` is its stat, its first `count` bytes are in the buffer.

    Unless `whole`, a file that is mostly holes has the digest of `outfitter.sparse`.

    No more is read than it held before. A file that changes meanwhile is read once more, and noted as `unstable` if it
    changes again.
    """
    note = "unstable"
    for _ in (1, 2):
        if not whole and is_sparse(before):
            digest = sparse_digest(descriptor, before.st_size)
        else:
            digest = _digest(descriptor, before.st_size, count, buffer)
        after = os.fstat(descriptor)
        still = after.st_mtime_ns == before.st_mtime_ns and after.st_ctime_ns == before.st_ctime_ns
        if still and after.st_size == before.st_size:
            note = ""
            break
        before, count = after, 0
    return EXECUTABLE if after.st_mode & 0o100 else FILE, packed(after), digest, note


def _digest(descriptor: int, size: int, count: int, buffer: memoryview) -> bytes:
    """Return the digest of a file's first `size` bytes, or of all if it holds fewer.

    Its first `count` bytes are in the buffer.
    """
    hasher = blake3()
    hasher.update(buffer[: min(count, size)])
    while count < size:
        more = os.preadv(descriptor, (buffer,), count)
        if not more:
            break
        hasher.update(buffer[: min(more, size - count)])
        count += more
    return hasher.digest()


def _unread(descriptor: int, error: OSError) -> EntryHash:
    """Return the result for a descriptor that cannot be read: another type by now, or a failing disk."""
    try:
        if S_IFMT(os.fstat(descriptor).st_mode) != S_IFREG:
            return _CHANGED
    except OSError:
        pass
    return UNREADABLE, NO_STAT, NO_DIGEST, errno_name(error)


def packed(status: os.stat_result) -> bytes:
    """Pack the `STAT` columns of a file, symlink or special file."""
    return STAT.pack(
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode
    )


def packed_directory(status: os.stat_result) -> bytes:
    """Pack the `STAT` columns of a directory, without size and times: its own listing covers those."""
    return STAT.pack(status.st_dev, status.st_ino, 0, 0, 0, status.st_mode)


def _unopened(directory: int, name: bytes, error: OSError) -> EntryHash:
    if error.errno == ENOENT:
        return VANISHED, NO_STAT, NO_DIGEST, ""
    if error.errno in (ELOOP, ENXIO, ENOTDIR):
        return _CHANGED
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except OSError as gone:
        absent = gone.errno == ENOENT
        return VANISHED if absent else UNREADABLE, NO_STAT, NO_DIGEST, "" if absent else errno_name(gone)
    return UNREADABLE, packed(status), NO_DIGEST, errno_name(error)


def errno_name(error: OSError) -> str:
    """Return an error's errno name, as fingerprints and notices carry it."""
    return errorcode.get(error.errno or 0, "EIO")
