"""Sharing one fingerprint's work among processes: shared memory takes the answers; what got none is done by the caller."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from typing import NamedTuple

from outfitter.edges.cursor import Cursor
from outfitter.edges.finding import Draft, Finding, examine
from outfitter.edges.forks import MOST_PARTS, Crew, cores
from outfitter.edges.walk import Pass
from outfitter.tree import DIGEST_SIZE, STAT

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
