"""`outfitter validate`: every fault of the tree and the settings at once (spec/15, spec/80)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from typing import Any

from outfitter.adapters import NAMES, adapter
from outfitter.catalog.agent_lookup import chosen_name, runnable
from outfitter.catalog.agents import Agent, agent, sites
from outfitter.catalog.layer_warnings import ambiguities, layer_notices
from outfitter.catalog.lint import Finding, file_findings, of_notice, of_problem, tree_findings
from outfitter.catalog.tree_reader import TreeReader
from outfitter.cli.context import Context
from outfitter.cli.launch_findings import launch_findings
from outfitter.cli.parser import json_option, parser
from outfitter.cli.reading import composed_from, tree
from outfitter.cli.show import unsupported
from outfitter.model.composition import Composition
from outfitter.model.errors import CompositionFailed, LaunchError, SettingsInvalid
from outfitter.model.request import Notice, Problem
from outfitter.model.settings import Settings
from outfitter.model.wording import counted
from outfitter.railway import fold
from outfitter.render import error_notices, one_line, problem_line
from outfitter.settings.state_persistence import UNKNOWN, entries, problems
from outfitter.trust.refusals import refusals

SUMMARY = (
    "Check the settings and every layer of the tree: what a run would refuse, skip, or read otherwise than written."
)
EXAMPLES = ("outfitter validate", "outfitter validate --strict", "outfitter validate --json")


def arguments(made: argparse.ArgumentParser) -> None:
    """--strict, --json."""
    made.add_argument("--strict", action="store_true", help="warnings fail, too")
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """Print the findings. Exit 0 where there is no error (with --strict: no warning either), else 1."""
    options = parser("validate", SUMMARY, arguments, EXAMPLES).parse_args(words)
    return fold(
        tree(context, None, "all"),
        lambda read: _validate(options, context, list(_findings(context, *read))),
        lambda error: _refused(options, context, error),
    )


def _refused(options: argparse.Namespace, context: Context, error: LaunchError) -> int:
    """Settings that cannot be read are findings, too; anything else is a failure."""
    if isinstance(error, SettingsInvalid):
        return _validate(options, context, [of_problem(problem, "settings") for problem in error.problems])
    return context.fail(error, options.json)


def _findings(context: Context, reader: TreeReader, settings: Settings) -> Iterator[Finding]:
    yield from map(of_notice, (*settings.notices, *layer_notices(reader), *ambiguities(reader, settings)))
    yield from _strategies(settings)
    yield from tree_findings(reader)
    yield from file_findings(reader)
    if reader.layers.beside and sites(reader):
        hint = "`outfitter import` makes an `.agents` tree of them"
        yield Finding("note", "used-in-place", f"used in place, or beside the tree: {reader.layers.beside}", hint=hint)
    yield from (of_problem(problem, "home-only") for problem in refusals(reader.trees))
    if settings.values.get("default_agent"):
        yield from fold(runnable(reader, settings, None), lambda _: [], _errors)
    elif not sites(reader):
        yield from fold(chosen_name(reader, settings, None), lambda _: [], _notes)
    for name in sites(reader):
        one = agent(reader, name)
        if one is None or one.abstract or not one.enabled:
            yield from map(of_problem, one.problems if one else ())
            continue
        outcome = composed_from(reader, settings, name, context.ambient.env)
        said = fold(outcome, partial(_launched, context, reader, settings, one), _errors)
        yield from map(_in_place, said) if reader.layer(one.layer).yields else said


def _in_place(found: Finding) -> Finding:
    """A finding about an agent of another tool that nobody asked for: an error of it fails nothing else."""
    return found._replace(level="warning" if found.level == "error" else "note")


def _strategies(settings: Settings) -> Iterator[Finding]:
    """What `state_persistence` says that some harness would refuse, each entry once."""
    for name in NAMES:
        declared = adapter(name).declared
        unknown = () if any(path.key == UNKNOWN.key for path in declared) else (UNKNOWN,)
        wrong = problems(entries(settings, name), name, (*declared, *unknown))
        yield from (of_problem(problem, "state") for problem in wrong)


def _launched(context: Context, reader: TreeReader, settings: Settings, one: Agent, made: Composition) -> list[Finding]:
    """What composing an agent says, and what a launch in each harness would add."""
    found = [of_notice(notice) for notice in made.notices]
    found += launch_findings(reader, one, made, settings, context.ambient)
    for harness, elements in unsupported(made).items():
        if elements:
            text = f"agent {made.agent}: {harness} cannot project {', '.join(elements)}"
            found.append(Finding("note", "unsupported", text))
    return found


def _errors(error: LaunchError) -> list[Finding]:
    if isinstance(error, CompositionFailed):
        own = [Finding("error", "composition", error.message, hint=error.hint)] if error.message else []
        return own + [of_problem(problem) for problem in error.problems]
    return [Finding("error", notice.code, notice.message, hint=notice.hint) for notice in error_notices(error)]


def _notes(error: LaunchError) -> list[Finding]:
    return [Finding("note", "no-agents", notice.message, hint=notice.hint) for notice in error_notices(error)]


def _validate(options: argparse.Namespace, context: Context, found: list[Finding]) -> int:
    order = {"error": 0, "warning": 1, "note": 2}
    unique = sorted(dict.fromkeys(found), key=lambda one: order[one.level])
    counts = {level: sum(one.level == level for one in unique) for level in order}
    failed = bool(counts["error"] or (options.strict and counts["warning"]))
    if options.json:
        context.console.document({"ok": not failed, "counts": counts, "findings": [_json(one) for one in unique]})
        return int(failed)
    for one in unique:
        context.console.data(_line(one))
        if one.hint:
            context.console.data(f"  hint: {one_line(one.hint)}")
    summary = ", ".join(counted(count, level) for level, count in counts.items())
    context.console.say(Notice("notice", "validated", summary if unique else "nothing to report"))
    return int(failed)


def _line(one: Finding) -> str:
    return f"{one.level}: {problem_line(Problem(one.path, one.message, one.key, one.at))}"


def _json(one: Finding) -> dict[str, Any]:
    return {
        "level": one.level,
        "code": one.code,
        "path": one.path,
        "line": one.at.line,
        "column": one.at.column,
        "key": one.key,
        "message": one.message,
        "hint": one.hint,
    }
