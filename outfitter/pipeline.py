"""The launch, assembled: each line says what is added, by which stage, from what it reads.

`host.step` runs a stage under its name; pure stages are lifted into effects. Cleanup always runs once a run directory exists;
diff and bridge run whenever a baseline exists: after success, failure, a signal or a crash (spec/50).
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from attrs import evolve
from returns.io import IOResult

from outfitter.host import Host, OpenRun, Token
from outfitter.model.errors import EffectFailed, LaunchError
from outfitter.model.layers import Layers
from outfitter.model.outcome import ChildExit, Settlement, Snapshot
from outfitter.model.projection import Based, Prepared, Record, Report, Settled
from outfitter.model.request import Notice, Request
from outfitter.model.settings import Settings
from outfitter.railway import Effect, Outcome, always, done, failed, fold, guarded, identity
from stages.compose import compose
from stages.fingerprint import fingerprint
from stages.gather_facts import choose_harness, survey
from stages.load_layers import load_layers
from stages.merge_settings import merge_settings
from stages.project import open_run, plan_projection, project
from stages.reject_warnings import reject_warnings
from stages.resolve_strategies import resolve_strategies
from stages.run import run


def prepare(host: Host, request: Request) -> Effect[Prepared]:
    """Everything before the first write: reading, then the pure half. `--dry-run` ends here."""
    step = host.step
    return IOResult.do(
        prepared
        for layers in step(load_layers, host.sources, request)
        for settings in step(merge_settings, layers)
        for adapter in step(choose_harness, settings, request)
        for composition in step(compose, layers, settings, request)
        for site in step(survey, host.sources, host.runs, adapter, settings, request)
        for strategies in step(resolve_strategies, adapter, settings, site.facts, request)
        for plan in step(plan_projection, adapter, settings, composition, strategies, site.facts, request)
        for prepared in step(reject_warnings, Prepared(request, settings, composition, site, plan, roots(layers)))
    )


def launch(host: Host, request: Request) -> Effect[Report]:
    """Prepare, occupy a run directory, run the harness in it, settle what it wrote, clean up."""
    return prepare(host, request).bind(partial(carry_out, host))


def carry_out(host: Host, prepared: Prepared) -> Effect[Report]:
    """The writing half of a launch: whatever happens inside, the run directory is left as its record says."""
    _say(host, prepared.notices)
    return host.step(open_run, host.runs, prepared).bind(
        always(partial(_occupy, host, prepared), then=partial(_leave, host, prepared))
    )


def _leave(host: Host, prepared: Prepared, occupied: OpenRun, outcome: Outcome[Settled]) -> Effect[Report]:
    from stages.cleanup import cleanup

    host.terminal.saving()
    return host.step(cleanup, host.runs, prepared, occupied, outcome)


def _occupy(host: Host, prepared: Prepared, occupied: OpenRun) -> Effect[Settled]:
    return IOResult.do(
        settled
        for projected in host.step(project, host.projecting, host.terminal, prepared, occupied.record)
        for based in host.step(fingerprint, host.trees, host.runs, projected)
        for settled in guarded(partial(_run_and_settle, host, prepared, occupied, based)).lash(
            partial(_unsettled, based.record)
        )
    )


def _run_and_settle(host: Host, prepared: Prepared, occupied: OpenRun, based: Based) -> Effect[Settled]:
    """Run the harness, and settle what it wrote however that went."""
    run_it = partial(_run, host, prepared, occupied, based.notices)
    return always(run_it, then=partial(_settle, host, prepared.settings, occupied.token, based.baseline))(based.record)


def _run(
    host: Host, prepared: Prepared, occupied: OpenRun, notices: tuple[Notice, ...], record: Record
) -> Effect[ChildExit]:
    _say(host, notices)
    return host.step(run, host.processes, host.runs, prepared.plan.launch, occupied.token, record, _import_the_rest)


def _settle(
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


def _unsettled(record: Record, error: LaunchError) -> Effect[Settled]:
    """Leave a run to recovery: the harness may have written, and nothing of that counts as saved."""
    return done(Settled(evolve(record, phase="started"), error, Settlement(saved=False, complete=False)))


def settle(host: Host, settings: Settings | None, baseline: Snapshot, record: Record) -> Effect[Settlement]:
    """Find out what was written and give each change its ending. Recovery enters here, with no settings and no terminal."""
    from stages.bridge import bridge
    from stages.diff import diff
    from stages.fingerprint_again import fingerprint_again

    host.terminal.saving()
    # What cannot be made accessible cannot be listed either, and that is said.
    with suppress(OSError):
        host.runs.make_accessible(record)
    return IOResult.do(
        settlement.over(actual.tree)
        for actual in host.step(fingerprint_again, host.trees, host.durable, record, baseline)
        for changes in host.step(diff, record, baseline, actual)
        for settlement in host.step(bridge, host.settling(), settings, record, baseline, actual, changes)
    )


def _say(host: Host, notices: tuple[Notice, ...]) -> None:
    for notice in notices:
        host.terminal.say(notice)


def roots(layers: Layers) -> tuple[tuple[str, str], ...]:
    """Kind and root of every tree, highest precedence first: what a dry run and the trace name them by."""
    return tuple((tree.kind, tree.root) for tree in layers.trees)


def _import_the_rest() -> None:
    """Load what runs after the harness while it runs, so that no launch waits for it."""
    import stages.bridge
    import stages.cleanup
    import stages.diff
    import stages.fingerprint_again  # noqa: F401
