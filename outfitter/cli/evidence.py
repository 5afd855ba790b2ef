"""`outfitter evidence verify|replay|publish|prune`: what a run left as proof, checked and kept (spec/70)."""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

from blake3 import blake3

from outfitter.cli.context import Context
from outfitter.cli.parser import actions, count, days, json_option, parser
from outfitter.evidence import publication
from outfitter.evidence.files import Pair, read_pair
from outfitter.evidence.publication import Binding, expired, manifest
from outfitter.evidence.result import RESULT_PATH, TRACE_PATH, reconstruct
from outfitter.evidence.verify import Mismatch
from outfitter.model.errors import EffectFailed, UsageError, os_error_text
from outfitter.model.wording import counted

SUMMARY = "Verify, replay, publish or prune the evidence that `outfitter run --out` leaves."
EXAMPLES = (
    "outfitter evidence verify out-1",
    "outfitter evidence replay out-1 --json",
    "outfitter evidence publish out-1 --to kept --task T-12 --input task.md --config settings.yml",
    "outfitter evidence prune kept --older-than 90 --keep 20",
)


def arguments(made: argparse.ArgumentParser) -> None:
    """The sub-commands and their options."""
    action = actions(made)
    for name, text in (
        ("verify", "check a pair: 0 it holds, 1 with each mismatch"),
        ("replay", "print the result that the trace gives"),
    ):
        command = action(name, text)
        command.add_argument("root", metavar="ROOT", help="the directory given to --out")
        json_option(command)
    command = action("publish", "verify pairs, and bind each to its task, input and configuration")
    command.add_argument("roots", nargs="+", metavar="ROOT", help="directories given to --out")
    command.add_argument(
        "--to", required=True, metavar="DIR", help="where attempts are kept; failing pairs go to DIR/quarantine"
    )
    command.add_argument("--task", default="", metavar="ID", help="the task this attempt belongs to")
    command.add_argument("--input", metavar="FILE", help="the input of the run: its digest is recorded")
    command.add_argument("--config", metavar="FILE", help="the resolved configuration: its digest is recorded")
    command.add_argument(
        "--supersedes", default="", metavar="ID", help="an earlier attempt in DIR that this one replaces"
    )
    json_option(command)
    command = action("prune", "remove published attempts, each as a whole")
    command.add_argument("directory", metavar="DIR", help="where attempts were published")
    command.add_argument("attempts", nargs="*", metavar="ATTEMPT", help="remove just these, quarantined ones too")
    command.add_argument("--older-than", type=days, metavar="DAYS", help="remove published attempts older than this")
    command.add_argument("--keep", type=count, default=0, metavar="N", help="always spare the newest N")
    command.add_argument("--dry-run", action="store_true", help="say what would be removed")
    json_option(command)


def main(words: list[str], context: Context) -> int:
    """Dispatch to the action; publishing and pruning live in `cli.publish`."""
    options = parser("evidence", SUMMARY, arguments, EXAMPLES).parse_args(words)
    if options.action in ("publish", "prune"):
        return (publish if options.action == "publish" else prune)(options, context)
    root = os.path.join(context.ambient.cwd, options.root)
    pair = read_pair(root)
    for name, part in ((TRACE_PATH, pair.trace), (RESULT_PATH, pair.result)):
        context.console.detail(f"{os.path.join(root, name)}: {'not usable' if part is None else 'read'}")
    return (_verify if options.action == "verify" else _replay)(context, pair, root, options.json)


def _verify(context: Context, pair: Pair, root: str, as_json: bool) -> int:
    if as_json:
        context.console.document(
            {"root": root, "holds": not pair.mismatches, "mismatches": [row._asdict() for row in pair.mismatches]}
        )
    elif pair.mismatches:
        context.console.data("\n".join(map(mismatch_line, pair.mismatches)))
    else:
        context.console.data(f"{root}: trace and result belong together; verdict {pair.result['verdict']}")
    return 1 if pair.mismatches else 0


def _replay(context: Context, pair: Pair, root: str, as_json: bool) -> int:
    """Print the reconstructed result, and compare where a written one stands beside the trace. Calls no provider."""
    broken = [row for row in pair.mismatches if row.file == "trace" and row.kind in ("missing", "malformed", "schema")]
    if broken:
        if as_json:
            rows = [row._asdict() for row in broken]
            context.console.document({"root": root, "result": None, "compared": False, "mismatches": rows})
        else:
            context.console.data("\n".join(map(mismatch_line, broken)))
        return 1
    beside = os.path.lexists(os.path.join(root, RESULT_PATH))
    found = pair.mismatches if beside else ()
    result = reconstruct(pair.trace)
    if as_json:
        context.console.document(
            {"root": root, "result": result, "compared": beside, "mismatches": [row._asdict() for row in found]}
        )
    else:
        shown = {key: value for key, value in result.items() if key not in ("trace_sections", "schema_version")}
        lines = [
            f"{key}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
            for key, value in shown.items()
        ]
        lines.append(
            "compared with the written result" if beside else "no written result beside the trace: nothing compared"
        )
        context.console.data("\n".join([*lines, *map(mismatch_line, found)]))
    return 1 if found else 0


