"""`outfitter evidence verify|replay|publish|prune`: what a run left as proof, checked and kept (spec/70)."""

from __future__ import annotations

import argparse
import os

from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser
from outfitter.edges.evidence_check import Pair, read_pair
from outfitter.evidence.result import RESULT_PATH, reconstruct
from outfitter.evidence.verify import Mismatch

SUMMARY = "Verify, replay, publish or prune the evidence that `outfitter run --out` leaves."
EXAMPLES = ("outfitter evidence verify out/1", "outfitter evidence replay out/1 --json")


def arguments(made: argparse.ArgumentParser) -> None:
    """The sub-commands and their options."""
    commands = made.add_subparsers(dest="action", required=True, metavar="ACTION")
    for name, text in (
        ("verify", "check a pair: 0 it holds, 1 with each mismatch"),
        ("replay", "print the result that the trace gives"),
    ):
        command = commands.add_parser(name, help=text, description=text, allow_abbrev=False)
        command.add_argument("root", metavar="ROOT", help="the directory given to --out")
        json_option(command)


def main(words: list[str], context: Context) -> int:
    """Dispatch to the action."""
    options = parser("evidence", SUMMARY, arguments, EXAMPLES).parse_args(words)
    root = os.path.join(context.ambient.cwd, options.root)
    pair = read_pair(root)
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
        lines = [f"{key}: {value}" for key, value in result.items() if key not in ("trace_sections", "schema_version")]
        lines.append(
            "compared with the written result" if beside else "no written result beside the trace: nothing compared"
        )
        context.console.data("\n".join([*lines, *map(mismatch_line, found)]))
    return 1 if found else 0


def mismatch_line(row: Mismatch) -> str:
    """`outcome-drift  result.verdict: …`."""
    return f"{row.kind:<14} {row.file}.{row.field}: {row.message}"
