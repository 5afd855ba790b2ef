"""Project.

Reads: `Prepared`, the record of the open run.
Adds: `Projected`.
Effects: writes below the run directory; creates missing durable targets of `symlink` paths.
"""

from __future__ import annotations

from collections.abc import Mapping

from outfitter.host import Projecting, Terminal
from outfitter.model.projection import Prepared, Projected, Record
from outfitter.railway import Effect, attempt
from outfitter.run.materialize import ProjectionBuilder, durable_targets


def project(projecting: Projecting, terminal: Terminal, prepared: Prepared, record: Record) -> Effect[Projected]:
    """Carry the plan out: generated files, copies, symlinks, watched copies, seeds (spec/50).

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
