"""Make docs/cli.md from the parsers that the commands themselves use.

.venv/bin/python docs/commands.py          write it
.venv/bin/python docs/commands.py --check  exit 1 if it is not up to date
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from outfitter.cli.commands import COMMANDS
from outfitter.cli.completion import whole_parser

TARGET = Path(__file__).resolve().parent / "cli.md"
HEAD = """\
# Command line

`outfitter` alone, or with a first argument that begins with `-`, is `outfitter run`. `--quiet`, `--verbose`, `--no-progress`
and `--color auto|always|never` stand before the command. Every command that prints data takes `--json`; data goes to stdout,
everything else to stderr. Exit codes: [exit-codes.md](exit-codes.md). JSON: [json.md](json.md).

`--quiet` drops notices and keeps warnings and errors. `outfitter --verbose run` tells what was decided and by which file and
line before the harness starts, and how long each stage took after it ended; in between it is silent. With any other command
`--verbose` tells where it looked and how long it took; one that reads settings or trees tells which were read or were not there,
too, and what of a tree was left out and why. Colour and progress are for terminals alone, and never with `NO_COLOR` or `--json`.

| variable | effect |
|---|---|
| `TMPDIR` | where run directories are made |
| `XDG_STATE_HOME` | where journals and kept conflicts lie (`~/.local/state`) |
| `NO_COLOR`, `FORCE_COLOR` | no colour, colour |
| `OUTFITTER_DEBUG=1` | show the traceback of an internal error |
| `PI_CODING_AGENT_DIR`, `CLAUDE_CONFIG_DIR`, `CODEX_HOME` | a harness's own directory, where you moved it |
| `PI_CODING_AGENT_SESSION_DIR` | where Pi keeps sessions; never overridden |
"""


def page() -> str:
    """The whole page: a table of commands, then each with its arguments."""
    parts = [HEAD, "| command | for |", "|---|---|"]
    parts += [f"| [`{name}`](#{name}) | {text} |" for name, text in COMMANDS.items()]
    commands = next(action for action in whole_parser()._actions if isinstance(action, argparse._SubParsersAction))  # noqa: SLF001
    for name in COMMANDS:
        parts += ["", f"## {name}", "", *_section(f"outfitter {name}", commands.choices[name])]
    return "\n".join(parts) + "\n"


def _section(title: str, parser: argparse.ArgumentParser) -> Iterator[str]:
    summary, _, legend = (parser.description or "").partition("\n\n")
    yield f"{' '.join(summary.split()).rstrip('.')}."
    if legend:
        yield from ("", "```text", legend, "```")
    inner = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]  # noqa: SLF001
    rows = [_row(action) for action in parser._actions if action not in inner and action.dest != "help"]  # noqa: SLF001
    if rows:
        yield from ("", "| argument | meaning |", "|---|---|", *rows)
    for action in inner:
        for name, command in action.choices.items():
            yield from ("", f"### {title} {name}", "", *_section(f"{title} {name}", command))


def _row(action: argparse.Action) -> str:
    takes = action.nargs != 0
    named = action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    value = "|".join(map(str, action.choices)) if action.choices and action.option_strings else named
    name = ", ".join(action.option_strings) + (f" {value}" if action.option_strings and takes else "") or str(value)
    return f"| `{name}` | {action.help or ''} |".replace(
        "|".join(map(str, action.choices or ())), "\\|".join(map(str, action.choices or ()))
    )


def main() -> int:
    """Write or check."""
    text = page()
    if "--check" in sys.argv[1:]:
        return 0 if TARGET.exists() and TARGET.read_text() == text else 1
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
