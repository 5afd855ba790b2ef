"""Copy durable state into a projection: single files and whole session trees (spec/50).

Only regular files are copied; mtimes are kept; modes become 0600 or 0700. A copy and its source are hashed in one pass.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence

from outfitter.fingerprint.cursor import Cursor
from outfitter.fingerprint.hash_file import newest_of, packed_directory
from outfitter.fingerprint.tree import NO_DIGEST, STAT, Folder, Rows, join, pack, packed_row, tree_of
from outfitter.fs import is_temporary
from outfitter.host import DurableState
from outfitter.model.outcome import GRANULARITY_NS, Identity, Row, path_bytes, path_text
from outfitter.model.request import Notice
from outfitter.model.value import NamedTuple
from outfitter.run.copying import DONE, SLOT, Copier, Known, Progress, Work

SHOWN = 5
FolderEntry = tuple[bytes, bytes, bytes, bytes]
"""(name, tag, packed stat, digest)"""


def copy(source: str, path: str, executable: bool) -> tuple[Row, DurableState]:
    """Copy one durable file, symlinks followed; return the copy's row (empty path) and the source as read.

    Raises `OSError` if the source is absent, unreadable or not a regular file, or if the target exists.
    """
    real = os.path.realpath(source)
    made = Copier().copy(real, path, executable=executable)
    row = _row(b"", made.made, made.digest)
    seen = _row(b"", made.source, made.digest)
    return row, DurableState(real, made.digest, seen.size, seen.mode, seen.identity)


class SeedListing(NamedTuple):
    """What to seed: directories in walk order with the raw names of their files, and what is skipped."""

    directories: Sequence[tuple[bytes, Sequence[bytes]]]
    special: Sequence[bytes]
    failed: Sequence[tuple[bytes, int]]


class SeededTree(NamedTuple):
    """A seeded tree, and whether its copies share the blocks of the sources."""

    projected: Rows
    durable: Rows
    notices: tuple[Notice, ...]
    cloned: bool


def seed_tree(
    source: str, path: str, progress: Progress | None, cache: str = ""
) -> tuple[Sequence[Row], Sequence[Row], tuple[Notice, ...]]:
    """Copy the directory `source` to `path`; return (projected rows, durable rows, notices).

    Rows are relative to the seeded directory; projected ones hold the directories, too. A link at `source` is followed, one
    inside is not. An absent source is empty. Files that fail are left out, and named in one warning; so are special files.
    `progress` is called with (files done, files in all). `cache` is Outfitter's cache directory, "" for none (spec/60).
    Raises `OSError` where `source` or `path` itself cannot be used.
    """
    try:
        top = os.open(source, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return (), (), ()
    started = time.time_ns()
    real = os.path.realpath(source)
    try:
        target = _target(path)
        try:
            seeded = _seed(top, target, _remembered(cache, real), progress)
        finally:
            os.close(target)
    finally:
        os.close(top)
    if cache and seeded.cloned:
        from outfitter.fingerprint import stat_cache

        # Only where blocks can be shared does a remembered digest save a reading.
        stat_cache.keep(cache, real, tree_of(_with_parents(seeded.durable), started))
    return seeded.projected, seeded.durable, seeded.notices


def _remembered(cache: str, root: str) -> Known:
    """Return a lookup of what earlier fingerprints say about single files; the cache is read on first use."""
    rows: dict[bytes, Row] = {}
    limit = -1

    def known(path: bytes) -> tuple[bytes, bytes] | None:
        nonlocal limit
        if limit < 0:
            from outfitter.fingerprint import stat_cache

            kept = stat_cache.recall(cache, root) if cache else None
            tree = kept.tree if kept else None
            limit = tree.taken_ns - GRANULARITY_NS if tree else 0
            rows.update({row.path: row for row in tree.rows if row.tag in "fx" and not row.note} if tree else {})
        row = rows.get(path)
        if row is None or max(row.identity.mtime_ns, row.identity.ctime_ns) >= limit:
            return None
        return packed_row(row), row.digest

    return known


def _with_parents(rows: Sequence[Row]) -> Mapping[bytes, Folder]:
    """Return packed rows with a row for every directory on the way, so that they make a tree."""
    parents = {path for row in rows for path in _above(row.path)}
    here = Identity(0, 0, 0, 0)
    return pack([*rows, *(Row(path, "d", NO_DIGEST, 0, 0o700, here) for path in parents)]).folders


def _above(path: bytes) -> Iterator[bytes]:
    while (path := os.path.dirname(path)) != b"":
        yield path


def _target(path: str) -> int:
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        pass
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)


def _seed(top: int, target: int, known: Known, progress: Progress | None) -> SeededTree:
    listed = list_seeds(top)
    below = _make_directories(target, [path for path, _ in listed.directories if path])
    files = [(path, name) for path, names in listed.directories for name in names]
    findings = SLOT.iter_unpack(Work((top, target), files, known, progress).findings() if files else b"")
    projected: dict[bytes, Folder] = {}
    durable: dict[bytes, Folder] = {}
    failed = list(listed.failed)
    cloned = False
    for path, names in listed.directories:
        here: list[FolderEntry] = below.get(path, [])
        there: list[FolderEntry] = []
        for name, (state, number, digest, made, read) in zip(names, findings, strict=False):
            if state == DONE:
                cloned = cloned or bool(number)
                # The low byte of st_mode holds the owner's execute bit.
                tag = b"x" if made[STAT.size - 8] & 0o100 else b"f"
                here.append((name, tag, made, digest))
                there.append((name, b"x" if read[STAT.size - 8] & 0o100 else b"f", read, digest))
            elif number != errno.ENOENT:
                failed.append((join(path, name), number))
        projected[path], durable[path] = _folder(path, here), _folder(path, there)
    return SeededTree(Rows(projected), Rows(durable), _notices(listed.special, failed), cloned)


def _folder(path: bytes, entries: list[FolderEntry]) -> Folder:
    entries.sort()
    stats = b"".join([entry[2] for entry in entries])
    tags = b"".join([entry[1] for entry in entries])
    names, digests = b"\0".join([entry[0] for entry in entries]), b"".join([entry[3] for entry in entries])
    return Folder(path, names, tags, stats, digests, (), newest_of(stats))


def list_seeds(top: int) -> SeedListing:
    """List a directory for seeding: regular files, but no symlinks and no temporaries of ours."""
    cursor = Cursor(top)
    directories: list[tuple[bytes, Sequence[bytes]]] = []
    special: list[bytes] = []
    failed: list[tuple[bytes, int]] = []
    waiting = [b""]
    try:
        while waiting:
            path = waiting.pop()
            try:
                with os.scandir(cursor.at(path)) as entries:
                    names, below, other = _sorted_out(entries)
            except OSError as error:
                if not path:
                    raise
                if error.errno != errno.ENOENT:
                    failed.append((path, error.errno or errno.EIO))
                continue
            directories.append((path, names))
            special += [join(path, name) for name in other]
            waiting += [join(path, name) for name in reversed(below)]
    finally:
        cursor.close()
    return SeedListing(directories, special, failed)


def _sorted_out(entries: Iterable[os.DirEntry[str]]) -> tuple[list[bytes], list[bytes], list[bytes]]:
    """Return the sorted raw names of (regular files, directories, special files)."""
    names: list[bytes] = []
    below: list[bytes] = []
    other: list[bytes] = []
    for entry in entries:
        if entry.is_symlink():
            continue
        if entry.is_file(follow_symlinks=False):
            if not is_temporary(entry.name):
                names.append(path_bytes(entry.name))
        elif entry.is_dir(follow_symlinks=False):
            below.append(path_bytes(entry.name))
        else:
            other.append(path_bytes(entry.name))
    return sorted(names), sorted(below), sorted(other)


def _make_directories(target: int, paths: Sequence[bytes]) -> dict[bytes, list[FolderEntry]]:
    """Make directories below `target`, parents first; return their entries by parent."""
    cursor = Cursor(target)
    made: dict[bytes, list[FolderEntry]] = {}
    try:
        for path in paths:
            parent, _, name = path.rpartition(b"/")
            at = cursor.at(parent)
            try:
                os.mkdir(name, 0o700, dir_fd=at)
            except FileExistsError:
                pass
            status = os.stat(name, dir_fd=at, follow_symlinks=False)
            made.setdefault(parent, []).append((name, b"d", packed_directory(status), NO_DIGEST))
    finally:
        cursor.close()
    return made


def _row(path: bytes, stat: bytes, digest: bytes) -> Row:
    device, inode, size, mtime, ctime, mode = STAT.unpack(stat)
    tag = "x" if mode & 0o100 else "f"
    return Row(path, tag, digest, size, mode & 0o7777, Identity(device, inode, mtime, ctime))


def _notices(special: Sequence[bytes], failed: Sequence[tuple[bytes, int]]) -> tuple[Notice, ...]:
    from outfitter.model.wording import listed

    notices = []
    if special:
        shown = listed(map(path_text, special), SHOWN)
        notices.append(Notice("notice", "special-not-seeded", f"skipped (not regular files): {shown}"))
    if failed:
        shown = listed((f"{path_text(path)} ({os.strerror(number)})" for path, number in failed), SHOWN)
        notices.append(
            Notice("warning", "not-seeded", f"{len(failed)} not copied: {shown}", "the run starts without them")
        )
    return tuple(notices)
