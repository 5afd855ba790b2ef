"""A directory in columns: the raw names in it, in order, and what lstat says of each (spec/60)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from stat import S_IFDIR

from outfitter.tree import NO_STAT, STAT


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
