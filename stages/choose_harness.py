"""Choose the harness.

Reads: `Settings`, the request's `--harness` and `--isolated`.
Adds: the `Adapter`.
Effects: none.
"""

from __future__ import annotations

from returns.result import Failure, Success

from outfitter.adapters import NAMES, Adapter, adapter
from outfitter.model.errors import UsageError
from outfitter.model.request import Request
from outfitter.model.settings import Settings
from outfitter.railway import Outcome

DEFAULT_HARNESS = "pi"


def choose_harness(settings: Settings, request: Request) -> Outcome[Adapter]:
    """Return the adapter asked for, else `default_harness`, else Pi (006.2.5).

    Errors: `UsageError` for an unknown harness, and for `--isolated` with Codex (spec/80).
    """
    name = request.harness or settings.values.get("default_harness") or DEFAULT_HARNESS
    if name not in NAMES:
        from outfitter.model.wording import did_you_mean

        hint = did_you_mean(str(name), NAMES, f"known harnesses: {', '.join(NAMES)}", 1)
        return Failure(UsageError(f"unknown harness {name!r}", hint))
    if request.isolated and name == "codex":
        return Failure(
            UsageError("--isolated does not go with codex", "Codex always runs over the user's own CODEX_HOME")
        )
    return Success(adapter(name))
