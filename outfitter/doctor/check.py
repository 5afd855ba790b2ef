"""One finding of `outfitter doctor`."""

from typing import Literal, NamedTuple

# In rising order; only `error` fails the command.
Verdict = Literal["skipped", "ok", "info", "warning", "error"]
VERDICTS: tuple[Verdict, ...] = ("skipped", "ok", "info", "warning", "error")


class Check(NamedTuple):
    """A named check and what it found; `details` are further lines, `hint` says how to mend it."""

    name: str
    verdict: Verdict
    message: str
    hint: str = ""
    details: tuple[str, ...] = ()


def worst(checks: tuple[Check, ...]) -> Verdict:
    """The gravest verdict of all."""
    return max((check.verdict for check in checks), key=VERDICTS.index, default="ok")
