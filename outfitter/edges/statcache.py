"""What earlier fingerprints found, kept under `<cache_directory>/fingerprints/`: only ever a short cut (spec/60).

One file a directory, whole or not there: a checksum over packed rows, put in place by rename, so that two launches may write it
at once. Any doubt about it counts as absent, and no failure to keep it is told.
"""

from __future__ import annotations

import os
import struct
import time
from stat import S_ISREG

from blake3 import blake3

from outfitter.edges.directories import make_cache
from outfitter.model.outcome import Tree
from outfitter.treefile import dump, load

VERSION = "v1"
LARGEST = 1 << 30


def place(cache: str, root: str) -> str:
    """The file for the physical directory `root` under the cache directory `cache`."""
    return os.path.join(cache, "fingerprints", VERSION, blake3(os.fsencode(root)).hexdigest()[:32])


def recall(cache: str, root: str) -> Tree | None:
    """The fingerprint that was kept of `root`, or None. Its rows are to be believed under the racy rule alone."""
    try:
        descriptor = os.open(place(cache, root), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not S_ISREG(status.st_mode) or status.st_size > LARGEST or status.st_uid != os.geteuid():
                return None
            loaded = load(file.read(LARGEST))
    except (OSError, ValueError, IndexError, struct.error):
        return None
    return loaded[0] if loaded and loaded[0].taken_ns <= time.time_ns() else None


def keep(cache: str, root: str, tree: Tree) -> None:
    """Keep the fingerprint of `root`; a cache that cannot be written stays as it is."""
    target = place(cache, root)
    directory = os.path.dirname(target)
    beside = os.path.join(directory, f".{os.urandom(6).hex()}.tmp")
    try:
        make_cache(directory, cache)
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            with open(descriptor, "wb") as file:
                file.write(dump(tree))
            os.replace(beside, target)
        except BaseException:
            os.unlink(beside)
            raise
    except OSError:
        return
