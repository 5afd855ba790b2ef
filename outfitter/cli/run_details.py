"""What `--verbose` adds to a launch: each decision with what made it, and how long each stage took (spec/80). Pure."""

from __future__ import annotations

from collections.abc import Iterator

from outfitter.cli.plan_lines import origin_text
from outfitter.host import StepNote
from outfitter.model.projection import Prepared
from outfitter.model.wording import counted

_MS = 1_000_000


def decisions(prepared: Prepared) -> Iterator[str]:
    """Layers, agent, harness, isolation, and every strategy that a setting decided; one line each."""
    asked, composition, plan = prepared.request, prepared.composition, prepared.plan
    yield from (f"layer: {kind} {root}" for kind, root in prepared.trees)
    body = next(
        (part for part in composition.fragments if part.kind == "body" and part.agent == composition.agent), None
    )
    where = f" in layer {body.layer}, {body.path}" if body else ""
    yield f"agent: {composition.agent} ({_by(prepared, 'default_agent', asked.agent)}){where}"
    yield f"harness: {plan.harness} ({_by(prepared, 'default_harness', asked.harness)}), {plan.launch.executable}"
    if plan.harness == "claude":
        given = "--isolated" if asked.isolated else None
        yield f"isolation: {'isolated' if given else prepared.settings.values.get('isolation') or 'inherit'} ({_by(prepared, 'isolation', given)})"
    rows = (*plan.strategies.declared, plan.strategies.unknown)
    decided = [row for row in rows if row.origin.scope != "default"]
    yield from (f"state: {row.path.key} {row.strategy} ({origin_text(row.origin)})" for row in decided)
    yield f"state: {len(rows) - len(decided)} of {counted(len(rows), 'path')} at the default"


def timings(steps: tuple[StepNote, ...]) -> Iterator[str]:
    """One line a stage, in order: its name, its milliseconds, and how it ended if not well."""
    for step in steps:
        ended = "" if step.status == "ok" else f" ({step.status})"
        yield f"stage: {step.name:<20} {(step.ended_ns - step.started_ns) / _MS:9.1f} ms{ended}"


def _by(prepared: Prepared, key: str, given: str | None) -> str:
    """The command line, else the setting's file and line, else the default."""
    if given is not None:
        return "command line"
    origin = prepared.settings.origins.get((key,))
    return origin_text(origin) if origin is not None else "default"
