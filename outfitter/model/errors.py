"""The closed set of errors, each with its exit code (spec/80). Bugs are exceptions, not members."""

from __future__ import annotations

from typing import TypeAlias, assert_never

from outfitter.model.request import Notice, Problem
from outfitter.model.value import NamedTuple


def os_error_text(error: OSError) -> str:
    """Return the system's words for an error, without the path, which the caller names."""
    return error.strerror or str(error)


class UsageError(NamedTuple):
    """The command line asks for what does not exist or does not fit together."""

    message: str
    hint: str = ""


class SettingsInvalid(NamedTuple):
    """Settings or tree files that cannot be read as what they must be: every problem at once."""

    problems: tuple[Problem, ...]


class CompositionFailed(NamedTuple):
    """An agent or what it names could not be resolved; `hint` holds the nearest names or the next step."""

    message: str
    hint: str = ""
    problems: tuple[Problem, ...] = ()


class PolicyRefused(NamedTuple):
    """Refused before launch: a strategy, an undeclared path, or what `--strict` made fatal."""

    problems: tuple[Problem, ...]
    notices: tuple[Notice, ...] = ()


class HarnessUnavailable(NamedTuple):
    """The harness is not installed (`found` is "") or cannot be executed."""

    command: str
    found: str
    reason: str
    hint: str = ""


class EffectFailed(NamedTuple):
    """An effect on the machine failed: the operation, its path, and the system's reason."""

    operation: str
    path: str
    reason: str
    hint: str = ""


class StateViolated(NamedTuple):
    """The harness exited 0, but wrote what an `error` strategy (or a warning under `--strict`) forbids."""

    paths: tuple[str, ...]


class Interrupted(NamedTuple):
    """A signal ended the launch."""

    signal: int


class Crashed(NamedTuple):
    """A bug: the exception, kept whole for the crash log, and the stage it came out of."""

    exception: BaseException
    stage: str = ""


LaunchError: TypeAlias = (
    UsageError
    | SettingsInvalid
    | CompositionFailed
    | PolicyRefused
    | HarnessUnavailable
    | EffectFailed
    | StateViolated
    | Interrupted
    | Crashed
)


def exit_code(error: LaunchError) -> int:
    """The code of spec/80 for an error that ended `outfitter run`."""
    match error:
        case UsageError():
            return 2
        case StateViolated():
            return 121
        case PolicyRefused():
            return 122
        case SettingsInvalid() | CompositionFailed() | EffectFailed() | Crashed():
            return 125
        case HarnessUnavailable(found=found):
            return 126 if found else 127
        case Interrupted(signal=number):
            return 128 + number
        case _:
            assert_never(error)


def kind(error: LaunchError) -> str:
    """The stable kebab-case name of an error's kind: what `--json` and the evidence of a run say."""
    return "".join("-" + c.lower() if c.isupper() else c for c in type(error).__name__).strip("-")
