"""`outfitter setup [SOURCE]`: a first agent, by a short dialogue on a terminal or by options anywhere (spec/80)."""

from __future__ import annotations

import argparse
import os
import shutil
from typing import cast

from outfitter.adapters import NAMES, adapter
from outfitter.catalog.fields import is_portable, portable
from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser
from outfitter.model.errors import EffectFailed, UsageError, os_error_text
from outfitter.model.request import resolved
from outfitter.model.wording import counted
from outfitter.setup.files import gather, write
from outfitter.setup.plan import ADD_BY_HAND, PlannedFile, SetupChoice, Start, plan, source_entry

SUMMARY = "Write a first agent and make it the default. Shows every file before it writes; replaces none."
EXAMPLES = (
    "outfitter setup",
    "outfitter setup --from claude --agent me --harness claude --yes",
    "outfitter setup example/agents --agent reviewer --project --yes",
)
STARTS: dict[str, str] = {
    "starter": "a small agent to begin with",
    "claude": "your instructions, agents and skills of ~/.claude, copied",
    "pi": "your instructions and skills of ~/.pi/agent, copied",
}
# Other tools: `outfitter import` takes them over whole, each agent as itself.
IMPORTED = ("codex", "cursor", "copilot", "opencode", "gemini")


def arguments(made: argparse.ArgumentParser) -> None:
    """Setup's options: each answers one question of the dialogue."""
    made.add_argument(
        "source",
        nargs="?",
        default="",
        metavar="SOURCE",
        help="a catalog: a path, owner/repo, or an address; #REF pins it",
    )
    made.add_argument(
        "--from",
        dest="start",
        choices=[*STARTS, *IMPORTED],
        help=f"what the agent is made from; starter without it ({', '.join(IMPORTED)}: as outfitter import does)",
    )
    made.add_argument(
        "--agent", default="", metavar="ID", help="the agent's id (with SOURCE: the one to make the default)"
    )
    made.add_argument("--harness", choices=NAMES, help="the default harness; the first one installed without it")
    where = made.add_mutually_exclusive_group()
    where.add_argument("--home", action="store_true", help="write to ~/.agents (the default)")
    where.add_argument("--project", action="store_true", help="write to ./.agents")
    made.add_argument("--yes", action="store_true", help="write without asking")
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """Choose, show, confirm, write."""
    options = parser("setup", SUMMARY, arguments, EXAMPLES).parse_args(words)
    if options.start in IMPORTED:
        return _import(options, context)
    asks = context.ambient.stdin_tty and context.ambient.stdout_tty and not options.yes and not options.json
    try:
        choice = _choice(options, context, asks)
    except (EOFError, KeyboardInterrupt):
        context.console.data("\nnothing written")
        return 1
    if choice.agent and not is_portable(choice.agent):
        return context.fail(
            UsageError(f"{choice.agent!r} cannot be an agent's id", f"{portable(choice.agent)} can"), options.json
        )
    local = source_entry(choice.source).get("path") if choice.source else None
    if local:
        place = resolved(local, context.ambient.home, choice.tree)
        if not os.path.isdir(place):
            fault = f"{place} is not a directory"
            hint = "a catalog is a directory, owner/repo or an address; --from claude takes over ~/.claude"
            return context.fail(UsageError(fault, hint), options.json)
    beside = os.path.dirname(choice.tree)
    if not os.path.isdir(beside):
        hint = "set HOME to a directory that exists, or write to the project: --project"
        return context.fail(EffectFailed("write", beside, "the home directory does not exist", hint), options.json)
    if os.path.lexists(choice.tree) and not os.path.isdir(choice.tree):
        why = "is a dangling symlink" if os.path.islink(choice.tree) else "is a file, not a directory"
        return context.fail(EffectFailed("write", choice.tree, why, "move it out of the way"), options.json)
    native = os.path.join(context.ambient.home, adapter(choice.start).home) if choice.start in NAMES else ""
    try:
        writes, left = plan(choice, gather(choice.tree, choice.start, native))
    except ValueError as error:
        return context.fail(
            EffectFailed("read the settings", "", str(error), "fix the file, then run setup again"), options.json
        )
    except OSError as error:
        return context.fail(EffectFailed("look at the tree", str(error.filename), os_error_text(error)), options.json)
    return _carry_out(options, context, choice, writes, left, asks)


def _import(options: argparse.Namespace, context: Context) -> int:
    """Take another tool's files over from the home, or with `--project` from the project here."""
    from outfitter.cli import import_tree

    place = context.ambient.cwd if options.project else context.ambient.home
    flags = [*(("--yes",) if options.yes else ()), *(("--json",) if options.json else ())]
    return import_tree.main([options.start, "--from", place, "--to", os.path.join(place, ".agents"), *flags], context)


