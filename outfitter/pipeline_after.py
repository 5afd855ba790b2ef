"""The second half of a launch: settle what the harness wrote, and clean up.

A launch imports it while the harness runs. Recovery enters at `settle`.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from attrs import evolve
from returns.io import IOResult

from outfitter.host import Host, OpenRun, Token
from outfitter.model.errors import EffectFailed, LaunchError
from outfitter.model.outcome import ChildExit, Settlement, Snapshot
from outfitter.model.projection import Prepared, Record, Report, Settled
from outfitter.model.request import Notice
from outfitter.model.settings import Settings
from outfitter.railway import Effect, Outcome, done, failed, fold, identity
from stages.bridge import bridge
from stages.cleanup import cleanup
from stages.diff import diff
from stages.fingerprint_again import fingerprint_again


def settle(host: Host, settings: Settings | None, baseline: Snapshot, record: Record) -> Effect[Settlement]:
    """Find out what was written, and settle each change. `settings` None: recovery, which asks nothing."""
    step = host.step
    host.terminal.saving()
    # What cannot be made accessible cannot be listed either, and that is said.
    with suppress(OSError):
        host.runs.make_accessible(record)
    return IOResult.do(
        settlement.over(actual.tree)
        for actual in step(fingerprint_again, host.trees, host.durable, record, baseline)
        for changes in step(diff, record, baseline, actual)
        for settlement in step(bridge, host.settling(), settings, record, baseline, actual, changes)
    )


def settle_run(
    host: Host, settings: Settings, token: Token, baseline: Snapshot, record: Record, outcome: Outcome[ChildExit]
) -> Effect[Settled]:
    """Settle what the run wrote.

    Where the machine refuses that, the harness's own end is reported all the same.
    """
    place = _place(host, token, record)
    if place not in (record.root, None):
        return done(_settled(record, outcome, _moved(record, place or "")))
    return (
        settle(host, settings, baseline, record)
        .map(partial(_settled, record, outcome))
        .lash(partial(_not_settled, record, outcome))
    )


def _place(host: Host, token: Token, record: Record) -> str | None:
    """Return where the run directory is now; where that cannot be told, it counts as being in its place."""
    try:
        return host.runs.place(token, record)
    except OSError:
        return record.root


def _moved(record: Record, place: str) -> Settlement:
    """Settle nothing of a run directory that was moved: it is whole, and may be moved again."""
    where = f"is now {place}" if place else "was moved to another place"
    text = f"the run directory was moved while the harness ran: {record.root} {where}; nothing in it is saved yet"
    notice = Notice("warning", "moved", text, f"move it back to {record.root}, then: outfitter recover")
    return Settlement(notices=(notice,), saved=False, complete=False, place=place)


def _not_settled(record: Record, outcome: Outcome[ChildExit], error: LaunchError) -> Effect[Settled]:
    """Leave to recovery what the machine refused to settle; any other error ends the launch."""
    if not isinstance(error, EffectFailed):
        return failed(error)
    settlement = Settlement(notices=(_refused(error),), saved=False, complete=False)
    return done(Settled(evolve(record, phase="started"), fold(outcome, identity, identity), settlement))


def _refused(error: EffectFailed) -> Notice:
    place = f"{error.path}: " if error.path else ""
    return Notice("warning", "not-settled", f"cannot {error.operation}: {place}{error.reason}")


def _settled(record: Record, outcome: Outcome[ChildExit], settlement: Settlement) -> Settled:
    """Join how the harness ended (or why it did not start) with what was settled."""
    return Settled(evolve(record, changes=settlement.changes), fold(outcome, identity, identity), settlement)


def leave(host: Host, prepared: Prepared, open_run: OpenRun, outcome: Outcome[Settled]) -> Effect[Report]:
    """Clean up, however the run ended."""
    host.terminal.saving()
    return host.step(cleanup, host.runs, prepared, open_run, outcome)
