"""Durable files after a run: looked at, and replaced so that neither a kill nor another writer can lose a byte (spec/50).

Every write goes to an exclusive temporary beside the final target; links on the way are followed and stay. Nothing here
removes or shortens a durable path: the only names ever unlinked are our own temporaries.
"""

import errno
import os
import stat
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from outfitter.atomic import LOCK_SECONDS, Beside, flush_path
from outfitter.bridge.conflict_store import keep, totals
from outfitter.bridge.native_lock import locked
from outfitter.bridge.threeway import CHANGED, MADE, as_at_launch
from outfitter.fs import CHUNK, copy_bytes, digest_of, identity_of, open_regular, read_regular, write_whole
from outfitter.host import Durable, Replacement, Seen, Unsaved
from outfitter.model.errors import os_error_text
from outfitter.model.outcome import Identity

# Fewer files than this are flushed one by one; more, so many at once.
_FEW, _AT_ONCE = 4, 16
_PRIVATE, _EXECUTABLE = 0o600, 0o700


def real_durable(state_root: str, flush: Callable[[int], None] = os.fsync) -> Durable:
    """The durable side of this machine; `state_root` is Outfitter's state directory, `flush` makes a descriptor's data last."""
    return _RealDurable(state_root, flush)


def prefix(projected: str, durable: str, seeded_size: int) -> tuple[bool, bool]:
    """(projected is empty or a strict prefix of durable, durable is a prefix of projected); a projected file of the seeded size or more is no cut."""
    one, status = open_regular(projected)
    try:
        if status.st_size >= seeded_size:
            return False, False
        other, durable_status = open_regular(durable, follow=True)
        try:
            size = durable_status.st_size
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


class _Begun(NamedTuple):
    """A temporary with its bytes: the target's real path, what that must hold, and the temporary."""

    real: str
    expected: bytes | None
    beside: Beside


class _Writer:
    """Looks and writes, and remembers what it looked at, so that an untouched file is not read again before it is replaced."""

    def __init__(self, flush: Callable[[int], None]) -> None:
        self._flush = flush
        self._looked: dict[str, tuple[Identity, bytes, int]] = {}
        self._tidied: set[str] = set()
        self._written: dict[str, None] = {}
        # Folders whose lock somebody held for longer than we wait: asked again, but not waited for again.
        self._held: set[str] = set()

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

    def replace(self, wanted: Sequence[Replacement]) -> list[str]:
        """Put copies at their targets; for each "" or why not. All are written before the first is flushed, which costs far less."""
        begun: list[_Begun | str] = []
        try:
            for one in wanted:
                begun.append(self._begin_copy(one))
            refused = self._flush_all([made.beside.descriptor for made in begun if isinstance(made, _Begun)])
            return [
                made if isinstance(made, str) else refused.get(made.beside.descriptor) or self._finish(made)
                for made in begun
            ]
        finally:
            for made in begun:
                if isinstance(made, _Begun):
                    made.beside.close()

    def write(self, target: str, content: bytes, expected: bytes | None, mode: int | None) -> str:
        """Put `content` at `target`; "" or why not."""
        begun = self._begin(target, expected, mode, _PRIVATE, lambda out: write_whole(out, content))
        if isinstance(begun, str):
            return begun
        try:
            refused = self._flush_all([begun.beside.descriptor])
            return next(iter(refused.values()), "") or self._finish(begun)
        finally:
            begun.beside.close()

    def _begin_copy(self, one: Replacement) -> _Begun | str:
        try:
            descriptor, status = open_regular(one.source)
        except OSError as error:
            return os_error_text(error)
        fresh = _EXECUTABLE if status.st_mode & stat.S_IXUSR else _PRIVATE

        def fill(out: int) -> None:
            copy_bytes(descriptor, out, status.st_size)
            if one.keep_mtime:
                os.utime(out, ns=(status.st_atime_ns, status.st_mtime_ns))

        try:
            return self._begin(one.target, one.expected, one.mode, fresh, fill)
        finally:
            os.close(descriptor)

    def _begin(
        self, target: str, expected: bytes | None, mode: int | None, fresh: int, fill: Callable[[int], None]
    ) -> _Begun | str:
        """The temporary with its bytes, not flushed yet; or why there is none."""
        real = os.path.realpath(target)
        try:
            patience = 0.0 if os.path.dirname(real) in self._held else LOCK_SECONDS
            beside = Beside(real, self._flush, patience)
        except OSError as error:
            return os_error_text(error)
        try:
            beside.begin(mode, fresh)
            fill(beside.descriptor)
        except BaseException as error:
            beside.close()
            if not isinstance(error, OSError):
                raise
            if error.errno == errno.EAGAIN:
                self._held.add(os.path.dirname(real))
            return os_error_text(error)
        return _Begun(real, expected, beside)

    def _flush_all(self, descriptors: list[int]) -> dict[int, str]:
        """Flush files, many at a time, so that the file system can do it in one go; the refusals by descriptor."""

        def flush(descriptor: int) -> str:
            try:
                self._flush(descriptor)
            except OSError as error:
                return os_error_text(error)
            return ""

        if len(descriptors) < _FEW:
            told = [flush(descriptor) for descriptor in descriptors]
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(_AT_ONCE) as pool:
                told = list(pool.map(flush, descriptors))
        return {descriptor: why for descriptor, why in zip(descriptors, told, strict=True) if why}

    def _finish(self, begun: _Begun) -> str:
        """Rename or link a temporary into place if its target is still what was expected; "" or why not."""
        try:
            with begun.beside.alone():
                why = self._changed(begun.beside, begun.real, begun.expected)
                if not why:
                    expected = begun.expected
                    why = begun.beside.appear() if expected is None else begun.beside.take_over(expected)
        except OSError as error:
            return os_error_text(error)
        finally:
            self._looked.pop(begun.real, None)
        self._written[os.path.dirname(begun.real)] = None
        return {"exists": MADE, "changed": CHANGED}.get(why, why)

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
                why = why or f"{directory}: {os_error_text(error)}"
        return why


class _RealDurable(_Writer):
    """`Durable` of this machine."""

    read = staticmethod(read_regular)
    prefix = staticmethod(prefix)
    locked = staticmethod(locked)

    def __init__(self, state_root: str, flush: Callable[[int], None]) -> None:
        super().__init__(flush)
        self._conflicts = os.path.join(state_root, "conflicts")

    def keep(self, source: str, unsaved: Unsaved) -> str:
        """Keep a content in the conflict store, and return its path there."""
        return keep(self._conflicts, source, unsaved, self._flush)

    def kept(self) -> tuple[int, int]:
        """Return how many contents the conflict store holds, and their bytes."""
        return totals(self._conflicts)


def _hash(path: str) -> tuple[bytes, os.stat_result]:
    descriptor, status = open_regular(path)
    try:
        return digest_of(descriptor, status.st_size), status
    finally:
        os.close(descriptor)
