"""Fingerprints of directories: listed, compared with what is known, and what is left read, here or in workers (spec/60)."""

from __future__ import annotations

import gc
import mmap
import os
import time
from collections.abc import Callable, Sequence
from errno import EAGAIN, EBADMSG, errorcode
from functools import partial
from itertools import accumulate
from typing import NamedTuple

from outfitter.fingerprint.codec import dump, load
from outfitter.fingerprint.cursor import Cursor
from outfitter.fingerprint.hash_file import CHANGED, PENDING, UNREADABLE, Draft, Finding, examine
from outfitter.fingerprint.pool import MOST_PARTS, Crew, cores, share
from outfitter.fingerprint.tree import DIGEST_SIZE, NO_DIGEST, STAT, Folder, Rows, pack, tree_of, vouched
from outfitter.fingerprint.walk import Pass, stats_of
from outfitter.fs import write_whole
from outfitter.host import Trees
from outfitter.model.outcome import GRANULARITY_NS, Row, Tree

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def save_baseline(path: str, tree: Tree, durable: Sequence[Row]) -> None:
    """Write `path` (0600), which must not exist; nothing is left of it where that fails."""
    data = dump(tree, durable)
    descriptor = os.open(path, _NEW, 0o600)
    try:
        write_whole(descriptor, data)
    except BaseException:
        os.unlink(path)
        raise
    finally:
        os.close(descriptor)


def load_baseline(path: str) -> tuple[Tree, Rows]:
    """The tree and the durable rows that were saved; raises `OSError` where the file is missing or damaged."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        return load(data)
    except ValueError:
        raise OSError(EBADMSG, "damaged baseline", path) from None


PART_FILES = 48
# Room for a note: `unstable`, or an errno's name.
NOTE_SIZE = 16


class Run(NamedTuple):
    """Pending files of one directory, and where the first one's answer goes."""

    draft: Draft
    indexes: Sequence[int]
    start: int


class ReadingAhead:
    """Files being read by workers while something else goes on; `finish` helps them, and takes the answers."""

    def __init__(self, walk: Pass, root: int, work: Sequence[tuple[Draft, Sequence[int]]]) -> None:
        """Begin with these files, in workers for all processors but one."""
        self._walk = walk
        self._runs, count = _runs(work)
        parts = _parts(self._runs, max(PART_FILES, -(-count // MOST_PARTS)))
        self._answers = answers = _Answers(count)
        self._crew = Crew(len(parts), lambda: _Reading(walk, root, parts, answers), cores() - 1)

    def finish(self) -> None:
        """What none of the workers answered stays pending."""
        self._crew.finish()
        with self._answers:
            self._walk.read += sum([self._answers.give(run) for run in self._runs])

    def stop(self) -> None:
        """The answers are not wanted any more."""
        self._crew.stop()


def _runs(work: Sequence[tuple[Draft, Sequence[int]]]) -> tuple[list[Run], int]:
    """Each directory's files with the place of the first answer, and how many files there are."""
    runs: list[Run] = []
    count = 0
    for draft, indexes in work:
        runs.append(Run(draft, indexes, count))
        count += len(indexes)
    return runs, count


def _parts(runs: Sequence[Run], size: int) -> list[list[Run]]:
    """The runs cut and gathered into parts of about `size` files."""
    parts: list[list[Run]] = []
    room = 0
    for draft, indexes, start in runs:
        at = 0
        while at < len(indexes):
            if room <= 0:
                parts.append([])
                room = size
            taken = min(room, len(indexes) - at)
            parts[-1].append(Run(draft, indexes[at : at + taken], start + at))
            at += taken
            room -= taken
    return parts


class _Answers:
    """What workers found, in shared memory: columns as a draft's, and one for notes."""

    def __init__(self, count: int) -> None:
        self.tags, self.notes = mmap.mmap(-1, count), mmap.mmap(-1, count * NOTE_SIZE)
        self.stats, self.digests = mmap.mmap(-1, count * STAT.size), mmap.mmap(-1, count * DIGEST_SIZE)

    def __enter__(self) -> _Answers:
        return self

    def __exit__(self, *_: object) -> None:
        for column in (self.tags, self.notes, self.stats, self.digests):
            column.close()

    def put(self, place: int, finding: Finding) -> None:
        """One answer; its tag last, so that what is there is whole."""
        tag, stat, digest, note = finding
        self.stats[place * STAT.size : (place + 1) * STAT.size] = stat
        self.digests[place * DIGEST_SIZE : (place + 1) * DIGEST_SIZE] = digest
        if note:
            self.notes[place * NOTE_SIZE : (place + 1) * NOTE_SIZE] = note.encode().ljust(NOTE_SIZE, b"\0")
        self.tags[place] = tag

    def give(self, run: Run) -> int:
        """Put the answers of a run into its draft; how many files were read."""
        draft, indexes, start = run
        end = start + len(indexes)
        tags = self.tags[start:end]
        read = tags.count(b"f") + tags.count(b"x")
        noted = self.notes[start * NOTE_SIZE : end * NOTE_SIZE].strip(b"\0")
        if read == len(indexes) == len(draft.tags) and not noted:
            draft.tags[:] = tags
            draft.stats[:] = self.stats[start * STAT.size : end * STAT.size]
            draft.digests[:] = self.digests[start * DIGEST_SIZE : end * DIGEST_SIZE]
            return read
        for place, index in enumerate(indexes, start):
            if self.tags[place]:
                draft.put(index, self._at(place))
        return read

    def _at(self, place: int) -> Finding:
        note = self.notes[place * NOTE_SIZE : (place + 1) * NOTE_SIZE].rstrip(b"\0").decode()
        stat = self.stats[place * STAT.size : (place + 1) * STAT.size]
        return self.tags[place], stat, self.digests[place * DIGEST_SIZE : (place + 1) * DIGEST_SIZE], note


class _Reading:
    """Reads parts of the pending files."""

    def __init__(self, walk: Pass, root: int, parts: Sequence[Sequence[Run]], answers: _Answers) -> None:
        self._cursor = Cursor(root)
        self._walk = walk
        self._parts = parts
        self._answers = answers

    def __call__(self, number: int, /) -> None:
        buffer, settled, put = self._walk.buffer, self._walk.settled, self._answers.put
        for draft, indexes, start in self._parts[number]:
            descriptor = _at(self._cursor, draft.path)
            if descriptor >= 0:
                for place, index in enumerate(indexes, start):
                    put(place, examine(descriptor, draft.names[index], buffer, settled))

    def close(self) -> None:
        self._cursor.close()


def _at(cursor: Cursor, path: bytes) -> int:
    try:
        return cursor.at(path)
    except OSError:
        return -1


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


# What a harness may have put in its projection's place, a link to anywhere, is not the projection.
TREES = Trees(partial(scan, follow=False), save_baseline, load_baseline, look_again)
