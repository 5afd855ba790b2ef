"""Clean up.

Reads: how the occupied run ended.
Adds: `Report`.
Effects: removes or retains the run directory, forgets its journal, releases the lock.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from attrs import evolve

from outfitter.host import OpenRun, Runs
from outfitter.model.errors import Interrupted, LaunchError, os_error_text
from outfitter.model.outcome import Settlement
from outfitter.model.projection import Phase, Prepared, Record, Report, Settled
from outfitter.model.request import Notice
from outfitter.railway import Effect, Outcome, done, fold, guarded

Told = tuple[Notice, ...]


def cleanup(runs: Runs, prepared: Prepared, occupied: OpenRun, outcome: Outcome[Settled]) -> Effect[Report]:
    """Clean up. What could not be removed or saved is a notice, and never replaces the first error.

    A run that was retained, or holds what could not be saved, stays, with its journal saying so. One that was to be settled
    and could not be (a second signal, a bug) stays as it is for recovery. Everything else is removed and forgotten.
    """
    settled = fold(outcome, lambda value: value, partial(_unsettled, occupied.record))
    record = settled.record

    def finish() -> Effect[Report]:
        record, told = _finish(runs, settled)
        return done(Report(prepared, record, settled.ended, settled.settlement, told))

    def cut_short(error: LaunchError) -> Effect[Report]:
        ended = error if isinstance(error, Interrupted) else settled.ended
        told = (_left(record.root, "cleaning up was cut short"),)
        return done(Report(prepared, record, ended, settled.settlement, told))

    report: Effect[Report] = guarded(finish, "cleanup").lash(cut_short)
    _quietly(lambda: runs.close(occupied.token))
    return report


def finish_removal(runs: Runs, record: Record) -> Told:
    """Remove a run directory, and its journal unless something is left for a later try."""
    told = _tell(lambda: runs.remove(record.root, record.device, record.inode), record)
    return told or _tell(lambda: _forget(runs, record), record)


def _unsettled(record: Record, error: LaunchError) -> Settled:
    """A run that failed before its harness could start holds nothing to save; any other is left as it is."""
    return Settled(record, error, Settlement(saved=record.phase == "preparing", complete=False))


def _finish(runs: Runs, settled: Settled) -> tuple[Record, Told]:
    record = settled.record
    if record.changes is None and not settled.settlement.saved:
        return record, (_left(record.root, "what this run wrote is not saved yet"),)
    if not settled.settlement.saved:
        return _stay(runs, record, "unsaved", partial(_unsaved, settled.settlement.place))
    if record.retained:
        return _stay(runs, record, "retained", _retained)
    over = evolve(record, phase="settled")
    told = _tell(lambda: runs.journal(evolve(over, changes=None)), record)
    return over, told + finish_removal(runs, over)


def _stay(runs: Runs, record: Record, phase: Phase, notice: Callable[[Record, bool], Notice]) -> tuple[Record, Told]:
    kept = evolve(record, phase=phase)
    told = _tell(lambda: runs.journal(kept), record)
    return kept, (*told, notice(record, not told))


def _retained(record: Record, _journalled: bool) -> Notice:
    return Notice("notice", "retained", f"projection retained: {record.root}")


def _unsaved(place: str, record: Record, journalled: bool) -> Notice:
    text = f"some of what this run wrote could not be saved; it stays in {place or record.root}"
    return Notice("warning", "unsaved", text, way_out(record, journalled))


def way_out(record: Record, journalled: bool = True) -> str:
    """Return what to do about a run that stays because something of it could not be saved.

    Without a journal, recovery waits for the user to vouch for the run.
    """
    recover = "outfitter recover" if journalled else f"outfitter recover --adopt {record.run_id}"
    by_hand = f"take what you need from there, then: outfitter recover --forget {record.run_id}"
    return f"fix what is in the way, then: {recover}; or {by_hand}"


def _left(root: str, why: str) -> Notice:
    return Notice("warning", "left-to-recovery", f"{why}: {root} stays", "outfitter recover")


def _forget(runs: Runs, record: Record) -> Told:
    runs.forget(record.run_id)
    return ()


def _tell(job: Callable[[], Told], record: Record) -> Told:
    try:
        return job()
    except OSError as error:
        place = error.filename or record.root
        return (
            Notice("warning", "cleanup-failed", f"the run was not put away in full: {place}: {os_error_text(error)}"),
        )


def _quietly(job: Callable[[], None]) -> None:
    try:
        job()
    except OSError:
        return
