"""A batch's root on disk: what it is for, who works in it, and its result (spec/70)."""

from __future__ import annotations

import fcntl
import json
import os
from typing import Any

from outfitter.edges.evidence_files import read_document

MARKER = "batch.json"
RESULT = "batch_result.json"


def occupy(root: str, agent: str, harness: str) -> tuple[int, str]:
    """Take `root` for this batch: (descriptor that holds the lock, "") or (-1, why not). Raises `OSError`.

    An absent or empty directory becomes a batch root; one of the same agent and harness is resumed; anything else is refused.
    """
    os.makedirs(root, mode=0o700, exist_ok=True)
    marker = os.path.join(root, MARKER)
    value, why = read_document(marker)
    wanted = {"schema_version": 1, "agent": agent, "harness": harness}
    if why == "missing":
        if os.listdir(root):
            return -1, "is not empty and is no batch root"
        _put(marker, wanted)
    elif value != wanted:
        return -1, f"is the root of another batch ({_whose(value)})"
    descriptor = os.open(marker, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return (
            -1,
            "is in use by a batch, or by an attempt that a killed one left behind, that has not ended yet (its command line names this root)",
        )
    return descriptor, ""


def write_result(root: str, report: dict[str, Any]) -> str:
    """Replace the batch's result at once; its path."""
    path = os.path.join(root, RESULT)
    _put(path, report)
    return path


def _whose(value: Any) -> str:
    return (
        f"agent {value.get('agent')}, harness {value.get('harness')}"
        if isinstance(value, dict)
        else "unreadable marker"
    )


def _put(path: str, value: dict[str, Any]) -> None:
    temporary = f"{path}.{os.urandom(6).hex()}.tmp"
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
        file.write(json.dumps(value, indent=1).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())
    os.rename(temporary, path)
