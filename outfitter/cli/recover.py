"""`outfitter recover`: finish what a killed launcher left, or list what there is (spec/50, spec/80)."""

from __future__ import annotations

import argparse
import os
from shlex import quote
from typing import TYPE_CHECKING, Any

from attrs import evolve

from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser
from outfitter.host import Journalled, Runs
from outfitter.model.errors import EffectFailed, LaunchError, UsageError, os_error_text
from outfitter.model.projection import Record
from outfitter.model.request import Notice
from outfitter.model.wording import counted
from outfitter.railway import fold, perform
from outfitter.recovery import Recovered, recover
from outfitter.render import notice_json, one_line
from outfitter.run.journals import LOCK_GONE, NO_ACCESS
from outfitter.run.layout import LOCK, MARKER

if TYPE_CHECKING:
    from outfitter.run.leftovers import LeftoverDirectory

SUMMARY = (
    "Save what a killed launcher left in its run directory, and remove it; also tries again what could not be saved."
)
EXAMPLES = ("outfitter recover --list", "outfitter recover", "outfitter recover --forget 20260101T120000-abcdefgh")
CONDITIONS = {
    "live": "live: its launcher, its harness or a process they left behind still holds its lock",
    "gone": "gone: its run directory is no longer there",
    "other": "not touched: its run directory is not as it made it",
    "unreadable": "not touched: its journal cannot be read",
    "orphan": "not touched: its run directory may hold unsaved files, and no journal vouches for it",
}
PHASES = {
    "preparing": "its harness had not started; recover removes it",
    "started": "its launcher was killed; recover saves what it wrote",
    "settled": "all was saved; recover removes it",
    "unsaved": "some of it could not be saved; recover tries again and says why",
    "retained": "retained on purpose; see: outfitter diff",
}
REMNANTS = {
    True: "made by a process that outlived its run; recover removes it if it holds nothing",
    False: "not touched: named as a run directory is, but it carries no marker",
}


def arguments(made: argparse.ArgumentParser) -> None:
    """The command's own options."""
    made.add_argument("--list", action="store_true", help="only say what there is; change nothing")
    made.add_argument(
        "--forget",
        metavar="RUN",
        help="stop asking for a run that is not live; its directory is left to you, and to the sweep after a week",
    )
    made.add_argument(
        "--adopt",
        metavar="RUN",
        help="recover a run of yours without a journal from what its own directory says; look first: outfitter diff DIR",
    )
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """0: nothing is left to do; 1: something could not be saved, is not known to be a run's, or a journal cannot be read."""
    given = parser("recover", SUMMARY, arguments, EXAMPLES).parse_args(words)
    if given.list:
        return _list(context, given.json)
    if given.forget is not None:
        return _forget(context, given.forget, given.json)
    host = context.host()
    if given.adopt is not None:
        error = _adopt(host.runs, given.adopt)
        if error is not None:
            return context.fail(error, given.json)
    from outfitter.edges.signals import SIGNALS

    SIGNALS.install()
    outcome = perform(recover(host, context.ambient, unsaved=True))
    return fold(outcome, lambda done: _tell(context, done, given.json), lambda error: context.fail(error, given.json))


def _list(context: Context, as_json: bool) -> int:
    from outfitter.run.leftovers import leftover_directories

    found = context.host().runs.journals()
    back = leftover_directories(context.ambient)
    if as_json:
        listed = [{"root": one.root, "entries": one.entries, "proven": one.proven} for one in back]
        context.console.document({"runs": [_run_json(one) for one in found], "remnants": listed})
        return 0
    for one in found:
        context.console.data(f"{one.run_id}  {_state(one)}")
        if one.record is not None:
            context.console.data(f"    {one.record.agent}, {one.record.harness}: {one_line(one.record.root)}")
    for left in back:
        context.console.data(f"no run  {REMNANTS[left.proven]}")
        context.console.data(f"    {one_line(left.root)}")
    return 0


def _adopt(runs: Runs, run_id: str) -> LaunchError | None:
    """Write a journal for an orphan from its own copy, so that recovery believes it; or return why not."""
    found = next((one for one in runs.journals() if one.run_id == run_id and one.condition == "orphan"), None)
    if found is None:
        return UsageError(f"cannot adopt {run_id}: no run without a journal has this name", "outfitter recover --list")
    if found.record is None:
        return EffectFailed("adopt the run", run_id, found.reason)
    if runs.journal(evolve(found.record, phase="unsaved")):
        return EffectFailed("adopt the run", run_id, "its journal cannot be written", "outfitter doctor")
    return None


def _forget(context: Context, run_id: str, as_json: bool) -> int:
    """Drop one journal, by name: the way out for a run whose directory is gone for good, or is looked after by hand."""
    from outfitter.run.orphans import release

    runs = context.host().runs
    found = next((one for one in runs.journals() if one.run_id == run_id), None)
    if found is None or found.condition == "live":
        why = "run not found" if found is None else "it is still running"
        return context.fail(UsageError(f"cannot forget {run_id}: {why}", "outfitter recover --list"), as_json)
    try:
        runs.forget(run_id)
        if found.condition in ("dead", "other", "orphan"):
            release(found.record.root if found.record else os.path.join(context.ambient.temp_root, run_id))
    except OSError as error:
        return context.fail(EffectFailed("forget the run", error.filename or run_id, os_error_text(error)), as_json)
    root = found.record.root if found.record and found.condition in ("dead", "orphan") else None
    if as_json:
        context.console.document({"forgotten": run_id, "root": root})
    else:
        context.console.data(
            f"forgot {run_id}"
            + (f"; its directory stays until nothing in it is younger than a week: {one_line(root)}" if root else "")
        )
    return 0


