"""Finish what a killed launcher left: save what can be saved, then remove (spec/50)."""

import posixpath
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from typing import Literal, ParamSpec, TypeVar

from attrs import evolve
from returns.result import Result, Success

from outfitter.host import Host, Runs, Token
from outfitter.model.errors import Crashed, EffectFailed, Interrupted, LaunchError
from outfitter.model.outcome import Settlement, Snapshot
from outfitter.model.projection import Phase, Record
from outfitter.model.request import Ambient, Notice
from outfitter.model.value import NamedTuple
from outfitter.railway import Effect, Outcome, TimeIsUp, attempt, done, failed, fold, guarded, perform, pure

P = ParamSpec("P")
A = TypeVar("A")
ChangeOutcome = Literal["removed", "saved", "unsaved"]
Limited = Callable[[Host], AbstractContextManager[Host]]
"""What gives a host a time limit, after which its effects raise `TimeIsUp`."""
_SAVED = ("adopted", "bridged", "persisted")
_SHOWN = 5


class Recovered(NamedTuple):
    """One run that was finished: how, what became of its writes, and what to tell, the first of it in one line.

    `removed`: its harness had not started, or all was saved before; `saved`: settled now; `unsaved`: something could not
    be saved, and stays where it is.
    """

    record: Record
    ending: ChangeOutcome
    settlement: Settlement = Settlement()
    notices: tuple[Notice, ...] = ()


def recover(
    host: Host, _ambient: Ambient, unsaved: bool = False, limited: Limited = nullcontext
) -> Effect[tuple[Recovered, ...]]:
    """Finish every run whose launcher is dead and whose lock is free; with `unsaved`, try those again that were given up.

    A run that fails to settle is kept, said once, and not tried again by itself. The only error is `Interrupted`, where a
    second signal leaves the rest for later. Nothing is asked, and no live run is touched. `limited` gives the host a time
    limit, from the first run on: one that is not finished by then is kept, and said.
    """
    finished: list[Recovered] = []
    with ExitStack() as stack:
        working: Host | None = None
        try:
            for record, token in _dead(host.runs, unsaved):
                working = working or stack.enter_context(limited(host))
                outcome = perform(_finish(working, record, token))
                stop = fold(outcome, lambda _: None, lambda error: error)
                if stop is not None:
                    return failed(stop)
                outcome.map(finished.append)
        except OSError:
            # Journals that cannot be listed now are there at the next start.
            pass
    return done(tuple(finished))


def sweep(host: Host, ambient: Ambient) -> tuple[Notice, ...]:
    """Remove run directories older than seven days that nobody holds (spec/50, "Cleanup and sweep")."""
    try:
        return host.runs.sweep(ambient.now_ns)
    except OSError:
        return ()


def _dead(runs: Runs, unsaved: bool) -> Iterator[tuple[Record, Token]]:
    yield from runs.stale()
    if unsaved:
        for found in runs.journals():
            if found.record is not None and found.record.phase == "unsaved" and found.condition == "dead":
                token = runs.claim(found.record)
                if token is not None:
                    yield found.record, token


def _finish(host: Host, record: Record, token: Token) -> Effect[Recovered]:
    """One run; its lock is released whatever happens."""
    try:
        _tidy(host, record)
        if record.phase in ("preparing", "settled"):
            # Nothing is compared any more, so second names of durable files have nothing left to show.
            _quietly(host.durable.flush)
            _remove(host.runs, record)
            return done(Recovered(record, "removed", notices=_unwritten(record)))
        settled = guarded(lambda: _settle(host, record), "recover").lash(lambda error: _given_up(host, record, error))
        return settled.map(lambda one: one._replace(notices=(*one.notices, *_unwritten(record))))
    except TimeIsUp:
        late = _stay(
            host.runs, record, Settlement(saved=False, complete=False), "it takes longer than a launch may wait"
        )
        return done(late._replace(notices=(*late.notices, *_unwritten(record))))
    finally:
        _quietly(lambda: host.runs.close(token))


def _tidy(host: Host, record: Record) -> None:
    """Take away the temporaries that the killed launcher left beside durable files; those of live launchers stay."""
    places = [state.durable for state in record.states]
    for bridge in record.bridges:
        places += [posixpath.join(bridge.durable, member) for member in bridge.members] or [bridge.durable]
    for durable in dict.fromkeys(places):
        if durable:
            _quietly(partial(host.durable.tidy, durable))


