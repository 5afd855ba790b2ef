"""Where words go: data on stdout, everything else on stderr, colour on terminals only (spec/80)."""

from __future__ import annotations

import errno
import json
import os
import sys
from collections.abc import Mapping
from typing import Any, Literal, TextIO

from attrs import frozen

from outfitter.model.errors import Crashed, LaunchError
from outfitter.model.request import Notice
from outfitter.model.value import Value

When = Literal["auto", "always", "never"]
# Longer lines are cut: a value of a file may be quoted in one, and be of any length.
LONGEST = 2000
# A warning or a notice, with the words before it.
LONGEST_WARNING, PREFIX = 500, len("outfitter: warning: ")
_COLOURS = {"error": "31", "warning": "33", "notice": "36", "hint": "36"}
_UNWRITTEN: list[str] = []


@frozen(eq=False, repr=False)
class Console(Value):
    """How this process speaks. Writing never raises: what cannot be printed is lost on purpose (spec/50, "Messages with stdout and stderr gone")."""

    colour_out: bool
    colour_err: bool
    quiet: bool = False
    verbose: bool = False
    progress: bool = True

    def data(self, text: str) -> None:
        """One line (or block) of data on stdout."""
        _write(sys.stdout, text + "\n")

    def document(self, value: Mapping[str, Any]) -> None:
        """A JSON document on stdout; keys in the order given, characters outside ASCII escaped."""
        _write(sys.stdout, json.dumps({"schema_version": 1, **value}, indent=2) + "\n")

    def say(self, notice: Notice) -> bool:
        """A diagnostic on stderr, in one line, and its hint on a second; quiet drops notices. Whether it could be written."""
        if self.quiet and notice.level == "notice":
            return True
        lines = [f"outfitter: {self.paint(notice.level, notice.level)}: {_clipped(notice)}"]
        if notice.hint:
            lines.append(f"  {self.paint('hint:', 'hint')} {_ended(notice.hint)}")
        return _write(sys.stderr, "\n".join(lines) + "\n")

    def error(self, error: LaunchError, as_json: bool = False, code: int | None = None) -> None:
        """An error on stderr: lines for people, one object for programs; `code` is the exit code where it is not `run`'s."""
        from outfitter.render import error_json, error_notices

        if isinstance(error, Crashed) and os.environ.get("OUTFITTER_DEBUG") == "1":
            from traceback import format_exception

            _write(sys.stderr, "".join(format_exception(error.exception)))
        if as_json:
            _write(sys.stderr, json.dumps(error_json(error, code)) + "\n")
            return
        for notice in error_notices(error):
            self.say(notice)

    def detail(self, text: str) -> None:
        """What only `--verbose` shows: a decision or a time, one line on stderr."""
        if self.verbose:
            from outfitter.render import one_line

            _write(sys.stderr, f"outfitter: {one_line(text)}\n")

    def paint(self, text: str, style: str) -> str:
        """Text in the colour of `error`, `warning`, `notice` or `hint`, for stderr."""
        return f"\x1b[{_COLOURS[style]}m{text}\x1b[0m" if self.colour_err else text


def console(env: Mapping[str, str], colour: When = "auto", **flags: bool) -> Console:
    """The console of this process: `--color`, NO_COLOR, FORCE_COLOR and TERM=dumb decide colour, in that order."""

    def painted(stream: TextIO | None) -> bool:
        if colour != "auto":
            return colour == "always"
        if env.get("NO_COLOR"):
            return False
        if env.get("FORCE_COLOR"):
            return True
        return env.get("TERM") != "dumb" and stream is not None and not stream.closed and os.isatty(stream.fileno())

    return Console(painted(sys.stdout), painted(sys.stderr), **flags)


def unwritten() -> str:
    """Why data did not reach stdout ("" if it did): a full disk, say. A reader who left wanted no more of it."""
    return _UNWRITTEN[-1] if _UNWRITTEN else ""


def _clipped(notice: Notice) -> str:
    """Return the message in one line; a long notice or warning loses its middle, not its end."""
    message, room = notice.message, LONGEST_WARNING - PREFIX
    line = _ended(message)
    if notice.level == "error" or len(line) <= room:
        return line
    from outfitter.render import one_line

    gap = f" … ({len(message)} characters) … "
    half = (room - len(gap)) // 2
    return one_line(message[:half])[:half] + gap + one_line(message[-half:])[-half:]


def _ended(text: str) -> str:
    from outfitter.render import one_line

    line = one_line(text[: 2 * LONGEST])
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}… ({len(text)} characters)"


def _write(stream: TextIO | None, text: str) -> bool:
    """Write what the stream's encoding can hold, the rest escaped (spec/95 PYE-01); false where the stream is gone.

    Nothing stays in a buffer of Python's: one that cannot be flushed at the end would turn the exit code into 120.
    """
    if stream is None:
        return False
    try:
        encoding = stream.encoding or "utf-8"
        safe = (
            text.encode("utf-8", "surrogateescape")
            if encoding.lower() in ("utf-8", "utf8")
            else text.encode(encoding, "backslashreplace")
        )
        stream.flush()
        _write_whole(stream, safe)
    except (OSError, ValueError) as error:
        if stream is sys.stdout and getattr(error, "errno", errno.EPIPE) != errno.EPIPE:
            _UNWRITTEN.append(str(getattr(error, "strerror", error)))
        return False
    return True


def _write_whole(stream: TextIO, data: bytes) -> None:
    try:
        descriptor = stream.fileno()
    except OSError:
        stream.buffer.write(data)
        return
    while data:
        data = data[os.write(descriptor, data) :]
