"""How Claude Code names the folder of a working directory's sessions (measured; spec/95 SLG). Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

# Longer names are cut to this many UTF-16 units, and a dash and a hash follow.
LONGEST = 200
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_CWD = rb'"cwd"\s*:\s*("(?:[^"\\]|\\.)*")'


def slug(path: str) -> str:
    """The folder's name for a physical path: each UTF-16 unit that is no ASCII letter or digit is one dash."""
    units = _units(path)
    name = "".join(chr(unit) if unit < 128 and chr(unit).isalnum() else "-" for unit in units)
    return name if len(units) <= LONGEST else f"{name[:LONGEST]}-{_base36(abs(_rolling(units)))}"


def alike(path: str, names: Iterable[str]) -> tuple[str, ...]:
    """Existing folders that may belong to a long path although their suffix is another version's; () where the name is certain."""
    wanted = slug(path)
    if len(wanted) <= LONGEST:
        return ()
    listed = tuple(names)
    if wanted in listed:
        return ()
    return tuple(name for name in listed if len(name) >= LONGEST and name[:LONGEST] == wanted[:LONGEST])


def folder(path: str, names: Iterable[str], heads: Mapping[str, bytes | None]) -> str:
    """The folder to seed and merge: the computed name, or the one alike whose newest transcript records this very path (SLG-05).

    `heads` maps a folder's name to the beginning of its newest transcript.
    """
    for name in alike(path, names):
        if recorded_directory(heads.get(name) or b"") == path:
            return name
    return slug(path)


def recorded_directory(head: bytes) -> str:
    """The working directory that a transcript's beginning records, "" where it records none."""
    for line in head.split(b"\n"):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            # The line that the head cuts off: its own `cwd` may still stand in it.
            found = re.search(_CWD, line)
            if found is None:
                continue
            try:
                record = {"cwd": json.loads(found[1])}
            except ValueError:
                continue
        if isinstance(record, dict) and isinstance(record.get("cwd"), str):
            return str(record["cwd"])
    return ""


def _units(path: str) -> tuple[int, ...]:
    if path.isascii():
        return tuple(path.encode())
    raw = path.encode("utf-16-le", "surrogatepass")
    return tuple(raw[at] | raw[at + 1] << 8 for at in range(0, len(raw), 2))


def _rolling(units: Iterable[int]) -> int:
    """A signed 32-bit hash: times 31, plus the unit, wrapping."""
    value = 0
    for unit in units:
        value = (value * 31 + unit) & 0xFFFFFFFF
    return value - (1 << 32) if value & 0x80000000 else value


def _base36(number: int) -> str:
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = _DIGITS[digit] + digits
    return digits or "0"
