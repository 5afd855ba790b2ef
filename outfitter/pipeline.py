"""The launch, assembled: each line says what is added, by which stage, from what it reads.

`host.step` runs a stage under its name, lifts a pure stage into an effect, and says the notices of its value (`to_say`).
Cleanup always runs once a run directory exists; diff and bridge run whenever a baseline exists: after success, failure, a
signal or a crash (spec/50). They are in `pipeline_after`.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module

from attrs import evolve
from returns.io import IOResult

from outfitter.host import Consent, Host, OpenRun, Token
from outfitter.model.errors import LaunchError
from outfitter.model.outcome import ChildExit, Settlement, Snapshot
from outfitter.model.projection import BaselineTaken, Prepared, Record, Report, Settled
from outfitter.model.request import Request
from outfitter.model.settings import Settings
from outfitter.railway import Effect, Outcome, always, done, failed, guarded
from stages.choose_harness import choose_harness
from stages.compose import compose
from stages.fingerprint import fingerprint
from stages.gather_facts import admit, expose, gather_facts
from stages.load_layers import load_layers
from stages.merge_settings import merge_settings
from stages.open_run import open_run
from stages.plan_projection import plan_projection
from stages.project import project
from stages.read_settings import read_settings
from stages.reject_warnings import reject_warnings
from stages.resolve_strategies import resolve_strategies
from stages.run import run


def prepare(host: Host, request: Request) -> Effect[Prepared]:
    """Do everything before the first write; `--dry-run` ends here."""
    step = host.step
    return IOResult.do(
        prepared
        for files in step(read_settings, host.sources, request)
        for settings in step(merge_settings, files)
        for reader in step(load_layers, host.sources, files, settings, request)
        for adapter in step(choose_harness, settings, request)
        for composition in step(compose, reader, settings, request)
        for site in step(gather_facts, host.sources, host.runs, adapter, files, settings, request)
        for verdict in step(expose, host.sources, host.grants, adapter, reader, settings, composition, site, request)
        for asked, chosen, trust in step(admit, adapter, reader, settings, composition, verdict, request)
        for strategies in step(resolve_strategies, adapter, settings, site.facts, asked)
        for plan in step(plan_projection, adapter, settings, chosen, strategies, site.facts, asked)
        for prepared in step(
            reject_warnings, Prepared(asked, settings, chosen, site, plan, reader.roots(), trust=trust)
        )
    )


def launch(host: Host, request: Request) -> Effect[Report]:
    """Prepare, open a run directory, run the harness in it, settle what it wrote, clean up."""
    return prepare(host, request).bind(partial(carry_out, host))


def carry_out(host: Host, prepared: Prepared) -> Effect[Report]:
    """Do the writing half of a launch; the run directory is always left as its record says.

    It begins with the question, where nobody has allowed yet what the project would run.
    """
    return consented(host, prepared).bind(partial(_carry_out, host))


def consented(host: Host, prepared: Prepared) -> Effect[Prepared]:
    """Ask about what nobody allowed, keep the answer, and read everything anew.

    What is launched is what was answered.
    Errors: `PolicyRefused` for a no, and for a tree that changed meanwhile; `Interrupted` for a signal at the question.
    """
    verdict = prepared.trust
    if verdict is None or verdict.state != "pending":
        return done(prepared)
    from outfitter.trust.consent import granted_now, question, refused_meanwhile, unanswered

    exposure, harness = verdict.exposure, prepared.plan.harness

    def go(answer: Consent) -> Effect[Prepared]:
        if answer == "no":
            return failed(unanswered(verdict, harness))
        if answer == "without":
            return prepare(host, evolve(prepared.request, untrusted=True))
        for notice in granted_now(host.grants, exposure, prepared.request.ambient.now_ns):
            host.terminal.say(notice)
        again = prepare(host, evolve(prepared.request, trust=exposure.digest))
        return again.bind(lambda fresh: refused_meanwhile(fresh, harness))

    return guarded(lambda: done(host.terminal.consent(question(verdict, harness)))).bind(go)


def _carry_out(host: Host, prepared: Prepared) -> Effect[Report]:
    return host.step(open_run, host.runs, prepared).bind(
        always(partial(_project_and_run, host, prepared), then=partial(_leave, host, prepared))
    )


def _project_and_run(host: Host, prepared: Prepared, opened: OpenRun) -> Effect[Settled]:
    step = host.step
    return IOResult.do(
        settled
        for projected in step(project, host.projecting, host.terminal, prepared, opened.record)
        for based in step(fingerprint, host.trees, host.runs, projected)
        for settled in guarded(partial(_run_and_settle, host, prepared, opened, based)).lash(
            partial(_unsettled, based.record)
        )
    )


def _run_and_settle(host: Host, prepared: Prepared, opened: OpenRun, based: BaselineTaken) -> Effect[Settled]:
    """Run the harness, and settle what it wrote however that went."""
    use = partial(_run, host, prepared, opened)
    return always(use, then=partial(_settle, host, prepared.settings, opened.token, based.baseline))(based.record)


def _run(host: Host, prepared: Prepared, opened: OpenRun, record: Record) -> Effect[ChildExit]:
    launch = prepared.plan.launch
    return host.step(run, host.processes, host.runs, launch, opened.token, record, _import_the_rest)


def _settle(
    host: Host, settings: Settings, token: Token, baseline: Snapshot, record: Record, outcome: Outcome[ChildExit]
) -> Effect[Settled]:
    from outfitter.pipeline_after import settle_run

    return settle_run(host, settings, token, baseline, record, outcome)


def _unsettled(record: Record, error: LaunchError) -> Effect[Settled]:
    """Leave a run to recovery: the harness may have written, and nothing of that counts as saved."""
    return done(Settled(evolve(record, phase="started"), error, Settlement(saved=False, complete=False)))


def _leave(host: Host, prepared: Prepared, opened: OpenRun, outcome: Outcome[Settled]) -> Effect[Report]:
    from outfitter.pipeline_after import leave

    return leave(host, prepared, opened, outcome)


def _import_the_rest() -> None:
    """Load what runs after the harness while it runs, so that no launch waits for it."""
    import_module("outfitter.pipeline_after")
