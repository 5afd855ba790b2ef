"""Removing a run directory: all of it, nothing else, whatever stands in it or still happens there (spec/50, "Cleanup and sweep")."""

import errno
import os
import time
from contextlib import suppress
from typing import NamedTuple

from outfitter.edges.descent import Descent, MovedError
from outfitter.edges.run_names import LOCK, LOCK_BEFORE
from outfitter.model.request import Notice

# Programs that outlive the harness may write on: passes over the tree, each a little later than the one before.
_PASSES = 8
_PAUSE_SECONDS = 0.02
_SHOWN = 5
_KEPT = 1000
# The log of removed run directories is cut to its newer half when it has grown to this many bytes: some thousand runs.
_LOG_LIMIT = 128 * 1024


class Failed(NamedTuple):
    """An entry that is still there: its path relative to the root, and the system's reason."""

    path: str
    reason: str


def remove_run(root: str, device: int, inode: int) -> tuple[Notice, ...]:
    """Remove the run directory of that identity. One that is gone is fine; what is left is said, relative to the temporary root."""
    name = os.path.basename(root)
    try:
        left = remove_tree(root, device, inode)
    except OSError as error:
        left = [Failed("", error.strerror or str(error))]
    if not left:
        return ()
    shown = ", ".join(f"{os.path.join(name, one.path).rstrip('/')} ({one.reason})" for one in left[:_SHOWN])
    more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
    message = f"could not remove everything of the run directory: {shown}{more}"
    return (Notice("warning", "not-removed", message, f"what is left stays in {root}"),)


def note_removed(log: str, root: str) -> None:
    """Add a root, and a NUL, to the log; in silence, for all that is lost without it is a proof."""
    line = os.fsencode(root) + b"\0"
    with suppress(OSError):
        descriptor = os.open(log, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            os.write(descriptor, line)
            size = os.fstat(descriptor).st_size
            if size > _LOG_LIMIT:
                kept = os.pread(descriptor, size, size // 2)
                os.ftruncate(descriptor, 0)
                os.write(descriptor, kept[kept.find(b"\0") + 1 :])
        finally:
            os.close(descriptor)


def remove_new(root: str) -> tuple[Notice, ...]:
    """Remove a run directory that its launcher had only begun to make; anything but a lock in it makes it none of ours."""
    try:
        directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return ()
    try:
        if set(os.listdir(directory)) <= {LOCK, LOCK_BEFORE}:
            _unlink(LOCK_BEFORE, directory)
            _unlink(LOCK, directory)
    finally:
        os.close(directory)
    try:
        os.rmdir(root)
    except FileNotFoundError:
        return ()
    except OSError as error:
        return (
            Notice("warning", "not-removed", f"could not remove {os.path.basename(root)}: {error.strerror or error}"),
        )
    return ()


def remove_tree(root: str, device: int, inode: int) -> list[Failed]:
    """Remove the directory `root`; gives what could not be removed. The lock file goes last: until then the tree is known as ours."""
    left: list[Failed] = []
    for number in range(_PASSES):
        time.sleep(number * _PAUSE_SECONDS)
        try:
            descent = Descent(root, device, inode)
        except FileNotFoundError:
            return []
        try:
            left, again = _Pass(descent).clear()
            if not left and not again:
                _unlink(LOCK, descent.descriptor)
        except MovedError as moved:
            left, again = [Failed("", moved.strerror or "moved")], True
        finally:
            descent.close()
        if not left and not again and _rmdir_root(root, device, inode):
            return []
        if left and not again:
            return left
    return left or [Failed("", os.strerror(errno.ENOTEMPTY))]


def _rmdir_root(root: str, device: int, inode: int) -> bool:
    try:
        at = os.lstat(root)
        if (at.st_dev, at.st_ino) == (device, inode):
            os.rmdir(root)
    except FileNotFoundError:
        return True
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST):
            return False
        raise
    return True


def _unlink(name: str, directory: int) -> None:
    try:
        os.unlink(name, dir_fd=directory)
    except FileNotFoundError:
        return


class _Level:
    """A directory on the way down: its name, the subdirectories still to do, and whether something in it stays."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.pending: list[str] = []
        self.stuck = False


class _Pass:
    """One walk over the tree that removes what it meets. `again`: something was added meanwhile, another pass may help."""

    def __init__(self, descent: Descent) -> None:
        self._descent = descent
        self._levels: list[_Level] = []
        self._left: list[Failed] = []
        self._again = False

    def clear(self) -> tuple[list[Failed], bool]:
        """Empty the root but for the lock file; (what is left, whether another pass may help)."""
        self._stand_in("", keep=LOCK)
        while True:
            level = self._levels[-1]
            if level.pending:
                self._go_down(level.pending.pop())
            elif len(self._levels) == 1:
                return self._left, self._again
            else:
                self._go_up()

    def _go_down(self, name: str) -> None:
        try:
            self._descent.enter(name)
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno in (errno.ENOTDIR, errno.ELOOP):
                self._remove_entry(name)
            else:
                self._fail(name, error)
            return
        self._stand_in(name)

    def _go_up(self) -> None:
        level = self._levels.pop()
        self._descent.leave()
        if level.stuck:
            self._levels[-1].stuck = True
            return
        try:
            os.rmdir(level.name, dir_fd=self._descent.descriptor)
        except FileNotFoundError:
            return
        except OSError as error:
            self._again = self._again or error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR)
            self._fail(level.name, error)

    def _stand_in(self, name: str, keep: str = "") -> None:
        """Begin with the directory we have just entered: unlink all that is no directory, note the directories."""
        level = _Level(name)
        self._levels.append(level)
        try:
            with os.scandir(self._descent.descriptor) as entries:
                found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries if entry.name != keep]
        except OSError as error:
            self._fail("", error)
            return
        for inner, is_directory in found:
            if is_directory or not self._remove_entry(inner):
                level.pending.append(inner)

    def _remove_entry(self, name: str) -> bool:
        """Unlink a name; False if it has become a directory."""
        try:
            os.unlink(name, dir_fd=self._descent.descriptor)
        except FileNotFoundError:
            return True
        except IsADirectoryError:
            return False
        except OSError as error:
            self._fail(name, error)
        return True

    def _fail(self, name: str, error: OSError) -> None:
        if self._levels:
            self._levels[-1].stuck = True
        if len(self._left) < _KEPT:
            parts = [level.name for level in self._levels if level.name] + ([name] if name else [])
            self._left.append(Failed("/".join(parts), error.strerror or str(error)))
