"""Expose: what a launch would run or send that nobody vouches for, and how it goes on.

Reads: layers, settings, composition, native files of the project, the user's grants.
Adds: `Verdict`, and the request and composition as they are admitted.
Effects: reads only.
"""

from __future__ import annotations

from attrs import evolve
from returns.result import Failure, Success

from outfitter.catalog.tree_reader import TreeReader
from outfitter.host import Grants, Sources
from outfitter.model.composition import Composition
from outfitter.model.errors import PolicyRefused
from outfitter.model.exposure import Verdict
from outfitter.model.layers import HOME_KINDS, Layer, Layers
from outfitter.model.request import Request
from outfitter.model.settings import HOME_SCOPES, Settings
from outfitter.railway import Outcome
from outfitter.trust.exposing import Inspected, exposed, judged, native_refusals
from stages.compose import compose


def look(sources: Sources, grants: Grants, launch: Inspected) -> Outcome[Verdict | None]:
    """Return the verdict over every row of the launch; None where it has none.

    Errors: `PolicyRefused` for native settings of the project that set what only the home may set.
    """
    refused = () if launch.request.untrusted else native_refusals(launch.native, launch.settings)
    if refused:
        return Failure(PolicyRefused(refused))
    verdict = judged(sources, grants, launch.settings, launch.request, exposed(sources, launch))
    return Success(verdict if verdict.exposure.rows else None)


def decide(
    harness: str,
    layers: Layers,
    settings: Settings,
    composition: Composition,
    verdict: Verdict,
    request: Request,
) -> Outcome[tuple[Request, Composition, Verdict | None]]:
    """Let a launch go on: as it is, without what nobody allowed, or to the question; refuse it otherwise.

    Errors: `PolicyRefused` with the rows that nobody allowed and the ways out, where there is nobody to ask.
    """
    if verdict.state in ("nothing", "granted", "path", "digest") and not request.untrusted:
        return Success((request, composition, verdict))
    from outfitter.trust.consent import default_of, left_out, refusal

    default = default_of(settings)
    if request.untrusted or (default == "without" and not request.dry_run):
        own = tuple(row for row in verdict.exposure.asking if row.kind == "harness")
        if own:
            return Failure(refusal(verdict, harness, own))
        from outfitter.trust.without import settings_without, without

        fewer = without(layers, strangers(layers, settings))
        chosen = evolve(request, untrusted=True)
        made = compose(TreeReader(fewer), settings_without(settings), chosen)
        return made.map(lambda rest: (chosen, left_out(rest, verdict), verdict._replace(state="without", pending=())))
    if request.dry_run or (default == "prompt" and request.ambient.stdin_tty and request.ambient.stderr_tty):
        return Success((request, composition, verdict))
    return Failure(refusal(verdict, harness, verdict.pending))


def strangers(layers: Layers, settings: Settings) -> tuple[Layer, ...]:
    """Return the trees that nobody vouches for: all but the home's, and sources that its settings name."""
    origin = settings.origins.get(("sources",))
    named = origin is not None and origin.scope in HOME_SCOPES
    return tuple(tree for tree in layers.trees if tree.kind not in HOME_KINDS and not (tree.kind == "source" and named))
