"""The terminal as a device: who is in its foreground, and its modes before, at a question, and after a harness that died."""

from __future__ import annotations

import os
import signal
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

# The modes as `termios.tcgetattr` gives them, and the descriptor they were read from.
Modes: TypeAlias = tuple[int, list[Any]]


def fill_closed_streams() -> None:
    """Open `/dev/null` for each standard stream that came closed: else the next file opened, a lock, would be the harness's output."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            null = os.open(os.devnull, os.O_RDWR)
            if null != descriptor:
                os.dup2(null, descriptor)
                os.close(null)
            os.set_inheritable(descriptor, True)


def save_modes() -> Modes | None:
    """The modes of the first standard stream that is a terminal, or None."""
    for descriptor in (0, 1, 2):
        try:
            return descriptor, termios.tcgetattr(descriptor)
        except (termios.error, OSError):
            continue
    return None


def restore_modes(saved: Modes | None) -> None:
    """Put modes back, unless another job has the terminal now; a terminal that is gone needs nothing."""
    if saved is None:
        return
    descriptor, modes = saved
    if not reclaim(descriptor):
        return
    try:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, modes)
    except (termios.error, OSError):
        return


def in_foreground() -> bool:
    """Whether this process has a controlling terminal and is in its foreground group: then a ^C reaches the whole group."""
    try:
        terminal = os.open(os.ctermid(), os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def reclaim(descriptor: int) -> bool:
    """Whether our group has the terminal, taking it back where the foreground group died (a harness that made its own)."""
    try:
        foreground = os.tcgetpgrp(descriptor)
        if foreground == os.getpgrp():
            return True
        if foreground > 0 and _alive(foreground):
            return False
        with _writing_from_the_background():
            os.tcsetpgrp(descriptor, os.getpgrp())
    except OSError:
        return False
    return True


@contextmanager
def line_mode(descriptor: int) -> Iterator[None]:
    """A terminal that edits and echoes lines, whatever modes a program left, for as long as a question stands."""
    reclaim(descriptor)
    try:
        before = termios.tcgetattr(descriptor)
        asking = list(before)
        asking[0] |= termios.ICRNL
        asking[1] |= termios.OPOST
        asking[3] |= termios.ICANON | termios.ECHO | termios.ECHOE | termios.ISIG
        termios.tcsetattr(descriptor, termios.TCSADRAIN, asking)
    except (termios.error, OSError):
        yield
        return
    try:
        yield
    finally:
        try:
            termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
        except (termios.error, OSError):
            pass


def drop_input(descriptor: int) -> None:
    """Forget what was typed and not read yet."""
    try:
        termios.tcflush(descriptor, termios.TCIFLUSH)
    except (termios.error, OSError):
        return


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def _writing_from_the_background() -> Iterator[None]:
    """Without this the kernel stops a background process that changes the terminal."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
