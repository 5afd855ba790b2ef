"""What the commands that show a whole tree need of it: all names and front matter, or every file that any agent reaches."""

from __future__ import annotations

from outfitter.catalog.agents import agent, sites
from outfitter.catalog.closure import SERVER_FILES, closure, extension_files
from outfitter.catalog.demand import DEEP, Demand
from outfitter.catalog.health import layer_notices
from outfitter.catalog.native import visible
from outfitter.catalog.servers import select
from outfitter.catalog.skills import SkillSite, sites_in
from outfitter.model.layers import Layers
from outfitter.model.settings import Settings

WHOLE = ("agents", "skills", "commands", "knowledge", "deepwork", "rules", "workflows", "hooks", "prompts")
# agents/<id>/skills/<skill>/SKILL.md, and a category between.
PRIVATE_DEPTH = 5


def needs_names(layers: Layers) -> Demand:
    """What `list` shows: every agent and skill with its front matter, the names of commands and knowledge."""
    demand = Demand(layers)
    _documents(demand, PRIVATE_DEPTH)
    for layer in range(len(demand.trees)):
        for folder in ("commands", "knowledge"):
            demand.is_folder(layer, folder) and demand.listed(layer, folder, DEEP)
    visible(demand, ())
    layer_notices(demand)
    return demand


def needs_all(layers: Layers, settings: Settings) -> Demand:
    """Every file of every layer that a composition of any agent would read, shadowed definitions included."""
    demand = Demand(layers)
    for layer in range(len(demand.trees)):
        for folder in WHOLE:
            demand.is_folder(layer, folder) and demand.listed(layer, folder, DEEP)
    _documents(demand, DEEP)
    layer_notices(demand)
    if demand.wants:
        return demand
    for name in sites(demand):
        found = closure(demand, settings, name)
        extension_files(demand, found.chosen)
        if not found.error and not demand.wants:
            select(demand, found.chosen.mcp, found.chosen.disabled_servers)
    return demand


def _documents(demand: Demand, depth: int) -> None:
    for layer in range(len(demand.trees)):
        if demand.is_folder(layer, "agents"):
            demand.listed(layer, "agents", depth)
        for name in ("mcp.json", "mcp_config.json", "models.json"):
            demand.document(layer, name, "json")
        for name in ("agents.md", "AGENTS.md", "system-prompt.md"):
            demand.document(layer, name, "markdown")
    for name, found in sites(demand).items():
        agent(demand, name)
        for layer in range(len(demand.trees)) if depth == DEEP else ():
            for file in SERVER_FILES:
                demand.document(layer, f"agents/{name}/{file}", "json")
        for site in found:
            demand.document(site.layer, site.path, "markdown")
    for skill in all_skills(demand):
        demand.document(skill.layer, skill.manifest, "markdown")


def all_skills(demand: Demand) -> list[SkillSite]:
    """Every skill of every layer: the shared ones, then each agent's own; shadowed ones too."""
    found: list[SkillSite] = []
    for layer in range(len(demand.trees)):
        found += sites_in(demand, layer, "skills")
        for name in demand.children(layer, "agents"):
            if demand.is_folder(layer, f"agents/{name}/skills"):
                found += sites_in(demand, layer, f"agents/{name}/skills")
    return found
