"""Finding out what one entry is: the innermost loop of every fingerprint, and the open directory that gathers its findings (spec/60)."""

from __future__ import annotations

import os
from errno import ELOOP, ENOENT, ENOTDIR, ENXIO, errorcode
from stat import S_IFMT, S_IFREG

from blake3 import blake3

from outfitter.fingerprint.tree import DIGEST_SIZE, NO_DIGEST, NO_STAT, STAT, Folder, Remark

BUFFER_SIZE = 1 << 20

FILE, EXECUTABLE, LINK, DIRECTORY, OTHER, UNREADABLE = b"fxldou"
# Tags that stand for no entry: still to be read, gone, or no longer what the listing said.
PENDING, VANISHED, CHANGED = b".-?"
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

Finding = tuple[int, bytes, bytes, str]
"""(tag, packed stat, digest, note) of one entry."""
_CHANGED: Finding = (CHANGED, NO_STAT, NO_DIGEST, "")


class Draft:
    """A directory whose children are being found out: columns as in `Folder`, still open to change."""

    __slots__ = ("digests", "names", "notes", "path", "stats", "tags", "targets")

    def __init__(self, path: bytes, names: list[bytes]) -> None:
        """All children pending."""
        self.path = path
        self.names = names
        self.tags = bytearray([PENDING]) * len(names)
        self.stats = bytearray(STAT.size * len(names))
        self.digests = bytearray(DIGEST_SIZE * len(names))
        self.targets: dict[int, bytes] = {}
        self.notes: dict[int, str] = {}

    def put(self, index: int, finding: Finding) -> None:
        """What one child is."""
        self.tags[index], stat, digest, note = finding
        self.stats[index * STAT.size : (index + 1) * STAT.size] = stat
        self.digests[index * DIGEST_SIZE : (index + 1) * DIGEST_SIZE] = digest
        if note:
            self.notes[index] = note

    def stat(self, index: int) -> bytes:
        """One child's packed stat."""
        return bytes(self.stats[index * STAT.size : (index + 1) * STAT.size])

    def is_settled(self) -> bool:
        """Whether every child has been found out."""
        return PENDING not in self.tags and CHANGED not in self.tags

    def folder(self) -> Folder:
        """The finished directory, without what vanished."""
        if VANISHED in self.tags:
            self._drop_vanished()
        noted = sorted(self.targets.keys() | self.notes.keys()) if self.targets or self.notes else ()
        remarks = tuple([Remark(i, self.targets.get(i, b""), self.notes.get(i, "")) for i in noted])
        stats = bytes(self.stats)
        columns = (b"\0".join(self.names), bytes(self.tags), stats, bytes(self.digests))
        return Folder(self.path, *columns, remarks, newest_of(stats))

    def _drop_vanished(self) -> None:
        kept = [index for index, tag in enumerate(self.tags) if tag != VANISHED]
        place = {index: number for number, index in enumerate(kept)}
        digests = [self.digests[i * DIGEST_SIZE : (i + 1) * DIGEST_SIZE] for i in kept]
        self.targets = {place[i]: target for i, target in self.targets.items() if i in place}
        self.notes = {place[i]: note for i, note in self.notes.items() if i in place}
        self.names = [self.names[i] for i in kept]
        self.stats = bytearray().join([self.stat(i) for i in kept])
        self.digests = bytearray().join(digests)
        self.tags = bytearray([self.tags[i] for i in kept])


def newest_of(stats: bytes) -> int:
    """The latest mtime or ctime (ns) in a stat column, in which directories have none."""
    words = memoryview(stats).cast("q")
    return max(max(words[3::6], default=0), max(words[4::6], default=0))


def opened(known: Folder, stats: bytes) -> Draft:
    """A known directory as a draft, with `stats` as its stat column."""
    draft = Draft(known.path, known.children())
    draft.tags[:], draft.stats[:], draft.digests[:] = known.tags, stats, known.digests
    draft.targets = {remark.place: remark.target for remark in known.remarks if remark.target}
    return draft


