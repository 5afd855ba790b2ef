"""What the launcher does with a signal at each point of a launch (spec/50, "Interruption").

- before: it is noted, and ends the launch at the next stage;
- running: it is noted, and the wait for the harness forwards it or not;
- saving: the first one says what is being saved, a second one leaves the run to `outfitter recover`.

Handlers do no more than that, so that nothing is ever cut in the middle. A signal that was ignored when this process began
(`nohup`, a shell's background job) stays ignored, here and in the harness. One process has one set of dispositions: hence `SIGNALS`.
"""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Literal

from outfitter.railway import Terminated

Where = Literal["before", "running", "ended", "saving"]
ENDING = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM)
POLL_SECONDS = 0.05
# The longest sleep between two looks at the harness: its end is seen even where no signal ever says so.
LOOK_SECONDS = 1.0
# What wakes the wait for the harness. A parent that blocked one of these hands its mask on to us.
WAKING = (signal.SIGCHLD, signal.SIGTSTP, signal.SIGCONT)
SAVING = "saving what this run wrote; a second signal leaves it to `outfitter recover`"
LEFT = "interrupted while saving: what is left is kept, and `outfitter recover` saves it"


class Signals:
    """The signals of one launch: which arrived, where the launch stands, and how to tell the user from inside a handler."""

    def __init__(self) -> None:
        """Nothing arrived, nothing installed."""
        self._installed = False
        self._wakeup = -1
        self.reset(lambda _text: None)

    def reset(self, tell: Callable[[str], None]) -> None:
        """A new launch in this process. `tell` prints one line and must be callable from a handler."""
        self.where: Where = "before"
        self.asking = False
        self.hurried = False
        self._arrived: list[int] = []
        self._warned = False
        self._started = False
        self._continued = False
        self._tell = tell

    def install(self) -> None:
        """Take the four signals over, once; in a thread other than the main one, where Python allows no handler, do nothing."""
        if self._installed:
            return
        try:
            for number in ENDING:
                if signal.getsignal(number) != signal.SIG_IGN:
                    signal.signal(number, self._arrive)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        except ValueError:
            return
        self._installed = True

    def stop(self) -> int:
        """The signal that ends a launch whose harness has not started, 0 for none."""
        return self._arrived[0] if self.where == "before" and self._arrived else 0

    def take(self) -> tuple[int, ...]:
        """What arrived since the last call, in order."""
        taken = tuple(self._arrived)
        del self._arrived[: len(taken)]
        self.hurried = self.hurried or signal.SIGTERM in taken or signal.SIGHUP in taken
        return taken

    def saving(self) -> None:
        """From here on a signal shortens nothing; one that came since the harness ended counts as the first."""
        stopped, waiting = self.where == "before", self.take()
        self.where = "saving"
        if waiting and not stopped:
            self._while_saving(waiting[0])

    def _while_running(self) -> list[tuple[int, Callable[[int, object], None]]]:
        """The harness's end wakes us; its stop comes before ours, unless this process was told to ignore stops."""
        handlers: list[tuple[int, Callable[[int, object], None]]] = [(signal.SIGCHLD, lambda *_: None)]
        if signal.getsignal(signal.SIGTSTP) != signal.SIG_IGN:
            handlers += [(signal.SIGTSTP, self._arrive), (signal.SIGCONT, self._continue)]
        return handlers

    def saved(self) -> None:
        """A run directory is settled and closed. Was it a dead launcher's, this launch is yet to come, and a signal may end it."""
        if not self._started:
            self.where = "before"
            self._warned = False

    @contextmanager
    def running(self) -> Iterator[None]:
        """While the harness runs: its end and every signal wake `wait`, and a stop is the harness's to make first."""
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        os.set_blocking(writer, False)
        restore: list[Callable[[], object]] = []
        try:
            before = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
            restore.append(lambda: signal.set_wakeup_fd(before))
            for number, handler in self._while_running():
                restore.append(partial(signal.signal, number, signal.signal(number, handler)))
            restore.append(partial(signal.pthread_sigmask, signal.SIG_SETMASK, _unblocked(WAKING)))
            self._wakeup = reader
        except ValueError:
            self._wakeup = -1
        self.where = "running"
        self._started = True
        try:
            yield
        finally:
            self.where = "ended"
            self._wakeup = -1
            for undo in restore:
                undo()
            os.close(reader)
            os.close(writer)
            self.take()

    def wait(self, seconds: float | None) -> None:
        """Wait for a signal (the harness's end is one), or for so many seconds.

        It also ends when it is time to look at the harness again.
        """
        if self._wakeup < 0:
            select.select((), (), (), POLL_SECONDS if seconds is None else min(seconds, POLL_SECONDS))
            return
        select.select((self._wakeup,), (), (), LOOK_SECONDS if seconds is None else min(seconds, LOOK_SECONDS))
        try:
            os.read(self._wakeup, 4096)
        except BlockingIOError:
            return

    def stop_with_harness(self) -> bool:
        """Stop as a job does; true once continued. The kernel drops this stop where no shell could ever continue us: false."""
        if self._wakeup < 0:
            return False
        self._continued = False
        former = signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, former)
        return self._continued

    def _continue(self, _number: int, _frame: object) -> None:
        self._continued = True

    def _arrive(self, number: int, _frame: object) -> None:
        if self.asking:
            self.asking = False
            self.hurried = self.hurried or number in (signal.SIGTERM, signal.SIGHUP)
            raise Terminated(number)
        if self.where == "saving":
            self._while_saving(number)
        else:
            self._arrived.append(number)

    def _while_saving(self, number: int) -> None:
        self.hurried = self.hurried or number in (signal.SIGTERM, signal.SIGHUP)
        if not self._warned:
            self._warned = True
            self._arrived.append(number)
            self._tell(SAVING)
            return
        self._tell(LEFT)
        os._exit(128 + number)


def _unblocked(numbers: Iterable[signal.Signals]) -> set[int]:
    """Unblock these signals in this thread; return the mask as it was."""
    return set(signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers))


SIGNALS = Signals()
