"""Removing run directories that nobody came back for (spec/50, "Cleanup and sweep"). Best effort: nothing here speaks or raises."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterable

from outfitter.edges.descent import Descent
from outfitter.edges.remove import note_removed, remove_run
from outfitter.edges.run_names import LOCK, LOCK_BEFORE, MARKER, WEEK_NS, removed_log
from outfitter.edges.stale import drop, read_all
from outfitter.model.projection import Record
from outfitter.model.request import Ambient


def sweep(ambient: Ambient, roots: Iterable[str], now_ns: int) -> None:
    """Remove those of `roots` that carry this product's marker, are held by nobody, and hold nothing younger than a week."""
    records = [found.record for found in read_all(ambient) if found.record is not None]
    by_root = {record.root: record for record in records}
    for root in roots:
        record = by_root.get(root)
        if record is None or record.phase != "unsaved":
            try:
                _sweep_one(ambient, root, now_ns, record)
            except OSError:
                continue


def _sweep_one(ambient: Ambient, root: str, now_ns: int, record: Record | None) -> None:
    directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    lock = -1
    try:
        at = os.fstat(directory)
        if at.st_uid != ambient.uid:
            return
        lock = _marker(directory)
        if lock < 0 or not _older(root, at, now_ns - WEEK_NS):
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
    """The marker's file, locked by us; -1 where there is none, it is not ours, or somebody holds it."""
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
    """Whether nothing in the tree was modified after `than_ns`; what cannot be looked at counts as young (it raises)."""
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
    """The subdirectories of a directory, None as soon as something in it is young."""
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
