"""Fingerprint a directory: list it, compare it with what is known, and hash the rest (spec/60).

Large trees are compared and hashed by several processes.
"""

from __future__ import annotations

import gc
import mmap
import os
import time
from collections.abc import Callable, Sequence
from errno import EAGAIN, EBADMSG, errorcode
from itertools import accumulate

from outfitter.fingerprint.codec import dump, load
from outfitter.fingerprint.cursor import Cursor
from outfitter.fingerprint.hash_file import CHANGED, PENDING, UNREADABLE, EntryHash, FolderBuilder, hash_entry
from outfitter.fingerprint.pool import ForkPool, cores, part_size, run_parts
from outfitter.fingerprint.tree import DIGEST_SIZE, NO_DIGEST, STAT, Folder, Rows, pack, tree_of, unchanged
from outfitter.fingerprint.walk import TreeScan, Wanted, stats_of
from outfitter.fs import write_whole
from outfitter.model.outcome import GRANULARITY_NS, Row, Tree
from outfitter.model.value import NamedTuple

# With fewer entries than these, one process finishes before others could start.
PARALLEL_FILES = 400
PARALLEL_ROWS = 4000
# The least that a worker takes at a time: files to hash, rows to compare.
PART_FILES = 48
PART_ROWS = 500
# Listing a directory costs about as much as comparing this many rows.
DIRECTORY_ROWS = 8
# Bytes for a note in shared memory: `unstable`, or the name of an errno.
NOTE_SIZE = 16
# Verdicts on a known directory; 0 while there is none. With SAME_NAMES its stat column has been filled in.
UNCHANGED, SAME_NAMES = 1, 2
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def save_baseline(path: str, tree: Tree, durable: Sequence[Row]) -> None:
    """Write `path` (0600), which must not exist; nothing is left of it if that fails."""
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
    """Return the tree and the durable rows that were saved.

    Raises `OSError` if the file is missing or damaged.
    """
    with open(path, "rb") as file:
        data = file.read()
    try:
        return load(data)
    except ValueError:
        raise OSError(EBADMSG, "damaged baseline", path) from None


class PendingFiles(NamedTuple):
    """Pending files of one directory; the results go into consecutive slots from `start` on."""

    builder: FolderBuilder
    indexes: Sequence[int]
    start: int


class ParallelHash:
    """Workers that hash files while this process does something else."""

    def __init__(self, walk: TreeScan, root: int, work: Sequence[tuple[FolderBuilder, Sequence[int]]]) -> None:
        """Start hashing the files of `work`, on all processors but one."""
        self._walk = walk
        self._runs, count = _runs(work)
        parts = _parts(self._runs, part_size(count, PART_FILES))
        self._hashes = hashes = _SharedHashes(count)
        self._pool = ForkPool(len(parts), lambda: _HashWorker(walk, root, parts, hashes), cores() - 1)

    def finish(self) -> None:
        """Help the workers, then store the results; a file without one stays pending."""
        self._pool.finish()
        with self._hashes:
            self._walk.files_read += sum([self._hashes.copy_to_builder(run) for run in self._runs])

    def stop(self) -> None:
        """Abandon the work."""
        self._pool.stop()


def _runs(work: Sequence[tuple[FolderBuilder, Sequence[int]]]) -> tuple[list[PendingFiles], int]:
    """Return each directory's files with the slot of the first, and the number of files."""
    runs: list[PendingFiles] = []
    count = 0
    for builder, indexes in work:
        runs.append(PendingFiles(builder, indexes, count))
        count += len(indexes)
    return runs, count


def _parts(runs: Sequence[PendingFiles], size: int) -> list[list[PendingFiles]]:
    """Split and group the runs into parts of about `size` files."""
    parts: list[list[PendingFiles]] = []
    room = 0
    for builder, indexes, start in runs:
        begin = 0
        while begin < len(indexes):
            if room <= 0:
                parts.append([])
                room = size
            taken = min(room, len(indexes) - begin)
            parts[-1].append(PendingFiles(builder, indexes[begin : begin + taken], start + begin))
            begin += taken
            room -= taken
    return parts


