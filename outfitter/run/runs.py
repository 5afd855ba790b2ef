"""Run directories, their locks and their journals (spec/50, "The run directory and its journal").

What a launch itself needs is here; finding, claiming, sweeping and removing old ones is imported when there is something to do.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress

from outfitter.fs import make_accessible, make_directories, write_atomic, write_whole
from outfitter.host import Journalled, Runs, Token
from outfitter.model.errors import os_error_text
from outfitter.model.outcome import Row
from outfitter.model.projection import Record
from outfitter.model.request import Ambient, Notice
from outfitter.run.layout import (
    BASELINE,
    COPY,
    FORGOTTEN,
    LOCK,
    LOCK_BEFORE,
    MARKER,
    PREFIX,
    PROBE_PREFIX,
    WEEK_NS,
    Lock,
    journal_directory,
    removed_log,
)
from outfitter.run.record import encode

_LETTERS = "abcdefghijkmnpqrstuvwxyz23456789"
_AGENT_LENGTH = 12
_STAYING = ("unsaved", "retained")
_ATTEMPTS = 3
# The names that Outfitter itself puts into a run directory.
_COPY_BEFORE = ".run."
_OURS = frozenset((LOCK, LOCK_BEFORE, COPY, BASELINE, FORGOTTEN, "originals", "projection"))


class RunDirectories:
    """`Runs` of this user on this machine. Remembers which journals it could write, for `forget`."""

    def __init__(self, ambient: Ambient) -> None:
        """`ambient` says where run directories and journals are."""
        self._ambient = ambient
        self._tried: set[str] = set()
        self._written: set[str] = set()

    def name(self, agent: str, harness: str) -> tuple[str, str]:
        """Return a new run id and the path of its run directory."""
        return _name(self._ambient, agent, harness)

    def open(self, root: str) -> tuple[Token, int, int]:
        """Make the run directory and take its lock."""
        return _open(self._ambient, root)

    def journal(self, record: Record) -> tuple[Notice, ...]:
        """Replace the journal; a state directory that cannot be written is a notice."""
        self._tried.add(record.run_id)
        notices = _journal(self._ambient, record)
        if not notices:
            self._written.add(record.run_id)
        # The journal that is written before the harness starts is the one whose notices are told.
        exposed = _exposed(self._ambient) if record.phase == "preparing" and record.baseline_digest else ()
        return (*exposed, *notices)

    def forget(self, run_id: str) -> None:
        """Remove the journal; a failure is ignored if this process could never write it."""
        try:
            _forget(self._ambient, run_id)
        except OSError:
            if run_id not in self._tried or run_id in self._written:
                raise

    def remove(self, root: str, device: int, inode: int) -> tuple[Notice, ...]:
        """Remove the run directory, and say what could not be removed."""
        return _remove(self._ambient, root, device, inode)

    def close(self, token: Token) -> None:
        """Release the lock."""
        os.close(token.descriptor)

    def stale(self) -> Iterable[tuple[Record, Token]]:
        """Yield the journals of dead launchers, their run directories locked."""
        return _stale(self._ambient)

    def sweep(self, now_ns: int) -> tuple[Notice, ...]:
        """Remove old run directories."""
        return _sweep(self._ambient, now_ns)

    def journals(self) -> tuple[Journalled, ...]:
        """Return every journal of this user."""
        return _journals(self._ambient)

    def claim(self, record: Record) -> Token | None:
        """Take the lock of a dead launcher's run directory."""
        return _claim(record)

    def place(self, token: Token, record: Record) -> str | None:
        """Return where the run directory of a held lock is now."""
        return _place(token, record)

    def make_accessible(self, record: Record) -> None:
        """Give the owner access to the run directory and its projection again."""
        _open_to_owner(record)

    def strays(self, root: str) -> Sequence[Row]:
        """Return the non-empty files of a run directory that are outside the projection."""
        return _strays(root)


def runs(ambient: Ambient) -> Runs:
    """Return the run directories of this user, on this machine."""
    return RunDirectories(ambient)


