"""Which processes have a file open: who keeps a batch's root taken (spec/70)."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from typing import NamedTuple

_FIRST_WORDS = 6


class Holder(NamedTuple):
    """A process, and what it is: `outfitter run`, or the name of its program."""

    pid: int
    name: str


def holders(path: str) -> tuple[Holder, ...]:
    """Every other process that has the file open, as far as this user may see; () where the system does not tell."""
    found = _by_proc(path) if sys.platform == "linux" else _by_lsof(path)
    return tuple(sorted(one for one in found if one.pid != os.getpid()))


def _by_proc(path: str) -> list[Holder]:
    with suppress(OSError):
        wanted = os.stat(path)
        return [
            Holder(pid, _name(pid)) for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _has(pid, wanted)
        ]
    return []


def _has(pid: int, wanted: os.stat_result) -> bool:
    folder = f"/proc/{pid}/fd"
    try:
        descriptors = os.listdir(folder)
    except OSError:
        return False
    for descriptor in descriptors:
        with suppress(OSError):
            if os.path.samestat(os.stat(f"{folder}/{descriptor}"), wanted):
                return True
    return False


def _name(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = os.fsdecode(file.read(4096)).split("\0")
        with open(f"/proc/{pid}/comm", "rb") as file:
            return _ours(words) or os.fsdecode(file.read()).strip()
    except OSError:
        return "?"


def _ours(words: list[str]) -> str:
    """`outfitter batch` or `outfitter run` where a command line is one of ours (options may stand before the command), else ""."""
    for index, word in enumerate(words[:_FIRST_WORDS]):
        if os.path.basename(word) == "outfitter":
            command = next((one for one in words[index + 1 :] if one in ("batch", "run")), "")
            return f"outfitter {command}".strip()
    return ""


def _by_lsof(path: str) -> list[Holder]:
    """What `lsof` says in its form for programs: a line `p` and the process, a line `c` and its name."""
    command = ["lsof", "-w", "-F", "pc", "--", path]
    try:
        told = subprocess.run(command, capture_output=True, check=False, timeout=20, stdin=subprocess.DEVNULL).stdout
    except (OSError, subprocess.SubprocessError):
        return []
    found, pid = [], 0
    for line in os.fsdecode(told).splitlines():
        if line[:1] == "p" and line[1:].isdigit():
            pid = int(line[1:])
        elif line[:1] == "c" and pid:
            found.append(Holder(pid, line[1:]))
    return found
