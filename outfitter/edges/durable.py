"""Durable files after a run: looked at, and replaced so that neither a kill nor another writer can lose a byte (spec/50).

Every write goes to an exclusive temporary beside the final target; links on the way are followed and stay. Nothing here
removes or shortens a durable path: the only names ever unlinked are our own temporaries.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable

from outfitter.edges.beside import Beside, flush_path
from outfitter.edges.content import CHUNK, copy_bytes, digest_of, identity_of, open_source, write_all
from outfitter.edges.kept import keep, totals
from outfitter.edges.native_lock import locked
from outfitter.host import Durable, Seen
from outfitter.model.outcome import Identity
from outfitter.threeway import CHANGED, MADE, as_at_launch

SMALL = 10 * 1024 * 1024
_PRIVATE, _EXECUTABLE = 0o600, 0o700


def real_durable(state_root: str, flush: Callable[[int], None] = os.fsync) -> Durable:
    """The durable side of this machine; `state_root` is Outfitter's state directory, `flush` makes a descriptor's data last."""
    writer = _Writer(flush)
    conflicts = os.path.join(state_root, "conflicts")
    return Durable(
        look=writer.look,
        read=read_small,
        replace=writer.replace,
        write=writer.write,
        keep=lambda source, unsaved: keep(conflicts, source, unsaved, flush),
        locked=locked,
        prefix=prefix,
        flush=writer.flush,
        tidy=writer.tidy,
        kept=lambda: totals(conflicts),
    )


def read_small(path: str) -> bytes:
    """The bytes of a regular file of 10 MB at most, links followed; anything else is an `OSError`."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        if status.st_size > SMALL:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), path)
        parts = bytearray()
        while len(parts) <= SMALL and (chunk := os.read(descriptor, CHUNK)):
            parts += chunk
        return bytes(parts)
    finally:
        os.close(descriptor)


def prefix(projected: str, durable: str, seeded_size: int) -> tuple[bool, bool]:
    """(projected is empty or a strict prefix of durable, durable is a prefix of projected); a projected file of the seeded size or more is no cut."""
    one, status = open_source(projected)
    try:
        if status.st_size >= seeded_size:
            return False, False
        other = os.open(durable, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            size = os.fstat(other).st_size
            same = _begin_alike(one, other, min(status.st_size, size))
        finally:
            os.close(other)
    finally:
        os.close(one)
    return status.st_size == 0 or (same and status.st_size < size), same and size <= status.st_size


def _begin_alike(one: int, other: int, size: int) -> bool:
    offset = 0
    while offset < size:
        length = min(CHUNK, size - offset)
        left = os.pread(one, length, offset)
        if not left or left != os.pread(other, len(left), offset):
            return False
        offset += len(left)
    return True


class _Writer:
    """Looks and writes, and remembers what it looked at, so that an untouched file is not read again before it is replaced."""

    def __init__(self, flush: Callable[[int], None]) -> None:
        self._flush = flush
        self._looked: dict[str, tuple[Identity, bytes, int]] = {}
        self._tidied: set[str] = set()
        self._written: dict[str, None] = {}

    def look(self, path: str, known: Identity | None, digest: bytes | None) -> Seen | None:
        """The file as it is now, links followed; a directory or a special file raises."""
        real = os.path.realpath(path)
        moment = time.time_ns()
        try:
            status = os.lstat(real)
        except FileNotFoundError:
            return None
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", path)
        if digest is None or known != identity_of(status):
            digest, status = _hash(real)
        seen = Seen(real, digest, status.st_size, stat.S_IMODE(status.st_mode), identity_of(status))
        self._looked[real] = (seen.identity, digest, moment)
        return seen

    def replace(self, source: str, target: str, expected: bytes | None, mode: int | None, keep_mtime: bool) -> str:
        """Put a copy of `source` at `target`; "" or why not."""
        try:
            descriptor, status = open_source(source)
        except OSError as error:
            return reason(error)
        fresh = _EXECUTABLE if status.st_mode & stat.S_IXUSR else _PRIVATE

        def fill(out: int) -> None:
            copy_bytes(descriptor, out, status.st_size)
            if keep_mtime:
                os.utime(out, ns=(status.st_atime_ns, status.st_mtime_ns))

        try:
            return self._put(target, expected, mode, fresh, fill)
        finally:
            os.close(descriptor)

    def write(self, target: str, content: bytes, expected: bytes | None, mode: int | None) -> str:
        """Put `content` at `target`; "" or why not."""
        return self._put(target, expected, mode, _PRIVATE, lambda out: write_all(out, content))

    def _put(
        self, target: str, expected: bytes | None, mode: int | None, fresh: int, fill: Callable[[int], None]
    ) -> str:
        real = os.path.realpath(target)
        try:
            with Beside(real, self._flush) as beside:
                beside.begin(mode, fresh)
                fill(beside.descriptor)
                self._flush(beside.descriptor)
                with beside.alone():
                    why = self._changed(beside, real, expected)
                    if not why:
                        why = beside.appear() if expected is None else beside.take_over(expected)
                self._written[os.path.dirname(real)] = None
                return {"": "", "exists": MADE, "changed": CHANGED}.get(why, why)
        except OSError as error:
            return reason(error)
        finally:
            self._looked.pop(real, None)

    def _changed(self, beside: Beside, real: str, expected: bytes | None) -> str:
        """Why the target is no longer what was expected; what was looked at and did not move since is not read again."""
        status = beside.status()
        if status is None:
            return "" if expected is None else "changed"
        if expected is None:
            return "exists"
        known = self._looked.get(real)
        if known and known[:2] == (identity_of(status), expected) and as_at_launch(known[0], known[2]):
            return ""
        return "" if beside.digest() == expected else "changed"

    def tidy(self, target: str) -> None:
        """Take away, once a folder, what a killed launcher left of its own beside a durable path."""
        directory = os.path.dirname(target)
        if directory not in self._tidied:
            self._tidied.add(directory)
            Beside.tidy(os.path.dirname(os.path.realpath(target)))

    def flush(self) -> str:
        """Flush every folder written in so far, once, in the order of the first write; the first refusal, in the system's words."""
        why = ""
        while self._written:
            directory = next(iter(self._written))
            del self._written[directory]
            try:
                flush_path(directory, self._flush)
            except OSError as error:
                why = why or f"{directory}: {reason(error)}"
        return why


def _hash(path: str) -> tuple[bytes, os.stat_result]:
    descriptor, status = open_source(path)
    try:
        return digest_of(descriptor, status.st_size), status
    finally:
        os.close(descriptor)


def reason(error: OSError) -> str:
    """The system's words for an error, without the path, which the caller names."""
    return error.strerror or str(error)
