"""The machine as this process finds it: home, directories, environment, terminals, clock (spec/95 PYE-03, LNK-12)."""

from __future__ import annotations

import os
import pwd
import sys
import time
from collections.abc import Mapping

from outfitter.model.request import Ambient


def ambient(env: Mapping[str, str], anywhere: bool = False) -> Ambient:
    """Read the machine once. A home that is unset, empty or relative is the password database's.

    A working directory that was removed is no other one: nothing is looked for, or written, in its place.
    """
    home = home_directory(env)
    state = env.get("XDG_STATE_HOME", "")
    return Ambient(
        cwd=_working_directory(anywhere),
        home=home,
        temp_root=temp_root(env),
        state_root=os.path.join(state if os.path.isabs(state) else os.path.join(home, ".local/state"), "outfitter"),
        env=dict(env),
        stdin_tty=_is_terminal(0),
        stdout_tty=_is_terminal(1),
        stderr_tty=_is_terminal(2),
        now_ns=time.time_ns(),
        uid=os.getuid(),
        platform=sys.platform,
        umask=keep_owner_bits(),
    )


def keep_owner_bits() -> int:
    """Keep the owner's own bits out of the umask; return the umask that this process was given.

    Services that write secrets run with 0177: every private directory that we made would be one that nobody can enter.
    """
    given = os.umask(0o077)
    os.umask(given & ~0o700)
    return given


def home_directory(env: Mapping[str, str]) -> str:
    """`HOME` if it is absolute, else the password database's, else `/`."""
    given = env.get("HOME", "")
    if os.path.isabs(given):
        return os.path.normpath(given)
    try:
        return os.path.normpath(pwd.getpwuid(os.getuid()).pw_dir)
    except KeyError:
        return "/"


def temp_root(env: Mapping[str, str]) -> str:
    """The physical temporary root: `TMPDIR` if it is set (wrong or not: the launch says so), else `/tmp`."""
    return os.path.realpath(env.get("TMPDIR") or "/tmp")


def _working_directory(anywhere: bool) -> str:
    try:
        return os.getcwd()
    except OSError:
        if anywhere:
            return "/"
        raise


def _is_terminal(descriptor: int) -> bool:
    try:
        return os.isatty(descriptor)
    except OSError:
        return False
