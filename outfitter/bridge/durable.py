"""Look at durable files and replace them; neither a kill nor another writer loses a byte (spec/50).

Every write goes to an exclusive temporary next to the final target; symlinks on the way are followed and stay. Each temporary is
flushed before it gets its name, and each directory once at the end. Nothing here removes or shortens a durable file: only our
own temporaries are ever unlinked.
"""

import errno
import os
import stat
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from outfitter.atomic import LOCK_SECONDS, AtomicFile, flush_path, has_second_name
from outfitter.bridge.conflict_store import store, totals
from outfitter.bridge.native_lock import locked
from outfitter.bridge.threeway import as_at_launch
from outfitter.fs import (
    CHUNK,
    copy_bytes,
    digest_of,
    identity_of,
    is_temporary,
    open_regular,
    read_regular,
    write_whole,
)
from outfitter.host import Durable, DurableState, Replacement, Unsaved, WriteFailure
from outfitter.model.errors import os_error_text
from outfitter.model.outcome import Identity
from outfitter.sparse import is_sparse, sparse_digest

# Fewer files than this are flushed one by one; more, so many at once.
_FEW, _AT_ONCE = 4, 16
# So many entries of a directory are looked at for files that a run changed: what an installer adds is far less.
_LOOKED_AT = 20_000
_PRIVATE, _EXECUTABLE = 0o600, 0o700
_MADE = WriteFailure("conflict", "made meanwhile by another program")
_CHANGED = WriteFailure("conflict", "changed meanwhile by another program")


def real_durable(state_root: str, flush: Callable[[int], None] = os.fsync) -> Durable:
    """Return the durable side of this machine.

    `state_root` is Outfitter's state directory; `flush` flushes a descriptor to the disk.
    """
    return _RealDurable(state_root, flush)


def prefix(projected: str, durable: str, seeded_size: int) -> tuple[bool, bool]:
    """Return (projected is empty or a strict prefix of durable, durable is a prefix of projected).

    Both are False for a projected file of at least the seeded size (bytes), which was not truncated.
    """
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
    if any(is_sparse(os.fstat(descriptor)) for descriptor in (one, other)):
        return sparse_digest(one, size) == sparse_digest(other, size)
    offset = 0
    while offset < size:
        length = min(CHUNK, size - offset)
        left = os.pread(one, length, offset)
        if not left or left != os.pread(other, len(left), offset):
            return False
        offset += len(left)
    return True


class _Begun(NamedTuple):
    """A write in progress: the target's real path, the digest it must have, and the filled temporary."""

    real: str
    expected: bytes | None
    file: AtomicFile


