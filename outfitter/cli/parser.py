"""One way to build every command's argparse parser, for running it, for its help and for shell completion."""

from __future__ import annotations

import argparse
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, NoReturn

from outfitter.cli.argv import MisusedError
from outfitter.model.errors import UsageError

WIDTH = 80
# argparse's messages for an invalid choice and for surplus arguments. They are matched to add a hint, which argparse can do
# itself from Python 3.14 (`suggest_on_error`); remove this, and `_options`, when 3.13 is no longer supported.
_CHOICE = re.compile(r"argument (\S+): invalid choice: ('.*'|\S+) \(choose from (.*)\)", re.DOTALL)
_SURPLUS = re.compile(r"unrecognized arguments: (\S*).*", re.DOTALL)
EXIT_CODES = "exit codes: 0 success, 1 findings or failure, 2 usage error"


class Parser(argparse.ArgumentParser):
    """An argparse parser that reports errors as the rest of Outfitter does: one line and a hint."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's own, but refuse empty arguments: they come from unset variables of scripts."""
        words = list(args or ())
        for before, word in pairwise(["", *words]):
            name = before if before.startswith("--") and not word else word.partition("=")[0]
            if not word or (word.startswith("--") and word.partition("=")[1:] == ("=", "")):
                self.error(f"{name}: the value is empty" if name else "an argument is empty")
        return super().parse_known_args(args, namespace)

    def error(self, message: str) -> NoReturn:
        """Raise `MisusedError` instead of printing the usage and exiting; suggest the nearest name for a typo."""
        from outfitter.model.wording import did_you_mean

        choice = _CHOICE.fullmatch(message)
        if choice:
            name, given, allowed = choice[1], choice[2], [word.strip("'") for word in choice[3].split(", ")]
            fault = f"{self.prog}: {name}: invalid choice {given} (choose from {', '.join(allowed)})"
            raise MisusedError(UsageError(fault, did_you_mean(given.strip("'"), allowed, f"{self.prog} --help", 1)))
        surplus = _SURPLUS.fullmatch(message)
        known = _options(self) if surplus and surplus[1].startswith("-") else ()
        near = did_you_mean(surplus[1].partition("=")[0], known, "", 1) if surplus else ""
        raise MisusedError(UsageError(f"{self.prog}: {message}", near or f"{self.prog} --help"))


def _options(parser: argparse.ArgumentParser) -> Iterator[str]:
    """Every option of a command and of its actions."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no public way to look at what a parser takes
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for inner in action.choices.values():
                yield from _options(inner)


def parser(
    name: str, summary: str, arguments: Callable[[argparse.ArgumentParser], None], examples: Sequence[str] = ()
) -> argparse.ArgumentParser:
    """The parser of `outfitter <name>`; it takes no abbreviated options, and its help ends with exit codes."""
    epilog = "\n".join(
        ["examples:", *(f"  {example}" for example in examples), "", EXIT_CODES] if examples else [EXIT_CODES]
    )
    made = Parser(
        prog=f"outfitter {name}",
        description=folded(summary),
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    arguments(made)
    return made


def actions(made: argparse.ArgumentParser) -> Callable[[str, str], argparse.ArgumentParser]:
    """Add required actions to a command: a function from (name, what it does) to the action's parser."""
    commands = made.add_subparsers(dest="action", required=True, metavar="ACTION")
    return partial(action, commands)


def action(commands: Any, name: str, text: str) -> argparse.ArgumentParser:
    """Add one action; `commands` comes from `add_subparsers`, `text` is a sentence in lower case without a full stop."""
    description = folded(f"{text[:1].upper()}{text[1:]}.")
    made: argparse.ArgumentParser = commands.add_parser(name, help=text, description=description, allow_abbrev=False)
    return made


def folded(text: str, indent: str = "") -> str:
    """Wrap text at 80 columns; keep its line breaks and each line's indent."""

    def fold(line: str) -> str:
        own = indent + line[: len(line) - len(line.lstrip())]
        return (
            textwrap.fill(line.strip(), WIDTH, initial_indent=own, subsequent_indent=own, break_on_hyphens=False)
            if len(indent + line) > WIDTH
            else indent + line
        )

    return "\n".join(map(fold, text.splitlines()))


def json_option(made: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    made.add_argument("--json", action="store_true", help="print one JSON document")


def days(text: str) -> float:
    """A number of days, 0 or more: the type of an age."""
    return _number(text, float, "a number of days, 0 or more", 0, 1_000_000)


def seconds(text: str) -> float:
    """A number of seconds, 0 or more; the system's waits end at about 24 days."""
    return _number(text, float, "a number of seconds, 0 or more", 0, 2_000_000)


def several(text: str) -> int:
    """A whole number, 1 or more."""
    return int(_number(text, int, "a whole number, 1 or more", 1, 1 << 62))


def count(text: str) -> int:
    """A whole number, 0 or more."""
    return int(_number(text, int, "a whole number, 0 or more", 0, 1 << 62))


def _number(text: str, form: Callable[[str], float], wanted: str, least: float, most: float) -> float:
    try:
        value = form(text)
    except ValueError:
        value = math.nan
    if math.isnan(value) or value < least:
        raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}")
    if value > most:
        raise argparse.ArgumentTypeError(f"{text!r} is too large: at most {most}")
    return value