class _SharedHashes:
    """Results in shared memory: columns as a builder's, and one for notes."""

    def __init__(self, count: int) -> None:
        self.tags, self.notes = mmap.mmap(-1, count), mmap.mmap(-1, count * NOTE_SIZE)
        self.stats, self.digests = mmap.mmap(-1, count * STAT.size), mmap.mmap(-1, count * DIGEST_SIZE)

    def __enter__(self) -> _SharedHashes:
        return self

    def __exit__(self, *_: object) -> None:
        for column in (self.tags, self.notes, self.stats, self.digests):
            column.close()

    def put(self, slot: int, entry: EntryHash) -> None:
        """Store one result; the tag goes last, so that a slot with a tag is whole."""
        tag, stat, digest, note = entry
        self.stats[slot * STAT.size : (slot + 1) * STAT.size] = stat
        self.digests[slot * DIGEST_SIZE : (slot + 1) * DIGEST_SIZE] = digest
        if note:
            self.notes[slot * NOTE_SIZE : (slot + 1) * NOTE_SIZE] = note.encode().ljust(NOTE_SIZE, b"\0")
        self.tags[slot] = tag

    def copy_to_builder(self, run: PendingFiles) -> int:
        """Copy a run's results into its builder; return how many files were hashed."""
        builder, indexes, start = run
        end = start + len(indexes)
        tags = self.tags[start:end]
        read = tags.count(b"f") + tags.count(b"x")
        noted = self.notes[start * NOTE_SIZE : end * NOTE_SIZE].strip(b"\0")
        if read == len(indexes) == len(builder.tags) and not noted:
            builder.tags[:] = tags
            builder.stats[:] = self.stats[start * STAT.size : end * STAT.size]
            builder.digests[:] = self.digests[start * DIGEST_SIZE : end * DIGEST_SIZE]
            return read
        for slot, index in enumerate(indexes, start):
            if self.tags[slot]:
                builder.put(index, self._entry(slot))
        return read

    def _entry(self, slot: int) -> EntryHash:
        note = self.notes[slot * NOTE_SIZE : (slot + 1) * NOTE_SIZE].rstrip(b"\0").decode()
        stat = self.stats[slot * STAT.size : (slot + 1) * STAT.size]
        return self.tags[slot], stat, self.digests[slot * DIGEST_SIZE : (slot + 1) * DIGEST_SIZE], note


class _HashWorker:
    """Hashes parts of the pending files."""

    def __init__(
        self, walk: TreeScan, root: int, parts: Sequence[Sequence[PendingFiles]], hashes: _SharedHashes
    ) -> None:
        self._cursor = Cursor(root)
        self._walk = walk
        self._parts = parts
        self._hashes = hashes

    def run_part(self, number: int, /) -> None:
        buffer, settled, whole = self._walk.buffer, self._walk.settled_before, self._walk.whole
        put = self._hashes.put
        for builder, indexes, start in self._parts[number]:
            descriptor = _directory(self._cursor, builder.path)
            if descriptor >= 0:
                for slot, index in enumerate(indexes, start):
                    put(slot, hash_entry(descriptor, builder.names[index], buffer, settled, whole))

    def close(self) -> None:
        self._cursor.close()


def _directory(cursor: Cursor, path: bytes) -> int:
    try:
        return cursor.at(path)
    except OSError:
        return -1


