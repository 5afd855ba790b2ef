"""`outfitter sources`: where layers come from, in order of precedence, and in what state each is (spec/10)."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from typing import Any

from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser
from outfitter.cli.reading import read_settings
from outfitter.model.settings import Settings
from outfitter.railway import fold
from outfitter.settings.scopes import cache_directory, label, local_path
from outfitter.sync.checkouts import state
from outfitter.sync.sources import checkout, inside, repository_of

SUMMARY = (
    "List the project, the home and every source, highest precedence first, with requested and resolved revisions."
)
EXAMPLES = ("outfitter sources", "outfitter sources --json")


def arguments(made: argparse.ArgumentParser) -> None:
    """Sources' options."""
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """1 where a source is not usable as it stands."""
    options = parser("sources", SUMMARY, arguments, EXAMPLES).parse_args(words)

    def show(settings: Settings) -> int:
        rows = _rows(context, settings)
        if options.json:
            context.console.document({"sources": rows})
        else:
            context.console.data("\n".join(map(_line, rows)))
        return 1 if any(row["health"] not in ("ok", "absent") for row in rows) else 0

    return fold(read_settings(context), show, lambda error: context.fail(error, options.json))


def _rows(context: Context, settings: Settings) -> list[dict[str, Any]]:
    ambient = context.ambient
    project = context.host().sources.project_root(ambient.cwd, ambient.home)[0]
    fixed = (("project", os.path.join(project, ".agents")), ("home", os.path.join(ambient.home, ".agents")))
    rows = [_row(kind, path, path) for kind, path in fixed]
    cache = cache_directory(settings, ambient)
    for entry in settings.values.get("sources") or ():
        rows.append(_remote(entry, cache) if repository_of(entry) else _local(entry, settings, ambient.home))
    rows += [_remote(entry, cache, "remote settings") for entry in settings.values.get("remote_settings") or ()]
    return [{"precedence": number, **row} for number, row in enumerate(rows, 1)]


def _row(kind: str, source: str, root: str, **more: Any) -> dict[str, Any]:
    health = "ok" if os.path.exists(root) else "absent"
    return {
        "kind": kind,
        "source": source,
        "root": root,
        "ref": None,
        "commit": None,
        "fetched_ns": None,
        "health": health,
        **more,
    }


def _local(entry: Mapping[str, Any], settings: Settings, home: str) -> dict[str, Any]:
    root = local_path(settings, str(entry.get("path", "")), home)
    return _row("source", label(entry), root, health="ok" if os.path.isdir(root) else "missing")


def _remote(entry: Mapping[str, Any], cache: str, kind: str = "source") -> dict[str, Any]:
    place = checkout(cache, entry)
    known = state(os.path.dirname(place))
    root = inside(place, entry.get("path"))
    health = "never synchronized" if not known else "ok" if root and os.path.exists(root) else "path missing"
    return _row(
        kind,
        label(entry),
        root or place,
        ref=entry.get("ref"),
        commit=known.get("commit"),
        fetched_ns=known.get("fetched_ns"),
        health=health,
    )


def _line(row: dict[str, Any]) -> str:
    revision = f"{row['ref'] or 'default'} @ {row['commit'][:12]}" if row["commit"] else ""
    hint = " (outfitter sync)" if row["health"] == "never synchronized" else ""
    return f"{row['precedence']}  {row['kind']:<15} {row['health']}{hint:<2}  {row['source']}  {revision}".rstrip()
