"""Take the lock directory of a native program the way that program does (spec/40)."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable
from contextlib import suppress

_POLL_S = 0.05
# The sticky bit marks a lock as ours from the moment it exists; while its maker lives, it is also flocked.
_OURS = 0o700 | stat.S_ISVTX
# Between making the directory and taking its flock a live launcher needs microseconds.
_SETTLED_NS = 1_000_000_000


def locked(directory: str, seconds: float) -> Callable[[], None] | None:
    """Make a lock directory; return its release, or None if it was held for all of `seconds`.

    A lock that Outfitter did not make is never removed, however old. One left by a killed launcher is.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            os.mkdir(directory, _OURS)
            break
        except FileExistsError:
            if _abandoned_is_gone(directory):
                continue
            if time.monotonic() >= end:
                return None
            time.sleep(_POLL_S)
    held = _held(directory)
    try:
        made = os.lstat(directory)
    except OSError:
        with suppress(OSError):
            os.rmdir(directory)
        if held >= 0:
            os.close(held)
        raise

    def release() -> None:
        with suppress(OSError):
            if os.path.samestat(_status(directory), made):
                os.rmdir(directory)
        if held >= 0:
            os.close(held)

    return release


def _status(directory: str) -> os.stat_result:
    """Look at the lock, again if that fails once: a lock that stays keeps the native program out."""
    try:
        return os.lstat(directory)
    except FileNotFoundError:
        raise
    except OSError:
        return os.lstat(directory)


def _held(directory: str) -> int:
    """Return the new lock's descriptor, flocked; -1 if that fails: then nobody can call it abandoned."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return -1
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def _abandoned_is_gone(directory: str) -> bool:
    """Remove a lock with our mark that is old enough to have been flocked, but is not."""
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        return error.errno == errno.ENOENT
    try:
        at = os.fstat(descriptor)
        if not at.st_mode & stat.S_ISVTX or at.st_uid != os.geteuid() or time.time_ns() - at.st_ctime_ns < _SETTLED_NS:
            return False
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(os.lstat(directory), at):
            return False
        os.rmdir(directory)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
