"""`outfitter completion bash|zsh|fish`: a script for the shell, made from the same parsers the commands use (spec/80)."""

from __future__ import annotations

import argparse
from importlib import import_module

from outfitter.catalog.inventory import rows
from outfitter.cli.commands import COMMANDS, module_of
from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser
from outfitter.cli.reading import tree
from outfitter.railway import fold


def completion_words(kind: str, context: Context) -> list[str]:
    """The words of a kind (`agents`, `runs`), sorted; none for any other."""
    if kind == "agents":
        return fold(
            tree(context, None, "names"),
            lambda read: sorted(row.id for row in rows(*read, "agents")),
            lambda _: [],
        )
    if kind == "runs":
        held = context.host().runs.journals()
        return sorted(row.record.root for row in held if row.record is not None and row.record.phase == "retained")
    return []


SUMMARY = "Print shell completion. Agent ids and retained runs are looked up as you type."
EXAMPLES = (
    "bash: outfitter completion bash > ~/.local/share/bash-completion/completions/outfitter",
    'zsh:  outfitter completion zsh > "${fpath[1]}/_outfitter"',
    "fish: outfitter completion fish > ~/.config/fish/completions/outfitter.fish",
)
SHELLS = ("bash", "zsh", "fish")
# Which words an argument takes: by its name in the parsers.
LIVE = {"agent": "agents", "run": "runs"}


def arguments(made: argparse.ArgumentParser) -> None:
    """A shell, or (for the scripts themselves) what to list."""
    made.add_argument("shell", choices=SHELLS, metavar="SHELL", help="bash, zsh or fish")
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """Print the script; `completion words KIND` is what the scripts ask."""
    if words[:1] == ["words"] and len(words) == 2:
        context.console.data("\n".join(completion_words(words[1], context)))
        return 0
    options = parser("completion", SUMMARY, arguments, EXAMPLES).parse_args(words)
    if options.json:
        context.console.document({"shell": options.shell, "script": script(options.shell)})
    else:
        context.console.data(script(options.shell))
    return 0


def script(shell: str) -> str:
    """The completion script of a shell."""
    import shtab

    functions = {kind: f"_outfitter_{kind}" for kind in LIVE.values()}
    made: str = shtab.complete(whole_parser(), shell, root_prefix="outfitter", preamble=_preamble(shell, functions))
    return made.rstrip()


def whole_parser() -> argparse.ArgumentParser:
    """Every command's parser as a sub-parser of one."""
    whole = argparse.ArgumentParser(prog="outfitter", allow_abbrev=False)
    for flag in ("--quiet", "--verbose", "--no-progress", "--version"):
        whole.add_argument(flag, action="store_true")
    whole.add_argument("--color", choices=["auto", "always", "never"])
    commands = whole.add_subparsers(dest="command")
    for name, summary in COMMANDS.items():
        module = import_module(module_of("argv" if name == "run" else name))
        command = commands.add_parser(name, help=summary, description=module.SUMMARY, allow_abbrev=False)
        module.arguments(command)
        _mark(command)
    return whole


def _mark(command: argparse.ArgumentParser) -> None:
    for action in command._actions:  # noqa: SLF001 - argparse has no public way to look at what a parser takes
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            for inner in action.choices.values():
                _mark(inner)
        elif action.dest in LIVE:
            kind = LIVE[action.dest]
            call = {
                "bash": f"_outfitter_{kind}",
                "zsh": f"{{_outfitter_{kind}}}",
                "fish": f"(outfitter completion words {kind} 2>/dev/null)",
            }
            action.complete = call  # type: ignore[attr-defined]


def _preamble(shell: str, functions: dict[str, str]) -> str:
    ask = "outfitter completion words {kind} 2>/dev/null"
    if shell == "bash":
        body = '{name}() {{ compgen -W "$(' + ask + ')" -- "$1"; }}'
    elif shell == "zsh":
        body = '{name}() {{ local -a found; found=("${{(@f)$(' + ask + ')}}"); compadd -a found; }}'
    else:
        return ""
    return "\n".join(body.format(name=name, kind=kind) for kind, name in functions.items())
