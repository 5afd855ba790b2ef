"""How stages are run: each under its own name, timed, and not begun once a signal asked the launch to end."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from returns.result import Result

from outfitter.edges.signals import SIGNALS, Signals
from outfitter.host import Step, StepNote
from outfitter.model.errors import Interrupted, kind
from outfitter.railway import Effect, Outcome, Terminated, failed, fold, perform, pure

P = ParamSpec("P")
A = TypeVar("A")


def recorder(clock: Callable[[], int], signals: Signals = SIGNALS) -> tuple[Step, Callable[[], tuple[StepNote, ...]]]:
    """A `Step` that keeps notes, and the notes so far. `clock` gives nanoseconds; they are observational only.

    A stage is named after its function, with blanks for underscores. A signal that came before the harness started ends the
    launch as `Interrupted`; a bug leaves with the stage's name in its attribute `outfitter_stage`.
    """
    notes: list[StepNote] = []

    def step(
        stage: Callable[P, Effect[A]] | Callable[P, Outcome[A]], /, *args: P.args, **kwargs: P.kwargs
    ) -> Effect[A]:
        name = getattr(stage, "__name__", "stage").replace("_", " ")
        begun = clock()
        try:
            effect = _run(signals, lambda: stage(*args, **kwargs))
        except BaseException as bug:
            notes.append(StepNote(name, "crashed", begun, clock()))
            if not hasattr(bug, "outfitter_stage"):
                bug.outfitter_stage = name  # type: ignore[attr-defined]
            raise
        notes.append(StepNote(name, fold(perform(effect), lambda _: "ok", kind), begun, clock()))
        return effect

    return step, lambda: tuple(notes)


def _run(signals: Signals, job: Callable[[], Effect[A] | Outcome[A]]) -> Effect[A]:
    if number := signals.stop():
        return failed(Interrupted(number))
    try:
        result = job()
    except Terminated as stop:
        return failed(Interrupted(stop.signal))
    return pure(result) if isinstance(result, Result) else result
