"""Speaking with the user: lines, the one question, progress; and where words go that cannot be printed (spec/50, 006.5.19)."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from outfitter.edges import tty
from outfitter.edges.console import Console
from outfitter.edges.signals import SIGNALS, Signals
from outfitter.fs import give_to_owner_of, make_directories
from outfitter.host import Answer, Consent, Progress
from outfitter.model.request import Ambient, Notice
from outfitter.railway import Terminated

ANSWERS: tuple[Answer, ...] = ("persist", "discard", "always")
TRIES = 3
LINE_BYTES = 4096
LOG_SECONDS = 30 * 24 * 3600
BAR_AFTER_SECONDS = 0.5
BAR_EVERY_SECONDS = 0.1
BAR_CELLS = 24


class RunLog:
    """`<state_root>/runs/<run id>.log`, for words that nobody could be told. Without a run, or with no place for it, they are lost."""

    def __init__(self, state_root: str, home: str = "") -> None:
        """`state_root` is Outfitter's state directory; `run_id` is set when a run directory is opened. A missing `home` is not made."""
        self._home = home
        self._state_root, self._directory = state_root, os.path.join(state_root, "runs")
        self._tidied = False
        self.run_id = ""

    def add(self, text: str) -> None:
        """Append one line; safe to call from a signal handler. Logs of a month ago go when a new one begins."""
        if not self.run_id:
            return
        self._forget_old()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            make_directories(self._directory, self._home)
            file = os.open(os.path.join(self._directory, self.run_id + ".log"), flags, 0o600)
        except OSError:
            return
        try:
            give_to_owner_of(self._directory, file)
            os.write(file, (text + "\n").encode("utf-8", "surrogateescape"))
        except OSError:
            return
        finally:
            os.close(file)

    def _forget_old(self) -> None:
        """Once a process: a log that nobody read in a month tells nobody anything."""
        if self._tidied:
            return
        self._tidied = True
        for path in logs(self._state_root):
            try:
                if time.time() - os.stat(path).st_mtime > LOG_SECONDS:
                    os.unlink(path)
            except OSError:
                continue


def logs(state_root: str) -> list[str]:
    """The logs of runs whose words could not be printed, oldest first."""
    directory = os.path.join(state_root, "runs")
    try:
        names = sorted(name for name in os.listdir(directory) if name.endswith(".log"))
    except OSError:
        return []
    return [os.path.join(directory, name) for name in names]


class Bar:
    """A progress bar on one line of stderr, drawn by hand: nothing to import, no cursor to hide and to forget."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` gives seconds."""
        self._clock = clock
        self._shown = False

    def callback(self, label: str) -> Progress:
        """(done, total) → draws, from half a second on, ten times a second at most; gone at the end."""
        due = self._clock() + BAR_AFTER_SECONDS

        def show(done: int, total: int) -> None:
            nonlocal due
            if done >= total:
                self.erase()
            elif self._clock() >= due:
                due = self._clock() + BAR_EVERY_SECONDS
                filled = BAR_CELLS * done // total
                self._draw(f"\r\x1b[K{label} [{'#' * filled}{' ' * (BAR_CELLS - filled)}] {done}/{total}")

        return show

    def erase(self) -> None:
        """Leave a clean line for what is said next."""
        if self._shown:
            self._draw("\r\x1b[K")
            self._shown = False

    def _draw(self, text: str) -> None:
        self._shown = True
        _write(2, text)


