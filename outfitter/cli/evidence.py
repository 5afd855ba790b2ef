"""`outfitter evidence verify|replay|publish|prune`: what a run left as proof, checked and kept (spec/70)."""

from __future__ import annotations

import argparse
import json
import os

from outfitter.cli.context import Context
from outfitter.cli.parser import actions, count, days, json_option, parser
from outfitter.edges.evidence_check import Pair, read_pair
from outfitter.evidence.result import RESULT_PATH, TRACE_PATH, reconstruct
from outfitter.evidence.verify import Mismatch

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
        from outfitter.cli import publish

        return (publish.publish if options.action == "publish" else publish.prune)(options, context)
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
