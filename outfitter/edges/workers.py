"""Sharing one fingerprint's work among forked processes: a pipe hands out numbers, shared memory takes the answers.

A worker that dies costs time only: what it did not answer is done by the caller.
"""

from __future__ import annotations

import mmap
import os
import signal
from collections.abc import Callable, Sequence
from struct import Struct
from typing import Protocol

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
        share(len(starts), lambda: _Reading(root, walk.buffer, every, size, shared))
        for place, (draft, index) in enumerate(every):
            tag, length, note, stat, digest = _SLOT.unpack_from(shared, place * _SLOT.size)
            if tag:
                draft.put(index, (tag, stat, digest, note[:length].decode()))
                walk.read += 1


class _Reading:
    """Reads runs of pending files into shared slots."""

    def __init__(
        self, root: int, buffer: memoryview, every: Sequence[tuple[Draft, int]], size: int, shared: mmap.mmap
    ) -> None:
        self._cursor = Cursor(root)
        self._buffer = buffer
        self._every = every
        self._size = size
        self._shared = shared

    def __call__(self, number: int, /) -> None:
        here: Draft | None = None
        descriptor = -1
        start = number * self._size
        for place, (draft, index) in enumerate(self._every[start : start + self._size], start):
            if draft is not here:
                here = draft
                descriptor = _at(self._cursor, draft.path)
            if descriptor >= 0:
                tag, stat, digest, note = examine(descriptor, draft.names[index], self._buffer)
                _SLOT.pack_into(self._shared, place * _SLOT.size, tag, len(note), note.encode(), stat, digest)

    def close(self) -> None:
        self._cursor.close()


def _at(cursor: Cursor, path: bytes) -> int:
    try:
        return cursor.at(path)
    except OSError:
        return -1


def unchanged_folders(walk: Pass, root: int) -> frozenset[bytes]:
    """The known directories that are as known, by listing and stat alone, looked at in as many processes as pay."""
    known = [walk.known[path] for path in sorted(walk.known)]
    chunks = _by_weight(known)
    with mmap.mmap(-1, len(known)) as shared:
        share(len(chunks), lambda: _Comparing(walk, root, known, chunks, shared))
        return frozenset([folder.path for folder, same in zip(known, shared[:], strict=True) if same])


def _by_weight(known: Sequence[Folder]) -> list[range]:
    """Runs of directories with about as many entries each."""
    target = max(CHUNK_ROWS, sum(len(folder.tags) + 8 for folder in known) // MOST_CHUNKS + 1)
    chunks: list[range] = []
    start = weight = 0
    for place, folder in enumerate(known, 1):
        weight += len(folder.tags) + 8
        if weight >= target or place == len(known):
            chunks.append(range(start, place))
            start, weight = place, 0
    return chunks


class _Comparing:
    """Compares known directories with the disk; one byte of shared memory says that all of one is as known."""

    def __init__(
        self, walk: Pass, root: int, known: Sequence[Folder], chunks: Sequence[range], shared: mmap.mmap
    ) -> None:
        self._walk = walk
        self._cursor = Cursor(root)
        self._known = known
        self._chunks = chunks
        self._shared = shared

    def __call__(self, number: int, /) -> None:
        for place in self._chunks[number]:
            self._shared[place] = self._is_unchanged(self._known[place])

    def _is_unchanged(self, known: Folder) -> bool:
        try:
            listed, names = self._walk.listing(self._cursor.at(known.path), known)
            return self._walk.unchanged(known, names, listed)
        except OSError:
            return False

    def close(self) -> None:
        self._cursor.close()


class Job(Protocol):
    """What one process does with the numbers it draws; made in that process, closed there."""

    def __call__(self, number: int, /) -> None:
        """Do one part of the work."""
        ...

    def close(self) -> None:
        """Let go of what the parts needed."""
        ...


def share(parts: int, begin: Callable[[], Job], most: int = MOST_WORKERS) -> None:
    """Do each part of a work once, in this process and in forked ones. A part may stay undone: look at what it should have left."""
    numbers, feed = os.pipe()
    try:
        os.write(feed, b"".join([_NUMBER.pack(number) for number in range(parts)]))
    finally:
        os.close(feed)
    try:
        workers = _start(min(cores(), parts, most) - 1, lambda: _take(numbers, begin))
        try:
            _take(numbers, begin)
        except BaseException:
            for worker in workers:
                os.kill(worker, signal.SIGKILL)
            raise
        finally:
            for worker in workers:
                _reap(worker)
    finally:
        os.close(numbers)


def _take(numbers: int, begin: Callable[[], Job]) -> None:
    job = begin()
    try:
        while taken := os.read(numbers, _NUMBER.size):
            job(_NUMBER.unpack(taken)[0])
    finally:
        job.close()


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
