"""Doing the parts of one work in this process and in forked ones: a pipe hands out their numbers.

A worker that dies costs time only: a part may stay undone, and the caller looks at what it should have left.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from struct import Struct
from typing import Protocol

MOST_WORKERS = 16
# A pipe holds at least 16 KiB everywhere: no more numbers than that are handed out.
MOST_PARTS = 4000
_NUMBER = Struct("<I")


def cores() -> int:
    """The processors this process may use, 16 at most."""
    try:
        return min(len(os.sched_getaffinity(0)), MOST_WORKERS)
    except AttributeError:
        return min(os.cpu_count() or 1, MOST_WORKERS)


class Job(Protocol):
    """What one process does with the numbers it draws; made in that process, closed there."""

    def __call__(self, number: int, /) -> None:
        """Do one part of the work."""
        ...

    def close(self) -> None:
        """Let go of what the parts needed."""
        ...


class Crew:
    """The workers of one work. Whoever makes one ends it: `finish`, or `stop` where it is not to be finished."""

    def __init__(self, parts: int, begin: Callable[[], Job], workers: int) -> None:
        """`parts` are handed out from now on to so many forked workers, each with a job of its own by `begin`."""
        self._begin = begin
        self._numbers, feed = os.pipe()
        try:
            os.write(feed, b"".join([_NUMBER.pack(number) for number in range(parts)]))
        finally:
            os.close(feed)
        self._workers = _start(min(workers, parts), self._take)

    def finish(self) -> None:
        """Do what is left here, and wait for the others."""
        try:
            self._take()
        except BaseException:
            self.stop()
            raise
        self._end()

    def stop(self) -> None:
        """Kill the workers."""
        for worker in self._workers:
            os.kill(worker, signal.SIGKILL)
        self._end()

    def _end(self) -> None:
        while self._workers:
            _reap(self._workers.pop())
        if self._numbers >= 0:
            os.close(self._numbers)
            self._numbers = -1

    def _take(self) -> None:
        job = self._begin()
        try:
            while taken := os.read(self._numbers, _NUMBER.size):
                job(_NUMBER.unpack(taken)[0])
        finally:
            job.close()


def share(parts: int, begin: Callable[[], Job]) -> None:
    """Do each part of a work once, in as many processes as there are processors for."""
    Crew(parts, begin, min(cores(), parts) - 1).finish()


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
