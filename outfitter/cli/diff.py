"""`outfitter diff [PATH]`: what a retained run wrote, who owns it, and what became of it (spec/50)."""

from __future__ import annotations

import argparse
import posixpath
from collections.abc import Iterator
from functools import partial

from attrs import evolve
from returns.io import IOResult
from returns.result import Failure, Result, Success

from outfitter.cli.context import Context
from outfitter.cli.diff_lines import LEGEND, coloured, diff_document, diff_lines, plain
from outfitter.cli.parser import json_option, parser
from outfitter.fs import open_regular, owner
from outfitter.host import Host
from outfitter.model.errors import EffectFailed, LaunchError, os_error_text
from outfitter.model.outcome import SETTLED, Change, Snapshot
from outfitter.model.projection import Record
from outfitter.model.request import Ambient
from outfitter.railway import Effect, Outcome, attempt, fold, perform, pure
from outfitter.run.record import decode
from stages.diff import diff
from stages.fingerprint_again import fingerprint_again

SUMMARY = f"Show what a retained run wrote, grouped by state path. Changes nothing.\n\n{LEGEND}"
EXAMPLES = (
    "outfitter run --retain-projection && outfitter diff",
    "outfitter diff /tmp/outfitter-a-pi-k3v9x2m1 --content",
    "outfitter diff --exit-code --json",
)


def arguments(made: argparse.ArgumentParser) -> None:
    """PATH and the options."""
    made.add_argument(
        "run", nargs="?", metavar="PATH", help="a run directory or its projection; else the newest retained"
    )
    made.add_argument("--all", action="store_true", help="one line a change, however many are alike")
    made.add_argument("--content", action="store_true", help="unified diffs of text files up to 256 KiB")
    made.add_argument("--exit-code", action="store_true", help="1 if a change is not settled in silence")
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """Print the changes; 1 where PATH is no run, or with `--exit-code` where there is something to look at."""
    given = parser("diff", SUMMARY, arguments, EXAMPLES).parse_args(words)
    host = context.host()
    outcome = perform(
        IOResult.do(
            (record, changes)
            for record in pure(_record(host, context.ambient, given.run))
            for changes in _changes(host, record)
        )
    )
    return fold(outcome, partial(_show, context, given), lambda error: context.fail(error, given.json))


def _record(host: Host, ambient: Ambient, path: str | None) -> Outcome[Record]:
    """The record of a run directory, its root where it now is."""
    if path is None:
        return _newest(host, ambient)
    place = posixpath.normpath(posixpath.join(ambient.cwd, path))
    for root in (place, posixpath.dirname(place)):
        if root == place or posixpath.basename(place) == "projection":
            found = _read(root)
            if found is not None:
                return found.map(lambda record, root=root: evolve(record, root=root))  # type: ignore[misc]
    return Failure(EffectFailed("diff", path, "not a run directory of Outfitter, nor its projection", _HINT))


_HINT = "outfitter run --retain-projection keeps one and prints its path"


def _newest(host: Host, ambient: Ambient) -> Outcome[Record]:
    """The newest retained run that has a journal, or stands in the temporary root without one."""
    journalled = [one.record for one in host.runs.journals() if one.record and one.condition in ("dead", "live")]
    found = [*journalled, *_standing(host, ambient)]
    retained = sorted((one for one in found if one.phase == "retained"), key=lambda one: one.started_ns)
    if not retained:
        return Failure(EffectFailed("diff", "", "no retained run found", _HINT))
    return Success(retained[-1])


def _standing(host: Host, ambient: Ambient) -> Iterator[Record]:
    for name in host.sources.names(ambient.temp_root):
        root = posixpath.join(ambient.temp_root, name)
        if name.startswith("outfitter-") and owner(root) == ambient.uid:
            found = _read(root)
            if found is not None:
                yield from found.map(lambda record, root=root: (evolve(record, root=root),)).value_or(())  # type: ignore[misc]


def _read(root: str) -> Result[Record, LaunchError] | None:
    """The record that stands in a run directory; None where there is none."""
    path = posixpath.join(root, "run.json")
    try:
        descriptor, status = open_regular(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return Failure(EffectFailed("read", path, os_error_text(error)))
    with open(descriptor, "rb") as file:
        return decode(file.read(status.st_size)).alt(lambda why: EffectFailed("read", path, why))


def _changes(host: Host, record: Record) -> Effect[tuple[Change, ...]]:
    """What the run recorded, or for one that never was settled, what is found now."""
    if record.changes is not None:
        return pure(Success(record.changes))
    return IOResult.do(
        changes
        for baseline in attempt("read the baseline", lambda: Success(_baseline(host, record)))
        for actual in fingerprint_again(host.trees, host.durable, record, baseline)
        for changes in pure(diff(record, baseline, actual))
    )


def _baseline(host: Host, record: Record) -> Snapshot:
    return Snapshot(*host.trees.load_baseline(record.root + "/baseline"))


def _show(context: Context, given: argparse.Namespace, found: tuple[Record, tuple[Change, ...]]) -> int:
    record, changes = found
    source = "as its run recorded them" if record.changes is not None else "found now, for it was never settled"
    context.console.detail(f"record: {record.root}/run.json, {record.phase}; changes {source}")
    if given.json:
        document = diff_document(record, changes)
        if given.content:
            from outfitter.cli.diff_lines import contents

            document["content"] = dict(contents(context.host(), record, changes))
        context.console.document(document)
    else:
        paint = coloured if context.console.colour_out else plain
        context.console.data("\n".join(diff_lines(record, changes, given.all, paint)))
        if given.content:
            from outfitter.cli.diff_lines import contents

            for _, text in contents(context.host(), record, changes):
                context.console.data(text)
    return 1 if given.exit_code and any(change.outcome not in SETTLED for change in changes) else 0
