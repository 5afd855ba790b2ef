"""Running the harness: started in our group and session, waited for, its signals passed on, its terminal put right (spec/50).

The harness shares our process group, so the terminal's ^C, ^\\, ^Z and window changes reach it without us; what is sent to the
launcher alone is passed on by the rules of `_forwards`.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from returns.result import Failure, Success

from outfitter.edges import tty
from outfitter.edges.signals import SIGNALS, Signals
from outfitter.host import Token
from outfitter.model.errors import EffectFailed, Interrupted
from outfitter.model.outcome import ChildExit, path_bytes
from outfitter.model.projection import LaunchPlan
from outfitter.railway import Outcome

GRACE_SECONDS = 5.0
# Python ignores these two; a program that expects the system's defaults would misbehave.
DEFAULTED = (signal.SIGPIPE, signal.SIGXFSZ)


class Harnesses:
    """`Processes` over the environment that this process was given."""

    def __init__(
        self,
        env: Mapping[str, str],
        umask: int = 0o022,
        signals: Signals = SIGNALS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`umask` is the harness's. `clock` gives seconds."""
        self._env, self._umask, self._signals, self._clock = env, umask, signals, clock

    def run(self, plan: LaunchPlan, token: Token, meanwhile: Callable[[], None]) -> Outcome[ChildExit]:
        """Run the harness to its end.

        Raises the `OSError` of a program that cannot be started. Error: `Interrupted` if a signal came first.
        """
        signals = self._signals
        signals.install()
        if number := signals.stop():
            return Failure(Interrupted(number))
        modes, blocking = tty.save_modes(), _blocking()
        with signals.running():
            try:
                child = _spawn(plan, token.descriptor, self._env, self._umask)
            except ValueError as error:
                return Failure(
                    EffectFailed("start the harness", plan.executable, f"invalid argument or variable: {error}")
                )
            with _until_it_ends(meanwhile):
                ended = _wait(child, signals, self._clock)
        for descriptor, before in blocking.items():
            os.set_blocking(descriptor, before)
        if ended.signal:
            tty.restore_modes(modes)
        return Success(ended)


def _blocking() -> dict[int, bool]:
    """Whether each standard stream blocks. Harnesses change that for everyone who shares the stream, and rarely change it back."""
    found: dict[int, bool] = {}
    for descriptor in (0, 1, 2):
        try:
            found[descriptor] = os.get_blocking(descriptor)
        except OSError:
            continue
    return found


@contextmanager
def _until_it_ends(meanwhile: Callable[[], None]) -> Iterator[None]:
    """Do the work that can be done meanwhile; a bug in it surfaces only once the harness was waited for."""
    found: Exception | None = None
    try:
        meanwhile()
    except Exception as bug:  # noqa: BLE001 - the harness runs: it is waited for first
        found = bug
    yield
    if found is not None:
        raise found


def _spawn(plan: LaunchPlan, lock: int, env: Mapping[str, str], umask: int) -> int:
    surroundings = {name: value for name, value in env.items() if name not in plan.env_unset} | dict(plan.env_set)
    inherited = os.get_inheritable(lock)
    os.set_inheritable(lock, True)
    ours = os.umask(umask)
    try:
        return os.posix_spawn(
            path_bytes(plan.executable),
            [path_bytes(word) for word in (plan.executable, *plan.arguments)],
            {path_bytes(name): path_bytes(value) for name, value in surroundings.items()},
            setsigmask=(),
            setsigdef=DEFAULTED,
        )
    finally:
        os.umask(ours)
        os.set_inheritable(lock, inherited)


def _wait(child: int, signals: Signals, clock: Callable[[], float]) -> ChildExit:
    """Until the harness ends. It is reaped here alone, and signals are sent from here alone: never to a reused number."""
    limit: float | None = None
    while True:
        for number in signals.take():
            if _forwards(number, child):
                _send(child, number)
            if number == signal.SIGTERM and limit is None:
                limit = clock() + GRACE_SECONDS
        status = _status(child)
        if status is not None and os.WIFSTOPPED(status) and signals.stop_with_harness():
            status = _status(child)
            if status is None or os.WIFSTOPPED(status):
                _send(child, signal.SIGCONT)
        if status is None:
            if limit is not None and clock() >= limit:
                _send(child, signal.SIGKILL)
                limit = None
            signals.wait(None if limit is None else max(0.0, limit - clock()))
        elif not (os.WIFSTOPPED(status) or os.WIFCONTINUED(status)):
            return _ended(status)


def _status(child: int) -> int | None:
    """The harness's next change of state, or None. As a container's first process, take in orphans on the way."""
    found, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED | os.WCONTINUED)
    if found == child:
        return status
    while os.getpid() == 1:
        try:
            orphan, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            break
        if orphan == child:
            return status
        if orphan == 0:
            break
    return None


def _forwards(number: int, child: int) -> bool:
    """TERM and HUP always; INT, QUIT and TSTP only where the terminal did not send them to the harness as well."""
    if number in (signal.SIGTERM, signal.SIGHUP):
        return True
    try:
        together = os.getpgid(child) == os.getpgrp()
    except ProcessLookupError:
        return False
    return not (together and tty.in_foreground())


def _send(child: int, number: int) -> None:
    try:
        os.kill(child, number)
    except (ProcessLookupError, PermissionError):
        return


def _ended(status: int) -> ChildExit:
    code = os.waitstatus_to_exitcode(status)
    return ChildExit(128 - code, -code) if code < 0 else ChildExit(code)