def _name(ambient: Ambient, agent: str, harness: str) -> tuple[str, str]:
    """Return a run id that sorts by time, and the path of its run directory."""
    token = "".join(_LETTERS[byte % len(_LETTERS)] for byte in os.urandom(8))
    safe = "".join(c if c.isascii() and (c.isalnum() or c in "_.-") else "-" for c in agent[:_AGENT_LENGTH]) or "agent"
    started = time.strftime("%Y%m%dT%H%M%S", time.gmtime(ambient.now_ns // 1_000_000_000))
    return f"{started}-{token}", os.path.join(ambient.temp_root, f"{PREFIX}{safe}-{harness}-{token}")


def _open(ambient: Ambient, root: str) -> tuple[Token, int, int]:
    """Make the directory and take its lock; again if recovery in another launch removed it while empty.

    If the lock cannot be made, the directory is removed.
    """
    for attempt in range(_ATTEMPTS):
        _make_root(root)
        try:
            return _lock_new(root)
        except FileNotFoundError:
            if attempt == _ATTEMPTS - 1:
                raise
        except OSError:
            with suppress(OSError):
                _remove(ambient, root, 0, 0)
            raise
    raise AssertionError("unreachable")


def _make_root(root: str) -> None:
    parent = os.path.dirname(root)
    try:
        os.mkdir(root, 0o700)
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, "the temporary directory does not exist (TMPDIR)", parent) from None
    except NotADirectoryError:
        raise NotADirectoryError(errno.ENOTDIR, "the temporary directory is not a directory (TMPDIR)", parent) from None
    except PermissionError:
        raise PermissionError(errno.EACCES, "the temporary directory cannot be written (TMPDIR)", parent) from None


def _lock_new(root: str) -> tuple[Token, int, int]:
    directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        # Without a lock file yet, the directory itself is the lock: recovery takes it so, too, and may just have removed it.
        fcntl.flock(directory, fcntl.LOCK_EX)
        os.fchmod(directory, 0o700)
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        lock = os.open(LOCK_BEFORE, flags, 0o600, dir_fd=directory)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            write_whole(lock, MARKER)
            os.rename(LOCK_BEFORE, LOCK, src_dir_fd=directory, dst_dir_fd=directory)
            os.set_inheritable(lock, True)
        except BaseException:
            os.close(lock)
            raise
        at = os.fstat(directory)
        return Lock(lock), at.st_dev, at.st_ino
    finally:
        os.close(directory)


def _journal(ambient: Ambient, record: Record) -> tuple[Notice, ...]:
    data = encode(record)
    told: tuple[Notice, ...] = ()
    try:
        _replace(ambient, record.run_id, data)
    except OSError as error:
        # The directory, not the temporary file in it: a second failure of the same kind is no second piece of news.
        place = journal_directory(ambient)
        text = f"{place}: {os_error_text(error)}: this run could not be recovered if it were killed"
        told = (Notice("notice", "no-journal", text),)
    if (record.baseline_digest and (told or record.phase == "preparing")) or record.phase in _STAYING:
        # Written before the harness can look, and when the run comes to stay: for `outfitter diff` and for launches inside
        # this one. Without a journal it is what says how far the run came, and spares its directory from the sweep.
        with suppress(OSError):
            _copy_into(record, data)
    return told


def _exposed(ambient: Ambient) -> tuple[Notice, ...]:
    """Return a warning for each directory of ours in which any user may remove or replace files."""
    told = []
    for place in (ambient.temp_root, ambient.state_root, journal_directory(ambient)):
        with suppress(OSError):
            mode = os.stat(place).st_mode
            if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
                text = f"{place}: any user can remove or replace files in it (mode {stat.S_IMODE(mode):o})"
                told.append(Notice("warning", "directory-exposed", text, f"chmod o-w {place}"))
    return tuple(told)


def _replace(ambient: Ambient, run_id: str, data: bytes) -> None:
    place = journal_directory(ambient)
    # A name of its own, by which `_forget` and the next launches find what a killed launcher left.
    path, temporary = f"{place}/{run_id}.json", f".{run_id}.tmp"
    try:
        write_atomic(path, data, temporary=temporary)
    except FileNotFoundError:
        make_directories(place, ambient.home)
        write_atomic(path, data, temporary=temporary)


def _copy_into(record: Record, data: bytes) -> None:
    """`run.json`, by the directory's descriptor: what stands at the path now may be something else."""
    directory = os.open(record.root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        at = os.fstat(directory)
        if (at.st_dev, at.st_ino) != (record.device, record.inode):
            return
        write_atomic(COPY, data, directory=directory, temporary=f"{_COPY_BEFORE}{os.urandom(6).hex()}.tmp")
    finally:
        os.close(directory)


def _forget(ambient: Ambient, run_id: str) -> None:
    for name in (f"{run_id}.json", f".{run_id}.tmp"):
        try:
            os.unlink(f"{journal_directory(ambient)}/{name}")
        except (FileNotFoundError, NotADirectoryError):
            continue


def _remove(ambient: Ambient, root: str, device: int, inode: int) -> tuple[Notice, ...]:
    """Remove a run directory; without an inode its launcher was killed before it held anything but a lock."""
    from outfitter.run.removal import note_removed, remove_new, remove_run

    if not inode:
        return remove_new(root)
    left = remove_run(root, device, inode)
    if not left:
        note_removed(removed_log(ambient), root)
    return left


def _stale(ambient: Ambient) -> Iterable[tuple[Record, Token]]:
    try:
        names = os.listdir(journal_directory(ambient))
    except OSError:
        return ()
    if not any(name.endswith((".json", ".tmp", ".write")) for name in names):
        return ()
    from outfitter.run.journals import stale

    return stale(ambient)


def _journals(ambient: Ambient) -> tuple[Journalled, ...]:
    from outfitter.run.journals import journals

    return journals(ambient)


def _claim(record: Record) -> Token | None:
    from outfitter.run.journals import claim

    return claim(record)[0]


def _place(token: Token, record: Record) -> str | None:
    """Return the path of the run directory; its open lock tells a moved one from a removed one."""
    try:
        at = os.lstat(record.root)
        if (at.st_dev, at.st_ino) == (record.device, record.inode):
            return record.root
    except (FileNotFoundError, NotADirectoryError):
        pass
    if not os.fstat(token.descriptor).st_nlink:
        return None
    try:
        return os.path.dirname(_path_of(token.descriptor))
    except OSError:
        return ""


def _open_to_owner(record: Record) -> None:
    for path in (record.root, record.projection):
        at = os.lstat(path)
        if stat.S_ISDIR(at.st_mode) and at.st_uid == record.uid and at.st_mode & stat.S_IRWXU != stat.S_IRWXU:
            make_accessible(path)


def _path_of(descriptor: int) -> str:
    if sys.platform == "darwin":
        return os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
    return os.readlink(f"/proc/self/fd/{descriptor}")


def _strays(root: str) -> Sequence[Row]:
    names = [name for name in os.listdir(root) if name not in _OURS and not name.startswith(_COPY_BEFORE)]
    if not names:
        return ()
    from outfitter.run.stray_files import strays

    return strays(root, names)


def _sweep(ambient: Ambient, now_ns: int) -> tuple[Notice, ...]:
    """Best effort, and so in silence. A directory whose own mtime is younger needs no closer look."""
    old: list[str] = []
    try:
        with os.scandir(ambient.temp_root) as entries:
            for entry in entries:
                if entry.name.startswith(PREFIX) and entry.is_dir(follow_symlinks=False):
                    at = entry.stat(follow_symlinks=False)
                    old_enough = at.st_mtime_ns <= now_ns - WEEK_NS or entry.name.startswith(PROBE_PREFIX)
                    if at.st_uid == ambient.uid and old_enough:
                        old.append(entry.path)
    except OSError:
        pass
    if old:
        from outfitter.run.removal import sweep

        sweep(ambient, old, now_ns)
    return ()
