"""Known directories compared with the disk by listing and stat alone, in as many processes as pay (spec/60, warm comparison)."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from itertools import accumulate

from outfitter.edges.cursor import Cursor
from outfitter.edges.forks import MOST_PARTS, share
from outfitter.edges.listing import stats_of
from outfitter.edges.walk import Pass
from outfitter.tree import Folder
from outfitter.trust import vouched

PART_ROWS = 500
# A directory costs about as much as so many more files.
DIRECTORY_ROWS = 8
# What is said of a directory: all of it is as known; or its names are, and the stat column is there.
AS_KNOWN, LOOKED_AT = 1, 2


def compare_known(walk: Pass, root: int) -> None:
    """Tell the walk which known directories are as known, and what stat says of the children of those with the same names."""
    known = [walk.known[path] for path in sorted(walk.known)]
    parts = _by_weight(known)
    offsets = [0, *accumulate([len(folder.stats) for folder in known])]
    with mmap.mmap(-1, len(known)) as said, mmap.mmap(-1, offsets[-1] or 1) as stats:
        share(len(parts), lambda: _Comparing(walk, Cursor(root), known, parts, (offsets, said, stats)))
        verdicts = said[:]
        walk.same = {f.path: f for f, verdict in zip(known, verdicts, strict=True) if verdict == AS_KNOWN}
        walk.seen = {
            folder.path: (folder.names, stats[start : start + len(folder.stats)])
            for folder, verdict, start in zip(known, verdicts, offsets, strict=False)
            if verdict == LOOKED_AT
        }


def _by_weight(known: Sequence[Folder]) -> list[range]:
    """Runs of directories with about as many entries each."""
    total = sum(len(folder.tags) + DIRECTORY_ROWS for folder in known)
    target = max(PART_ROWS, total // MOST_PARTS + 1)
    parts: list[range] = []
    start = weight = 0
    for place, folder in enumerate(known, 1):
        weight += len(folder.tags) + DIRECTORY_ROWS
        if weight >= target or place == len(known):
            parts.append(range(start, place))
            start, weight = place, 0
    return parts


class _Comparing:
    """Compares the directories of some parts; what it finds goes into shared memory, the verdict last."""

    def __init__(
        self,
        walk: Pass,
        cursor: Cursor,
        known: Sequence[Folder],
        parts: Sequence[range],
        found: tuple[Sequence[int], mmap.mmap, mmap.mmap],
    ) -> None:
        self._walk = walk
        self._cursor = cursor
        self._known = known
        self._parts = parts
        self._offsets, self._said, self._stats = found

    def __call__(self, number: int, /) -> None:
        for place in self._parts[number]:
            known = self._known[place]
            try:
                descriptor = self._cursor.at(known.path)
                names, count = self._walk.names_at(descriptor, known)
            except OSError:
                continue
            if names == known.names and count == len(known.tags):
                self._say(place, known, stats_of(descriptor, known.children()))

    def _say(self, place: int, known: Folder, stats: bytes) -> None:
        if vouched(known, stats, self._walk.limit):
            self._said[place] = AS_KNOWN
        else:
            start = self._offsets[place]
            self._stats[start : start + len(stats)] = stats
            self._said[place] = LOOKED_AT

    def close(self) -> None:
        self._cursor.close()