def _state(one: Journalled) -> str:
    if one.record is None or one.condition != "dead":
        return CONDITIONS.get(one.condition, one.condition) + (f" ({one.reason})" if one.reason else "")
    return f"{one.record.phase}: {PHASES[one.record.phase]}"


def _run_json(one: Journalled) -> dict[str, Any]:
    record = one.record
    return {
        "run": one.run_id,
        "condition": one.condition,
        "reason": one.reason,
        "phase": record.phase if record else None,
        "agent": record.agent if record else None,
        "harness": record.harness if record else None,
        "root": record.root if record else None,
        "started_ns": record.started_ns if record else None,
    }


def _tell(context: Context, finished: tuple[Recovered, ...], as_json: bool) -> int:
    from outfitter.run.leftovers import clear, leftover_directories

    journals = context.host().runs.journals()
    unreadable = [one for one in journals if one.condition == "unreadable"]
    odd = [(one, one.record) for one in journals if one.condition == "other" and one.record is not None]
    orphans = [one for one in journals if one.condition == "orphan"]
    gone = [one for one in journals if one.condition == "gone" and one.record and one.record.phase == "unsaved"]
    back = tuple((one, clear(one)) for one in leftover_directories(context.ambient) if one.proven)
    if as_json:
        context.console.document(
            {
                "recovered": [_recovered_json(one) for one in finished],
                "unreadable": [{"run": one.run_id, "reason": one.reason} for one in unreadable],
                "untouched": [
                    {"run": one.run_id, "root": one.record.root if one.record else None, "reason": one.reason}
                    for one in (*(one for one, _ in odd), *orphans, *gone)
                ],
                "remnants": [{"root": one.root, "entries": one.entries, "removed": removed} for one, removed in back],
            }
        )
    else:
        for one in finished:
            for notice in one.notices:
                context.console.say(notice)
        for notice in (
            *(_untouched(*pair) for pair in odd),
            *map(_orphan, orphans),
            *(_gone(one.record) for one in gone if one.record),
            *(_remnant(*pair) for pair in back),
        ):
            context.console.say(notice)
        for bad in unreadable:
            context.console.data(f"{bad.run_id}  {_state(bad)}")
        if not finished and not unreadable and not odd and not orphans and not gone and not back:
            context.console.data("nothing to recover")
    open_ends = any(one.ending == "unsaved" for one in finished) or not all(removed for _, removed in back)
    return 1 if unreadable or odd or orphans or gone or open_ends else 0


def _orphan(one: Journalled) -> Notice:
    """Say what can be done about a run without a journal.

    Programs that a harness runs could make such a directory, too: only the user can say that it is one of theirs.
    """
    by_hand = f"take what you need from there, then: outfitter recover --forget {one.run_id}"
    if one.record is None:
        return Notice("warning", "orphan", f"a run directory without a journal is not touched: {one.reason}", by_hand)
    record = one.record
    text = (
        f"the run {one.run_id} ({record.agent}, {record.harness}) has no journal and is not touched: "
        f"not all of what it wrote may be saved: {record.root}"
    )
    look = f"look: outfitter diff {quote(record.root)}; if this run is yours: outfitter recover --adopt {one.run_id}"
    return Notice("warning", "orphan", text, f"{look}; or {by_hand}")


def _gone(record: Record) -> Notice:
    """Name a run with unsaved files whose directory was moved, or removed since."""
    text = (
        f"the run {record.run_id} ({record.agent}, {record.harness}) has unsaved files, "
        f"and its directory is not there: {record.root}"
    )
    forget = f"if it is lost: outfitter recover --forget {record.run_id}"
    return Notice("warning", "gone", text, f"if it was moved, move it back, then: outfitter recover; {forget}")


def _untouched(one: Journalled, record: Record) -> Notice:
    """A run whose directory cannot be shown to be its own: what to do is for somebody who can look."""
    text = f"the run {one.run_id} ({record.agent}, {record.harness}) is not touched: {record.root}: {one.reason}"
    forget = f"outfitter recover --forget {one.run_id}"
    if one.reason == NO_ACCESS:
        grant = f"chmod -R u+rwX {quote(record.root)}, then: outfitter recover"
        return Notice("warning", "untouched", text, f"{grant}; or: {forget}")
    if one.reason != LOCK_GONE:
        return Notice("warning", "untouched", text, f"look after what is there, then: {forget}")
    mark = f"echo {quote(MARKER.decode().strip())} > {quote(f'{record.root}/{LOCK}')}"
    return Notice(
        "warning", "untouched", text, f"if nothing of it runs any more: {mark}; outfitter recover; or: {forget}"
    )


def _remnant(one: LeftoverDirectory, gone: bool) -> Notice:
    if gone:
        return Notice(
            "notice", "remnant-removed", f"{one.root}: removed: empty, made by a process that outlived its run"
        )
    odd = {-1: "cannot be looked through", 0: "is being written to"}
    held = odd.get(one.entries) or f"holds {counted(one.entries, 'file')}"
    text = f"{one.root}: made by a process that outlived its run, and {held}"
    hint = f"end that process if it still runs, take from there what you need, then: rm -r {quote(one.root)}"
    return Notice("warning", "remnant", text, hint)


def _recovered_json(one: Recovered) -> dict[str, Any]:
    return {
        "run": one.record.run_id,
        "ending": one.ending,
        "root": one.record.root,
        "changes": [{"path": change.path, "outcome": change.outcome} for change in one.settlement.changes],
        "notices": [notice_json(notice) for notice in one.notices],
    }
