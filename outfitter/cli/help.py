"""`outfitter --help` and `outfitter run --help`: the common commands first, every command once, the exit codes of `run`."""

from __future__ import annotations

import argparse
from importlib import import_module

from outfitter.cli.argv import SUMMARY, arguments
from outfitter.cli.commands import COMMANDS, module_of
from outfitter.cli.context import Context
from outfitter.cli.parser import folded
from outfitter.model.errors import UsageError

COMMON = ("run", "diff", "list", "validate", "setup", "import")
# What `run` exits with, in the order of spec/80; a test compares this table with the docs.
RUN_CODES: tuple[tuple[str, str], ...] = (
    ("the harness's own, or 128 + signal", "the harness ran; its own code, if not 0, is reported instead of 121"),
    ("2", "usage error"),
    ("121", "the harness exited 0, but a change violates an `error` strategy, or --strict made a warning fatal"),
    ("122", "refused before launch: a strategy or state path that is not allowed, or a warning under --strict"),
    ("125", "Outfitter failed: settings or tree unreadable, agent not found, no projection, output root in use"),
    ("126, 127", "the harness cannot be executed; the harness is not installed"),
)
EXAMPLES = (
    ("outfitter demo", "try a complete launch here, without an account"),
    ("outfitter run reviewer", "launch the agent `reviewer` in the default harness"),
    ("outfitter run reviewer --harness claude -p 'fix the bug'", "unknown options are passed to the harness"),
    ("outfitter diff", "list what the newest retained run wrote, and what was kept"),
)


def main(words: list[str], context: Context) -> int:
    """Print the overview; `outfitter help COMMAND` is `outfitter COMMAND --help`."""
    if words[:1] and words[0] in COMMANDS:
        return int(import_module(module_of(words[0])).main(["--help"], context))
    if words:
        from outfitter.model.wording import did_you_mean

        hint = did_you_mean(words[0], COMMANDS, "outfitter --help lists them", 1)
        return context.fail(UsageError(f"unknown command {words[0]!r}", hint))
    context.console.data(overview())
    return 0


def overview() -> str:
    """The text of `outfitter --help`."""
    lines = ["Run your agents in Pi, Claude Code or Codex, and see every file they changed.", ""]
    lines += ["usage: outfitter [--quiet] [--verbose] [--color auto|always|never]"]
    lines += ["                 [--no-progress] [COMMAND] ...", "", "common:"]
    lines += [_row(name, COMMANDS[name]) for name in COMMON]
    lines += ["", "more:"] + [_row(name, text) for name, text in COMMANDS.items() if name not in COMMON]
    lines += ["", "examples:"] + [f"  {command}\n      {text}" for command, text in EXAMPLES]
    lines += ["", "Run `outfitter COMMAND --help` for a command, `outfitter --version` for versions.", "", *_codes()]
    return "\n".join(lines)


def run_help() -> str:
    """The page of `outfitter run --help`: the same options the splitter knows, and the exit codes."""
    parser = argparse.ArgumentParser(
        prog="outfitter run",
        description=folded(SUMMARY),
        epilog="\n".join(_codes()),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    arguments(parser)
    return parser.format_help().rstrip()


def _row(name: str, text: str) -> str:
    return f"  {name:<12} {text}"


def _codes() -> list[str]:
    return ["exit codes of run:"] + [f"  {code}\n{folded(meaning, ' ' * 6)}" for code, meaning in RUN_CODES]
