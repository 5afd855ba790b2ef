"""`outfitter sync`: fetch remote settings, then every remote catalog; the last good checkout stays on any failure (spec/10)."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from outfitter.catalog.layer_warnings import ambiguities
from outfitter.catalog.tree_reader import TreeReader
from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser
from outfitter.cli.reading import read_settings, tree
from outfitter.edges.documents import documents
from outfitter.model.request import Notice
from outfitter.model.settings import Settings
from outfitter.railway import fold
from outfitter.settings.scopes import cache_directory, label
from outfitter.sync.checkouts import Synced, Wanted, sync_one
from outfitter.sync.sources import checkout, inside, repository_of, uri_of

SUMMARY = "Fetch remote settings and catalogs into the cache; no other command fetches any."
EXAMPLES = ("outfitter sync",)
# A catalog holds at least one of these; else its `path` is wrong.
TREE_NAMES = (
    "agents",
    "skills",
    "commands",
    "knowledge",
    "deepwork",
    "agents.md",
    "AGENTS.md",
    "system-prompt.md",
    "mcp.json",
    "models.json",
)
Check = Callable[[str], str]


def arguments(made: argparse.ArgumentParser) -> None:
    """Sync's options."""
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """Remote settings first, then the settings again, then the sources they name. 1 where any failed."""
    options = parser("sync", SUMMARY, arguments, EXAMPLES).parse_args(words)
    return fold(
        read_settings(context),
        lambda local: _sync(options, context, local),
        lambda error: context.fail(error, options.json),
    )


def _sync(options: argparse.Namespace, context: Context, local: Settings) -> int:
    rows = [_one(context, local, entry, _settings_file(entry)) for entry in _entries(local, "remote_settings")]

    def with_remotes(merged: Settings) -> int:
        rows.extend(_one(context, merged, entry, _tree(entry)) for entry in _entries(merged, "sources"))
        _tell(options, context, rows)
        _ambiguities(context)
        return 1 if any(row.status == "failed" for row in rows) else 0

    return fold(read_settings(context), with_remotes, lambda error: context.fail(error, options.json))


def _ambiguities(context: Context) -> None:
    """Say which of rival sources wins, now that all are here (spec/10, "Resources")."""

    def say(read: tuple[TreeReader, Settings]) -> None:
        for notice in ambiguities(*read):
            context.console.say(notice)

    fold(tree(context, None, "names"), say, lambda _: None)


def _entries(settings: Settings, key: str) -> list[Mapping[str, Any]]:
    return [entry for entry in settings.values.get(key) or () if isinstance(entry, Mapping)]


def _one(context: Context, settings: Settings, entry: Mapping[str, Any], check: Check) -> Synced:
    repository = repository_of(entry)
    if not repository:
        return Synced(str(entry.get("path", "")), "skipped", reason="a local path is read in place")
    place = os.path.dirname(checkout(cache_directory(settings, context.ambient), entry))
    ref = entry.get("ref")
    context.console.detail(f"{label(entry)}: kept in {place}")
    return sync_one(
        label(entry),
        place,
        Wanted(uri_of(repository), "" if ref is None else str(ref), str(entry.get("path") or "")),
        check,
        context.ambient.env,
        partial(_waiting, context),
        interactive=context.ambient.stdin_tty and context.ambient.stderr_tty,
    )


def _waiting(context: Context, source: str) -> None:
    context.console.say(Notice("notice", "sync-waits", f"{source}: another sync is fetching it; waiting"))


def _tree(entry: Mapping[str, Any]) -> Check:
    def check(fetched: str) -> str:
        root = inside(fetched, entry.get("path"))
        if not root:
            return f"{entry.get('path')} leads out of the repository"
        if not os.path.isdir(root):
            return f"has no directory {entry.get('path')}"
        if not set(TREE_NAMES) & set(os.listdir(root)):
            return (
                f"holds no .agents tree{' at ' + str(entry['path']) if entry.get('path') else ''}: name one with `path`"
            )
        return ""

    return check


def _settings_file(entry: Mapping[str, Any]) -> Check:
    def check(fetched: str) -> str:
        path = inside(fetched, entry.get("path"))
        if not path or not os.path.realpath(path).startswith(os.path.realpath(fetched) + os.sep):
            return f"{entry.get('path')} leads out of the repository"
        document = documents(None)(path, "yaml")
        if document is None:
            return f"has no file {entry.get('path')}"
        problem = next(iter(document.problems), None)
        return f"{entry.get('path')}:{problem.at.line}: {problem.message}" if problem else ""

    return check


def _tell(options: argparse.Namespace, context: Context, rows: list[Synced]) -> None:
    if options.json:
        context.console.document({"sources": [row._asdict() for row in rows]})
        return
    context.console.data("\n".join(map(_line, rows)) or "no sources: nothing to fetch")


def _line(row: Synced) -> str:
    detail = row.reason
    if row.status == "updated":
        detail = f"{row.previous[:12] or 'nothing'} -> {row.commit[:12]}" + _less(row)
    elif row.status == "unchanged":
        detail = row.commit[:12] + _less(row)
    elif row.status == "failed" and row.commit:
        detail = f"{row.reason}; {row.commit[:12]} stays in use"
    return f"{row.status:<10} {row.source}  {detail}".rstrip()


def _less(row: Synced) -> str:
    """What is missing in a checkout that can be used."""
    return f"; {row.reason}" if row.reason else ""
