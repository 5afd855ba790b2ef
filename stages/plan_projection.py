"""Plan the projection.

Reads: the adapter, `Composition`, `Strategies`, `Facts`.
Adds: `ProjectionPlan`.
Effects: none.
"""

from __future__ import annotations

from functools import partial

from attrs import evolve
from returns.result import Failure, Success

from outfitter.adapters import Adapter
from outfitter.adapters.controls import unsupported_element
from outfitter.model.composition import Composition
from outfitter.model.errors import CompositionFailed
from outfitter.model.projection import Facts, ProjectionPlan
from outfitter.model.request import Request
from outfitter.model.settings import Settings, Strategies
from outfitter.railway import Outcome
from outfitter.run.plan_checks import violations


def plan_projection(
    adapter: Adapter,
    settings: Settings,
    composition: Composition,
    strategies: Strategies,
    facts: Facts,
    request: Request,
) -> Outcome[ProjectionPlan]:
    """Return the adapter's plan, checked.

    Every path stays inside the projection, and no path is of two kinds. Each element that the adapter cannot project is one
    warning (spec/40): the plan's own, which may say more, else one from here. Errors: `CompositionFailed`, and the adapter's own.
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
