"""Make a projection below a run directory that this launch owns, and the durable files behind it."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence

from blake3 import blake3

from outfitter.fs import NEW, digest_of, identity_of, make_directories, open_regular, write_whole
from outfitter.host import DurableState, Progress, Projecting
from outfitter.model.outcome import Row
from outfitter.model.request import Ambient, Notice
from outfitter.run.layout import PREFIX


def projecting(ambient: Ambient, cache: str = "") -> Projecting:
    """Return the effects that make projections in this process.

    `cache` is the directory that remembers the digests of seeded files, "" to remember none (spec/60).
    """
    return Builder(ambient, cache)


def durable_names(path: str) -> tuple[str, ...]:
    """Return the sorted names in a durable directory, directories with a trailing slash; () if absent."""
    try:
        with os.scandir(path) as entries:
            return tuple(sorted(entry.name + ("/" if entry.is_dir() else "") for entry in entries))
    except (FileNotFoundError, NotADirectoryError):
        return ()


def look(path: str) -> DurableState | None:
    """Return a durable regular file as it is now, symlinks followed; None if absent. Raises `OSError`."""
    try:
        descriptor, status = open_regular(path, follow=True)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        digest = digest_of(descriptor, status.st_size)
    finally:
        os.close(descriptor)
    return DurableState(
        os.path.realpath(path), digest, status.st_size, stat.S_IMODE(status.st_mode), identity_of(status)
    )


def exists(path: str) -> bool:
    """Return whether a path exists, symlinks followed. Raises `OSError` if that cannot be told."""
    try:
        os.stat(path)
    except FileNotFoundError:
        return False
    return True


class Builder:
    """Writes below run directories of one temporary root, and refuses every other place.

    A parent counts as inside only if this builder made it, or found it to be a real directory all the way down from the run
    directory: nothing is ever written through a link.
    """

    names = staticmethod(durable_names)
    look = staticmethod(look)

    def __init__(self, ambient: Ambient, cache: str = "") -> None:
        """`ambient` holds the temporary root and the home that must not be created; `cache` see `projecting`."""
        self._ambient = ambient
        self._cache = cache
        self._inside: set[str] = set()

    def make_directory(self, path: str) -> None:
        """Make a directory (0700) and its missing parents inside the run directory.

        An existing one is fine. Raises `OSError` for a symlink or a file on the way.
        """
        if path in self._inside:
            return
        root = self._root_of(path)
        if path != root:
            self.make_directory(os.path.dirname(path))
            try:
                os.mkdir(path, 0o700)
            except FileExistsError:
                pass
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, "a symlink or a file is in the way", path)
        self._inside.add(path)

    def write(self, path: str, data: bytes, executable: bool) -> Row:
        """Write a new file, 0600 or 0700; return its row with an empty path."""
        self._make_parent(path)
        mode = 0o700 if executable else 0o600
        descriptor = os.open(path, NEW, mode)
        try:
            os.fchmod(descriptor, mode)
            write_whole(descriptor, data)
            at = os.fstat(descriptor)
        finally:
            os.close(descriptor)
        tag, permissions = "x" if executable else "f", stat.S_IMODE(at.st_mode)
        return Row(b"", tag, blake3(data).digest(), len(data), permissions, identity_of(at))

    def can_execute(self, path: str) -> bool:
        """Return whether a file with the execute bit can be executed where it is; not on a noexec mount."""
        return os.access(path, os.X_OK)

    def link(self, target: str, path: str) -> None:
        """Make a symlink at `path`."""
        self._make_parent(path)
        os.symlink(target, path)

    def copy(self, source: str, path: str, executable: bool) -> tuple[Row, DurableState]:
        """Copy one file (`seeding.copy`), which is imported only if the source exists."""
        os.stat(source)
        from outfitter.run.seeding import copy

        return copy(source, path, executable)

    def seed_tree(
        self, source: str, path: str, progress: Progress | None
    ) -> tuple[Sequence[Row], Sequence[Row], tuple[Notice, ...]]:
        """Copy a directory (`seeding.seed_tree`), which is imported only if the source exists."""
        if not exists(source):
            return (), (), ()
        from outfitter.run.seeding import seed_tree

        return seed_tree(source, path, progress, self._cache)

    def ensure_durable(self, path: str, directory: bool, create: bytes) -> str:
        """Return the final target of a durable path, symlinks followed, created (0700, 0600) if missing.

        Raises `OSError` with the path: for the wrong kind of file, a dangling symlink on the way, a loop, a missing home, or
        what the system refuses. Nothing that exists is changed.
        """
        try:
            _check_kind(path, os.stat(path).st_mode, directory)
        except FileNotFoundError:
            target = self._target(path)
        else:
            return os.path.realpath(path)
        if directory:
            make_directories(target, self._ambient.home)
        else:
            make_directories(os.path.dirname(target), self._ambient.home)
            _create(target, create)
            _check_kind(path, os.stat(path).st_mode, directory)
        return target

    def _target(self, path: str) -> str:
        """Return where a missing durable path would be. Raises `OSError` if a symlink on the way dangles."""
        target = os.path.realpath(path)
        final = os.path.islink(path)
        if final and not os.path.isdir(os.path.dirname(target)):
            raise _dangling(path)
        above = os.path.dirname(path)
        while not os.path.isdir(above):
            if os.path.islink(above):
                raise _dangling(above)
            if os.path.lexists(above):
                raise NotADirectoryError(errno.ENOTDIR, "not a directory", above)
            above = os.path.dirname(above)
        return target

    def _make_parent(self, path: str) -> None:
        self._root_of(path)
        self.make_directory(os.path.dirname(path))

    def _root_of(self, path: str) -> str:
        """Return the run directory above a path. Raises `PermissionError` outside of run directories."""
        base = self._ambient.temp_root.rstrip("/") + "/"
        parts = path.removeprefix(base).split("/")
        if (
            not path.startswith(base)
            or not parts[0].startswith(PREFIX)
            or any(part in ("", ".", "..") for part in parts)
        ):
            raise PermissionError(errno.EPERM, "outside of the run directory", path)
        return base + parts[0]


def _dangling(link: str) -> OSError:
    return FileNotFoundError(errno.ENOENT, f"is a dangling symlink (to {os.readlink(link)})", link)


def _check_kind(path: str, mode: int, directory: bool) -> None:
    if directory and not stat.S_ISDIR(mode):
        raise NotADirectoryError(errno.ENOTDIR, "expected a directory", path)
    if not directory and stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "expected a file, found a directory", path)
    if not directory and not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "expected a regular file", path)


def _create(target: str, content: bytes) -> None:
    """Create a durable file atomically; one that another program made meanwhile stays."""
    from outfitter.atomic import AtomicFile

    try:
        with AtomicFile(target, os.fsync) as file:
            file.begin(0o600, 0o600)
            write_whole(file.descriptor, content)
            os.fsync(file.descriptor)
            file.create()
    except OSError as error:
        raise OSError(error.errno, error.strerror, target) from None
