"""The command line before argparse sees it: which words are Outfitter's and which the harness's (spec/80). Pure."""

from __future__ import annotations

from typing import NamedTuple

from returns.result import Failure, Result, Success

from outfitter.errors import UsageError

FLAGS = ("--strict", "--isolated", "--retain-projection", "--dry-run", "--json", "-h", "--help")
VALUED = ("--harness", "--append-prompt", "--out")
GLOBAL_FLAGS = ("--quiet", "--verbose", "--no-progress")


class RunWords(NamedTuple):
    """`run`'s own part: flags seen, (option, value) pairs in order, the agent; and what goes to the harness unchanged."""

    flags: tuple[str, ...]
    values: tuple[tuple[str, str], ...]
    agent: str | None
    passthrough: tuple[str, ...]


class GlobalWords(NamedTuple):
    """The options that stand only before a command, and the words after them."""

    flags: tuple[str, ...]
    colour: str
    rest: tuple[str, ...]


def split_global(words: tuple[str, ...]) -> Result[GlobalWords, UsageError]:
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
            if not equals and not rest:
                return Failure(UsageError("--color needs a value", "auto, always or never"))
            colour = value if equals else rest.pop(0)
            if colour not in ("auto", "always", "never"):
                return Failure(UsageError(f"--color {colour}: not one of auto, always, never"))
        else:
            break
    return Success(GlobalWords(tuple(flags), colour, tuple(rest)))


def split_run(words: tuple[str, ...]) -> Result[RunWords, UsageError]:
    """Split `run`'s words from left to right (spec/80).

    The first `--` ends Outfitter's part; its options count wherever they stand before it, exactly spelled; the first word
    without `-` is the agent if nothing foreign came before it; all else goes to the harness in order.
    """
    flags: list[str] = []
    values: list[tuple[str, str]] = []
    agent: str | None = None
    foreign: list[str] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--":
            foreign += rest
            break
        name, equals, value = word.partition("=")
        if word in FLAGS:
            flags.append("--help" if word == "-h" else word)
        elif name in VALUED:
            if not equals and (not rest or rest[0] == "--"):
                return Failure(UsageError(f"{name} needs a value", "outfitter run --help"))
            values.append((name, value if equals else rest.pop(0)))
        elif agent is None and not foreign and not word.startswith("-"):
            agent = word
        else:
            foreign.append(word)
    return Success(RunWords(tuple(flags), tuple(values), agent, tuple(foreign)))
