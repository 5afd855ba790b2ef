"""Run stages: each under its own name, timed, and not begun once a signal asked the launch to end."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from returns.result import Result

from outfitter.edges.signals import SIGNALS, Signals
from outfitter.host import StepNote
from outfitter.model.errors import Interrupted, kind
from outfitter.model.request import Notice
from outfitter.railway import Effect, Outcome, Terminated, failed, fold, perform, pure

P = ParamSpec("P")
A = TypeVar("A")


def _unsaid(notice: Notice) -> None:
    """Say nothing: for stages that are run without a user."""
    del notice


class StageRunner:
    """`Step` that keeps notes of the stages it ran, for the trace.

    A stage is named after its function, with spaces for underscores. A signal that came before the harness started ends the
    launch as `Interrupted`; a bug is raised on with the stage's name in its attribute `outfitter_stage`.
    """

    def __init__(
        self, clock: Callable[[], int], say: Callable[[Notice], None] = _unsaid, signals: Signals = SIGNALS
    ) -> None:
        """`clock` gives nanoseconds; they are observational only. `say` prints what a stage's value has `to_say`."""
        self._clock, self._say, self._signals = clock, say, signals
        self._notes: list[StepNote] = []

    def __call__(
        self, stage: Callable[P, Effect[A]] | Callable[P, Outcome[A]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Effect[A]:
        """Run one stage, note how long it took and how it ended, and say what its value has to say."""
        name = getattr(stage, "__name__", "stage").replace("_", " ")
        begun = self._clock()
        try:
            effect = _run(self._signals, lambda: stage(*args, **kwargs))
        except BaseException as bug:
            self._notes.append(StepNote(name, "crashed", begun, self._clock()))
            if not hasattr(bug, "outfitter_stage"):
                bug.outfitter_stage = name  # type: ignore[attr-defined]
            raise
        self._notes.append(StepNote(name, fold(perform(effect), lambda _: "ok", kind), begun, self._clock()))
        return effect.map(self._said)

    def notes(self) -> tuple[StepNote, ...]:
        """Return the notes so far."""
        return tuple(self._notes)

    def _said(self, value: A) -> A:
        for notice in getattr(value, "to_say", ()):
            self._say(notice)
        return value


def _run(signals: Signals, job: Callable[[], Effect[A] | Outcome[A]]) -> Effect[A]:
    if number := signals.stop():
        return failed(Interrupted(number))
    try:
        result = job()
    except Terminated as stop:
        return failed(Interrupted(stop.signal))
    return pure(result) if isinstance(result, Result) else result
