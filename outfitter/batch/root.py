"""A batch's root on disk: what it is for, who works in it, and its result (spec/70)."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import suppress
from typing import Any

from outfitter.fs import read_document, replace_json

MARKER = "batch.json"
RESULT = "batch_result.json"
_BATCH, _ATTEMPT = "outfitter batch", "outfitter run"


OWN = "give the batch a root of its own"


def occupy(root: str, agent: str, harness: str) -> tuple[int, str, str]:
    """Take `root` for this batch: (descriptor that holds the lock, "", "") or (-1, why not, what to do). Raises `OSError`.

    An absent or empty directory becomes a batch root; one of the same agent and harness is resumed; anything else is refused.
    """
    os.makedirs(root, mode=0o700, exist_ok=True)
    marker = os.path.join(root, MARKER)
    held = os.listdir(root)
    if held and MARKER not in held:
        return -1, "is not empty and is no batch root", OWN
    # Open for writing: file systems of a network lock nothing else. Two that begin at once meet at the lock.
    descriptor = os.open(marker, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        refused, hint = _claim(descriptor, marker, {"schema_version": 1, "agent": agent, "harness": harness})
    except BaseException:
        os.close(descriptor)
        raise
    if refused:
        os.close(descriptor)
        return -1, refused, hint
    return descriptor, "", ""


def vacate(root: str, made: bool) -> None:
    """Give up a root in which nothing was done: without its marker it is free for another batch. Call it with the lock held.

    The directory itself goes only if this batch `made` it.
    """
    with suppress(OSError):
        if os.listdir(root) == [MARKER]:
            os.unlink(os.path.join(root, MARKER))
            if made:
                os.rmdir(root)


def _claim(descriptor: int, marker: str, wanted: dict[str, Any]) -> tuple[str, str]:
    """Lock the marker, and write it where it is new; why not and what to do, or ""."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _in_use(marker)
    if not os.path.lexists(marker) or not os.path.samestat(os.fstat(descriptor), os.lstat(marker)):
        return "is just given up by another batch", "try again"
    if os.fstat(descriptor).st_size == 0:
        os.write(descriptor, json.dumps(wanted, indent=1).encode() + b"\n")
        os.fsync(descriptor)
        return "", ""
    value, _ = read_document(marker)
    return ("", "") if value == wanted else (f"is the root of another batch ({_whose(value)})", OWN)


def _in_use(marker: str) -> tuple[str, str]:
    """Who holds a root, by process: a batch that is at work, or what a killed one left behind."""
    from outfitter.batch.lock_holders import holders

    found = holders(marker)
    if not found:
        return (
            "is in use by a batch, or by an attempt that a killed one left behind, that has not ended yet",
            f"wait until it ends, or {OWN}",
        )
    named = ", ".join(f"{one.pid} ({one.name})" for one in found)
    if any(one.name == _BATCH for one in found):
        return f"is in use by a batch at work: process {named}", f"wait until it ends, or {OWN}"
    # A launcher passes the signal on, saves what its harness wrote, and ends with it.
    first = [one for one in found if one.name == _ATTEMPT] or found
    text = f"is in use by what a killed batch left behind and has not ended yet: process {named}"
    return text, f"wait until it ends, or: kill {' '.join(str(one.pid) for one in first)}"


def write_result(root: str, report: dict[str, Any]) -> str:
    """Replace the batch's result at once; its path."""
    path = os.path.join(root, RESULT)
    replace_json(path, report)
    return path


def _whose(value: Any) -> str:
    return (
        f"agent {value.get('agent')}, harness {value.get('harness')}"
        if isinstance(value, dict)
        else "unreadable marker"
    )
