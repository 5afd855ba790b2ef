"""A directory in columns: the raw names in it, in order, and what lstat says of each (spec/60)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from operator import attrgetter
from stat import S_IFDIR

from outfitter.tree import NO_STAT, STAT

_name = attrgetter("name")


def entries_of(descriptor: int) -> tuple[list[bytes], list[os.DirEntry[str]]]:
    """The raw names in an open directory, ascending, and their entries in the same order. Raises `OSError`."""
    with os.scandir(descriptor) as found:
        entries = sorted(found, key=_name)
    joined = os.fsencode("\0".join([entry.name for entry in entries]))
    if not joined.isascii():
        entries.sort(key=lambda entry: os.fsencode(entry.name))
        joined = b"\0".join([os.fsencode(entry.name) for entry in entries])
    return (joined.split(b"\0") if entries else []), entries


def names_of(descriptor: int) -> tuple[bytes, int]:
    """The names in an open directory, ascending by their raw bytes, joined by NUL; and how many. Raises `OSError`."""
    names = os.listdir(descriptor)
    names.sort()
    joined = os.fsencode("\0".join(names))
    # Only among ASCII is the order of the text surely that of its bytes.
    return joined if joined.isascii() else b"\0".join(sorted(joined.split(b"\0"))), len(names)


def stats_of(descriptor: int, names: Sequence[bytes]) -> bytes:
    """The stat column of these names by one lstat each; `NO_STAT` for one that is gone or cannot be looked at."""
    pack, stat = STAT.pack, os.stat
    column = []
    for name in names:
        try:
            s = stat(name, dir_fd=descriptor, follow_symlinks=False)
        except OSError:
            column.append(NO_STAT)
            continue
        mode = s.st_mode
        if mode & 0o170000 == S_IFDIR:
            column.append(pack(s.st_dev, s.st_ino, 0, 0, 0, mode))
        else:
            column.append(pack(s.st_dev, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns, mode))
    return b"".join(column)
