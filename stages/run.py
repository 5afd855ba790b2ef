"""Run.

Reads: the launch plan, the run's lock and record.
Adds: `ChildExit`.
Effects: journals phase `started`, starts the harness, forwards signals, waits.
"""

from __future__ import annotations

import errno
import posixpath
from collections.abc import Callable

from attrs import evolve
from returns.result import Failure

from outfitter.host import Processes, Runs, Token
from outfitter.model.errors import EffectFailed, HarnessUnavailable, LaunchError, os_error_text
from outfitter.model.outcome import ChildExit
from outfitter.model.projection import LaunchPlan, Record
from outfitter.railway import Effect, Outcome, attempt

# What the system answers where the program itself is at fault, not the moment.
UNUSABLE = (
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EACCES,
    errno.EPERM,
    errno.ENOEXEC,
    errno.ELOOP,
    errno.EISDIR,
    errno.ETXTBSY,
)


def run(
    processes: Processes, runs: Runs, plan: LaunchPlan, token: Token, record: Record, meanwhile: Callable[[], None]
) -> Effect[ChildExit]:
    """The harness's end: its code, or the signal it died of. `meanwhile` is called once, after the start.

    Errors: `HarnessUnavailable` where the program cannot be executed, `EffectFailed` where the system cannot start it now,
    `Interrupted` where a signal came before the start.
    """

    def job() -> Outcome[ChildExit]:
        if runs.journal(evolve(record, phase="started")):
            # A journal that still says `preparing` would let recovery remove what this run is about to write.
            runs.forget(record.run_id)
        try:
            return processes.run(plan, token, meanwhile)
        except OSError as error:
            return Failure(_refusal(plan, error))

    return attempt("start the harness", job)


def _refusal(plan: LaunchPlan, error: OSError) -> LaunchError:
    reason = os_error_text(error)
    if error.errno == errno.ENOEXEC:
        hint = "a script needs a first line like `#!/bin/sh`; a program must be built for this machine"
        return HarnessUnavailable(posixpath.basename(plan.executable), plan.executable, reason, hint)
    if error.errno in UNUSABLE:
        return HarnessUnavailable(posixpath.basename(plan.executable), plan.executable, reason, "outfitter doctor")
    if error.errno == errno.E2BIG:
        hint = "the arguments and the environment together are too large: shorten what is passed through"
        return EffectFailed("start the harness", plan.executable, reason, hint)
    return EffectFailed("start the harness", plan.executable, reason)