def mismatch_line(row: Mismatch) -> str:
    """`outcome-drift  result.verdict: …`."""
    return f"{row.kind:<14} {row.file}.{row.field}: {row.message}"


def publish(options: argparse.Namespace, context: Context) -> int:
    """Publish each pair; a failing one is quarantined whole. 1 where any was."""
    here = context.ambient.cwd
    directory = os.path.join(here, options.to)
    rows: list[dict[str, Any]] = []
    failure = None
    try:
        if options.supersedes and options.supersedes not in _known(directory):
            return context.fail(
                UsageError(f"--supersedes {options.supersedes}: no such attempt in {directory}"), options.json
            )
        binding = _binding(options, here)
        roots = [os.path.realpath(os.path.join(here, root)) for root in options.roots]
        for root in roots:
            context.console.detail(f"pair: {root}, to be kept in {directory}")
        for root in roots:
            _refuse_other(root)
        for root in roots:
            rows.append(_publish_one(root, directory, binding))
    except OSError as error:
        failure = EffectFailed("publish", str(error.filename or directory), os_error_text(error))
    if failure and not rows:
        return context.fail(failure, options.json)
    if options.json:
        context.console.document({"attempts": rows})
    else:
        context.console.data("\n".join(_line(row) for row in rows))
    if failure:
        return context.fail(failure, options.json)
    return 1 if any(row["quarantined"] for row in rows) else 0


def prune(options: argparse.Namespace, context: Context) -> int:
    """Remove published attempts by age, or the named ones; says what it removed."""
    directory = os.path.join(context.ambient.cwd, options.directory)
    try:
        found, aside = publication.published(directory), _quarantined(directory)
    except OSError as error:
        return context.fail(EffectFailed("read", directory, os_error_text(error)), options.json)
    if not options.attempts and options.older_than is None:
        return context.fail(UsageError("prune needs --older-than DAYS, or the names of attempts"), options.json)
    context.console.detail(f"{directory}: {counted(len(found), 'attempt')} published, {len(aside)} quarantined")
    missing = [name for name in options.attempts if name not in {*found, *aside}]
    if missing:
        return context.fail(UsageError(f"no such attempt in {directory}: {', '.join(missing)}"), options.json)
    chosen = list(options.attempts) or expired(found, time.time_ns(), options.older_than, options.keep)
    removed = []
    for name in chosen:
        if not options.dry_run:
            try:
                publication.remove_attempt(directory, name)
            except OSError as error:
                return context.fail(
                    EffectFailed("remove", os.path.join(directory, name), os_error_text(error)), options.json
                )
        removed.append(name)
    if options.json:
        context.console.document({"directory": directory, "dry_run": options.dry_run, "removed": removed})
    else:
        verb = "would remove" if options.dry_run else "removed"
        context.console.data("\n".join(f"{verb} {name}" for name in removed) or "nothing to remove")
    return 0


def _binding(options: argparse.Namespace, here: str) -> Binding:
    def bound(name: str | None) -> tuple[str, str]:
        return (os.path.basename(name), publication.file_digest(os.path.join(here, name))) if name else ("", "")

    return Binding(options.task, *bound(options.input), *bound(options.config), options.supersedes)


def _publish_one(root: str, directory: str, binding: Binding) -> dict[str, Any]:
    pair = read_pair(root)
    if pair.mismatches:
        return _set_aside(root, directory, [row._asdict() for row in pair.mismatches])
    bound = manifest(pair.trace, pair.result, binding, time.time_ns())
    place = publication.publish(root, directory, bound)
    return {
        "root": root,
        "attempt": bound["attempt"],
        "path": place,
        "bounded": bound["bounded"],
        "quarantined": False,
        "mismatches": [],
    }


def _refuse_other(root: str) -> None:
    """Only what holds a file of a pair is moved to quarantine: never somebody's folder that was named by mistake."""
    if not os.path.isdir(root):
        raise FileNotFoundError(2, "no such directory", root)
    if not any(os.path.lexists(os.path.join(root, name)) for name in (TRACE_PATH, RESULT_PATH)):
        raise FileNotFoundError(2, "holds no evidence of a run", root)


def _set_aside(root: str, directory: str, mismatches: list[dict[str, Any]]) -> dict[str, Any]:
    name = f"{os.path.basename(root)[:40]}-{blake3(os.fsencode(root)).hexdigest()[:8]}"
    place = publication.quarantine(root, directory, name, {"schema_version": 1, "from": root, "mismatches": mismatches})
    return {
        "root": root,
        "attempt": os.path.basename(place),
        "path": place,
        "bounded": True,
        "quarantined": True,
        "mismatches": mismatches,
    }


def _line(row: dict[str, Any]) -> str:
    if row["quarantined"]:
        kinds = ", ".join(dict.fromkeys(found["kind"] for found in row["mismatches"]))
        return f"quarantined  {row['path']} ({kinds})"
    return f"published    {row['path']}" + (" (bounded: no input and configuration given)" if row["bounded"] else "")


def _known(directory: str) -> set[str]:
    return {*publication.published(directory), *_quarantined(directory)} if os.path.isdir(directory) else set()


def _quarantined(directory: str) -> list[str]:
    shelf = os.path.join(directory, publication.QUARANTINE)
    return sorted(os.listdir(shelf)) if os.path.isdir(shelf) else []
