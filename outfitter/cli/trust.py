"""`outfitter trust`: what a project would run or send by itself, and who allowed it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from typing import Any

from attrs import evolve

from outfitter.adapters import NAMES
from outfitter.catalog.agents import agent, sites
from outfitter.catalog.tree_reader import TreeReader
from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser
from outfitter.cli.plan_lines import TRUST_WORDS, trust_json
from outfitter.cli.reading import composed_from, tree
from outfitter.host import Host
from outfitter.model.composition import Composition
from outfitter.model.errors import EffectFailed, LaunchError
from outfitter.model.exposure import Exposure, ExposureRow, Grant, NativePlace, Verdict
from outfitter.model.request import Notice, Request
from outfitter.model.settings import Settings
from outfitter.model.wording import counted
from outfitter.railway import fold
from outfitter.render import one_line
from outfitter.trust.consent import short, stamp
from outfitter.trust.exposing import Inspected, exposed, identity, judged
from outfitter.trust.grants import granted, sorted_rows
from stages.expose import strangers
from stages.gather_facts import read_native

SUMMARY = "Show what a project would run or send by itself, grant it, or take the grant back."
EXAMPLES = (
    "outfitter trust",
    "outfitter trust --grant",
    "outfitter trust ~/src/clone --show --json",
    "outfitter trust --list",
)


def arguments(made: argparse.ArgumentParser) -> None:
    """Add trust's options."""
    made.add_argument("path", nargs="?", metavar="PATH", help="a directory of the project; here without one")
    what = made.add_mutually_exclusive_group()
    what.add_argument("--show", action="store_true", help="every row, for every agent and harness (the default)")
    what.add_argument("--grant", action="store_true", help="allow what is there now; a change asks again")
    what.add_argument("--revoke", action="store_true", help="take the project's grant back")
    what.add_argument("--list", action="store_true", help="every project that was granted anything")
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """Show, grant, revoke or list. Exit 0 unless something cannot be read or written."""
    options = parser("trust", SUMMARY, arguments, EXAMPLES).parse_args(words)
    if options.list:
        return _list(options, context)
    here = os.path.realpath(os.path.join(context.ambient.cwd, options.path or "."))
    if not os.path.isdir(here):
        return context.fail(EffectFailed("look at", here, "not a directory"), options.json)
    there = evolve(context, ambient=evolve(context.ambient, cwd=here))
    host = context.host()
    if options.revoke:
        return _revoke(options, there, host)
    return fold(
        tree(there, None, "all"),
        lambda read: _told(options, there, host, everything(there, host, *read)),
        lambda error: context.fail(error, options.json),
    )


def everything(context: Context, host: Host, reader: TreeReader, settings: Settings) -> Verdict:
    """Return the verdict over all agents and all harnesses of a project."""
    layers, request = reader.layers, Request(context.ambient)
    sources = host.sources
    boundary = sources.project_root(context.ambient.cwd, context.ambient.home)[1]
    trees = strangers(layers, settings)
    rows: list[ExposureRow] = []
    whole = Exposure(place=sources.real(layers.project_root))
    made: list[Composition | None] = list(_compositions(context, reader, settings))
    for harness in NAMES:
        found = read_native(sources, harness, context.ambient.cwd, boundary)
        native = tuple((NativePlace(path, form, root), content) for path, form, root, content in found)
        for composition in made or [None]:
            whole = exposed(sources, Inspected(harness, layers, settings, composition, trees, native, request))
            rows += whole.rows
    return judged(sources, host.grants, settings, request, whole._replace(rows=sorted_rows(rows)))


def _compositions(context: Context, reader: TreeReader, settings: Settings) -> Iterator[Composition]:
    for name in sites(reader):
        one = agent(reader, name)
        if one is not None and one.enabled and not one.abstract:
            yield from fold(
                composed_from(reader, settings, name, context.ambient.env),
                lambda made: [made],
                _unread,
            )


def _unread(error: LaunchError) -> list[Composition]:
    """An agent that cannot be composed runs nothing."""
    del error
    return []


def _told(options: argparse.Namespace, context: Context, host: Host, found: Verdict) -> int:
    exposure = found.exposure
    if options.grant:
        try:
            kept = granted(host.grants.grant(exposure.key), exposure, stamp(context.ambient.now_ns))
            if exposure.asking:
                host.grants.keep(exposure.key, kept)
        except OSError as error:
            return context.fail(
                EffectFailed("keep the grant", str(error.filename), error.strerror or str(error)), options.json
            )
        found = Verdict("granted" if exposure.asking else "nothing", exposure)
    if options.json:
        context.console.document(_json(found))
    else:
        for line in _lines(found):
            context.console.data(line)
        if options.grant:
            text = f"granted {counted(len(exposure.asking), 'row')} of {exposure.place}"
            context.console.say(Notice("notice", "granted", text, "outfitter trust --revoke takes it back"))
    return 0


def _lines(found: Verdict) -> Iterator[str]:
    exposure = found.exposure
    yield f"project    {one_line(exposure.place)}"
    if exposure.remote:
        yield f"from       {one_line(exposure.remote)}"
    yield f"trust      {TRUST_WORDS[found.state]}"
    if exposure.digest:
        yield f"digest     {exposure.digest}"
    pending = {row.digest for row in found.pending}
    for title, rows in (
        ("runs or sends by itself", exposure.asking),
        ("may run if the model asks", tuple(row for row in exposure.rows if not row.asks)),
    ):
        if rows:
            yield ""
            yield f"{title}:"
            for row in rows:
                mark = "?" if row.digest in pending else " "
                yield f"{mark} {row.kind:<12} {one_line(short(row, exposure.place))}  {row.what}"


def _json(found: Verdict) -> dict[str, Any]:
    exposure = found.exposure
    return {"schema_version": 1, "path": exposure.place, "remote": exposure.remote, **trust_json(found)}


def _revoke(options: argparse.Namespace, context: Context, host: Host) -> int:
    root = host.sources.project_root(context.ambient.cwd, context.ambient.home)[0]
    place = host.sources.real(root)
    try:
        there = host.grants.revoke(identity(host.sources, place, context.ambient.home)[0])
    except OSError as error:
        return context.fail(EffectFailed("revoke the grant", place, error.strerror or str(error)), options.json)
    if options.json:
        context.console.document({"schema_version": 1, "path": place, "revoked": there})
    else:
        context.console.data(f"{'revoked' if there else 'nothing was granted'}: {one_line(place)}")
    return 0


def _list(options: argparse.Namespace, context: Context) -> int:
    every = context.host().grants.every()
    if options.json:
        context.console.document({"schema_version": 1, "grants": [_grant_json(grant) for _, grant in every]})
        return 0
    for _, grant in every:
        last = max((row[3] for row in grant.rows), default="")
        remote = f"  from {one_line(grant.remote)}" if grant.remote else ""
        context.console.data(f"{one_line(grant.place)}  {counted(len(grant.rows), 'row')}, last {last}{remote}")
    if not every:
        context.console.say(Notice("notice", "no-grants", "no project was granted anything"))
    return 0


def _grant_json(grant: Grant) -> dict[str, Any]:
    return {
        "path": grant.place,
        "remote": grant.remote,
        "rows": [dict(zip(("digest", "kind", "what", "granted"), row, strict=True)) for row in grant.rows],
    }
