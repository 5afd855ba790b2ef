"""A launch without what a stranger's tree would run: the layers as they are composed then. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve

from outfitter.model.layers import Document, Layer, Layers
from outfitter.model.settings import HOME_SCOPES, Settings

_SERVERS = ("mcp.json", "mcp_config.json")
_KEYS = ("controls", "extensions")


def without(layers: Layers, strangers: tuple[Layer, ...]) -> Layers:
    """Return the layers without what would run or send of the strangers' trees."""
    own = [tree for tree in layers.trees if tree not in strangers]
    kept = {name for tree in own for name in _providers(tree)}
    gone = {name for tree in strangers for name in _providers(tree)} - kept
    trees = tuple(_stripped(tree, gone) if tree in strangers else tree for tree in layers.trees)
    return evolve(layers, trees=trees)


def settings_without(settings: Settings) -> Settings:
    """The settings without default extensions that the home did not write."""
    origin = settings.origins.get(("agent_defaults", "extensions"))
    if origin is None or origin.scope in HOME_SCOPES:
        return settings
    defaults = {key: value for key, value in settings.values["agent_defaults"].items() if key != "extensions"}
    return evolve(settings, values={**settings.values, "agent_defaults": defaults})


def _stripped(tree: Layer, gone: set[str]) -> Layer:
    documents = {
        path: _harmless(path, document, gone)
        for path, document in tree.documents.items()
        if path.rpartition("/")[2] not in _SERVERS and path != "models.json"
    }
    entries = {path: entry for path, entry in tree.entries.items() if not _is_overlay(path)}
    return evolve(tree, documents=documents, entries=entries)


def _harmless(path: str, document: Document, gone: set[str]) -> Document:
    if not path.startswith("agents/") or not isinstance(document.value, Mapping):
        return document
    value: dict[str, Any] = {key: inner for key, inner in document.value.items() if key not in _KEYS}
    if str(value.get("model", "")).partition("/")[0].strip() in gone:
        del value["model"]
    return evolve(document, value=value)


def _is_overlay(path: str) -> bool:
    parts = path.split("/")
    return len(parts) > 2 and parts[0] == "agents" and parts[2] == "pi"


def _providers(tree: Layer) -> tuple[str, ...]:
    document = tree.documents.get("models.json")
    block = document.value.get("providers") if document and isinstance(document.value, Mapping) else None
    if isinstance(block, Mapping):
        return tuple(block)
    return tuple(str(one.get("id")) for one in block if isinstance(one, Mapping)) if isinstance(block, list) else ()
