"""Notes of directories where a killed writer may have left a temporary that no run's journal names.

A note lies beside the journals, holds one path, and is locked while its writer lives. The next launch tidies what the
notes name.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from outfitter.atomic import AtomicFile, hold
from outfitter.fs import NEW, is_temporary, make_directories, write_whole

SUFFIX = ".write"
_LENGTH = 8192


@contextmanager
def pending_write(journals: str, home: str, directory: str) -> Iterator[None]:
    """Note that temporaries may appear in `directory`, until none is left there.

    If no note can be made, the write goes on without. `journals` is the directory of the journals, made if it is missing.
    """
    note = f"{journals}/{os.urandom(6).hex()}{SUFFIX}"
    descriptor = -1
    with suppress(OSError):
        make_directories(journals, home)
        descriptor = os.open(note, NEW, 0o600)
        hold(descriptor)
        write_whole(descriptor, os.fsencode(directory))
    try:
        yield
    finally:
        if descriptor >= 0:
            if not _left(directory):
                with suppress(OSError):
                    os.unlink(note)
            os.close(descriptor)


def tidy_noted(journals: str) -> None:
    """Remove what dead writers left in the directories that are noted, and each note that has served.

    A directory that is unreachable now keeps its note.
    """
    for name in os.listdir(journals):
        if name.endswith(SUFFIX):
            with suppress(OSError):
                _tidy(f"{journals}/{name}")


def _tidy(note: str) -> None:
    descriptor = os.open(note, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        directory = os.fsdecode(os.pread(descriptor, _LENGTH, 0))
        if os.path.isabs(directory):
            AtomicFile.tidy(directory)
        if not _left(directory):
            os.unlink(note)
    finally:
        os.close(descriptor)


def _left(directory: str) -> bool:
    """Return whether a directory holds temporaries, or may hold some."""
    try:
        return any(map(is_temporary, os.listdir(directory)))
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True
