"""argv → command module → exit code; the only place where a bug meets a user (spec/80)."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from outfitter.cli.argv import GlobalWords, MisusedError, asks_json, split_global
from outfitter.cli.commands import COMMANDS, module_of
from outfitter.edges.console import Console, console, unwritten
from outfitter.model.errors import Crashed, EffectFailed, LaunchError, UsageError
from outfitter.railway import fold


def main(argv: list[str] | None = None) -> int:
    """Run one command and give its exit code. `argv` excludes the program's name."""
    words = tuple(sys.argv[1:] if argv is None else argv)
    plain = console(os.environ)
    if sys.platform not in ("linux", "darwin"):
        return _refuse(f"this platform ({sys.platform}) is not supported; Linux and macOS are", 125)
    return fold(split_global(words), _dispatch, lambda error: _usage(plain, error, "--json" in words))


def _dispatch(parts: GlobalWords) -> int:
    as_json = asks_json(parts.rest)
    speak = console(
        os.environ,
        "never" if as_json else parts.colour,  # type: ignore[arg-type]
        quiet="--quiet" in parts.flags,
        verbose="--verbose" in parts.flags,
        progress="--no-progress" not in parts.flags and not as_json and not os.environ.get("NO_COLOR"),
    )
    first, rest = (parts.rest[0], parts.rest[1:]) if parts.rest else ("", ())
    if first == "--version":
        name = "version"
    elif first in ("-h", "--help", "help"):
        name = "help"
    elif not first or first.startswith("-"):
        name, rest = "run", parts.rest
    elif first in COMMANDS:
        name = first
    else:
        from outfitter.model.wording import nearest

        near = nearest(first, COMMANDS, 1)
        also = f"outfitter {near[0]}, or " if near else ""
        hint = f"{also}outfitter run {first} to launch that agent"
        return _usage(speak, UsageError(f"{first!r} is no command", hint), as_json)
    return _guarded(name, list(rest), speak, as_json)


def _guarded(name: str, words: list[str], speak: Console, as_json: bool) -> int:
    """Run a command; nothing escapes but a clean exit. One whose data could not be written has failed."""
    code = _ended(name, words, speak, as_json)
    why = unwritten()
    if not why:
        return code
    failed = 125 if name == "run" else 1
    speak.error(EffectFailed("write", "standard output", why), as_json, failed)
    return code or failed


def _ended(name: str, words: list[str], speak: Console, as_json: bool) -> int:
    try:
        from outfitter.cli.context import context

        module = import_module(module_of(name))
        try:
            here = context(speak, anywhere=_only_tells(name, words))
        except OSError as error:
            hint = "cd to a directory that exists"
            lost = EffectFailed("find the working directory", "", error.strerror or str(error), hint)
            speak.error(lost, as_json, 125 if name == "run" else 1)
            return 125 if name == "run" else 1
        if not speak.verbose or name == "run":
            return int(module.main(words, here))
        from outfitter.cli.verbose import told

        return told(module.main, name, words, here)
    except SystemExit as leave:
        return leave.code if isinstance(leave.code, int) else 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 1
    except MisusedError as wrong:
        return _usage(speak, wrong.error, as_json)
    except Exception as bug:  # noqa: BLE001 - the last bracket: what gets here is a bug, and is told in one line
        code = 125 if name == "run" else 1
        speak.error(Crashed(bug, name), as_json, code)
        return code


def _only_tells(name: str, words: list[str]) -> bool:
    """Whether a command looks at nothing, and so does without a working directory."""
    own = words[: words.index("--")] if "--" in words else words
    return name in ("help", "version") or not {"-h", "--help"}.isdisjoint(own)


def _usage(speak: Console, error: LaunchError, as_json: bool) -> int:
    speak.error(error, as_json, 2)
    return 2


def _refuse(message: str, code: int) -> int:
    sys.stderr.write(f"outfitter: error: {message}\n")
    return code
