"""Remove a run directory: all of it and nothing else, even while it is written to (spec/50)."""

from __future__ import annotations

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

from outfitter.fs import give_to_owner_of, make_accessible
from outfitter.model.errors import os_error_text
from outfitter.model.projection import Record
from outfitter.model.request import Ambient, Notice
from outfitter.model.wording import listed
from outfitter.run.journals import drop, read_all
from outfitter.run.layout import LOCK, LOCK_BEFORE, MARKER, PROBE_PREFIX, WEEK_NS, removed_log
from outfitter.run.orphans import may_hold_unsaved

# As `tempfile` makes them; a run directory's name has two more parts.
_PROBE = re.compile(re.escape(PROBE_PREFIX) + r"[a-z0-9_]{8}")
_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_NONBLOCK


class MovedError(OSError):
    """A directory was moved during the walk, which must start again at its root."""


class Descent:
    """A position in a tree; `descriptor` is the current directory, made accessible to its owner."""

    def __init__(self, root: str, device: int, inode: int) -> None:
        """Start in `root`. Raises `MovedError` if it has another device or inode, and what opening it raises."""
        self.descriptor = os.open(root, _OPEN)
        self._above: list[tuple[int, int]] = []
        at = os.fstat(self.descriptor)
        if (at.st_dev, at.st_ino) != (device, inode):
            self.close()
            raise MovedError(errno.ESTALE, "its path holds another directory", root)
        self._mount = (device, _mount_id(self.descriptor))
        _open_to_owner(self.descriptor, at)

    def enter(self, name: str) -> None:
        """Go down. Raises `ENOTDIR` or `ELOOP` for a file or a symlink, `EXDEV` for a mount point."""
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
        """Go back up to the directory we came from. Raises `MovedError` if that is another one now."""
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
            make_accessible(name, self.descriptor)
            return os.open(name, _OPEN, dir_fd=self.descriptor)


def _open_to_owner(descriptor: int, at: os.stat_result) -> None:
    if at.st_mode & stat.S_IRWXU != stat.S_IRWXU:
        try:
            os.fchmod(descriptor, stat.S_IMODE(at.st_mode) | stat.S_IRWXU)
        except PermissionError:
            return


def _mount_id(descriptor: int) -> bytes:
    """Return the mount of a descriptor (bind mounts keep the device number), b"" if unknown."""
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


# Programs that outlive the harness may still write: this many passes, each a little later than the one before.
_PASSES = 8
_PAUSE_SECONDS = 0.02
_SHOWN = 5
_KEPT = 1000
# The log of removed run directories is cut to its newer half at this size in bytes, about a thousand runs.
_LOG_LIMIT = 128 * 1024


class Failed(NamedTuple):
    """An entry that could not be removed: its path relative to the root, and the system's reason."""

    path: str
    reason: str


def remove_run(root: str, device: int, inode: int) -> tuple[Notice, ...]:
    """Remove the run directory with that device and inode; return a notice about what is left."""
    name = os.path.basename(root)
    try:
        left = remove_tree(root, device, inode)
    except OSError as error:
        left = [Failed("", os_error_text(error))]
    if not left:
        return ()
    shown = listed((f"{os.path.join(name, entry.path).rstrip('/')} ({entry.reason})" for entry in left), _SHOWN)
    message = f"could not remove the whole run directory: {shown}"
    return (Notice("warning", "not-removed", message, f"what is left stays in {root}"),)


