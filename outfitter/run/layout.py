"""What stands where: the names in a run directory, the lock on it, and the places of journals (spec/50)."""

from __future__ import annotations

from outfitter.model.request import Ambient

MARKER = b"outfitter run 1\n"
LOCK = "lock"
# The marker is written under this name and renamed, so that a lock file is whole from its first moment.
LOCK_BEFORE = ".lock.new"
PREFIX = "outfitter-"
WEEK_NS = 7 * 86_400 * 1_000_000_000


class Lock:
    """A held lock: an open descriptor, and nothing else."""

    def __init__(self, descriptor: int) -> None:
        """`descriptor` is open, and locked by this process."""
        self.descriptor = descriptor


def journal_directory(ambient: Ambient) -> str:
    """Where the journals of this user lie."""
    return ambient.state_root + "/runs"


def removed_log(ambient: Ambient) -> str:
    """Where the run directories that were removed whole are noted: what appears at such a path again is ours to deal with."""
    return ambient.state_root + "/removed"