def examine(directory: int, name: bytes, buffer: memoryview, settled: int) -> Finding:
    """One regular file: its digest, and the stat that goes with the bytes read. The innermost loop of every fingerprint.

    `buffer` is scratch space of BUFFER_SIZE. A file whose times are older than `settled` (ns; well before this scan
    began) was not written during it, so one look at its stat is enough for it. Reading at an offset takes
    nothing out of a pipe that stands in the file's place meanwhile.
    """
    try:
        descriptor = os.open(name, _OPEN, dir_fd=directory)
    except OSError as error:
        return _unopened(directory, name, error)
    try:
        count = os.preadv(descriptor, (buffer,), 0)
        s = os.fstat(descriptor)
        mode = s.st_mode
        if s.st_mtime_ns < settled and s.st_ctime_ns < settled and mode & 0o170000 == S_IFREG:
            if count == s.st_size and count < BUFFER_SIZE:
                digest = blake3(buffer[:count]).digest()
                return EXECUTABLE if mode & 0o100 else FILE, packed(s), digest, ""
            return _watched(descriptor, s, count, buffer)
        return _watched(descriptor, s, 0, buffer) if mode & 0o170000 == S_IFREG else _CHANGED
    except OSError as error:
        return _unread(descriptor, error)
    finally:
        os.close(descriptor)


def _watched(descriptor: int, before: os.stat_result, count: int, buffer: memoryview) -> Finding:
    """A file that is large or young, with its stat from before; its first `count` bytes are in the buffer.

    No more is read than it held before. One that changes is read again once, and marked `unstable` if it changed again.
    """
    note = "unstable"
    for _ in (1, 2):
        digest = _digest(descriptor, before.st_size, count, buffer)
        after = os.fstat(descriptor)
        still = after.st_mtime_ns == before.st_mtime_ns and after.st_ctime_ns == before.st_ctime_ns
        if still and after.st_size == before.st_size:
            note = ""
            break
        before, count = after, 0
    return EXECUTABLE if after.st_mode & 0o100 else FILE, packed(after), digest, note


def _digest(descriptor: int, size: int, count: int, buffer: memoryview) -> bytes:
    """The digest of a file's first `size` bytes, `count` of which are in the buffer, or of all where it holds fewer."""
    hasher = blake3()
    hasher.update(buffer[: min(count, size)])
    while count < size:
        more = os.preadv(descriptor, (buffer,), count)
        if not more:
            break
        hasher.update(buffer[: min(more, size - count)])
        count += more
    return hasher.digest()


def _unread(descriptor: int, error: OSError) -> Finding:
    """A descriptor that cannot be read: no regular file any more, or a failing disk."""
    try:
        if S_IFMT(os.fstat(descriptor).st_mode) != S_IFREG:
            return _CHANGED
    except OSError:
        pass
    return UNREADABLE, NO_STAT, NO_DIGEST, word(error)


def packed(status: os.stat_result) -> bytes:
    """The columns of `STAT` for a file, link or special file."""
    return STAT.pack(
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_mode
    )


def packed_directory(status: os.stat_result) -> bytes:
    """A directory's size and times tell nothing that its own listing does not."""
    return STAT.pack(status.st_dev, status.st_ino, 0, 0, 0, status.st_mode)


def _unopened(directory: int, name: bytes, error: OSError) -> Finding:
    if error.errno == ENOENT:
        return VANISHED, NO_STAT, NO_DIGEST, ""
    if error.errno in (ELOOP, ENXIO, ENOTDIR):
        return _CHANGED
    try:
        status = os.stat(name, dir_fd=directory, follow_symlinks=False)
    except OSError as gone:
        absent = gone.errno == ENOENT
        return VANISHED if absent else UNREADABLE, NO_STAT, NO_DIGEST, "" if absent else word(gone)
    return UNREADABLE, packed(status), NO_DIGEST, word(error)


def word(error: OSError) -> str:
    """An error's name, as fingerprints and notices carry it."""
    return errorcode.get(error.errno or 0, "EIO")
