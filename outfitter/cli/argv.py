"""Split the command line into Outfitter's arguments and the harness's, before argparse (spec/80). Pure."""

from __future__ import annotations

import argparse

from returns.result import Failure, Result, Success

from outfitter.model.errors import UsageError
from outfitter.model.value import NamedTuple

FLAGS = ("--strict", "--isolated", "--retain-projection", "--dry-run", "--untrusted", "--help")
VALUED = ("--harness", "--append-prompt", "--out", "--trust")
GLOBAL_FLAGS = ("--quiet", "--verbose", "--no-progress")
COLOURS = ("auto", "always", "never")


class MisusedError(Exception):
    """Raised for a usage error, in place of argparse's exit; caught where commands are dispatched."""

    def __init__(self, error: UsageError) -> None:
        """`error` is the message and its hint."""
        super().__init__(error.message)
        self.error = error


class RunArgs(NamedTuple):
    """The arguments of `run`: flags, (option, value) pairs in order, the agent, and what the harness gets."""

    flags: tuple[str, ...]
    values: tuple[tuple[str, str], ...]
    agent: str | None
    passthrough: tuple[str, ...]


class GlobalArgs(NamedTuple):
    """The global options, and the arguments after them, which begin with the command."""

    flags: tuple[str, ...]
    colour: str
    rest: tuple[str, ...]


def split_global(words: tuple[str, ...]) -> Result[GlobalArgs, UsageError]:
    """Take `--quiet`, `--verbose`, `--no-progress`, `--color WHEN` off the front."""
    flags: list[str] = []
    colour = "auto"
    rest = list(words)
    while rest:
        name, equals, value = rest[0].partition("=")
        if name in GLOBAL_FLAGS and not equals:
            flags.append(rest.pop(0))
        elif name == "--color":
            rest.pop(0)
            colour = value if equals else rest.pop(0) if rest else ""
            if colour not in COLOURS:
                return Failure(UsageError(f"--color: expected auto, always or never, got {colour!r}"))
        else:
            break
    return Success(GlobalArgs(tuple(flags), colour, tuple(rest)))


def asks_json(words: tuple[str, ...]) -> bool:
    """Whether `--json` is Outfitter's: in every command but a `run` that starts a harness; `words` begin with the command."""
    own = words[: words.index("--")] if "--" in words else words
    launches = not own or own[0] == "run" or (own[0].startswith("-") and own[0] != "--version")
    return "--json" in own and ("--dry-run" in own or not launches)


def split_run(words: tuple[str, ...]) -> Result[RunArgs, UsageError]:
    """Split `run`'s words from left to right (spec/80).

    The first `--` ends Outfitter's part and is dropped; its options count wherever they stand before it, exactly spelled;
    the first word without `-` is the agent if nothing foreign came before it; all else goes to the harness in order. A dry
    run starts no harness, so there `--json` is Outfitter's, as in every command that prints data.
    """
    end = words.index("--") if "--" in words else len(words)
    own = list(words[:end])
    known = (*FLAGS, "-h", "--json") if "--dry-run" in own else (*FLAGS, "-h")
    flags: list[str] = []
    values: list[tuple[str, str]] = []
    foreign: list[str] = []
    agent: str | None = None
    while own:
        word = own.pop(0)
        name, equals, value = word.partition("=")
        if word in known:
            flags.append("--help" if word == "-h" else word)
        elif name in VALUED:
            if not equals and not own:
                return Failure(UsageError(f"{name} needs a value", "outfitter run --help"))
            value = value if equals else own.pop(0)
            if not value:
                # An unset variable of a script; taken as "not asked for" it would lose what was asked for.
                return Failure(UsageError(f"{name}: the value is empty", "outfitter run --help"))
            values.append((name, value))
        elif agent is None and not foreign and not word:
            return Failure(UsageError("the agent's name is empty", "outfitter list agents"))
        elif agent is None and not foreign and not word.startswith("-"):
            agent = word
        else:
            foreign.append(word)
    return Success(RunArgs(tuple(flags), tuple(values), agent, (*foreign, *words[end + 1 :])))


SUMMARY = "Launch an agent: compose it, run the harness in a temporary configuration, then account for every write."


def arguments(parser: argparse.ArgumentParser) -> None:
    """Run's own options, for help and completion; the arguments themselves are split by `split_run`."""
    parser.add_argument("agent", nargs="?", metavar="AGENT", help="agent id (default: default_agent of the settings)")
    parser.add_argument(
        "--harness", choices=["pi", "claude", "codex"], help="which program to run (default: default_harness, else pi)"
    )
    parser.add_argument(
        "--strict", action="store_true", help="treat warnings as errors: do not launch (122), or exit 121 afterwards"
    )
    parser.add_argument(
        "--isolated", action="store_true", help="Claude Code: ignore your own settings, servers and plugins"
    )
    parser.add_argument("--retain-projection", action="store_true", help="keep the run directory for `outfitter diff`")
    parser.add_argument(
        "--append-prompt", action="append", metavar="FILE", help="add a prompt file to this run (repeatable)"
    )
    parser.add_argument("--out", metavar="ROOT", help="write the evidence of the run to ROOT, a new or empty directory")
    parser.add_argument(
        "--dry-run", action="store_true", help="print the plan and start nothing (--json for a JSON document)"
    )
    parser.add_argument(
        "--trust", metavar="DIGEST", help="allow, for this run, what the project runs by itself, if it has this digest"
    )
    parser.add_argument(
        "--untrusted", action="store_true", help="run without what the project would run or send by itself"
    )
    parser.add_argument("args", nargs="*", metavar="-- ARGS", help="everything else is passed to the harness unchanged")
