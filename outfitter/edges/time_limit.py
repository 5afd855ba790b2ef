"""The time that a launch spends on recovery (spec/50, "The launcher killed outright")."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, cast

from attrs import evolve

from outfitter.host import Durable, Host, Trees
from outfitter.railway import TimeIsUp

# What only reads may be broken off anywhere. Of the rest each call is finished, so that locks are given back.
_READING = frozenset(("scan", "look_again", "load_baseline", "look", "read", "prefix"))
_WRITING = frozenset(("replace", "write", "keep"))


@contextmanager
def limited(host: Host, seconds: float) -> Iterator[Host]:
    """Yield a host whose fingerprints and durable files raise `TimeIsUp` once the time is over.

    Outside the main thread a call that has begun is finished first.
    """
    limit = _Limit(time.monotonic() + seconds)
    try:
        before: Any = signal.signal(signal.SIGALRM, limit.alarm)
    except ValueError:
        before = None
    try:
        if before is not None:
            signal.setitimer(signal.ITIMER_REAL, seconds)
        yield evolve(
            host, trees=cast(Trees, _Limited(host.trees, limit)), durable=cast(Durable, _Limited(host.durable, limit))
        )
    finally:
        if before is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)


class _Limit:
    """When the time is over, and whether a read is in progress that may be broken off."""

    def __init__(self, end: float) -> None:
        self._end = end
        self.reading = False

    def alarm(self, _number: int, _frame: object) -> None:
        if self.reading:
            raise TimeIsUp

    def check(self) -> None:
        if time.monotonic() >= self._end:
            raise TimeIsUp


class _Limited:
    """`Trees` or `Durable` under a limit."""

    def __init__(self, inner: object, limit: _Limit) -> None:
        self._inner = inner
        self._limit = limit

    def __getattr__(self, name: str) -> Callable[..., Any]:
        call = getattr(self._inner, name)
        if name not in _READING | _WRITING:
            return cast(Callable[..., Any], call)

        def guarded(*given: Any, **named: Any) -> Any:
            # In this order: an alarm that comes in between is seen by one or the other.
            self._limit.reading = name in _READING
            try:
                self._limit.check()
                return call(*given, **named)
            finally:
                self._limit.reading = False

        return guarded