def _choice(options: argparse.Namespace, context: Context, asks: bool) -> SetupChoice:
    installed = [name for name in NAMES if shutil.which(name, path=context.ambient.env.get("PATH", ""))]
    harness = options.harness or (installed[0] if installed else "pi")
    start = "catalog" if options.source else options.start or "starter"
    agent = options.agent or ("" if options.source else "helper")
    project = options.project
    if asks:
        start = start if options.source or options.start else _ask("start from", list(STARTS), "starter")
        agent = options.agent or _ask_id("agent id" if not options.source else "default agent of the catalog", agent)
        harness = options.harness or _ask("harness", list(NAMES), harness)
        project = project if project or options.home else _ask("write to", ["home", "project"], "home") == "project"
    tree = os.path.join(context.ambient.cwd if project else context.ambient.home, ".agents")
    return SetupChoice(
        cast(Start, start), agent, harness, tree, _source(options.source, context.ambient.cwd, tree, project)
    )


def _source(source: str, cwd: str, tree: str, project: bool) -> str:
    """A catalog as settings are to hold it: a local path is the user's, from where they stand, and settings count from the tree."""
    local = source_entry(source).get("path") if source else None
    if not local or local.startswith(("/", "~")):
        return source
    path = os.path.normpath(os.path.join(cwd, local))
    # A project's settings move with it.
    return os.path.join(os.curdir, os.path.relpath(path, tree)) if project else path


def _ask(question: str, choices: list[str], default: str) -> str:
    """One question, asked again until the answer is one of the choices; the empty answer is the default."""
    offered = f" ({', '.join(choices)})" if choices else ""
    while True:
        answer = input(f"{question}{offered} [{default}]: ").strip() or default
        if not choices or answer in choices:
            return answer


def _ask_id(question: str, default: str) -> str:
    """An agent's id, asked again with one that would do until it can be one; the empty answer is the default."""
    answer = _ask(question, [], default)
    while answer and not is_portable(answer):
        print(f"{answer!r} cannot be an agent's id")  # noqa: T201 - part of the dialogue, as the questions are
        answer = _ask(question, [], portable(answer))
    return answer


def _carry_out(
    options: argparse.Namespace,
    context: Context,
    choice: SetupChoice,
    writes: tuple[PlannedFile, ...],
    left: tuple[str, ...],
    asks: bool,
) -> int:
    if not options.json:
        context.console.data("\n".join([*_lines(choice, writes, left), *left, *_beside(context)]))
    confirmed = options.yes or not writes or (asks and _confirmed())
    if writes and confirmed:
        try:
            write(choice.tree, writes)
        except OSError as error:
            return context.fail(
                EffectFailed(
                    "write", str(error.filename), os_error_text(error), "what was written stays; run setup again"
                ),
                options.json,
            )
    if options.json:
        shown = [
            {"path": os.path.join(choice.tree, item.path), "bytes": len(item.content), "new": item.fresh}
            for item in writes
        ]
        context.console.document(
            {"tree": choice.tree, "writes": shown, "written": bool(writes) and confirmed, "left": list(left)}
        )
    elif not confirmed:
        context.console.data("nothing written" + ("" if asks else "; --yes writes it"))
    elif not asks or writes:
        context.console.data(_next(choice))
    return 0 if confirmed and not any(ADD_BY_HAND in line for line in left) else 1


def _lines(choice: SetupChoice, writes: tuple[PlannedFile, ...], left: tuple[str, ...]) -> list[str]:
    if not writes and any(line.startswith("settings.yml") for line in left):
        return [f"nothing to write in {choice.tree}"]
    if not writes:
        return [f"{choice.tree} already has all of this"]
    return [
        f"{'writes ' if item.fresh else 'adds to'} {os.path.join(choice.tree, item.path)} ({counted(len(item.content), 'byte')})"
        for item in writes
    ]


def _beside(context: Context) -> list[str]:
    """What other tools' files stand in the project here, and the command that takes them over."""
    from outfitter.porting.beside import beside, told

    sources, here = context.host().sources, context.ambient
    root, boundary, _ = sources.project_root(here.cwd, here.home)
    text = told(beside(sources, root, boundary))
    return [f"other tools have {text}; outfitter import makes an .agents tree of them"] if text else []


def _confirmed() -> bool:
    try:
        return input("write this? [y/N]: ").strip().lower() in ("y", "yes")
    except (EOFError, KeyboardInterrupt):
        return False


def _next(choice: SetupChoice) -> str:
    if choice.source and "path" not in source_entry(choice.source):
        return "next: outfitter sync, then outfitter list"
    return (
        f"next: outfitter show {choice.agent}, then outfitter run {choice.agent}"
        if choice.agent
        else "next: outfitter list"
    )