def note_removed(log: str, root: str) -> None:
    """Add a root to the log, ended by NUL; a failure is ignored, because it only costs a proof."""
    line = os.fsencode(root) + b"\0"
    with suppress(OSError):
        descriptor = os.open(log, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            give_to_owner_of(os.path.dirname(log), descriptor)
            os.write(descriptor, line)
            size = os.fstat(descriptor).st_size
            if size > _LOG_LIMIT:
                kept = os.pread(descriptor, size, size // 2)
                os.ftruncate(descriptor, 0)
                os.write(descriptor, kept[kept.find(b"\0") + 1 :])
        finally:
            os.close(descriptor)


def remove_new(root: str) -> tuple[Notice, ...]:
    """Remove a run directory that its launcher had just made, if it holds nothing but a lock."""
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
        return (Notice("warning", "not-removed", f"could not remove {os.path.basename(root)}: {os_error_text(error)}"),)
    return ()


def remove_tree(root: str, device: int, inode: int) -> list[Failed]:
    """Remove the directory `root`; return what could not be removed.

    The lock file goes last: until then the tree can be identified as ours.
    """
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
    """A directory on the way down: its name, its subdirectories, and whether something in it is left."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.pending: list[str] = []
        self.stuck = False


class _Pass:
    """One walk over the tree that removes what it finds."""

    def __init__(self, descent: Descent) -> None:
        self._descent = descent
        self._levels: list[_Level] = []
        self._left: list[Failed] = []
        self._again = False

    def clear(self) -> tuple[list[Failed], bool]:
        """Empty the root but for the lock file; return (what is left, whether another pass may help)."""
        self._begin_directory("", keep=LOCK)
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
        self._begin_directory(name)

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

    def _begin_directory(self, name: str, keep: str = "") -> None:
        """Unlink everything but directories in the directory just entered, and note those."""
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
        """Unlink a name; return False if it is a directory now."""
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
            self._left.append(Failed("/".join(parts), os_error_text(error)))


def sweep(ambient: Ambient, roots: Iterable[str], now_ns: int) -> None:
    """Remove those of `roots` that have our marker, are not locked, and hold nothing younger than a week.

    The directory of a probe has no marker and no use once its launcher is dead: it goes at once.
    """
    records = [found.record for found in read_all(ambient) if found.record is not None]
    by_root = {record.root: record for record in records}
    for root in roots:
        record = by_root.get(root)
        if _PROBE.fullmatch(os.path.basename(root)):
            with suppress(OSError):
                _sweep_probe(ambient, root)
        elif record is None or record.phase not in ("started", "unsaved"):
            try:
                _sweep_one(ambient, root, now_ns, record)
            except OSError:
                continue


def _sweep_probe(ambient: Ambient, root: str) -> None:
    directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        at = os.fstat(directory)
        fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if at.st_uid == ambient.uid:
            remove_tree(root, at.st_dev, at.st_ino)
    finally:
        os.close(directory)


def _sweep_one(ambient: Ambient, root: str, now_ns: int, record: Record | None) -> None:
    directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    lock = -1
    try:
        at = os.fstat(directory)
        if at.st_uid != ambient.uid:
            return
        lock = _marker(directory)
        if lock < 0 or (record is None and may_hold_unsaved(directory)) or not _older(root, at, now_ns - WEEK_NS):
            return
        if not remove_run(root, at.st_dev, at.st_ino):
            note_removed(removed_log(ambient), root)
        if record is not None and not os.path.lexists(root):
            drop(ambient, record)
    finally:
        os.close(directory)
        if lock >= 0:
            os.close(lock)


def _marker(directory: int) -> int:
    """Return the lock file with our marker, locked; -1 if it is absent, not ours, or held."""
    for name in (LOCK, LOCK_BEFORE):
        try:
            lock = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
        except FileNotFoundError:
            continue
        begins = os.pread(lock, len(MARKER), 0)
        whole = begins == MARKER or (name == LOCK_BEFORE and MARKER.startswith(begins))
        try:
            if not whole or not stat.S_ISREG(os.fstat(lock).st_mode):
                raise BlockingIOError
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            return -1
        return lock
    return -1


def _older(root: str, at: os.stat_result, than_ns: int) -> bool:
    """Return whether nothing in the tree was modified after `than_ns`. Raises `OSError`."""
    descent = Descent(root, at.st_dev, at.st_ino)
    try:
        below = [_old_level(descent.descriptor, than_ns)]
        while below[-1] is not None:
            level = below[-1]
            if level:
                descent.enter(level.pop())
                below.append(_old_level(descent.descriptor, than_ns))
            elif len(below) == 1:
                return True
            else:
                below.pop()
                descent.leave()
        return False
    finally:
        descent.close()


def _old_level(directory: int, than_ns: int) -> list[str] | None:
    """Return the subdirectories of a directory, None if anything in it is young."""
    if os.fstat(directory).st_mtime_ns > than_ns:
        return None
    below = []
    with os.scandir(directory) as entries:
        for entry in entries:
            at = entry.stat(follow_symlinks=False)
            if at.st_mtime_ns > than_ns:
                return None
            if stat.S_ISDIR(at.st_mode):
                below.append(entry.name)
    return below
