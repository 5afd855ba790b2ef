"""Walking down and up a tree by directory descriptors: no link is followed, two descriptors suffice for any depth (spec/50, "Cleanup").

What an agent's leftovers do meanwhile (rename, replace by a link, mount over) ends a step with an error and never leads outside.
"""

from __future__ import annotations

import errno
import os
import stat
import sys

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK


class MovedError(OSError):
    """The way back up no longer leads to where we came from: the walk must begin anew at its root."""


class Descent:
    """A position in a tree. `descriptor` is the directory we stand in; it was made accessible to its owner."""

    def __init__(self, root: str, device: int, inode: int) -> None:
        """Stand in `root`, which must be the very directory of that device and inode; else `MovedError`, or what opening it raises."""
        self.descriptor = os.open(root, _OPEN)
        self._above: list[tuple[int, int]] = []
        at = os.fstat(self.descriptor)
        if (at.st_dev, at.st_ino) != (device, inode):
            self.close()
            raise MovedError(errno.ESTALE, "another directory stands in its place", root)
        self._mount = (device, _mount_id(self.descriptor))
        _open_to_owner(self.descriptor, at)

    def enter(self, name: str) -> None:
        """Go down. A link or a file raises (`ENOTDIR` or `ELOOP`), a mount point `EXDEV`; we then stand where we stood."""
        below = self._open(name)
        try:
            at = os.fstat(below)
            if (at.st_dev, _mount_id(below)) != self._mount:
                raise OSError(errno.EXDEV, "a mount point, not crossed", name)
            here = os.fstat(self.descriptor)
            _open_to_owner(below, at)
        except BaseException:
            os.close(below)
            raise
        self._above.append((here.st_dev, here.st_ino))
        os.close(self.descriptor)
        self.descriptor = below

    def leave(self) -> None:
        """Go back up to the directory we entered from, or raise `MovedError`."""
        above = os.open("..", _OPEN, dir_fd=self.descriptor)
        at = os.fstat(above)
        if (at.st_dev, at.st_ino) != self._above.pop():
            os.close(above)
            raise MovedError(errno.ESTALE, "a directory was moved while it was walked")
        os.close(self.descriptor)
        self.descriptor = above

    def close(self) -> None:
        """Give the descriptor back."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
            self.descriptor = -1

    def _open(self, name: str) -> int:
        try:
            return os.open(name, _OPEN, dir_fd=self.descriptor)
        except PermissionError:
            _make_accessible(name, self.descriptor)
            return os.open(name, _OPEN, dir_fd=self.descriptor)


def _open_to_owner(descriptor: int, at: os.stat_result) -> None:
    if at.st_mode & stat.S_IRWXU != stat.S_IRWXU:
        try:
            os.fchmod(descriptor, stat.S_IMODE(at.st_mode) | stat.S_IRWXU)
        except PermissionError:
            return


def _make_accessible(name: str, directory: int) -> None:
    """Let the owner into a directory that cannot be opened for reading, without following a link that took its place."""
    if sys.platform != "linux":
        os.chmod(name, stat.S_IRWXU, dir_fd=directory, follow_symlinks=False)
        return
    handle = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=directory)
    try:
        # chmod refuses such a handle; by its name in /proc it reaches the very inode.
        os.chmod(f"/proc/self/fd/{handle}", stat.S_IRWXU)
    finally:
        os.close(handle)


def _mount_id(descriptor: int) -> bytes:
    """Which mount a descriptor lies on (a bind mount keeps the device number); b"" where the system does not tell."""
    try:
        info = os.open(f"/proc/self/fdinfo/{descriptor}", os.O_RDONLY)
    except OSError:
        return b""
    try:
        lines = os.read(info, 1024).split(b"\n")
    except OSError:
        return b""
    finally:
        os.close(info)
    return next((line for line in lines if line.startswith(b"mnt_id:")), b"")
