"""argv → command module → exit code; the only place that catches bugs (spec/80)."""

from __future__ import annotations

import os
import sys
from importlib import import_module

from outfitter.cli.argv import GlobalArgs, MisusedError, asks_json, split_global
from outfitter.cli.commands import COMMANDS, module_of
from outfitter.edges.console import Console, console, unwritten
from outfitter.model.errors import Crashed, EffectFailed, LaunchError, UsageError, os_error_text
from outfitter.railway import fold

# Exit codes of a failure of ours: in `run`, where low codes belong to the harness, and in every other command.
FAILED_LAUNCH = 125
FAILED_COMMAND = 1


def main(argv: list[str] | None = None) -> int:
    """Run one command and give its exit code. `argv` excludes the program's name."""
    words = tuple(sys.argv[1:] if argv is None else argv)
    plain = console(os.environ)
    if sys.platform not in ("linux", "darwin"):
        return _refuse(f"this platform ({sys.platform}) is not supported; use Linux or macOS", FAILED_LAUNCH)
    return fold(split_global(words), _dispatch, lambda error: _usage(plain, error, "--json" in words))


def _dispatch(parts: GlobalArgs) -> int:
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
        return _usage(speak, UsageError(f"unknown command {first!r}", hint), as_json)
    return _guarded(name, list(rest), speak, as_json)


def _guarded(name: str, words: list[str], speak: Console, as_json: bool) -> int:
    """Run a command and return its exit code; it fails if its output could not be written."""
    failed = FAILED_LAUNCH if name == "run" else FAILED_COMMAND
    code = _run(name, words, speak, as_json, failed)
    why = unwritten()
    if not why:
        return code
    speak.error(EffectFailed("write", "standard output", why), as_json, failed)
    return code or failed


def _run(name: str, words: list[str], speak: Console, as_json: bool, failed: int) -> int:
    """Import a command's module and call it; turn every way it can leave into an exit code."""
    try:
        from outfitter.cli.context import context

        module = import_module(module_of(name))
        try:
            here = context(speak, anywhere=_needs_no_directory(name, words))
        except OSError as error:
            hint = "cd to a directory that exists"
            lost = EffectFailed("find the working directory", "", os_error_text(error), hint)
            speak.error(lost, as_json, failed)
            return failed
        if not speak.verbose or name == "run":
            return int(module.main(words, here))
        from outfitter.cli.verbose import run_verbosely

        return run_verbosely(module.main, name, words, here)
    except SystemExit as leave:
        return leave.code if isinstance(leave.code, int) else 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 1
    except MisusedError as wrong:
        return _usage(speak, wrong.error, as_json)
    except Exception as bug:  # noqa: BLE001 - the outermost handler: what gets here is a bug, reported in one line
        speak.error(Crashed(bug, name), as_json, failed)
        return failed


def _needs_no_directory(name: str, words: list[str]) -> bool:
    """True for help and versions, which work without a working directory."""
    own = words[: words.index("--")] if "--" in words else words
    return name in ("help", "version") or not {"-h", "--help"}.isdisjoint(own)


def _usage(speak: Console, error: LaunchError, as_json: bool) -> int:
    speak.error(error, as_json, 2)
    return 2


def _refuse(message: str, code: int) -> int:
    sys.stderr.write(f"outfitter: error: {message}\n")
    return code
