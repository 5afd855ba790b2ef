"""`outfitter list`: effective agents, skills, knowledge and commands (spec/10, spec/80)."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from outfitter.catalog.agent_lookup import chosen_name
from outfitter.catalog.inheritance import line_of
from outfitter.catalog.inventory import KINDS, Resource, common, rows, rows_of
from outfitter.catalog.layer_warnings import ambiguities, layer_notices
from outfitter.catalog.tree_reader import TreeReader
from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser
from outfitter.cli.reading import tree
from outfitter.model.errors import CompositionFailed, LaunchError
from outfitter.model.request import Notice
from outfitter.model.settings import Settings
from outfitter.model.wording import counted
from outfitter.railway import fold
from outfitter.render import notice_json, one_line

SUMMARY = "Agents, skills, knowledge and commands as a launch would find them: the winning layer's of each id."
EXAMPLES = ("outfitter list", "outfitter list skills --agent reviewer", "outfitter list agents --json")
DESCRIPTION_WIDTH = 72


def arguments(made: argparse.ArgumentParser) -> None:
    """KIND, --agent, --json."""
    made.add_argument(
        "kind", nargs="?", choices=KINDS, metavar="KIND", help=f"one of {', '.join(KINDS)}; all without it"
    )
    made.add_argument("--agent", metavar="ID", help="only what this agent sees; what it selects is marked")
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """Print the rows. Exit 1 where the tree or its settings cannot be read, or the agent is not there."""
    options = parser("list", SUMMARY, arguments, EXAMPLES).parse_args(words)
    return fold(
        tree(context, options.agent, "names"),
        lambda read: _list(options, context, *read),
        lambda error: context.fail(error, options.json),
    )


def _list(options: argparse.Namespace, context: Context, reader: TreeReader, settings: Settings) -> int:
    if options.agent:
        line, error = line_of(reader, options.agent)
        if error or not line:
            return context.fail(error or CompositionFailed(f"agent {options.agent!r} not found"), options.json)
    kinds = (options.kind,) if options.kind else KINDS
    found = {
        kind: rows_of(reader, settings, kind, options.agent) if options.agent else rows(reader, settings, kind)
        for kind in kinds
    }
    notices = (*settings.notices, *layer_notices(reader), *ambiguities(reader, settings))
    if options.json:
        context.console.document(_document(reader, found, notices))
        return 0
    for notice in notices:
        context.console.say(notice)
    _print(context, reader, settings, found, bool(options.kind))
    return 0


def _print(
    context: Context, reader: TreeReader, settings: Settings, found: dict[str, list[Resource]], single: bool
) -> None:
    blocks = [[kind, *_lines(listed)] if not single else _lines(listed) for kind, listed in found.items() if listed]
    if not single:
        blocks += [
            [
                f"context: {one.name}, {counted(one.size, 'byte')}, joins every run  [{one.layer}]"
                for one in common(reader)
            ]
        ]
    text = "\n\n".join("\n".join(block) for block in blocks if block)
    if text:
        context.console.data(text)
    in_place(context.console.say, reader)
    if not found.get("agents", True):
        fold(chosen_name(reader, settings, None), lambda _: None, lambda error: _no_agents(context, error))


def in_place(say: Callable[[Notice], object], reader: TreeReader) -> None:
    """Say once what of other tools is used where it is, and the command that makes it the tree's own."""
    if reader.layers.beside and any(tree.is_native for tree in reader.trees):
        text = f"used in place, or beside the tree: {reader.layers.beside}"
        say(Notice("notice", "used-in-place", text, "`outfitter import` makes an `.agents` tree of them"))


def _no_agents(context: Context, error: LaunchError) -> None:
    """Say why there is nothing to run, and the next step (V32)."""
    if isinstance(error, CompositionFailed):
        text = error.message.partition(": ")[2] or error.message
        context.console.say(Notice("notice", "no-agents", text, error.hint))


def _lines(found: list[Resource]) -> list[str]:
    names = [one_line(f"{row.agent}: {row.id}" if row.agent else row.id) for row in found]
    width = max((len(name) for name in names), default=0)
    return [f"  {name:<{width}}  {_about(row)}".rstrip() for name, row in zip(names, found, strict=True)]


def _about(row: Resource) -> str:
    flags = f"({', '.join(row.flags)}) " if row.flags else ""
    text = one_line(" ".join(row.description.split()))
    short = text if len(text) <= DESCRIPTION_WIDTH else text[: DESCRIPTION_WIDTH - 1] + "…"
    return f"[{one_line(row.layer)}] {flags}{short}"


def _document(reader: TreeReader, found: dict[str, list[Resource]], notices: tuple[Notice, ...]) -> dict[str, Any]:
    return {
        "layers": [{"kind": one.kind, "label": one.label, "root": one.root} for one in reader.trees],
        **{kind: [_row(row) for row in listed] for kind, listed in found.items()},
        "context": [one._asdict() for one in common(reader)],
        "notices": [notice_json(notice) for notice in notices],
    }


def _row(row: Resource) -> dict[str, Any]:
    plain = {"id": row.id, "description": row.description, "layer": row.layer, "path": row.path}
    more = (
        {"agent": row.agent}
        if row.kind == "skills"
        else {"inherits": list(row.inherits)}
        if row.kind == "agents"
        else {}
    )
    return {**plain, **more, "flags": list(row.flags), "shadows": list(row.shadows)}
