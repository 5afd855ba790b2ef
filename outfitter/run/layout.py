"""The names in a run directory, its lock, and the directory of the journals (spec/50)."""

from __future__ import annotations

from outfitter.model.request import Ambient

MARKER = b"outfitter run 1\n"
LOCK = "lock"
# The marker is written under this name and then renamed, so that a lock file is never seen half written.
LOCK_BEFORE = ".lock.new"
PREFIX = "outfitter-"
# A directory given to a program that is asked for its help.
PROBE_PREFIX = "outfitter-probe-"
# A copy of the journal, and the fingerprint from before the harness started.
COPY, BASELINE = "run.json", "baseline"
# An empty file that `recover --forget` leaves in a run directory: the sweep may remove it.
FORGOTTEN = "forgotten"
JOURNAL_LIMIT = 64 * 1024 * 1024
WEEK_NS = 7 * 86_400 * 1_000_000_000


class Lock:
    """A held lock: an open descriptor, and nothing else."""

    def __init__(self, descriptor: int) -> None:
        """`descriptor` is open, and locked by this process."""
        self.descriptor = descriptor


def journal_directory(ambient: Ambient) -> str:
    """Return the directory of this user's journals."""
    return ambient.state_root + "/runs"


def removed_log(ambient: Ambient) -> str:
    """Return the log of removed run directories: what appears at such a path again is a leftover of ours."""
    return ambient.state_root + "/removed"
