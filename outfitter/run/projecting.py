"""Making a projection: files, directories and links below a run directory that this launch owns, and the durable places behind them."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence

from blake3 import blake3

from outfitter.fs import NEW, digest_of, identity_of, make_directories, open_regular, write_whole
from outfitter.host import Progress, Projecting, Seen
from outfitter.model.outcome import Row
from outfitter.model.request import Ambient, Notice
from outfitter.run.layout import PREFIX


def projecting(ambient: Ambient, cache: str = "") -> Projecting:
    """Return the effects that make projections in this process.

    `cache` is the directory that remembers the digests of seeded files, "" to remember none (spec/60).
    """
    return Builder(ambient, cache)


def durable_names(path: str) -> tuple[str, ...]:
    """The sorted names in a durable directory, a trailing slash marks a directory (links followed); () where there is none."""
    try:
        with os.scandir(path) as entries:
            return tuple(sorted(entry.name + ("/" if entry.is_dir() else "") for entry in entries))
    except (FileNotFoundError, NotADirectoryError):
        return ()


def look(path: str) -> Seen | None:
    """A durable regular file as it is now, links followed, read once and no further than its size; None where there is none."""
    try:
        descriptor, status = open_regular(path, follow=True)
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        digest = digest_of(descriptor, status.st_size)
    finally:
        os.close(descriptor)
    return Seen(os.path.realpath(path), digest, status.st_size, stat.S_IMODE(status.st_mode), identity_of(status))


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
        """`ambient` says where the temporary root is, and which home must not be made; `cache` as for `projecting`."""
        self._ambient = ambient
        self._cache = cache
        self._inside: set[str] = set()

    def make_directory(self, path: str) -> None:
        """Make a directory (0700) and its missing parents inside the run directory; existing is fine, a link on the way is not."""
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
            raise NotADirectoryError(errno.ENOTDIR, "a link or a file stands in the way", path)
        self._inside.add(path)

    def write(self, path: str, data: bytes, executable: bool) -> Row:
        """A new file, 0600 or 0700; its row, with an empty path, as the descriptor tells it after the last byte."""
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

    def link(self, target: str, path: str) -> None:
        """A symbolic link at `path`."""
        self._make_parent(path)
        os.symlink(target, path)

    def copy(self, source: str, path: str, executable: bool) -> tuple[Row, Seen]:
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
        """The final target of a durable path, links followed through every hop; made (0700, 0600) if it is missing (spec/50).

        Raises `OSError` naming the path: a wrong kind, a link that leads nowhere on the way, a loop, a missing home, or
        what the system refuses. Nothing that exists is changed, and nothing is made where a link's folder is missing.
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
        """Where a missing durable path would be, once no link on the way leads nowhere."""
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
        """The run directory above a path; refuses what lies in none."""
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
    return FileNotFoundError(errno.ENOENT, f"a link to {os.readlink(link)}, which leads nowhere", link)


def _check_kind(path: str, mode: int, directory: bool) -> None:
    if directory and not stat.S_ISDIR(mode):
        raise NotADirectoryError(errno.ENOTDIR, "a directory is declared here, but this is none", path)
    if not directory and stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "a file is declared here, but this is a directory", path)
    if not directory and not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "a file is declared here, but this is no regular file", path)


def _create(target: str, content: bytes) -> None:
    """A new durable file, whole from its first moment; one that somebody else made meanwhile is left alone."""
    from outfitter.atomic import Beside

    try:
        with Beside(target, os.fsync) as beside:
            beside.begin(0o600, 0o600)
            write_whole(beside.descriptor, content)
            os.fsync(beside.descriptor)
            beside.appear()
    except OSError as error:
        raise OSError(error.errno, error.strerror, target) from None
