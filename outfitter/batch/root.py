"""The output root of a batch on disk: what it is for, who works in it, and its result (spec/70)."""

from __future__ import annotations

import fcntl
import json
import os
import platform
from contextlib import suppress
from typing import Any, NamedTuple

from outfitter.fs import read_document, replace_json

MARKER = "batch.json"
RESULT = "batch_result.json"
# Who holds the lock on the marker: the batch, and below OUTPUT one file for each attempt that runs on this machine.
BATCH_PID = "batch.pid"
OUTPUT = "output"
PID_SUFFIX = ".pid"
WAIT = "wait until it ends"
OWN_ROOT = "give the batch its own root"


class Refusal(NamedTuple):
    """Why a root cannot be used, and what to do."""

    reason: str
    hint: str


def occupy(root: str, agent: str, harness: str) -> int | Refusal:
    """Take `root` for this batch and return the descriptor that holds its lock. Raises `OSError`.

    An absent or empty directory becomes a batch root; one of the same agent and harness is resumed.
    """
    os.makedirs(root, mode=0o700, exist_ok=True)
    marker = os.path.join(root, MARKER)
    names = os.listdir(root)
    if names and MARKER not in names:
        return Refusal("is not empty and not a batch root", OWN_ROOT)
    # Open for writing: network file systems lock nothing else. Two batches that begin at once meet at the lock.
    descriptor = os.open(marker, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        refusal = _claim(descriptor, root, {"schema_version": 1, "agent": agent, "harness": harness})
        if refusal is None:
            record_process(os.path.join(root, BATCH_PID), os.getpid())
            return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return refusal


def vacate(root: str, created: bool) -> None:
    """End the batch's work in `root`; call it with the lock held.

    A root in which nothing was done loses its marker, so that another batch can take it; the directory itself is removed
    only if this batch `created` it.
    """
    with suppress(OSError):
        os.unlink(os.path.join(root, BATCH_PID))
    with suppress(OSError):
        if os.listdir(root) == [MARKER]:
            os.unlink(os.path.join(root, MARKER))
            if created:
                os.rmdir(root)


def record_process(path: str, pid: int) -> None:
    """Write which process of this machine holds the lock."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{pid} {platform.node()}\n")


def write_result(root: str, report: dict[str, Any]) -> str:
    """Replace the batch's result atomically; return its path."""
    path = os.path.join(root, RESULT)
    replace_json(path, report)
    return path


def _claim(descriptor: int, root: str, wanted: dict[str, Any]) -> Refusal | None:
    """Lock the marker, and write it if it is new."""
    marker = os.path.join(root, MARKER)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _in_use(root)
    if not os.path.lexists(marker) or not os.path.samestat(os.fstat(descriptor), os.lstat(marker)):
        return Refusal("was given up by another batch at this moment", "try again")
    if os.fstat(descriptor).st_size == 0:
        os.write(descriptor, json.dumps(wanted, indent=1).encode() + b"\n")
        os.fsync(descriptor)
        return None
    value, _ = read_document(marker)
    return None if value == wanted else Refusal(f"is the root of another batch ({_describe(value)})", OWN_ROOT)


def _in_use(root: str) -> Refusal:
    """Name what holds the lock: a running batch, or attempts that a killed batch left running.

    A recorded process that has ended is ignored: a killed batch leaves its record behind.
    """
    batch = _recorded(os.path.join(root, BATCH_PID))
    if batch and _runs(batch):
        return Refusal(f"is in use by a running batch: process {batch} (outfitter batch)", f"{WAIT}, or {OWN_ROOT}")
    # Each launcher leads a session and a process group, in which its harness stays even if the launcher is killed. A
    # launcher that gets the signal passes it on, saves what its harness wrote, and ends with it.
    groups = [pid for pid in _recorded_attempts(root) if _leads_session(pid)]
    if groups:
        named = f"process group {', '.join(map(str, groups))} (outfitter run)"
        kill = " ".join(f"-{pid}" for pid in groups)
        return Refusal(f"is in use by what a killed batch left running: {named}", f"{WAIT}, or: kill -- {kill}")
    return Refusal(
        "is in use by another batch, or by an attempt that a killed batch left running", f"{WAIT}, or {OWN_ROOT}"
    )


def _recorded_attempts(root: str) -> list[int]:
    output = os.path.join(root, OUTPUT)
    try:
        names = sorted(name for name in os.listdir(output) if name.endswith(PID_SUFFIX))
    except OSError:
        return []
    return [pid for name in names if (pid := _recorded(os.path.join(output, name)))]


def _recorded(path: str) -> int:
    """Return the process that `record_process` wrote, or 0 if there is none of this machine."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            pid, _, host = file.read(1000).strip().partition(" ")
    except OSError:
        return 0
    return int(pid) if pid.isdecimal() and host == platform.node() else 0


def _runs(pid: int) -> bool:
    """Return whether a process, or for -N the process group N, exists."""
    try:
        os.kill(pid, 0)  # signal 0 only checks
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True


def _leads_session(pid: int) -> bool:
    """Return whether the process group `pid` exists; if its leader does, it must lead a session.

    A reused process id rarely leads a session, and no id is reused while its group exists.
    """
    try:
        return _runs(-pid) and os.getsid(pid) == pid
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False


def _describe(value: Any) -> str:
    return (
        f"agent {value.get('agent')}, harness {value.get('harness')}"
        if isinstance(value, dict)
        else "unreadable marker"
    )
