"""Files that a harness left in its run directory outside the projection (docs/safety.md, promise 4)."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator

from outfitter.fs import identity_of
from outfitter.model.outcome import Identity, Row, path_bytes


def strays(root: str, names: Collection[str]) -> tuple[Row, ...]:
    """Return the rows of the non-empty regular files below these names in `root`, paths relative to it.

    Symlinks are not followed. A directory that cannot be read may hold something: it has a row with tag `u`.
    """
    return tuple(sorted(row for name in names for row in _below(root, name)))


def _below(root: str, name: str) -> Iterator[Row]:
    pending = [name]
    while pending:
        path = pending.pop()
        try:
            at = os.lstat(os.path.join(root, path))
            if stat.S_ISDIR(at.st_mode):
                pending += [os.path.join(path, inner) for inner in os.listdir(os.path.join(root, path))]
            elif stat.S_ISREG(at.st_mode) and at.st_size:
                yield Row(path_bytes(path), "f", b"", at.st_size, stat.S_IMODE(at.st_mode), identity_of(at))
        except FileNotFoundError:
            continue
        except OSError:
            yield Row(path_bytes(path), "u", b"", 0, 0, Identity(0, 0, 0, 0))
