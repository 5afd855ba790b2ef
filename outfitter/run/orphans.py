"""Run directories without a journal that may hold what was saved nowhere else (spec/50).

The state directory may be read-only, full, removed or another one. Then the run directory itself says that it stays: by its
copy of the journal, and by a file that `recover --forget` leaves in it. What it says is shown and spares it from the sweep, but
nothing durable is written on its word alone: programs that a harness runs can write such a directory, too.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
from collections.abc import Collection, Iterator

from outfitter.fs import open_regular
from outfitter.host import Journalled
from outfitter.model.projection import Record
from outfitter.model.request import Ambient
from outfitter.run.layout import BASELINE, COPY, FORGOTTEN, JOURNAL_LIMIT, LOCK, MARKER, PREFIX
from outfitter.run.record import decode

SHAPE = re.compile(re.escape(PREFIX) + r"[A-Za-z0-9_.-]{1,12}-[a-z0-9-]+-[a-kmnp-z2-9]{8}")

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
# What a copy of the journal says of a run directory that holds nothing to save, or was kept on purpose.
_OVER = ("settled", "retained")


def orphans(ambient: Ambient, roots: Collection[str], known: Collection[str]) -> Iterator[Journalled]:
    """Yield the run directories without a journal that are not locked and may hold unsaved content.

    `roots` are the run directories to look at, `known` those of journals. An orphan whose copy of the journal cannot be read
    has no record, and the name of its directory as its run id.
    """
    for root in roots:
        if root in known:
            continue
        try:
            directory = os.open(root, _OPEN)
        except OSError:
            continue
        try:
            if os.fstat(directory).st_uid == ambient.uid and _is_free(directory) and may_hold_unsaved(directory):
                yield _orphan(root, directory, ambient.uid)
        except OSError:
            continue
        finally:
            os.close(directory)


def run_directories(temp_root: str) -> list[str]:
    """Return what is named as a run directory in the temporary root; empty if that cannot be listed."""
    try:
        return sorted(os.path.join(temp_root, name) for name in os.listdir(temp_root) if SHAPE.fullmatch(name))
    except OSError:
        return []


def may_hold_unsaved(directory: int) -> bool:
    """Return whether an open run directory without a journal may hold content that was not saved.

    One that a launcher left before its harness could start has no baseline yet. Raises `OSError`.
    """
    names = set(os.listdir(directory))
    if FORGOTTEN in names or not names & {BASELINE, COPY}:
        return False
    copy = _copy(directory) if COPY in names else None
    return copy is None or copy.phase not in _OVER


def release(root: str) -> None:
    """Leave a run directory to the sweep, whatever its copy of the journal says.

    What is at its path and not a directory is left alone. Raises `OSError`.
    """
    try:
        directory = os.open(root, _OPEN)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return
        raise
    try:
        os.close(os.open(FORGOTTEN, _NEW, 0o600, dir_fd=directory))
    finally:
        os.close(directory)


def _is_free(directory: int) -> bool:
    """Return whether the directory has our marker and no process holds its lock."""
    lock, _ = open_regular(LOCK, directory=directory)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return os.pread(lock, len(MARKER), 0) == MARKER
    finally:
        os.close(lock)


def _orphan(root: str, directory: int, uid: int) -> Journalled:
    record, at = _copy(directory), os.fstat(directory)
    if record is None or (record.root, record.inode, record.uid) != (root, at.st_ino, uid):
        return Journalled(os.path.basename(root), None, "orphan", f"{root}: its copy of the journal cannot be used")
    return Journalled(record.run_id, record, "orphan", "no journal")


def _copy(directory: int) -> Record | None:
    """Return the copy of the journal in an open run directory, None if it cannot be read."""
    try:
        descriptor, status = open_regular(COPY, directory=directory)
    except OSError:
        return None
    try:
        return decode(os.pread(descriptor, min(status.st_size, JOURNAL_LIMIT), 0)).value_or(None)
    except OSError:
        return None
    finally:
        os.close(descriptor)
