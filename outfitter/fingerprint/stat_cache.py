"""What earlier fingerprints found, kept under `<cache_directory>/fingerprints/`: only ever a short cut (spec/60).

One record a directory, whole or not there: a checksum over packed rows, put in place by rename, so that two launches may write it
at once. Where little changed in a large directory, only that is written beside its record, with the checksum of the record
it belongs to. Any doubt about either counts as absent, and no failure to keep it is told.
"""

from __future__ import annotations

import os
import struct
import time
from stat import S_ISREG
from typing import NamedTuple

from blake3 import blake3

from outfitter.fingerprint.codec import CHECKSUM_SIZE, dump, dump_later, load, load_later
from outfitter.fingerprint.tree import Folder, pack
from outfitter.fs import make_cache
from outfitter.model.outcome import Tree

VERSION = "v1"
LARGEST = 1 << 30
LATER = ".later"
# Records of so many entries, of which less than the fraction changed, are not written anew. A directory counts as several entries.
WHOLE_BELOW, FRACTION, DIRECTORY_ROWS = 4_000, 4, 8


class Kept(NamedTuple):
    """What was kept of a directory; `record` is the checksum of its record, `later` the directories that differ from that record."""

    tree: Tree
    record: bytes
    later: frozenset[bytes]


def place(cache: str, root: str) -> str:
    """The file for the physical directory `root` under the cache directory `cache`."""
    return os.path.join(cache, "fingerprints", VERSION, blake3(os.fsencode(root)).hexdigest()[:32])


def recall(cache: str, root: str) -> Kept | None:
    """The fingerprint that was kept of `root`, or None. Its rows are to be believed under the racy rule alone."""
    path = place(cache, root)
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
    return Kept(tree, record, later) if tree.taken_ns <= time.time_ns() else None


def _read(path: str) -> bytes:
    """A file of ours; raises `OSError` or `ValueError` where it is none."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not S_ISREG(status.st_mode) or status.st_size > LARGEST or status.st_uid != os.geteuid():
            raise ValueError(path)
        return file.read(LARGEST)


def keep(cache: str, root: str, tree: Tree, before: Kept | None = None) -> None:
    """Keep the fingerprint of `root`, which was taken with the help of `before`; a cache that cannot be written stays as it is."""
    target = place(cache, root)
    changed = _changed(tree, before) if before else None
    try:
        make_cache(os.path.dirname(target), cache)
        if before and changed is not None:
            _write(target + LATER, dump_later(tree, changed, before.record))
        else:
            _write(target, dump(tree))
    except OSError:
        return


def _changed(tree: Tree, before: Kept) -> dict[bytes, Folder | None] | None:
    """The directories in which `tree` differs from the record that `before` came from (None: gone), if they are few."""
    now, then = pack(tree.rows).folders, pack(before.tree.rows).folders
    total = len(tree.rows) + len(now) * DIRECTORY_ROWS
    if total < WHOLE_BELOW:
        return None
    paths = {path for path, folder in now.items() if then.get(path) is not folder} | before.later
    paths.update(then.keys() - now.keys())
    changed = {path: now.get(path) for path in paths}
    rows = sum([len(folder.tags) + DIRECTORY_ROWS if folder else 1 for folder in changed.values()])
    return changed if rows * FRACTION <= total else None


def _write(target: str, data: bytes) -> None:
    beside = os.path.join(os.path.dirname(target), f".{os.urandom(6).hex()}.tmp")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(data)
        os.replace(beside, target)
    except BaseException:
        os.unlink(beside)
        raise
