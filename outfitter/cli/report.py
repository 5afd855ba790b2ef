"""`outfitter report ROOT [--html FILE]`: a run's pair or a batch, as a summary or as one self-contained page (spec/70)."""

from __future__ import annotations

import argparse
import os
from typing import Any

from outfitter.batch.root import RESULT
from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser
from outfitter.evidence.files import read_pair
from outfitter.evidence.page import batch_page, run_page, unstarted_page
from outfitter.fs import read_document, write_atomic
from outfitter.model.errors import EffectFailed, os_error_text

SUMMARY = "Show the evidence of a run or of a batch; --html writes one page that needs nothing else."
EXAMPLES = ("outfitter report out-1", "outfitter report results --html report.html")


def arguments(made: argparse.ArgumentParser) -> None:
    """Report's options."""
    made.add_argument("root", metavar="ROOT", help="what was given to --out of run or batch")
    made.add_argument("--html", metavar="FILE", help="write the page to FILE, replacing it")
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """Find out what ROOT is, and show it."""
    options = parser("report", SUMMARY, arguments, EXAMPLES).parse_args(words)
    root = os.path.join(context.ambient.cwd, options.root)
    batch, why = read_document(os.path.join(root, RESULT))
    context.console.detail(f"{root}: read as {'the evidence of a run' if why == 'missing' else 'the root of a batch'}")
    if why == "missing":
        return _of_run(options, context, root)
    try:
        lines, page = _batch_lines(batch), batch_page(batch)
    except (TypeError, KeyError, ValueError, AttributeError):
        # A file that anybody may have written: what cannot be shown is none of ours.
        return context.fail(
            EffectFailed("read the batch's result", os.path.join(root, RESULT), why or "not a batch result"),
            options.json,
        )
    return _show(options, context, batch, lines, page)


def _batch_lines(batch: Any) -> list[str]:
    return [
        f"{batch['counts']['selected']} selected",
        *(f"{row['outcome']:<10} {row['input']}  {row['reason']}".rstrip() for row in batch["inputs"]),
    ]


def _of_run(options: argparse.Namespace, context: Context, root: str) -> int:
    pair = read_pair(root)
    if pair.is_lone_veto:
        lines = [f"verdict    veto ({pair.result['termination_reason']})", "no harness was started: there is no trace"]
        return _show(options, context, {"trace": None, "result": pair.result}, lines, unstarted_page(pair.result))
    if pair.trace is None or pair.result is None or any(row.kind == "schema" for row in pair.mismatches):
        first = pair.mismatches[0]
        return context.fail(
            EffectFailed("report on", root, f"{first.file}: {first.message}", "outfitter evidence verify says more"),
            options.json,
        )
    result, trace = pair.result, pair.trace
    broken = [(row.kind, f"{row.file}.{row.field}: {row.message}") for row in pair.mismatches]
    lines = [
        f"verdict    {result['verdict']} ({result['termination_reason']})",
        f"settled    {result['convergence']['reason']}",
    ]
    lines += [
        f"{change['outcome']:<10} {change['path']} ({change['change']}, {change['zone']})"
        for change in trace["changes"]
    ]
    lines += [f"{kind}  {text}" for kind, text in broken]
    return _show(
        options,
        context,
        {"trace": trace, "result": result, "holds": not broken},
        lines,
        run_page(trace, result, broken),
    ) or bool(broken)


def _show(options: argparse.Namespace, context: Context, document: dict[str, Any], lines: list[str], page: str) -> int:
    if options.html:
        path = os.path.join(context.ambient.cwd, options.html)
        if os.path.isdir(path):
            return context.fail(EffectFailed("write the page", path, "is a directory", "name a file"), options.json)
        try:
            write_atomic(path, page.encode("utf-8", "surrogateescape"), mode=0o666)
        except OSError as error:
            return context.fail(EffectFailed("write the page", path, os_error_text(error)), options.json)
        context.console.data(path)
    elif options.json:
        context.console.document(document)
    else:
        context.console.data("\n".join(lines))
    return 0
