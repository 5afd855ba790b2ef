"""Errors, problems and notices as lines for people and as JSON for programs (spec/80, "Output"). Pure."""

from __future__ import annotations

from typing import Any, assert_never

from outfitter.model.errors import (
    CompositionFailed,
    Crashed,
    EffectFailed,
    HarnessUnavailable,
    Interrupted,
    LaunchError,
    PolicyRefused,
    SettingsInvalid,
    StateViolated,
    UsageError,
    exit_code,
    kind,
)
from outfitter.model.request import Notice, Problem


def place(problem: Problem) -> str:
    """`path:line:column`, as far as it is known."""
    at = problem.at
    return problem.path + (f":{at.line}" + (f":{at.column}" if at.column else "") if at.line else "")


def problem_line(problem: Problem) -> str:
    """`path:line:column: key: message`, one line."""
    return ": ".join(one_line(part) for part in (place(problem), problem.key, problem.message) if part)


def one_line(text: str) -> str:
    """Text that cannot break out of its line: control characters are escaped."""
    return "".join(
        c if c.isprintable() or "\udc80" <= c <= "\udcff" else c.encode("unicode_escape").decode() for c in text
    )


def error_notices(error: LaunchError) -> tuple[Notice, ...]:
    """What to say about an error: one notice a thing that is wrong, the hint with it."""

    def say(message: str, hint: str = "") -> Notice:
        return Notice("error", kind(error), message, hint)

    match error:
        case UsageError(message=message, hint=hint):
            return (say(message, hint),)
        case SettingsInvalid(problems=problems):
            return tuple(say(problem_line(problem), problem.hint) for problem in problems)
        case CompositionFailed(message=message, hint=hint, problems=problems):
            lines = tuple(say(problem_line(problem), problem.hint) for problem in problems)
            return ((say(message, hint),) if message else ()) + lines
        case PolicyRefused(problems=problems, notices=notices):
            lines = tuple(say(problem_line(problem), problem.hint) for problem in problems)
            return lines + tuple(say(f"refused by --strict: {n.message}", n.hint) for n in notices)
        case HarnessUnavailable(command=command, found=found, reason=reason, hint=hint):
            return (say(f"{found or command}: {reason}", hint),)
        case EffectFailed(operation=operation, path=path, reason=reason, hint=hint):
            return (say(f"cannot {operation}: {path + ': ' if path else ''}{reason}", hint),)
        case StateViolated(paths=paths):
            from outfitter.model.wording import counted

            return (
                say(
                    f"{counted(len(paths), 'change violates', 'changes violate')} the state_persistence strategy (error, or warn with --strict)"
                ),
            )
        case Interrupted(signal=number):
            return (say(f"ended by signal {number}"),)
        case Crashed(exception=exception, stage=stage):
            where = f" in stage {stage!r}" if stage else ""
            text = f"internal error{where}: {exception}"
            return (say(text, "OUTFITTER_DEBUG=1 shows the traceback; please report it"),)
        case _:
            assert_never(error)


def error_json(error: LaunchError, code: int | None = None) -> dict[str, Any]:
    """Return an error as the object that `--json` puts on stderr; `code` if the command is not `run`."""
    notices = error_notices(error)
    return {
        "schema_version": 1,
        "kind": kind(error),
        "message": "; ".join(notice.message for notice in notices),
        "hint": next((notice.hint for notice in notices if notice.hint), ""),
        "exit": exit_code(error) if code is None else code,
    }


def notice_json(notice: Notice) -> dict[str, str]:
    """A notice as JSON documents carry it."""
    return {"level": notice.level, "code": notice.code, "message": notice.message, "hint": notice.hint}
