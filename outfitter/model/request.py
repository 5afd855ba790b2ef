"""What a launch was asked to do, the machine as it finds it, and how it speaks."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen

from outfitter.model.value import NamedTuple, Value

Level = Literal["notice", "warning", "error"]


class Position(NamedTuple):
    """A place in a text file: lines and columns count from 1; 0 means "the file as a whole"."""

    line: int = 0
    column: int = 0


class Notice(NamedTuple):
    """One thing to tell the user, in one line, with what to do about it in `hint`.

    A `warning` raised before the harness starts is fatal under `--strict` (spec/80); a `notice` never is.
    `code` is a stable kebab-case word for tests and `--json`; `message` already names the file or element.
    """

    level: Level
    code: str
    message: str
    hint: str = ""


class Problem(NamedTuple):
    """Something wrong in a file, with its place; rendered as `path:line:column: key: message`."""

    path: str
    message: str
    key: str = ""
    at: Position = Position()
    hint: str = ""


def resolved(path: str, home: str, base: str) -> str:
    """A configured path as an absolute path: `~` is the home, a relative one stands in `base`."""
    expanded = home + path[1:] if path == "~" or path.startswith("~/") else path
    return posixpath.normpath(posixpath.join(base, expanded))


@frozen(eq=False, repr=False)
class Ambient(Value):
    """The machine as this launch sees it; read once, so that everything after is a function of it.

    All paths are absolute `str` (surrogateescape for names that are not UTF-8). `cwd` and `temp_root` are physical
    (links resolved). `now_ns` is the wall clock at the start, in nanoseconds. `umask` is the one that the harness gets back.
    """

    cwd: str
    home: str
    temp_root: str
    state_root: str
    env: Mapping[str, str] = field(repr=False)
    stdin_tty: bool
    stdout_tty: bool
    stderr_tty: bool
    now_ns: int
    uid: int
    platform: str
    umask: int = 0o022


@frozen(eq=False, repr=False)
class Request(Value):
    """What `outfitter run` was asked for (spec/80): the words of its command line, and where it stands."""

    ambient: Ambient
    agent: str | None = None
    harness: str | None = None
    passthrough: tuple[str, ...] = ()
    strict: bool = False
    isolated: bool = False
    retain: bool = False
    dry_run: bool = False
    out: str | None = None
    append_prompts: tuple[str, ...] = ()
    trust: str = ""
    untrusted: bool = False
