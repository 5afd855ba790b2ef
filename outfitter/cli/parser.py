"""One way to build every command's argparse parser, for running it, for its help and for shell completion."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence

EXIT_CODES = "exit codes: 0 done, 1 findings or failure, 2 usage"


def parser(
    name: str, summary: str, arguments: Callable[[argparse.ArgumentParser], None], examples: Sequence[str] = ()
) -> argparse.ArgumentParser:
    """The parser of `outfitter <name>`; options are exact, never abbreviated; the help ends with examples and exit codes."""
    epilog = "\n".join(
        ["examples:", *(f"  {example}" for example in examples), "", EXIT_CODES] if examples else [EXIT_CODES]
    )
    made = argparse.ArgumentParser(
        prog=f"outfitter {name}",
        description=summary,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    arguments(made)
    return made


def json_option(made: argparse.ArgumentParser) -> None:
    """`--json`, as every command that prints data takes it."""
    made.add_argument("--json", action="store_true", help="one JSON document instead of lines")
