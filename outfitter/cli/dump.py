"""`outfitter dump`: the effective tree, or one agent's closure, as a plain `.agents` directory (spec/30)."""

from __future__ import annotations

import argparse
import errno
import posixpath

from returns.result import Failure, Success

from outfitter.catalog.agents import agent as agent_of
from outfitter.catalog.agents import sites
from outfitter.catalog.dump_files import write_dump
from outfitter.catalog.dump_text import Dump, DumpFile, listed
from outfitter.catalog.dump_tree import dump_agent, dump_tree
from outfitter.catalog.layer_warnings import FILES
from outfitter.catalog.tree_reader import TreeReader
from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser
from outfitter.cli.reading import composed, composed_from, tree
from outfitter.fs import read_regular
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
    def write() -> Outcome[tuple[Dump, int]]:
        safe = _without_credentials(dump)
        return Success((safe, write_dump(out, safe.files)))

    return fold(
        perform(attempt("write the dump", write)),
        lambda done: _say(options, context, out, *done),
        lambda error: context.fail(error, options.json),
    )


def _without_credentials(dump: Dump) -> Dump:
    """Return the dump without anything that looks like a credential, and a warning for each."""
    from outfitter.porting.dump_credentials import cleaned

    kept: list[DumpFile] = []
    notices = list(dump.notices)
    for file in dump.files:
        content = _content(file)
        if content is None:
            text = f"{file.path}: is copied without a look for credentials because it is too large"
            notices.append(Notice("warning", "dump-credential", text))
        made = cleaned(file, content or b"")
        if made.file is not None:
            kept.append(made.file)
        done = (
            "was replaced by a reference to a variable"
            if made.file is not None
            else "may be a credential, so the file was left out"
        )
        notices += [Notice("warning", "dump-credential", f"{file.path}: {place} {done}") for place in made.places]
    files = tuple(kept) if len(kept) == len(dump.files) else listed(kept)
    return Dump(files, tuple(dict.fromkeys(notices)))


def _content(file: DumpFile) -> bytes | None:
    """Return what a file of the dump would hold, None for one that is too large. Raises `OSError`."""
    if not file.source:
        return file.content
    try:
        return read_regular(file.source)
    except OSError as error:
        if error.errno != errno.EFBIG:
            raise
        return None


def _say(options: argparse.Namespace, context: Context, out: str, dump: Dump, count: int) -> int:
    if options.json:
        notices = [notice_json(notice) for notice in dump.notices]
        context.console.document({"path": out, "files": [file.path for file in dump.files], "notices": notices})
        return 0
    for notice in dump.notices:
        context.console.say(notice)
    context.console.data(f"{counted(count, 'file')} in {out}")
    return 0
