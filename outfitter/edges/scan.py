"""Fingerprints of directories: listed, compared with what is known, and what is left read, here or in workers (spec/60)."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Sequence
from errno import EAGAIN, errorcode
from typing import TYPE_CHECKING

from outfitter.edges.finding import CHANGED, PENDING, UNREADABLE, Draft
from outfitter.edges.walk import Pass
from outfitter.model.outcome import Row, Tree
from outfitter.tree import GRANULARITY_NS, NO_DIGEST, Folder, Rows, pack, tree_of

if TYPE_CHECKING:
    from outfitter.edges.workers import ReadingAhead

# Below these, one process is done before others could be started.
PARALLEL_FILES = 400
PARALLEL_ROWS = 4000


def scan(
    root: str,
    known_rows: Sequence[Row],
    taken_ns: int,
    trusted: bool,
    *,
    cross_mounts: bool = False,
    follow: bool = True,
) -> Tree:
    """The fingerprint of the directory `root` now (spec/60).

    `known_rows` were taken at `taken_ns`; a file whose stat is as known is not read again unless the row is racy, or at
    all events if `trusted` (we wrote it ourselves, and nothing else ran since). Directories of other file systems are
    not entered but with `cross_mounts`: they are unreadable, `EXDEV`. A link at `root` itself is followed only with
    `follow`. Raises `OSError` where `root` itself cannot be listed.
    """
    started = time.time_ns()
    limit = None if trusted else taken_ns - GRANULARITY_NS
    collecting = gc.isenabled()
    # Nothing here makes a cycle, and looking for some costs a twentieth of the whole.
    gc.disable()
    try:
        known = pack(known_rows).folders if known_rows else {}
        walk = _walked(root, lambda descriptor: Pass(descriptor, known, limit, cross_mounts), follow=follow)
        files = sum([folder.tags.count(b"f") + folder.tags.count(b"x") for folder in walk.folders.values()])
        return tree_of(walk.folders, started, walk.read, max(files - walk.read, 0))
    finally:
        if collecting:
            gc.enable()


def look_again(root: str, known_rows: Sequence[Row], taken_ns: int) -> Rows:
    """Those of the known paths below `root` that are regular files now, as they are now; no file but these is read.

    `taken_ns` as for `scan`. An absent `root` holds none of them.
    """
    known = pack(known_rows).folders
    limit = taken_ns - GRANULARITY_NS
    try:
        walk = _walked(root, lambda descriptor: Pass(descriptor, known, limit, True, only_known=True))
    except (FileNotFoundError, NotADirectoryError):
        return Rows({})
    return Rows({path: _regular(folder) for path, folder in walk.folders.items()})


def _regular(folder: Folder) -> Folder:
    """A folder's regular files."""
    if not folder.tags.strip(b"fx"):
        return folder
    rows = [folder.row(index, name) for index, name in enumerate(folder.children()) if folder.tags[index] in b"fx"]
    return pack(rows).folders.get(folder.path, Folder(folder.path, b"", b"", b"", b""))


def _walked(root: str, begin: Callable[[int], Pass], *, follow: bool = True) -> Pass:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    descriptor = os.open(root, flags if follow else flags | os.O_NOFOLLOW)
    try:
        walk = begin(descriptor)
        try:
            _carry_out(walk, descriptor)
        finally:
            walk.cursor.close()
    finally:
        os.close(descriptor)
    walk.put_together()
    return walk


def _carry_out(walk: Pass, root: int) -> None:
    if sum(len(folder.tags) for folder in walk.known.values()) >= PARALLEL_ROWS:
        from outfitter.edges.comparing import compare_known

        compare_known(walk, root)
    if walk.only_known:
        walk.list_known()
    else:
        _list_and_read_ahead(walk, root)
    for _ in range(3):
        work = walk.pending()
        if sum(len(indexes) for _, indexes in work) >= PARALLEL_FILES:
            _read_shared(walk, root, work)
        walk.read_here(walk.pending())
        if not walk.settle_changed():
            break
    for draft in walk.drafts.values():
        for index in [i for i, tag in enumerate(draft.tags) if tag in (PENDING, CHANGED)]:
            draft.put(index, (UNREADABLE, draft.stat(index), NO_DIGEST, errorcode[EAGAIN]))


def _read_shared(walk: Pass, root: int, work: Sequence[tuple[Draft, Sequence[int]]]) -> None:
    """Have workers read, put together meanwhile what has been read before, and help them then."""
    from outfitter.edges.workers import ReadingAhead

    reading = ReadingAhead(walk, root, work)
    try:
        walk.put_together()
        reading.finish()
    except BaseException:
        reading.stop()
        raise


def _list_and_read_ahead(walk: Pass, root: int) -> None:
    """List everything; where there is much to read, workers begin with it meanwhile."""
    begun: list[ReadingAhead] = []
    seen = 0

    def begin() -> None:
        nonlocal seen
        from outfitter.edges.workers import ReadingAhead

        work = walk.pending(seen)
        seen, walk.unread, walk.enough = len(walk.drafts), 0, walk.enough * 2
        if sum(len(indexes) for _, indexes in work) >= PARALLEL_FILES:
            begun.append(ReadingAhead(walk, root, work))

    try:
        walk.list_from(b"", begin)
        while begun:
            begun[0].finish()
            begun.pop(0)
    finally:
        for one in begun:
            one.stop()