class UserTerminal:
    """`Terminal` of this process. Remembers what it said: the same notice is said once.

    A signal that may still end the launch does so between two files of a long copy.
    """

    def __init__(self, console: Console, ambient: Ambient, log: RunLog, signals: Signals = SIGNALS) -> None:
        """What cannot be printed on `console` goes to `log`. Resets `signals`: their messages are printed from here on."""
        self._console, self._ambient, self._log, self._signals = console, ambient, log, signals
        self._bar = Bar(time.monotonic)
        self._said: set[Notice] = set()
        signals.reset(self._tell)

    def say(self, notice: Notice) -> None:
        """Print a notice, or log it if it cannot be printed."""
        if notice in self._said:
            return
        self._said.add(notice)
        self._bar.erase()
        if not self._console.say(notice):
            hint = f" (hint: {notice.hint})" if notice.hint else ""
            self._log.add(f"{notice.level}: {notice.message}{hint}")

    def ask(self, question: str) -> tuple[Answer, str]:
        """Ask, on stderr if that is a terminal, else on stdout."""
        self._bar.erase()
        return _ask(question, 2 if self._ambient.stderr_tty else 1, self._signals)

    def consent(self, question: str) -> Consent:
        """Ask about a tree that nobody trusted yet, on stderr if that is a terminal, else on stdout."""
        self._bar.erase()
        return _consent(question, 2 if self._ambient.stderr_tty else 1, self._signals)

    def progress(self, label: str) -> Progress:
        """Return a callback (done, total). It raises `Terminated` once a signal asked the launch to end."""
        draw = self._bar.callback(label) if self._shows_progress() else None

        def step(done: int, total: int) -> None:
            if number := self._signals.stop():
                self._bar.erase()
                raise Terminated(number)
            if draw is not None:
                draw(done, total)

        return step

    def saving(self) -> None:
        """From here on a signal cuts nothing short."""
        self._signals.saving()

    def _shows_progress(self) -> bool:
        wanted = self._console.progress and not self._console.quiet
        return wanted and self._ambient.stderr_tty and self._ambient.env.get("TERM") != "dumb"

    def _tell(self, text: str) -> None:
        """Print one line; called from signal handlers."""
        self._bar.erase()
        if not _write(2, f"outfitter: {text}\n"):
            self._log.add(text)


def _ask(question: str, out: int, signals: Signals) -> tuple[Answer, str]:
    """The answer, and what to remark where there was none. The first letters of the three words are enough."""
    if signals.hurried:
        return "discard", "not asked, for a signal ended the run: discarded"
    try:
        with tty.line_mode(0):
            signals.asking = True
            return _answer(question, out)
    except (Terminated, KeyboardInterrupt):
        _write(out, "\n")
        return "discard", "interrupted at the question: discarded"
    except OSError as error:
        return "discard", f"the terminal could not be read ({error.strerror}): discarded"
    finally:
        signals.asking = False


def _consent(question: str, out: int, signals: Signals) -> Consent:
    """Ask once. What was typed before the question does not count; anything but a clear word is a no.

    Raises `Terminated` or `KeyboardInterrupt` where a signal came instead of an answer.
    """
    try:
        with tty.line_mode(0):
            tty.drop_input(0)
            signals.asking = True
            _write(out, f"{question} [y/N/w] ")
            word = (_line() or "").strip().lower()
    except OSError:
        return "no"
    finally:
        signals.asking = False
    if word in ("y", "yes"):
        return "yes"
    return "without" if word in ("w", "without", "run without it") else "no"


def _answer(question: str, out: int) -> tuple[Answer, str]:
    for _ in range(TRIES):
        _write(out, f"{question} [persist/discard/always] ")
        line = _line()
        if line is None:
            _write(out, "\n")
            return "discard", "end of input at the question: discarded"
        word = line.strip().lower()
        for answer in ANSWERS:
            if word and answer.startswith(word):
                return answer, ""
        _write(out, "please answer persist, discard or always (p, d or a)\n")
    return "discard", f"no answer after {TRIES} questions: discarded"


def _line() -> str | None:
    """A line of stdin without buffering what follows it, or None at its end."""
    taken = b""
    while not taken.endswith(b"\n") and len(taken) < LINE_BYTES:
        piece = os.read(0, LINE_BYTES)
        if not piece:
            return taken.decode("utf-8", "replace") if taken else None
        taken += piece
    return taken.decode("utf-8", "replace")


def _write(descriptor: int, text: str) -> bool:
    """Whether the text could be written; straight to the descriptor, so that a signal handler may do it."""
    try:
        os.write(descriptor, text.encode("utf-8", "surrogateescape"))
    except OSError:
        return False
    return True
