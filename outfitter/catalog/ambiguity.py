"""What is worth a warning when a tree is looked at, never when it runs: rival sources and dropped ones (spec/10, Resources)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outfitter.catalog.agents import sites
from outfitter.catalog.checkouts import repository_of, uri_of, without_credentials
from outfitter.catalog.demand import Demand
from outfitter.catalog.skills import sites_in
from outfitter.model.request import Notice
from outfitter.model.settings import Settings


def ambiguities(demand: Demand, settings: Settings) -> tuple[Notice, ...]:
    """Warnings that name the winner, for `validate`, `list` and `sync` only."""
    return (*source_ambiguities(settings), *_rivals(demand))


def source_ambiguities(settings: Settings) -> tuple[Notice, ...]:
    """Of the settings alone: one repository at several refs, and a `sources` list that drops a repository of a lower scope."""
    return (*_refs(settings), *_dropped(settings))


def _refs(settings: Settings) -> list[Notice]:
    refs: dict[str, list[str]] = {}
    for entry in _entries(settings.values.get("sources")):
        address = _address(entry)
        if repository_of(entry):
            refs.setdefault(address, []).append(str(entry.get("ref") or "its default branch"))
    return [
        Notice("warning", "source-refs", f"source {address} is declared at {' and '.join(found)}; {found[0]} wins")
        for address, several in refs.items()
        if len(found := list(dict.fromkeys(several))) > 1
    ]


def _dropped(settings: Settings) -> list[Notice]:
    lists = [(scope, _entries(scope.values.get("sources"))) for scope in settings.scopes if scope.values.get("sources")]
    if len(lists) < 2:
        return []
    winner, kept = lists[0]
    addresses = {_address(entry) for entry in kept}
    found: list[Notice] = []
    for scope, entries in lists[1:]:
        for entry in entries:
            if _address(entry) not in addresses:
                text = f"{winner.path}: its sources replace those of {scope.path} and drop {_address(entry)}"
                found.append(
                    Notice("warning", "source-dropped", text, "a list replaces the lower one whole; repeat the entry")
                )
    return found


def _rivals(demand: Demand) -> list[Notice]:
    """One id in several sources, where no tree of the project or the home decides it anyway."""
    found: list[Notice] = []
    for kind, ids in (("agent", _agent_layers(demand)), ("skill", _skill_layers(demand))):
        for name, layers in sorted(ids.items()):
            if len(layers) > 1 and all(demand.layer(layer).kind == "source" for layer in layers):
                labels = [demand.layer(layer).label for layer in layers]
                text = f"{kind} {name!r} is in {' and '.join(labels)}; {labels[0]} wins"
                found.append(Notice("warning", "slug-rivals", text))
    return found


def _agent_layers(demand: Demand) -> dict[str, list[int]]:
    return {name: sorted({site.layer for site in found}) for name, found in sites(demand).items()}


def _skill_layers(demand: Demand) -> dict[str, list[int]]:
    layers: dict[str, list[int]] = {}
    for layer in range(len(demand.trees)):
        for site in sites_in(demand, layer, "skills"):
            layers.setdefault(site.qualified, []).append(layer)
    return layers


def _entries(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _address(entry: Mapping[str, Any]) -> str:
    repository = repository_of(entry)
    if not repository:
        return str(entry.get("path", ""))
    return without_credentials(uri_of(repository)).removesuffix("/").removesuffix(".git")
