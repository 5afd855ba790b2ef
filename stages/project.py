"""Project.

Reads: `Prepared`, the open run directory.
Adds: `Projected`.
Effects: makes the run directory, and everything below it; creates missing durable targets of `symlink` paths.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from attrs import evolve
from returns.result import Failure, Success

from outfitter.adapters import Adapter
from outfitter.adapters.controls import unsupported_element
from outfitter.host import OpenRun, Projecting, Runs, Terminal
from outfitter.model.composition import Composition
from outfitter.model.errors import CompositionFailed
from outfitter.model.projection import Facts, Prepared, Projected, ProjectionPlan, Record
from outfitter.model.request import Request
from outfitter.model.settings import Settings, Strategies
from outfitter.railway import Effect, Outcome, attempt
from outfitter.run.materialize import ProjectionBuilder, durable_targets
from outfitter.run.plan_checks import violations
from outfitter.run.record import record_of


def plan_projection(
    adapter: Adapter,
    settings: Settings,
    composition: Composition,
    strategies: Strategies,
    facts: Facts,
    request: Request,
) -> Outcome[ProjectionPlan]:
    """The adapter's plan, checked: every path stays inside the projection, no path is of two kinds, unsupported elements warned.

    Each element that the adapter cannot project is one warning (spec/40): the plan's own, which may say more, else one from here.
    """
    return adapter.plan(request, settings, composition, strategies, facts).bind(
        partial(_admit, adapter, composition, facts)
    )


def _admit(adapter: Adapter, composition: Composition, facts: Facts, plan: ProjectionPlan) -> Outcome[ProjectionPlan]:
    wrong = violations(plan)
    if wrong:
        hint = "rename what makes the path: an overlay file, a skill, a command or a subagent"
        return Failure(CompositionFailed(f"{adapter.id}: {'; '.join(wrong)}", hint))
    elements = tuple(dict.fromkeys((*plan.unsupported, *adapter.unsupported_elements(composition))))
    said = {notice.message.partition(":")[0] for notice in plan.notices if notice.code == "unsupported-element"}
    why = f"{adapter.id} cannot be given this; it is left out"
    warnings = tuple(unsupported_element(element, why) for element in elements if element not in said)
    return Success(evolve(plan, unsupported=elements, notices=(*facts.notices, *plan.notices, *warnings)))


def open_run(runs: Runs, prepared: Prepared) -> Effect[OpenRun]:
    """The run directory, made and locked, with its journal written in phase `preparing`.

    A first journal, without an inode, is written before the directory is made, so that a launcher killed between the two leaves
    nothing that recovery does not know of. That it cannot be written is said once, with the baseline. Errors: `EffectFailed`, naming the temporary directory where that is what is wrong.
    """

    def occupy() -> Outcome[OpenRun]:
        root = prepared.site.root
        intent = record_of(prepared, root, 0, 0)
        runs.journal(intent)
        try:
            token, device, inode = runs.open(root)
        except OSError:
            runs.forget(intent.run_id)
            raise
        record = evolve(intent, device=device, inode=inode)
        try:
            runs.journal(record)
        except OSError:
            runs.remove(root, device, inode)
            runs.forget(record.run_id)
            runs.close(token)
            raise
        return Success(OpenRun(record, token))

    return attempt("make the run directory", occupy)


def project(projecting: Projecting, terminal: Terminal, prepared: Prepared, record: Record) -> Effect[Projected]:
    """Carry the plan out: generated files, copies, links, watched copies, seeds (spec/50, "Materializing").

    Errors: `EffectFailed` naming the durable place that cannot be had, with the settings that do without it, or the
    path below the run directory that could not be made.
    """

    def build(targets: Mapping[str, str]) -> Projected:
        plan, builder = prepared.plan, ProjectionBuilder(projecting, record, terminal)
        projecting.make_directory(record.projection)
        builder.write_plan(plan)
        builder.place_states(targets)
        builder.plant_seeds(plan.seeds)
        builder.notice_scripts(plan)
        projected = builder.projected()
        if record.retained:
            from outfitter.run.baseline_texts import keep_baseline_texts

            keep_baseline_texts(projecting, plan, record, projected.rows, projected.durable)
        return projected

    return attempt("make the projection", lambda: durable_targets(projecting, record).map(build))
