"""Replace a file atomically and only if it is what it was (spec/50, "One rule for every copy back")."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from outfitter.fs import (
    NEW,
    NO_HARD_LINKS,
    NOT_REGULAR,
    READ,
    digest_of,
    give_to_owner_of,
    is_temporary,
    temporary_name,
)
from outfitter.model.outcome import GRANULARITY_NS

LOCK_SECONDS, _POLL_S = 10.0, 0.01
_NO_LOCKS = (errno.EOPNOTSUPP, errno.ENOSYS, errno.ENOLCK, errno.EBADF, errno.EINVAL, errno.EACCES)


class AtomicFile:
    """A temporary file next to its target: `begin`, write, `create` or `replace`, then `close`.

    All names are relative to the open directory. The temporary is flocked while it is in use, so that `tidy` can tell one
    of a killed launcher from that of a live one. The caller flushes the descriptor before it gives the file its name: only
    the caller knows whether many are flushed at once.
    """

    def __init__(self, real: str, flush: Callable[[int], None], patience: float = LOCK_SECONDS) -> None:
        """`real` is absolute, with every symlink resolved; missing parent directories are made (0700).

        `flush` flushes a new directory's name. `patience`: seconds to wait for the lock of the parent directory.
        """
        self._patience = patience
        parent, self._name = os.path.split(real)
        self._directory = open_directory(parent, flush)
        self._temporary = ""
        self._backup = ""
        self.descriptor = -1

    def __enter__(self) -> AtomicFile:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the temporary and the old file's second name if they are left; may be called again."""
        for name in (self._temporary, self._backup):
            if name:
                with suppress(OSError):
                    os.unlink(name, dir_fd=self._directory)
        self._temporary = self._backup = ""
        for descriptor in (self.descriptor, self._directory):
            if descriptor >= 0:
                os.close(descriptor)
        self.descriptor = self._directory = -1

    def begin(self, mode: int | None, fresh: int) -> None:
        """Make the temporary, with its owner and mode set before its first byte.

        The mode is `mode`, else the target's, else `fresh`.
        """
        existing = self.status()
        with self.locked():
            self._temporary = temporary_name()
            self.descriptor = os.open(self._temporary, NEW, 0o600, dir_fd=self._directory)
            hold(self.descriptor)
        if existing is None:
            give_to_owner_of(self._directory, self.descriptor)
        elif (existing.st_uid, existing.st_gid) != (os.geteuid(), os.getegid()):
            with suppress(OSError):
                os.fchown(self.descriptor, existing.st_uid, existing.st_gid)
        kept = stat.S_IMODE(existing.st_mode) & 0o777 if existing else fresh
        os.fchmod(self.descriptor, kept if mode is None else mode)

    def status(self) -> os.stat_result | None:
        """Return the target's status, None if it is absent. Raises `OSError` unless it is a regular file."""
        try:
            status = os.stat(self._name, dir_fd=self._directory, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, NOT_REGULAR)
        return status

    def digest(self, name: str = "") -> bytes:
        """Return the BLAKE3 of the target, or of another name in its directory, as it is now."""
        descriptor = os.open(name or self._name, READ, dir_fd=self._directory)
        try:
            return digest_of(descriptor, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Lock the directory against other launchers; go on without a lock if the file system has none."""
        hold(self._directory, self._patience)
        try:
            yield
        finally:
            with suppress(OSError):
                fcntl.flock(self._directory, fcntl.LOCK_UN)

    def create(self) -> bool:
        """Give the temporary the target's name; False if another program made that meanwhile."""
        try:
            self._link(self._temporary, self._name)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in NO_HARD_LINKS:
                raise
            if self.status() is not None:
                return False
            self._rename(self._temporary)
        return True

    def replace(self, expected: bytes) -> bool:
        """Rename the temporary over the target; False if another program changed that meanwhile.

        `expected` is the BLAKE3 of the bytes to be replaced. The old file keeps a second name until
        it is known that it held them; otherwise it is put back.
        """
        before = self._keep_old()
        self._rename(self._temporary)
        if before and not self._untouched(before, expected):
            self._rename(self._backup)
            self._backup = ""
            return False
        return True

    def _keep_old(self) -> os.stat_result | None:
        backup = temporary_name()
        try:
            self._link(self._name, backup)
        except OSError as error:
            if error.errno not in NO_HARD_LINKS:
                raise
            return None
        self._backup = backup
        return os.stat(backup, dir_fd=self._directory, follow_symlinks=False)

    def _untouched(self, before: os.stat_result, expected: bytes) -> bool:
        now = os.stat(self._backup, dir_fd=self._directory, follow_symlinks=False)
        moved = (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns)
        racy = now.st_mtime_ns >= before.st_ctime_ns - GRANULARITY_NS
        return (not moved and not racy) or self.digest(self._backup) == expected

    def _link(self, old: str, new: str) -> None:
        os.link(old, new, src_dir_fd=self._directory, dst_dir_fd=self._directory, follow_symlinks=False)

    def _rename(self, name: str) -> None:
        os.replace(name, self._name, src_dir_fd=self._directory, dst_dir_fd=self._directory)
        if name == self._temporary:
            self._temporary = ""

    @staticmethod
    def tidy(directory: str, *, spare_linked: bool = False) -> bool:
        """Remove temporaries in a directory that killed launchers left: no process holds their lock.

        `spare_linked`: leave those that are second names of another file, and return whether there were any. They show that
        the launcher, and nobody else, changed the ctime of that file.
        """
        spared = False
        try:
            handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            names = [name for name in os.listdir(handle) if is_temporary(name)]
            if names:
                hold(handle, LOCK_SECONDS)
            for name in names:
                spared |= _remove_if_dead(handle, name, spare_linked)
        except OSError:
            return spared
        finally:
            os.close(handle)
        return spared


def has_second_name(path: str, status: os.stat_result) -> bool:
    """Return whether a file of that status has a temporary's name, too, in its own directory."""
    if status.st_nlink < 2:
        return False
    with os.scandir(os.path.dirname(path)) as entries:
        return any(is_temporary(entry.name) and entry.inode() == status.st_ino for entry in entries)


def _remove_if_dead(directory: int, name: str, spare_linked: bool) -> bool:
    """Remove a temporary that nobody holds; return whether it was spared."""
    with suppress(OSError):
        descriptor = os.open(name, READ, dir_fd=directory)
        try:
            status = os.fstat(descriptor)
            if spare_linked and status.st_nlink > 1:
                return True
            if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid():
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(name, dir_fd=directory)
        finally:
            os.close(descriptor)
    return False


def hold(descriptor: int, seconds: float = 0.0) -> None:
    """Take an exclusive lock, waiting `seconds` at most; do nothing if the file system has no locks."""
    end = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as error:
            if error.errno in _NO_LOCKS:
                return
            if error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN, errno.EINTR):
                raise
            if time.monotonic() >= end:
                raise OSError(errno.EAGAIN, "another process holds the directory's lock") from error
        time.sleep(_POLL_S)


def open_directory(path: str, flush: Callable[[int], None]) -> int:
    """Open a directory, made (0700) with its missing parents; each new name is flushed."""
    missing: list[str] = []
    while not os.path.lexists(path):
        path, name = os.path.split(path)
        missing.append(name)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    handle = os.open(path, flags)
    try:
        while missing:
            name = missing.pop()
            made = False
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=handle)
                made = True
                _flush_directory(handle, flush)
            inner = os.open(name, flags | os.O_NOFOLLOW, dir_fd=handle)
            if made:
                give_to_owner_of(handle, inner)
            os.close(handle)
            handle = inner
    except OSError:
        os.close(handle)
        raise
    return handle


def flush_path(directory: str, flush: Callable[[int], None]) -> None:
    """Flush the names in a directory, if its file system can do that."""
    handle = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _flush_directory(handle, flush)
    finally:
        os.close(handle)


def _flush_directory(handle: int, flush: Callable[[int], None]) -> None:
    try:
        flush(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise
