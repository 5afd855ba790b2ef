"""Directories that appeared at the path of a removed run directory (docs/safety.md).

A process that outlived the harness makes them. They have no marker, so no sweep removes them. The log of removals proves that a
run of ours had that path: only then is one removed, and only if it holds nothing but empty directories.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from typing import NamedTuple

from outfitter.model.request import Ambient
from outfitter.run.journals import read_all
from outfitter.run.layout import LOCK, LOCK_BEFORE, removed_log
from outfitter.run.orphans import SHAPE, run_directories
from outfitter.run.removal import Descent

_LOG_LIMIT = 1 << 20


class LeftoverDirectory(NamedTuple):
    """A directory of this user with the name of a run directory, without marker or journal.

    `proven`: the log says that a run of ours removed its directory at that path. `entries` counts what it holds besides
    directories, -1 if that cannot be told.
    """

    root: str
    proven: bool
    entries: int


def leftover_directories(ambient: Ambient) -> tuple[LeftoverDirectory, ...]:
    """Return those in the temporary root and those at logged paths elsewhere; nothing is changed."""
    known = {found.record.root for found in read_all(ambient) if found.record is not None}
    proven = _removed(ambient)
    there = dict.fromkeys([*run_directories(ambient.temp_root), *proven])
    return tuple(
        LeftoverDirectory(root, root in proven, _entries(root))
        for root in sorted(there)
        if root not in known and _unmarked(root, ambient.uid)
    )


def clear(leftover: LeftoverDirectory) -> bool:
    """Remove a proven leftover of empty directories; False if it holds anything else, which stays."""
    if not leftover.proven or leftover.entries:
        return False
    with suppress(OSError):
        at = os.lstat(leftover.root)
        _prune(Descent(leftover.root, at.st_dev, at.st_ino))
        os.rmdir(leftover.root)
    return not os.path.lexists(leftover.root)


def _removed(ambient: Ambient) -> dict[str, None]:
    try:
        descriptor = os.open(removed_log(ambient), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return {}
    try:
        lines = os.read(descriptor, _LOG_LIMIT).split(b"\0")[:-1]
    except OSError:
        return {}
    finally:
        os.close(descriptor)
    roots = [os.fsdecode(line) for line in lines]
    return dict.fromkeys(root for root in roots if os.path.isabs(root) and SHAPE.fullmatch(os.path.basename(root)))


def _unmarked(root: str, uid: int) -> bool:
    """Return whether this is a directory of this user without a lock file that no launch is just creating.

    A launch that creates its run directory holds a lock on the directory itself.
    """
    try:
        directory = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if os.fstat(directory).st_uid != uid or {LOCK, LOCK_BEFORE} & set(os.listdir(directory)):
            return False
        fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(directory)
    return True


def _entries(root: str) -> int:
    """Count what a tree holds besides directories, symlinks not followed; -1 if that fails."""
    count = 0
    try:
        for folder, names, files in os.walk(root, onerror=_raise):
            count += len(files) + sum(os.path.islink(os.path.join(folder, name)) for name in names)
    except (OSError, RecursionError):
        return -1
    return count


def _raise(error: OSError) -> None:
    raise error


def _prune(descent: Descent) -> None:
    """Remove the empty directories below the current one, deepest first, and close the descent."""
    try:
        pending = [("", _directories(descent.descriptor))]
        while len(pending) > 1 or pending[0][1]:
            name, below = pending[-1]
            if below:
                inner = below.pop()
                descent.enter(inner)
                pending.append((inner, _directories(descent.descriptor)))
            else:
                pending.pop()
                descent.leave()
                os.rmdir(name, dir_fd=descent.descriptor)
    finally:
        descent.close()


def _directories(directory: int) -> list[str]:
    with os.scandir(directory) as entries:
        return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
