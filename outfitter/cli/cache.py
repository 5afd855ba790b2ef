"""`outfitter cache dir|prune|clean`: Outfitter's own cache (spec/80)."""

from __future__ import annotations

import argparse
import time

from outfitter.cli.context import Context
from outfitter.cli.parser import actions, days, json_option, parser
from outfitter.cli.reading import read_settings
from outfitter.edges import cache as own_cache
from outfitter.model.wording import counted
from outfitter.railway import fold
from outfitter.settings.scopes import cache_directory

SUMMARY = "Outfitter's own cache: short cuts that are made again when missed, and the checkouts of catalogs."
EXAMPLES = ("outfitter cache dir", "outfitter cache prune --days 7", "outfitter cache clean --sources")


def arguments(made: argparse.ArgumentParser) -> None:
    """The sub-commands."""
    action = actions(made)
    shown = action("dir", "print where it is")
    pruned = action("prune", "remove short cuts that were long not used")
    pruned.add_argument("--days", type=days, default=30.0, metavar="N", help="older than so many days (default 30)")
    cleaned = action("clean", "remove every short cut; utilities/ and checkouts stay")
    cleaned.add_argument(
        "--sources", action="store_true", help="remove the checkouts too: `outfitter sync` fetches them again"
    )
    for command in (shown, pruned, cleaned):
        json_option(command)


def main(words: list[str], context: Context) -> int:
    """Do one of the three."""
    options = parser("cache", SUMMARY, arguments, EXAMPLES).parse_args(words)
    return fold(
        read_settings(context),
        lambda settings: _act(options, context, cache_directory(settings, context.ambient)),
        lambda error: context.fail(error, options.json),
    )


def _act(options: argparse.Namespace, context: Context, cache: str) -> int:
    if context.console.verbose:
        for name, held in own_cache.contents(cache).items():
            context.console.detail(f"{cache}/{name}: {counted(held.files, 'file')}, {counted(held.size, 'byte')}")
    if options.action == "dir":
        found = {name: counted._asdict() for name, counted in own_cache.contents(cache).items()}
        if options.json:
            context.console.document({"path": cache, "contents": found})
        else:
            context.console.data(cache)
        return 0
    if options.action == "prune":
        removed = own_cache.prune(cache, time.time(), options.days)
    else:
        removed = own_cache.clean(cache, sources=options.sources)
    if options.json:
        context.console.document({"path": cache, "removed": removed._asdict()})
    else:
        context.console.data(f"removed {counted(removed.files, 'file')}, {counted(removed.size, 'byte')}, from {cache}")
    return 0
