"""`outfitter dump`: the effective tree, or one agent's closure, as a plain `.agents` directory (spec/30)."""

from __future__ import annotations

import argparse
import posixpath

from returns.result import Failure, Success

from outfitter.catalog.agents import agent as agent_of
from outfitter.catalog.agents import sites
from outfitter.catalog.dump_files import write_dump
from outfitter.catalog.dump_text import Dump
from outfitter.catalog.dump_tree import dump_agent, dump_tree
from outfitter.catalog.layer_warnings import FILES
from outfitter.catalog.tree_reader import TreeReader
from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser
from outfitter.cli.reading import composed, composed_from, tree
from outfitter.model.composition import Composition
from outfitter.model.errors import CompositionFailed
from outfitter.model.request import Notice
from outfitter.model.settings import Settings
from outfitter.model.wording import counted
from outfitter.railway import Outcome, attempt, fold, perform
from outfitter.render import error_notices, notice_json

SUMMARY = (
    "Write the effective tree, or one agent's closure, as a plain .agents directory; equal trees give equal bytes."
)
EXAMPLES = (
    "outfitter dump --out effective",
    "outfitter dump --agent reviewer --out reviewer.agents",
    "outfitter dump --as claude --out native",
)
FORMS = ("claude", "codex")
DEFAULT_OUT = "agents-dump"


def arguments(made: argparse.ArgumentParser) -> None:
    """--agent, --out, --json."""
    made.add_argument("--agent", metavar="ID", help="this agent and all it reaches, private skills in skills/")
    made.add_argument(
        "--out", metavar="DIR", default=DEFAULT_OUT, help=f"absent, empty, or an earlier dump ({DEFAULT_OUT})"
    )
    made.add_argument("--as", dest="form", choices=FORMS, help="the files that this program reads by itself, instead")
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """Write the dump. Exit 1 where the tree cannot be read, the agent not composed, or the directory holds other files."""
    options = parser("dump", SUMMARY, arguments, EXAMPLES).parse_args(words)
    out = posixpath.normpath(posixpath.join(context.ambient.cwd, options.out))
    return fold(
        tree(context, options.agent, "all").bind(
            lambda read: _dump(context, options.agent, *read).map(
                lambda dump: _native(options, context, dump, *read) if options.form else dump
            )
        ),
        lambda dump: _write(options, context, out, dump),
        lambda error: context.fail(error, options.json),
    )


def _dump(context: Context, agent: str | None, reader: TreeReader, settings: Settings) -> Outcome[Dump]:
    if agent is None:
        # Part of a file that cannot be read would be passed on as if it were all of it.
        agents = [one for name in sites(reader) if (one := agent_of(reader, name))]
        files = [layer.documents[name] for layer in reader.trees for name in FILES if name in layer.documents]
        found = (*(one.problems for one in files), *(one.problems for one in agents))
        problems = tuple(problem for some in found for problem in some)
        return Failure(CompositionFailed("", problems=problems)) if problems else Success(dump_tree(reader, settings))
    return composed(reader, settings, agent, context.ambient.env).map(lambda made: dump_agent(reader, settings, made))


def _native(options: argparse.Namespace, context: Context, dump: Dump, reader: TreeReader, settings: Settings) -> Dump:
    """The dump as another program reads it: every agent that can be composed, the others named."""
    from outfitter.porting.leaving import native_dump

    made: list[Composition] = []
    lost: list[Notice] = []
    for name in [options.agent] if options.agent else sites(reader):
        one = agent_of(reader, name)
        if one is None or one.abstract or not one.enabled:
            continue
        outcome = composed_from(reader, settings, name, context.ambient.env)
        fold(outcome, made.append, lambda error: lost.extend(error_notices(error)))
    found = native_dump(options.form, dump, made)
    return found._replace(notices=(*found.notices, *lost))


def _write(options: argparse.Namespace, context: Context, out: str, dump: Dump) -> int:
    written = perform(attempt("write the dump", lambda: Success(write_dump(out, dump.files))))
    return fold(
        written, lambda count: _say(options, context, out, dump, count), lambda error: context.fail(error, options.json)
    )


def _say(options: argparse.Namespace, context: Context, out: str, dump: Dump, count: int) -> int:
    if options.json:
        notices = [notice_json(notice) for notice in dump.notices]
        context.console.document({"path": out, "files": [file.path for file in dump.files], "notices": notices})
        return 0
    for notice in dump.notices:
        context.console.say(notice)
    context.console.data(f"{counted(count, 'file')} in {out}")
    return 0