def compare_in_parallel(walk: TreeScan, root: int) -> None:
    """Fill in which known directories are unchanged, and the current stats of those with the same names."""
    known = [walk.known[path] for path in sorted(walk.known)]
    parts = _by_weight(known)
    offsets = [0, *accumulate([len(folder.stats) for folder in known])]
    with mmap.mmap(-1, len(known)) as shared_verdicts, mmap.mmap(-1, offsets[-1] or 1) as stats:
        run_parts(
            len(parts), lambda: _CompareWorker(walk, Cursor(root), known, parts, (offsets, shared_verdicts, stats))
        )
        verdicts = shared_verdicts[:]
        walk.unchanged = {f.path: f for f, verdict in zip(known, verdicts, strict=True) if verdict == UNCHANGED}
        walk.current = {
            folder.path: (folder.names, stats[start : start + len(folder.stats)])
            for folder, verdict, start in zip(known, verdicts, offsets, strict=False)
            if verdict == SAME_NAMES
        }


def _by_weight(known: Sequence[Folder]) -> list[range]:
    """Split the directories into ranges with about as many entries each."""
    target = part_size(sum(len(folder.tags) + DIRECTORY_ROWS for folder in known), PART_ROWS)
    parts: list[range] = []
    start = weight = 0
    for end, folder in enumerate(known, 1):
        weight += len(folder.tags) + DIRECTORY_ROWS
        if weight >= target or end == len(known):
            parts.append(range(start, end))
            start, weight = end, 0
    return parts


class _CompareWorker:
    """Compares ranges of directories; results go into shared memory, the verdict last."""

    def __init__(
        self,
        walk: TreeScan,
        cursor: Cursor,
        known: Sequence[Folder],
        parts: Sequence[range],
        shared: tuple[Sequence[int], mmap.mmap, mmap.mmap],
    ) -> None:
        self._walk = walk
        self._cursor = cursor
        self._known = known
        self._parts = parts
        self._offsets, self._verdicts, self._stats = shared

    def run_part(self, number: int, /) -> None:
        for index in self._parts[number]:
            known = self._known[index]
            try:
                descriptor = self._cursor.at(known.path)
                names, count = self._walk.names_at(descriptor, known)
            except OSError:
                continue
            if names == known.names and count == len(known.tags):
                self._report(index, known, stats_of(descriptor, known.children()))

    def _report(self, index: int, known: Folder, stats: bytes) -> None:
        if unchanged(known, stats, self._walk.limit):
            self._verdicts[index] = UNCHANGED
        else:
            start = self._offsets[index]
            self._stats[start : start + len(stats)] = stats
            self._verdicts[index] = SAME_NAMES

    def close(self) -> None:
        self._cursor.close()


def scan(
    root: str,
    known_rows: Sequence[Row],
    taken_ns: int,
    trusted: bool,
    *,
    cross_mounts: bool = False,
    follow: bool = True,
    whole: bool = True,
    wanted: Wanted | None = None,
) -> Tree:
    """Return the fingerprint of the directory `root` (spec/60).

    `known_rows` were taken at `taken_ns`. A file with an unchanged stat is not read again unless its row is racy, or not at all
    if `trusted` (we wrote it ourselves, and nothing else has run since). Other file systems are entered only with
    `cross_mounts`; otherwise their roots are unreadable with `EXDEV`. With `follow`, `root` itself may be a symlink. Unless
    `whole`, a file that is mostly holes has the digest of `outfitter.sparse`. An added or resized file that is not `wanted` is not read, and has no digest. Raises
    `OSError` if `root` cannot be listed.
    """
    started = time.time_ns()
    limit = None if trusted else taken_ns - GRANULARITY_NS
    collecting = gc.isenabled()
    # A scan creates no reference cycles, and collecting would take 5 % of its time.
    gc.disable()
    try:
        known = pack(known_rows).folders if known_rows else {}
        walk = _scan_root(
            root,
            lambda descriptor: TreeScan(descriptor, known, limit, cross_mounts, whole=whole, wanted=wanted),
            follow=follow,
        )
        files = sum([folder.tags.count(b"f") + folder.tags.count(b"x") for folder in walk.folders.values()])
        return tree_of(walk.folders, started, walk.files_read, max(files - walk.files_read, 0))
    finally:
        if collecting:
            gc.enable()


