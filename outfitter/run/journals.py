"""Read the journals of all runs, and claim those of killed launchers (spec/50, "killed outright")."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from typing import Literal

from attrs import evolve

from outfitter.fs import open_regular
from outfitter.host import Journalled, Token
from outfitter.model.errors import os_error_text
from outfitter.model.projection import Record
from outfitter.model.request import Ambient
from outfitter.run.layout import JOURNAL_LIMIT, LOCK, LOCK_BEFORE, MARKER, WEEK_NS, Lock, journal_directory
from outfitter.run.pending_writes import tidy_noted
from outfitter.run.record import decode

HOUR_NS = 3600 * 1_000_000_000
LOCK_GONE = "its lock file is gone"
NO_ACCESS = "its owner may not open it"
Condition = Literal["live", "dead", "gone", "other", "unreadable", "orphan"]


def stale(ambient: Ambient) -> Iterator[tuple[Record, Token]]:
    """Yield the record of each dead launcher that is still to be finished, its run directory locked.

    Runs in phase `unsaved` or `retained` are left out. A journal without a run directory is removed on the way.
    """
    _tidy(ambient)
    for found in read_all(ambient):
        if found.record is None or found.record.phase in ("unsaved", "retained"):
            continue
        record = as_mounted(found.record)
        token, condition = claim(record)
        if token is not None:
            yield record, token
        elif condition == "gone" and (record.inode or record.started_ns < ambient.now_ns - HOUR_NS):
            # Without an inode, its launcher may be about to make the directory.
            drop(ambient, record)


def _tidy(ambient: Ambient) -> None:
    """Remove temporaries of journals an hour old, and those of durable files that notes name."""
    place = journal_directory(ambient)
    tidy_noted(place)
    for name in os.listdir(place):
        if name.startswith(".") and name.endswith(".tmp"):
            try:
                if os.lstat(f"{place}/{name}").st_mtime_ns < ambient.now_ns - HOUR_NS:
                    os.unlink(f"{place}/{name}")
            except OSError:
                continue


def journals(ambient: Ambient) -> tuple[Journalled, ...]:
    """Return every journal and every orphan with the condition of its run, oldest first; no lock is kept."""
    from outfitter.run.orphans import orphans, run_directories

    # Listed before the journals are read: a launch writes its journal before it makes its directory.
    roots = run_directories(ambient.temp_root)
    seen: list[Journalled] = []
    for found in read_all(ambient):
        if found.record is not None:
            record = as_mounted(found.record)
            token, condition = claim(record)
            if token is not None:
                os.close(token.descriptor)
            reason = _why_other(record) if condition == "other" else ""
            seen.append(found._replace(record=record, condition=condition, reason=reason))
        else:
            seen.append(found)
    seen += orphans(ambient, roots, {found.record.root for found in seen if found.record is not None})
    return tuple(sorted(seen, key=lambda found: (found.record.started_ns if found.record else 0, found.run_id)))


def read_all(ambient: Ambient) -> Iterator[Journalled]:
    """Yield each journal, decoded; the condition "dead" is a placeholder."""
    place = journal_directory(ambient)
    try:
        names = sorted(os.listdir(place))
    except OSError:
        return
    for name in names:
        if name.endswith(".json") and not name.startswith("."):
            found = _read(f"{place}/{name}", name.removesuffix(".json"), ambient.uid)
            if found is not None:
                yield found


def _read(path: str, run_id: str, uid: int) -> Journalled | None:
    """Return one journal, None if another launch has just removed it."""
    try:
        descriptor, status = open_regular(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        reason = "not a journal of this user" if error.errno == errno.EINVAL else os_error_text(error)
        return Journalled(run_id, None, "unreadable", reason)
    try:
        if status.st_uid != uid or status.st_size > JOURNAL_LIMIT:
            return Journalled(run_id, None, "unreadable", "not a journal of this user")
        data = os.pread(descriptor, status.st_size, 0)
    except OSError as error:
        return Journalled(run_id, None, "unreadable", os_error_text(error))
    finally:
        os.close(descriptor)
    decoded = decode(data)
    record = decoded.value_or(None)
    if record is None:
        return Journalled(run_id, None, "unreadable", decoded.swap().value_or(""))
    if (record.run_id, record.uid) != (run_id, uid):
        return Journalled(run_id, None, "unreadable", "it belongs to another run")
    return Journalled(run_id, record, "dead")


def drop(ambient: Ambient, record: Record) -> None:
    """Remove the journal of a run directory that is gone.

    It stays if the whole temporary root is gone, which may come back. A temporary root on another file system may belong to
    another machine or container with the same home: then the journal stays for a week.
    """
    try:
        at = os.stat(os.path.dirname(record.root))
        if record.inode and at.st_dev != record.device and record.started_ns > ambient.now_ns - WEEK_NS:
            return
        if stat.S_ISDIR(at.st_mode):
            os.unlink(f"{journal_directory(ambient)}/{record.run_id}.json")
    except OSError:
        return


def as_mounted(record: Record) -> Record:
    """Return the record with the device number its run directory has now: a restart may change it.

    Device and inode identify the directory. With another device it is still the same one if its random name, its inode and
    its owner are the same and its lock has the marker: more than the sweep asks for. The baseline's digest is checked, too.
    """
    try:
        at = os.lstat(record.root)
        moved = record.inode and at.st_ino == record.inode and at.st_dev != record.device and at.st_uid == record.uid
        if moved and stat.S_ISDIR(at.st_mode) and _bears_marker(record):
            return evolve(record, device=at.st_dev)
    except OSError:
        return record
    return record


def _bears_marker(record: Record) -> bool:
    lock = os.open(f"{record.root}/{LOCK}", os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        at = os.fstat(lock)
        whole = stat.S_ISREG(at.st_mode) and at.st_uid == record.uid
        return whole and os.pread(lock, len(MARKER), 0) == MARKER
    finally:
        os.close(lock)


def _why_other(record: Record) -> str:
    """Return why a run directory is not taken for the journalled one."""
    try:
        at = os.lstat(record.root)
        if stat.S_ISDIR(at.st_mode) and (at.st_ino, at.st_uid) == (record.inode, record.uid):
            return _why_not_its_lock(record, at)
    except OSError as error:
        return os_error_text(error)
    return "its path holds another directory" if stat.S_ISDIR(at.st_mode) else "its path is not a directory any more"


def _why_not_its_lock(record: Record, at: os.stat_result) -> str:
    """Return why the lock in a run directory of that stat is not taken; raises `OSError`."""
    if at.st_mode & stat.S_IRWXU != stat.S_IRWXU:
        return NO_ACCESS
    try:
        lock = os.lstat(f"{record.root}/{LOCK}")
    except FileNotFoundError:
        return LOCK_GONE
    mine = stat.S_ISREG(lock.st_mode) and lock.st_uid == record.uid
    shut = lock.st_mode & (stat.S_IRUSR | stat.S_IWUSR) != stat.S_IRUSR | stat.S_IWUSR
    return NO_ACCESS if mine and shut else "its lock file is not its own"


def claim(record: Record) -> tuple[Token | None, Condition]:
    """Lock a run directory without waiting, if it is the journalled one.

    A record without an inode was written before its directory was made, which can hold nothing but the lock.
    A settled run may have lost its lock file to a removal that did not finish because something still wrote there.
    """
    try:
        directory = os.open(record.root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None, "gone"
    except OSError:
        return None, "other"
    try:
        at = os.fstat(directory)
        if at.st_uid != record.uid or (record.inode and (at.st_dev, at.st_ino) != (record.device, record.inode)):
            return None, "other"
        return _take(record.root, directory, at, record.phase == "settled")
    except OSError:
        return None, "other"
    finally:
        os.close(directory)


def _take(root: str, directory: int, at: os.stat_result, over: bool) -> tuple[Token | None, Condition]:
    """Take the lock file or, if a removal has deleted it, the lock of the directory itself."""
    name = LOCK
    try:
        lock = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
    except FileNotFoundError:
        if _held_by_more(directory, over):
            return None, "other"
        name = "."
        lock = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=directory)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if name == "." and _held_by_more(directory, over):
            raise BlockingIOError
        held, now = os.fstat(lock), os.stat(name, dir_fd=directory, follow_symlinks=False)
        still = os.lstat(root)
        if (held.st_ino, still.st_dev, still.st_ino) == (now.st_ino, at.st_dev, at.st_ino):
            return Lock(lock), "dead"
    except BlockingIOError:
        os.close(lock)
        return None, "live"
    except OSError:
        os.close(lock)
        raise
    os.close(lock)
    return None, "other"


def _held_by_more(directory: int, over: bool) -> bool:
    """Return whether a directory without a lock file holds anything that is not certainly ours."""
    names = set(os.listdir(directory)) - {LOCK_BEFORE}
    return LOCK in names if over else bool(names)
