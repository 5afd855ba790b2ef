"""What came back at the path of a run directory after it was removed: a process that outlived the harness wrote on (spec/50).

Such a directory has no marker, so no sweep takes it. That its path was a run directory's, by a name that nobody else draws, and
that this one was removed whole, is known from the log of removals: only then is it touched, and only while it holds nothing.
"""

from __future__ import annotations

import fcntl
import os
import re
from contextlib import suppress
from typing import NamedTuple

from outfitter.model.request import Ambient
from outfitter.run.journals import read_all
from outfitter.run.layout import LOCK, LOCK_BEFORE, PREFIX, removed_log
from outfitter.run.removal import Descent

_LOG_LIMIT = 1 << 20
_SHAPE = re.compile(re.escape(PREFIX) + r"[A-Za-z0-9_.-]{1,12}-[a-z0-9-]+-[a-kmnp-z2-9]{8}")


class Remnant(NamedTuple):
    """A directory of this user that is named as a run directory is, without marker or journal.

    `proven`: a run of ours had that very path, and removed its directory. `entries` counts what is in it besides directories,
    -1 where that cannot be found out.
    """

    root: str
    proven: bool
    entries: int


def remnants(ambient: Ambient) -> tuple[Remnant, ...]:
    """What stands in the temporary root, and at the places of removed run directories elsewhere; nothing is changed."""
    known = {found.record.root for found in read_all(ambient) if found.record is not None}
    proven = _removed(ambient)
    there = dict.fromkeys([*_standing(ambient.temp_root), *proven])
    return tuple(
        Remnant(root, root in proven, _entries(root))
        for root in sorted(there)
        if root not in known and _unmarked(root, ambient.uid)
    )


def clear(remnant: Remnant) -> bool:
    """Remove a proven remnant of empty directories; False where something is in it, or comes into it: nothing of that is removed."""
    if not remnant.proven or remnant.entries:
        return False
    with suppress(OSError):
        at = os.lstat(remnant.root)
        _prune(Descent(remnant.root, at.st_dev, at.st_ino))
        os.rmdir(remnant.root)
    return not os.path.lexists(remnant.root)


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
    return dict.fromkeys(root for root in roots if os.path.isabs(root) and _SHAPE.fullmatch(os.path.basename(root)))


def _standing(temp_root: str) -> list[str]:
    try:
        return [os.path.join(temp_root, name) for name in os.listdir(temp_root) if _SHAPE.fullmatch(name)]
    except OSError:
        return []


def _unmarked(root: str, uid: int) -> bool:
    """A real directory of this user without a lock, whose making no launch is in the midst of: that holds the directory itself."""
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
    """What is in a tree besides directories; no link is followed."""
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
    """Remove the directories below where it stands, deepest first, as far as they are empty; it is closed then."""
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
