"""A fork pool: this process and forked workers take part numbers from a pipe until it is empty.

A worker that dies only costs time: its part may stay undone, so the caller checks what each part should have produced.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from struct import Struct
from typing import Protocol

MAX_WORKERS = 16
# All part numbers are written to a pipe before anything reads them, and a pipe holds at least 16 KiB on every system.
MAX_PARTS = 4000
_NUMBER = Struct("<I")


def cores() -> int:
    """Return the number of processors that this process may use, at most MAX_WORKERS."""
    try:
        return min(len(os.sched_getaffinity(0)), MAX_WORKERS)
    except AttributeError:
        return min(os.cpu_count() or 1, MAX_WORKERS)


def part_size(count: int, least: int) -> int:
    """Return how many of `count` items one part holds: at least `least`, and enough for MAX_PARTS parts."""
    return max(least, -(-count // MAX_PARTS))


class Worker(Protocol):
    """Does parts of the work in one process; created in that process and closed there."""

    def run_part(self, number: int, /) -> None:
        """Do one part."""
        ...

    def close(self) -> None:
        """Release what the parts needed."""
        ...


class ForkPool:
    """Forked workers on numbered parts; call `finish`, or `stop` to abandon the work."""

    def __init__(self, parts: int, begin: Callable[[], Worker], workers: int) -> None:
        """Start `workers` processes; each calls `begin` once and runs parts 0 … `parts` - 1 as it takes them."""
        self._begin = begin
        self._numbers, feed = os.pipe()
        try:
            os.write(feed, b"".join([_NUMBER.pack(number) for number in range(parts)]))
        finally:
            os.close(feed)
        self._workers = _start(min(workers, parts), self._take)

    def finish(self) -> None:
        """Run the remaining parts in this process, then wait for the workers."""
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
        worker = self._begin()
        try:
            while number := os.read(self._numbers, _NUMBER.size):
                worker.run_part(_NUMBER.unpack(number)[0])
        finally:
            worker.close()


def run_parts(parts: int, begin: Callable[[], Worker]) -> None:
    """Run each part once, in as many processes as there are processors."""
    ForkPool(parts, begin, min(cores(), parts) - 1).finish()


def _start(count: int, work: Callable[[], None]) -> list[int]:
    """Fork workers with all signals blocked (the caller handles them); each does the work and exits."""
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
                    work()
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