def look_again(root: str, known_rows: Sequence[Row], taken_ns: int) -> Rows:
    """Return the known paths below `root` that are regular files now, as they are now.

    No other file is read. `taken_ns` as for `scan`. If `root` is absent, there are no rows.
    """
    known = pack(known_rows).folders
    limit = taken_ns - GRANULARITY_NS
    try:
        walk = _scan_root(root, lambda descriptor: TreeScan(descriptor, known, limit, True, only_known=True))
    except (FileNotFoundError, NotADirectoryError):
        return Rows({})
    return Rows({path: _regular(folder) for path, folder in walk.folders.items()})


def _regular(folder: Folder) -> Folder:
    """Return a folder with its regular files only."""
    if not folder.tags.strip(b"fx"):
        return folder
    rows = [folder.row(index, name) for index, name in enumerate(folder.children()) if folder.tags[index] in b"fx"]
    return pack(rows).folders.get(folder.path, Folder(folder.path, b"", b"", b"", b""))


def _scan_root(root: str, begin: Callable[[int], TreeScan], *, follow: bool = True) -> TreeScan:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    descriptor = os.open(root, flags if follow else flags | os.O_NOFOLLOW)
    try:
        walk = begin(descriptor)
        try:
            _list_and_hash(walk, descriptor)
        finally:
            walk.cursor.close()
    finally:
        os.close(descriptor)
    walk.build_folders()
    return walk


def _list_and_hash(walk: TreeScan, root: int) -> None:
    if sum(len(folder.tags) for folder in walk.known.values()) >= PARALLEL_ROWS:
        compare_in_parallel(walk, root)
    if walk.only_known:
        walk.list_known()
    else:
        _list_and_hash_ahead(walk, root)
    for _ in range(3):
        work = walk.pending()
        if sum(len(indexes) for _, indexes in work) >= PARALLEL_FILES:
            _hash_in_parallel(walk, root, work)
        walk.hash_here(walk.pending())
        if not walk.classify_changed():
            break
    for builder in walk.builders.values():
        for index in [i for i, tag in enumerate(builder.tags) if tag in (PENDING, CHANGED)]:
            builder.put(index, (UNREADABLE, builder.stat(index), NO_DIGEST, errorcode[EAGAIN]))


def _hash_in_parallel(walk: TreeScan, root: int, work: Sequence[tuple[FolderBuilder, Sequence[int]]]) -> None:
    """Hash in workers, build what is complete meanwhile, then help the workers."""
    hashing = ParallelHash(walk, root, work)
    try:
        walk.build_folders()
        hashing.finish()
    except BaseException:
        hashing.stop()
        raise


def _list_and_hash_ahead(walk: TreeScan, root: int) -> None:
    """List everything; if there is much to hash, workers start with it meanwhile."""
    begun: list[ParallelHash] = []
    seen = 0

    def begin() -> None:
        nonlocal seen
        work = walk.pending(seen)
        seen, walk.unread_entries, walk.hash_ahead_at = len(walk.builders), 0, walk.hash_ahead_at * 2
        if sum(len(indexes) for _, indexes in work) >= PARALLEL_FILES:
            begun.append(ParallelHash(walk, root, work))

    try:
        walk.list_below(b"", begin)
        while begun:
            begun[0].finish()
            begun.pop(0)
    finally:
        for hashing in begun:
            hashing.stop()


# Not followed: a harness may have replaced its projection by a symlink to anywhere.
class RealTrees:
    """`Trees` of this machine."""

    save_baseline = staticmethod(save_baseline)
    load_baseline = staticmethod(load_baseline)
    look_again = staticmethod(look_again)

    def scan(
        self, root: str, known_rows: Sequence[Row], taken_ns: int, trusted: bool, wanted: Wanted | None = None
    ) -> Tree:
        """Fingerprint a projection; a symlink in its place is not followed."""
        return scan(root, known_rows, taken_ns, trusted, follow=False, whole=False, wanted=wanted)


TREES = RealTrees()
