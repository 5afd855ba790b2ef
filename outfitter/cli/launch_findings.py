"""What launches of an agent would say about its tree: one plan for each harness (spec/80)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping

from outfitter.adapters import NAMES, adapter
from outfitter.catalog.agents import Agent, sites
from outfitter.catalog.lint import Finding, Level
from outfitter.catalog.tree_reader import TreeReader
from outfitter.model.composition import Composition
from outfitter.model.layers import Layers
from outfitter.model.projection import Facts, ProjectionPlan
from outfitter.model.request import Ambient, Notice, Position, Request
from outfitter.model.settings import Settings
from outfitter.railway import Outcome, fold
from stages.plan_projection import plan_projection
from stages.resolve_strategies import resolve_strategies

# Warnings whose cause is in the tree, with the parts of the keys that they are about; others are about a machine or a run.
_ABOUT: Mapping[str, tuple[str, ...]] = {
    "tool-unknown": ("tool", "permission"),
    "tool-pattern": ("tool", "permission"),
    "tools-exclude-server": ("tool",),
    "tools-single-mcp": ("tool",),
    "model-omitted": ("model",),
    "thinking-unknown": ("thinking",),
    "control-unsupported": ("controls",),
    "job-path": ("controls",),
    "subagent-omitted": ("subagents",),
    "subagent-skills": ("subagents",),
    "mcp-omitted": ("mcp",),
    "mcp-tools-unlimited": ("mcp",),
    "mcp-unexpanded": ("mcp",),
    "server-limit": ("mcp",),
    "overlay-refused": (),
    "skill-overlaid": (),
}


def launch_findings(
    reader: TreeReader, one: Agent, made: Composition, settings: Settings, ambient: Ambient
) -> Iterator[Finding]:
    """Each warning once, with the harnesses that give it.

    It is a note if only harnesses give it that are not the default one, and another harness does without it.
    """
    said: dict[tuple[str, str, str], list[str]] = {}
    for harness in NAMES:
        for notice in _notices(reader.layers, harness, made, settings, ambient):
            if notice.code in _ABOUT:
                text = notice.message.removeprefix(f"agent {made.agent}: ").removeprefix(f"{harness}: ")
                said.setdefault((notice.code, text, notice.hint), []).append(harness)
    for (code, text, hint), harnesses in said.items():
        level: Level = (
            "warning" if len(harnesses) > 1 or settings.values.get("default_harness") in harnesses else "note"
        )
        who = "" if text.startswith(f"{harnesses[0]} ") else f"{', '.join(harnesses)}: "
        key, at = _place(reader, one, _ABOUT[code])
        yield Finding(level, code, f"{who}{text}", one.place.path, at, key, hint)


def _notices(
    layers: Layers, harness: str, made: Composition, settings: Settings, ambient: Ambient
) -> tuple[Notice, ...]:
    """The notices of a launch's plan on a machine of which nothing is known, () without a plan."""
    chosen = adapter(harness)
    native = posixpath.join(ambient.home, chosen.home)
    root = layers.project_root or ambient.cwd
    facts = Facts(chosen.command, native, "/cache", "/projection", root, {})
    request = Request(ambient, agent=made.agent, harness=harness)
    planned: Outcome[ProjectionPlan] = resolve_strategies(chosen, settings, facts, request).bind(
        lambda strategies: plan_projection(chosen, settings, made, strategies, facts, request)
    )
    return fold(planned, lambda plan: plan.notices, lambda _: ())


def _place(reader: TreeReader, one: Agent, parts: tuple[str, ...]) -> tuple[str, Position]:
    """The first top-level key of the agent's front matter that a warning can be about, and where it is."""
    places = (site for site in sites(reader).get(one.id, ()) if reader.place(site.layer, site.path) == one.place.path)
    site = next(places, None)
    document = reader.document(site.layer, site.path, "markdown") if site else None
    positions = document.positions if document else {}
    keys = (key for key in one.values if any(part in str(key).lower() for part in parts))
    key = next((key for key in keys if (key,) in positions), "")
    return key, positions.get((key,), Position())
