"""Copy files and hash them in one pass, many of them in parallel processes (spec/50, spec/60).

These loops are not those of `fs`: they reuse one buffer and share blocks where the file system can, for seeding is measured.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Sequence
from fcntl import ioctl
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from stat import S_IFMT, S_IFREG
from struct import Struct

from blake3 import blake3

from outfitter.fingerprint.cursor import Cursor
from outfitter.fingerprint.hash_file import packed
from outfitter.fingerprint.pool import part_size, run_parts
from outfitter.fingerprint.tree import NO_DIGEST, NO_STAT, STAT, join
from outfitter.model.value import NamedTuple
from outfitter.sparse import HOLES, ask_for_room, copy_data, is_sparse, sparse_digest

BUFFER_SIZE = 1 << 20
# Linux's FICLONE: the new file shares the old one's blocks. Below this size an ordinary copy is as fast.
_CLONE = 0x40049409
CLONE_FROM = 256 * 1024
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


PARALLEL_FILES = 64
PART_FILES = 32
# DONE or FAILED; whether blocks were shared, or the errno; digest; packed stats of copy and source.
SLOT = Struct("<B3xI32s48s48s")
DONE, FAILED = 1, 2

Progress = Callable[[int, int], None]
Known = Callable[[bytes], tuple[bytes, bytes] | None]
"""(raw path) → the packed stat and the digest that are remembered of a file, if any."""


class Copy(NamedTuple):
    """A copied file: its digest, and the packed stats of copy and source.

    The source's has no identity where it changed twice while it was read, or is mostly holes: then nothing that is known of
    it counts.
    """

    digest: bytes
    made: bytes
    source: bytes


class Copier:
    """Copies files through one buffer; tries to share blocks until the file system refuses once."""

    def __init__(self) -> None:
        """Allocate the buffer."""
        self._buffer = memoryview(mmap(-1, BUFFER_SIZE, flags=MAP_PRIVATE | MAP_ANONYMOUS))
        self._clones = True
        self.cloned = False

    def copy(
        self,
        source: str | bytes,
        target: str | bytes,
        *,
        ends: tuple[int | None, int | None] = (None, None),
        executable: bool | None = None,
        known: Callable[[], tuple[bytes, bytes] | None] | None = None,
        keep_mtime: bool = False,
    ) -> Copy:
        """Copy `source` to the new file `target`, 0700 if `executable` (None: as the source is), else 0600.

        `ends` are the open directories that the names are relative to. `known` gives (packed stat, digest): a source whose
        stat is that is not read if its blocks can be shared. No link is followed; no more is copied than the
        source held when it was opened. Raises `OSError`, and leaves no target then.
        """
        descriptor = os.open(source, _READ, dir_fd=ends[0])
        try:
            before = os.fstat(descriptor)
            if S_IFMT(before.st_mode) != S_IFREG:
                raise OSError(errno.EINVAL, "not a regular file", os.fsdecode(source))
            runs = before.st_mode & 0o100 if executable is None else executable
            mode = 0o700 if runs else 0o600
            out = os.open(target, _WRITE, mode, dir_fd=ends[1])
            try:
                digest, after, stable = self._fill(descriptor, out, before, known)
                if keep_mtime:
                    os.utime(out, ns=(after.st_atime_ns, after.st_mtime_ns))
                made = os.fstat(out)
                if made.st_mode & 0o7777 != mode:
                    os.fchmod(out, mode)
                    made = os.fstat(out)
                known_later = stable and not is_sparse(after)
                return Copy(digest, packed(made), packed(after) if known_later else _unstable(after))
            except BaseException:
                os.unlink(target, dir_fd=ends[1])
                raise
            finally:
                os.close(out)
        finally:
            os.close(descriptor)

    def _fill(
        self, source: int, out: int, before: os.stat_result, known: Callable[[], tuple[bytes, bytes] | None] | None
    ) -> tuple[bytes, os.stat_result, bool]:
        """Copy, again if the source changed meanwhile; return (digest, source status, stable)."""
        for attempt in (1, 2):
            digest = self._once(source, out, before, known)
            after = os.fstat(source)
            if packed(after) == packed(before):
                return digest, after, True
            if attempt == 1:
                os.lseek(source, 0, os.SEEK_SET)
                os.lseek(out, 0, os.SEEK_SET)
                os.ftruncate(out, 0)
                before = after
        return digest, after, False

    def _once(
        self, source: int, out: int, status: os.stat_result, known: Callable[[], tuple[bytes, bytes] | None] | None
    ) -> bytes:
        size = status.st_size
        if size > HOLES and is_sparse(status):
            ask_for_room(out, status)
            copy_data(source, out, size)
            return sparse_digest(out, size)
        if size >= CLONE_FROM and self._clone(source, out):
            remembered = known() if known else None
            if remembered and remembered[0] == packed(status):
                return remembered[1]
            # What was shared is what is digested: the source may go on changing.
            return self._digest(out)
        ask_for_room(out, status)
        buffer = self._buffer
        count = os.readv(source, (buffer,))
        if count == size and count < BUFFER_SIZE:
            _write(out, buffer[:count])
            return blake3(buffer[:count]).digest()
        hasher = blake3()
        done = 0
        while count:
            part = buffer[: min(count, size - done)]
            hasher.update(part)
            _write(out, part)
            done += count
            if done >= size:
                break
            count = os.readv(source, (buffer,))
        return hasher.digest()

    def _clone(self, source: int, out: int) -> bool:
        if not self._clones:
            return False
        try:
            ioctl(out, _CLONE, source)
        except OSError:
            self._clones = False
            return False
        self.cloned = True
        return True

    def _digest(self, descriptor: int) -> bytes:
        hasher = blake3()
        while count := os.readv(descriptor, (self._buffer,)):
            hasher.update(self._buffer[:count])
        return hasher.digest()


def _unstable(status: os.stat_result) -> bytes:
    return STAT.pack(0, 0, status.st_size, 0, 0, status.st_mode)


def _write(out: int, part: memoryview) -> None:
    while part:
        part = part[os.write(out, part) :]


def _silent(done: int, total: int) -> None:
    """Report nothing."""


class Work:
    """The files of one tree that are to be copied, and the results."""

    def __init__(
        self, ends: tuple[int, int], files: Sequence[tuple[bytes, bytes]], known: Known, progress: Progress | None
    ) -> None:
        """Copy between the open directories `ends`; `files` are (raw directory, raw name) below both."""
        self._process = os.getpid()
        self._told = 0
        self.ends = ends
        self.files = files
        self.known = known
        self._progress = progress or _silent
        self.part = part_size(len(files), PART_FILES)

    def findings(self) -> bytes:
        """Copy everything, in parallel if there are many files; return one packed slot per file."""
        size = len(self.files) * SLOT.size
        if len(self.files) < PARALLEL_FILES:
            alone = bytearray(size)
            self._finish(alone)
            return bytes(alone)
        with mmap(-1, size) as shared:
            run_parts(-(-len(self.files) // self.part), lambda: _Copying(self, shared))
            self._finish(shared)
            return shared[:]

    def report(self, done: int) -> None:
        """Report progress from the parent process; workers are silent."""
        if done >= self._told and os.getpid() == self._process:
            self._told = done + 1
            self._progress(done, len(self.files))

    def _finish(self, slots: bytearray | mmap) -> None:
        """Copy what no worker has copied."""
        worker = _Copying(self, slots, again=True)
        try:
            for number in range(-(-len(self.files) // self.part)):
                worker.run_part(number)
        finally:
            worker.close()
        self.report(len(self.files))


class _Copying:
    """Copies parts of the work in one process."""

    def __init__(self, work: Work, slots: bytearray | mmap, *, again: bool = False) -> None:
        """`again`: an existing target was left by a worker that died, and is replaced."""
        self._work = work
        self._slots = slots
        self._again = again
        self._copier = Copier()
        self._from, self._to = Cursor(work.ends[0]), Cursor(work.ends[1])

    def run_part(self, number: int, /) -> None:
        work = self._work
        start = number * work.part
        work.report(start)
        for place in range(start, min(start + work.part, len(work.files))):
            if not self._slots[place * SLOT.size]:
                SLOT.pack_into(self._slots, place * SLOT.size, *self._one(*work.files[place]))

    def _one(self, parent: bytes, name: bytes) -> tuple[int, int, bytes, bytes, bytes]:
        try:
            made = self._copy(parent, name)
        except OSError as error:
            return FAILED, error.errno or errno.EIO, NO_DIGEST, NO_STAT, NO_STAT
        return DONE, self._copier.cloned, made.digest, made.made, made.source

    def _copy(self, parent: bytes, name: bytes) -> Copy:
        ends = self._from.at(parent), self._to.at(parent)

        def known() -> tuple[bytes, bytes] | None:
            return self._work.known(join(parent, name))

        try:
            return self._copier.copy(name, name, ends=ends, known=known, keep_mtime=True)
        except FileExistsError:
            if not self._again:
                raise
            os.unlink(name, dir_fd=ends[1])
            return self._copier.copy(name, name, ends=ends, known=known, keep_mtime=True)

    def close(self) -> None:
        """Close the directories."""
        self._from.close()
        self._to.close()