class _DurableWriter:
    """Looks and writes.

    State: what was looked at (not read again while unchanged), and which directories were tidied (in part, if second
    names were spared), written to or found locked.
    """

    def __init__(self, flush: Callable[[int], None]) -> None:
        self._flush = flush
        self._looked: dict[str, tuple[Identity, bytes, int]] = {}
        self._tidied: set[str] = set()
        self._spared: set[str] = set()
        self._written: dict[str, None] = {}
        # Directories locked by another process for longer than we wait: tried again, but without waiting.
        self._held: set[str] = set()

    def look(self, path: str, known: Identity | None, digest: bytes | None) -> DurableState | None:
        """Return the file as it is now, symlinks followed. Raises `OSError` unless it is a regular file."""
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
        linked = has_second_name(real, status)
        seen = DurableState(real, digest, status.st_size, stat.S_IMODE(status.st_mode), identity_of(status), linked)
        self._looked[real] = (seen.identity, digest, moment)
        return seen

    def replace(self, wanted: Sequence[Replacement]) -> list[WriteFailure | None]:
        """Put copies at their targets; return None or the failure for each.

        All are written before the first is flushed, which costs far less.
        """
        begun: list[_Begun | WriteFailure] = []
        try:
            for replacement in wanted:
                begun.append(self._begin_copy(replacement))
            refused = self._flush_all([write.file.descriptor for write in begun if isinstance(write, _Begun)])
            return [
                write if isinstance(write, WriteFailure) else refused.get(write.file.descriptor) or self._finish(write)
                for write in begun
            ]
        finally:
            for write in begun:
                if isinstance(write, _Begun):
                    write.file.close()

    def write(self, target: str, content: bytes, expected: bytes | None, mode: int | None) -> WriteFailure | None:
        """Put `content` at `target`."""
        begun = self._begin(target, expected, mode, _PRIVATE, lambda out: write_whole(out, content))
        if isinstance(begun, WriteFailure):
            return begun
        try:
            refused = self._flush_all([begun.file.descriptor])
            return next(iter(refused.values()), None) or self._finish(begun)
        finally:
            begun.file.close()

    def _begin_copy(self, replacement: Replacement) -> _Begun | WriteFailure:
        try:
            descriptor, status = open_regular(replacement.source)
        except OSError as error:
            return _refused(error)
        fresh = _EXECUTABLE if status.st_mode & stat.S_IXUSR else _PRIVATE

        def fill(out: int) -> None:
            copy_bytes(descriptor, out, status.st_size)
            if replacement.keep_mtime:
                os.utime(out, ns=(status.st_atime_ns, status.st_mtime_ns))

        try:
            return self._begin(replacement.target, replacement.expected, replacement.mode, fresh, fill)
        finally:
            os.close(descriptor)

    def _begin(
        self, target: str, expected: bytes | None, mode: int | None, fresh: int, fill: Callable[[int], None]
    ) -> _Begun | WriteFailure:
        """Write the temporary, without flushing it yet."""
        real = os.path.realpath(target)
        self.tidy(real)
        try:
            patience = 0.0 if os.path.dirname(real) in self._held else LOCK_SECONDS
            file = AtomicFile(real, self._flush, patience)
        except OSError as error:
            return _refused(error)
        try:
            file.begin(mode, fresh)
            fill(file.descriptor)
        except BaseException as error:
            file.close()
            if not isinstance(error, OSError):
                raise
            if error.errno == errno.EAGAIN:
                self._held.add(os.path.dirname(real))
            return _refused(error)
        return _Begun(real, expected, file)

    def _flush_all(self, descriptors: list[int]) -> dict[int, WriteFailure]:
        """Flush many files at a time, which the file system does in one go; return failures by descriptor."""

        def flush(descriptor: int) -> WriteFailure | None:
            try:
                self._flush(descriptor)
            except OSError as error:
                return _refused(error)
            return None

        if len(descriptors) < _FEW:
            failures = [flush(descriptor) for descriptor in descriptors]
        else:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(_AT_ONCE) as pool:
                failures = list(pool.map(flush, descriptors))
        return {descriptor: failure for descriptor, failure in zip(descriptors, failures, strict=True) if failure}

    def _finish(self, begun: _Begun) -> WriteFailure | None:
        """Give a temporary its name if the target is still what was expected."""
        try:
            with begun.file.locked():
                failure = self._changed(begun)
                if not failure and begun.expected is None:
                    failure = None if begun.file.create() else _MADE
                elif not failure and begun.expected is not None:
                    failure = None if begun.file.replace(begun.expected) else _CHANGED
        except OSError as error:
            return _refused(error)
        finally:
            self._looked.pop(begun.real, None)
        self._written[os.path.dirname(begun.real)] = None
        return failure

    def _changed(self, begun: _Begun) -> WriteFailure | None:
        """Return a failure if the target is not what was expected; one that did not change is not read again."""
        status = begun.file.status()
        if status is None:
            return None if begun.expected is None else _CHANGED
        if begun.expected is None:
            return _MADE
        known = self._looked.get(begun.real)
        if known and known[:2] == (identity_of(status), begun.expected) and as_at_launch(known[0], known[2]):
            return None
        return None if begun.file.digest() == begun.expected else _CHANGED

    def tidy(self, target: str) -> None:
        """Remove, once per directory, what killed launchers left next to a durable file.

        Second names of durable files stay until `flush`: see `DurableState.linked`.
        """
        directory = os.path.dirname(target)
        if directory not in self._tidied:
            self._tidied.add(directory)
            real = os.path.dirname(os.path.realpath(target))
            if AtomicFile.tidy(real, spare_linked=True):
                self._spared.add(real)

    def flush(self) -> WriteFailure | None:
        """Flush every directory written to so far, once, in the order of the first write."""
        while self._spared:
            AtomicFile.tidy(self._spared.pop())
        failure: WriteFailure | None = None
        while self._written:
            directory = next(iter(self._written))
            del self._written[directory]
            try:
                flush_path(directory, self._flush)
            except OSError as error:
                failure = failure or WriteFailure("error", f"{directory}: {os_error_text(error)}")
        return failure


def recent(directory: str, since_ns: int) -> list[str]:
    """Return regular files below a directory that changed since `since_ns`, but not Git's own.

    Symlinks are not followed, and what cannot be listed is left out. The look ends after `_LOOKED_AT` entries.
    """
    found: list[str] = []
    waiting = [directory]
    seen = 0
    while waiting and seen < _LOOKED_AT:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    seen += 1
                    if entry.is_dir(follow_symlinks=False):
                        waiting += [] if entry.name == ".git" else [entry.path]
                    elif entry.is_file(follow_symlinks=False) and not is_temporary(entry.name):
                        found += [entry.path] if entry.stat(follow_symlinks=False).st_ctime_ns >= since_ns else []
        except OSError:
            continue
    return sorted(found)


def _refused(error: OSError) -> WriteFailure:
    return WriteFailure("error", os_error_text(error))


class _RealDurable(_DurableWriter):
    """`Durable` on this machine."""

    read = staticmethod(read_regular)
    prefix = staticmethod(prefix)
    exists = staticmethod(os.path.exists)
    recent = staticmethod(recent)
    locked = staticmethod(locked)

    def __init__(self, state_root: str, flush: Callable[[int], None]) -> None:
        super().__init__(flush)
        self._conflicts = os.path.join(state_root, "conflicts")

    def keep(self, source: str, unsaved: Unsaved) -> str:
        """Keep a content in the conflict store, and return its path there."""
        return store(self._conflicts, source, unsaved, self._flush)

    def kept(self) -> tuple[int, int]:
        """Return how many contents the conflict store holds, and their bytes."""
        return totals(self._conflicts)


def _hash(path: str) -> tuple[bytes, os.stat_result]:
    descriptor, status = open_regular(path)
    try:
        return digest_of(descriptor, status.st_size), status
    finally:
        os.close(descriptor)
