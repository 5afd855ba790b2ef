"""Sharing one fingerprint's work among forked processes: a pipe hands out numbers, shared memory takes the answers.

A worker that dies costs time only: what it did not answer is done by the caller.
"""

from __future__ import annotations

import mmap
import os
import signal
from collections.abc import Callable, Sequence
from struct import Struct

from outfitter.edges.cursor import Cursor
from outfitter.edges.finding import Draft, examine
from outfitter.edges.walk import Pass
from outfitter.tree import Folder

MOST_WORKERS = 16
# A pipe holds at least 16 KiB everywhere: no more numbers than that are handed out.
MOST_CHUNKS = 4000
CHUNK_FILES = 48
CHUNK_ROWS = 500
_NUMBER = Struct("<I")
# tag, length of the note, note, packed stat, digest
_SLOT = Struct("<BB14s48s32s")


def cores() -> int:
    """The processors this process may use, 16 at most."""
    try:
        return min(len(os.sched_getaffinity(0)), MOST_WORKERS)
    except AttributeError:
        return min(os.cpu_count() or 1, MOST_WORKERS)


def read_shared(walk: Pass, root: int, work: Sequence[tuple[Draft, list[int]]]) -> None:
    """Read pending files in as many processes as pay; what none of them answered stays pending."""
    every = [(draft, index) for draft, indexes in work for index in indexes]
    size = max(CHUNK_FILES, -(-len(every) // MOST_CHUNKS))
    starts = range(0, len(every), size)
    with mmap.mmap(-1, len(every) * _SLOT.size) as shared:

        def read_chunk(cursor: Cursor, buffer: memoryview, number: int) -> None:
            start = starts[number]
            _read_run(cursor, buffer, every[start : start + size], shared, start)

        _share(root, len(starts), walk.buffer, read_chunk)
        for place, (draft, index) in enumerate(every):
            tag, length, note, stat, digest = _SLOT.unpack_from(shared, place * _SLOT.size)
            if tag:
                draft.put(index, (tag, stat, digest, note[:length].decode()))
                walk.read += 1


def _read_run(
    cursor: Cursor, buffer: memoryview, files: Sequence[tuple[Draft, int]], shared: mmap.mmap, start: int
) -> None:
    here: Draft | None = None
    descriptor = -1
    for place, (draft, index) in enumerate(files, start):
        if draft is not here:
            here = draft
            try:
                descriptor = cursor.at(draft.path)
            except OSError:
                descriptor = -1
        if descriptor >= 0:
            tag, stat, digest, note = examine(descriptor, draft.names[index], buffer)
            _SLOT.pack_into(shared, place * _SLOT.size, tag, len(note), note.encode(), stat, digest)


def unchanged_folders(walk: Pass, root: int) -> frozenset[bytes]:
    """The known directories that are as known, by listing and stat alone, looked at in as many processes as pay."""
    known = [walk.known[path] for path in sorted(walk.known)]
    chunks: list[list[int]] = []
    weight = CHUNK_ROWS
    for place, folder in enumerate(known):
        if weight >= CHUNK_ROWS:
            chunks.append([])
            weight = 0
        chunks[-1].append(place)
        weight += len(folder.tags) + 8
    if len(chunks) > MOST_CHUNKS:
        per = -(-len(known) // MOST_CHUNKS)
        chunks = [list(range(at, min(at + per, len(known)))) for at in range(0, len(known), per)]
    with mmap.mmap(-1, len(known)) as shared:

        def look_at_chunk(cursor: Cursor, _: memoryview, number: int) -> None:
            for place in chunks[number]:
                shared[place] = _is_unchanged(walk, cursor, known[place])

        _share(root, len(chunks), walk.buffer, look_at_chunk)
        return frozenset([folder.path for folder, same in zip(known, shared[:], strict=True) if same])


def _is_unchanged(walk: Pass, cursor: Cursor, known: Folder) -> bool:
    try:
        listed, names = walk.listing(cursor.at(known.path), known)
        return walk.unchanged(known, names, listed)
    except OSError:
        return False


def _share(root: int, chunks: int, buffer: memoryview, job: Callable[[Cursor, memoryview, int], None]) -> None:
    """Do `job` once for each number below `chunks`, here and in forked workers."""
    numbers, feed = os.pipe()
    try:
        os.write(feed, b"".join([_NUMBER.pack(number) for number in range(chunks)]))
    finally:
        os.close(feed)
    try:
        workers = _start(min(cores(), chunks) - 1, lambda: _take(root, numbers, buffer, job))
        try:
            _take(root, numbers, buffer, job)
        except BaseException:
            for worker in workers:
                os.kill(worker, signal.SIGKILL)
            raise
        finally:
            for worker in workers:
                _reap(worker)
    finally:
        os.close(numbers)


def _take(root: int, numbers: int, buffer: memoryview, job: Callable[[Cursor, memoryview, int], None]) -> None:
    cursor = Cursor(root)
    try:
        while taken := os.read(numbers, _NUMBER.size):
            job(cursor, buffer, _NUMBER.unpack(taken)[0])
    finally:
        cursor.close()


def _start(count: int, job: Callable[[], None]) -> list[int]:
    """Fork workers; each does the job with signals blocked (they are the caller's to handle) and leaves without a word."""
    workers: list[int] = []
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        for _ in range(count):
            try:
                worker = os.fork()
            except OSError:
                break
            if worker == 0:
                try:
                    job()
                finally:
                    os._exit(0)
            workers.append(worker)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return workers


def _reap(worker: int) -> None:
    try:
        os.waitpid(worker, 0)
    except ChildProcessError:
        pass