def _settle(host: Host, record: Record) -> Effect[Recovered]:
    """Diff and bridge as after any run, from the baseline that was saved before the harness started."""
    # Every launch looks for killed runs; few find one.
    from outfitter.pipeline_after import settle

    quiet = evolve(host, step=_step)
    return (
        attempt("read the baseline of a killed run", lambda: Success(_baseline(host, record)))
        .bind(lambda baseline: settle(quiet, None, baseline, record))
        .map(lambda settlement: _settled(host, record, settlement))
    )


def _baseline(host: Host, record: Record) -> Snapshot:
    """Load the baseline, if it is the one that was journalled: a harness can reach the file."""
    tree, durable = host.trees.load_baseline(record.root + "/baseline")
    if tree.digest.hex() != record.baseline_digest:
        raise OSError(0, "the baseline is not the one that was journalled", record.root + "/baseline")
    return Snapshot(tree, durable)


def _settled(host: Host, record: Record, settlement: Settlement) -> Recovered:
    whole = evolve(record, changes=settlement.changes)
    if not settlement.saved:
        return _stay(host.runs, whole, settlement, "some of what it wrote could not be saved")
    line = Notice("notice", "recovered", f"recovered {_name(record)}: {_summary(settlement)}")
    if record.retained:
        _journal(host.runs, whole, "retained")
        line = line._replace(message=f"{line.message}; projection retained: {record.root}")
    else:
        _journal(host.runs, evolve(whole, changes=None), "settled")
        _remove(host.runs, record)
    return Recovered(whole, "saved", settlement, (line, *settlement.notices))


def _given_up(host: Host, record: Record, error: LaunchError) -> Effect[Recovered]:
    if isinstance(error, Interrupted):
        return failed(error)
    bug = f": {error.exception}" if isinstance(error, Crashed) else ""
    reason = f"{error.path}: {error.reason}" if isinstance(error, EffectFailed) else f"internal error{bug}"
    return done(_stay(host.runs, record, Settlement(saved=False, complete=False), reason))


def _stay(runs: Runs, record: Record, settlement: Settlement, why: str) -> Recovered:
    from stages.cleanup import way_out

    _journal(runs, record, "unsaved")
    text = f"{_name(record)} could not be recovered whole: {why}; it stays in {record.root}"
    line = Notice("warning", "unsaved", text, way_out(record))
    return Recovered(record, "unsaved", settlement, (line, *settlement.notices))


def _unwritten(record: Record) -> tuple[Notice, ...]:
    """Say that a killed run has no evidence: how its harness ended is not known (spec/70).

    A run that was not killed, but left unsaved or retained, has written its own.
    """
    if not record.out or record.phase not in ("preparing", "started", "settled"):
        return ()
    text = f"{_name(record)} left no evidence in {record.out}: its launcher was killed before it could write it"
    return (Notice("notice", "no-evidence", text),)


def _journal(runs: Runs, record: Record, phase: Phase) -> None:
    _quietly(lambda: runs.journal(evolve(record, phase=phase)))


def _remove(runs: Runs, record: Record) -> None:
    """In silence: what cannot be removed now keeps its journal, and is tried again by the next start."""

    def job() -> None:
        if not runs.remove(record.root, record.device, record.inode):
            runs.forget(record.run_id)

    _quietly(job)


def _name(record: Record) -> str:
    killed = "" if record.phase == "unsaved" else "killed "
    return f"the {killed}run {record.run_id} ({record.agent}, {record.harness})"


def _summary(settlement: Settlement) -> str:
    from outfitter.model.wording import listed

    saved = _files(settlement, *_SAVED)
    kept = len(_files(settlement, "conflict"))
    first = f"saved {listed(saved, _SHOWN)}" if saved else "nothing was left to save"
    return first + (f"; {kept} in conflict, kept: outfitter conflicts" if kept else "")


def _files(settlement: Settlement, *outcomes: str) -> tuple[str, ...]:
    """Return the paths of these outcomes; a directory counts only by what is in it."""
    paths = [change.path for change in settlement.changes if change.outcome in outcomes]
    above = {posixpath.dirname(change.path) for change in settlement.changes}
    return tuple(path for path in paths if path not in above)


def _step(stage: Callable[P, Effect[A]] | Callable[P, Outcome[A]], /, *args: P.args, **kwargs: P.kwargs) -> Effect[A]:
    """A stage of a run that is not this launch's: not noted among its steps."""
    result = stage(*args, **kwargs)
    return pure(result) if isinstance(result, Result) else result


def _quietly(job: Callable[[], object]) -> None:
    try:
        job()
    except OSError:
        return
