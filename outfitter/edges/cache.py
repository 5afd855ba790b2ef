"""Outfitter's own cache on disk: what is in it, and what of it may go (spec/80).

Everything but `sources/` and `utilities/` is a short cut that is made again when it is missed. Checkouts are fetched state and
`utilities/` holds programs that harnesses put there: neither is removed unasked. Safe while launches run: they treat any
missing or half-removed short cut as absent.
"""

import os
import shutil
from collections.abc import Iterator
from typing import NamedTuple

SHORT_CUTS = ("documents", "fingerprints", "probes")
DAY_SECONDS = 86_400


class Removed(NamedTuple):
    """What was removed: files and their bytes."""

    files: int = 0
    size: int = 0


def prune(cache: str, now: float, days: float) -> Removed:
    """Remove short cuts that no launch has written for so many days."""
    files = size = 0
    for name in SHORT_CUTS:
        for folder, _, members in _walk(os.path.join(cache, name)):
            for member in members:
                path = os.path.join(folder, member)
                try:
                    status = os.lstat(path)
                    if status.st_mtime < now - days * DAY_SECONDS:
                        os.unlink(path)
                        files, size = files + 1, size + status.st_size
                except OSError:
                    continue
    return Removed(files, size)


def clean(cache: str, *, sources: bool) -> Removed:
    """Remove every short cut, and with `sources` the checkouts as well; the next launch makes the first, `sync` the second."""
    files = size = 0
    for name in (*SHORT_CUTS, "sources") if sources else SHORT_CUTS:
        place = os.path.join(cache, name)
        counted = _count(place)
        files, size = files + counted.files, size + counted.size
        shutil.rmtree(place, ignore_errors=True)
    return Removed(files, size)


def contents(cache: str) -> dict[str, Removed]:
    """Files and bytes of each folder in the cache."""
    names = sorted(os.listdir(cache)) if os.path.isdir(cache) else []
    return {name: _count(os.path.join(cache, name)) for name in names if os.path.isdir(os.path.join(cache, name))}


def _walk(place: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """What is below a folder of ours; nothing where a link stands in its place, for what it leads to is somebody else's."""
    return iter(()) if os.path.islink(place) else os.walk(place)


def _count(place: str) -> Removed:
    files = size = 0
    for folder, _, members in _walk(place):
        for member in members:
            try:
                size += os.lstat(os.path.join(folder, member)).st_size
                files += 1
            except OSError:
                continue
    return Removed(files, size)
