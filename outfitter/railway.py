"""The two containers at stage borders, and the few places where we meet `returns`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from returns.io import IOFailure, IOResult, IOSuccess
from returns.result import Failure, Result, Success
from returns.unsafe import unsafe_perform_io

from outfitter.model.errors import Crashed, EffectFailed, Interrupted, LaunchError, os_error_text

_A = TypeVar("_A")
_B = TypeVar("_B")
_C = TypeVar("_C")

Outcome: TypeAlias = Result[_A, LaunchError]
Effect: TypeAlias = IOResult[_A, LaunchError]


class Terminated(BaseException):
    """A signal ends the launch at a point where it may end; becomes `Interrupted` at the next bracket."""

    def __init__(self, signal: int) -> None:
        """`signal` is the number that arrived."""
        super().__init__(signal)
        self.signal = signal


class TimeIsUp(BaseException):
    """Raised by the effects of a limited host once its time is over; only recovery has a limit."""


def pure(outcome: Outcome[_A]) -> Effect[_A]:
    """Lift a pure stage's outcome into the pipeline."""
    return IOResult.from_result(outcome)


def done(value: _A) -> Effect[_A]:
    """An effect that has already succeeded."""
    return IOSuccess(value)


def failed(error: LaunchError) -> Effect[_A]:
    """An effect that has already failed."""
    return IOFailure(error)


def effect_error(operation: str, error: OSError) -> EffectFailed:
    """An operating system's refusal as a value: which path, and the system's own words."""
    path = error.filename if isinstance(error.filename, str) else ""
    return EffectFailed(operation, path, os_error_text(error))


def attempt(operation: str, job: Callable[[], Outcome[_A]]) -> Effect[_A]:
    """Run a job of many small effects; an `OSError` from it becomes `EffectFailed`."""
    try:
        return IOResult.from_result(job())
    except OSError as error:
        return IOFailure(effect_error(operation, error))


def guarded(job: Callable[[], Effect[_A]], stage: str = "") -> Effect[_A]:
    """Run a job so that nothing escapes: a bug becomes `Crashed`, an interrupt `Interrupted`."""
    try:
        return job()
    except Terminated as stop:
        return IOFailure(Interrupted(stop.signal))
    except KeyboardInterrupt:
        return IOFailure(Interrupted(2))
    except Exception as bug:  # noqa: BLE001 - the one bracket that turns bugs into values, so that cleanup can follow
        return IOFailure(Crashed(bug, getattr(bug, "outfitter_stage", stage)))


def always(
    use: Callable[[_A], Effect[_B]], then: Callable[[_A, Outcome[_B]], Effect[_C]]
) -> Callable[[_A], Effect[_C]]:
    """Use a resource, then finish with it whatever happened: `then` sees success, failure and crash alike.

    `then` must be total itself: it turns its own failures into notices.
    """
    return lambda resource: guarded(lambda: use(resource)).compose_result(lambda outcome: then(resource, outcome))


def identity(value: _A) -> _A:
    """Return the value itself: for a `fold` that keeps it."""
    return value


def fold(outcome: Outcome[_A], on_success: Callable[[_A], _B], on_error: Callable[[LaunchError], _B]) -> _B:
    """The only way out of an outcome."""
    return outcome.map(on_success).lash(lambda error: Success(on_error(error))).unwrap()


def perform(effect: Effect[_A]) -> Outcome[_A]:
    """Run the program: called once, at the edge."""
    return unsafe_perform_io(effect)  # type: ignore[return-value, arg-type, unused-ignore]


def collect(outcomes: list[Outcome[_A]]) -> Outcome[tuple[_A, ...]]:
    """All values in order, or the first error."""
    values: list[_A] = []
    for outcome in outcomes:
        if isinstance(outcome, Failure):
            return Failure(outcome.failure())
        values.append(outcome.unwrap())
    return Success(tuple(values))
