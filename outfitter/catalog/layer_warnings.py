"""Entries of a layer that cannot be used: each is skipped with one warning.

See spec/10, "Hostile and broken input" and spec/15 V5 and V10.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outfitter.catalog.agents import category_folders, sites
from outfitter.catalog.fields import is_readable, portable
from outfitter.catalog.skills import manifest_of, sites_in
from outfitter.catalog.tree_reader import TreeReader
from outfitter.model.layers import Entry, Layer
from outfitter.model.request import Notice
from outfitter.model.settings import Settings
from outfitter.model.value import NamedTuple

FOLDERS = ("agents", "skills", "knowledge", "commands", "deepwork")
FILES = ("agents.md", "AGENTS.md", "system-prompt.md", "mcp.json", "mcp_config.json", "models.json")
RESOURCE_FILES = ("agent.md", "AGENT.md", "config.json", "mcp.json", "mcp_config.json", "SKILL.md", "skill.md")
_LINK_HINT = "this looks like a symlink that git could not create (core.symlinks)"


class SkippedEntry(NamedTuple):
    """The path in its layer of an entry that cannot be the resource its place calls for, and the warning."""

    path: str
    notice: Notice


def layer_notices(reader: TreeReader) -> tuple[Notice, ...]:
    """Return one warning for each skipped entry."""
    return tuple(skipped.notice for skipped in skipped_entries(reader))


def skipped_entries(reader: TreeReader) -> tuple[SkippedEntry, ...]:
    """Return every skipped entry, layer by layer in order of precedence."""
    layers = [number for number, tree in enumerate(reader.trees) if not tree.is_native]
    return reader.cached(
        "skipped entries", lambda: tuple(entry for layer in layers for entry in _skipped_in(reader, layer))
    )


def _skipped_in(reader: TreeReader, number: int) -> list[SkippedEntry]:
    tree = reader.layer(number)
    found: list[SkippedEntry] = []
    for entry in tree.entries.values():
        if entry.kind not in ("file", "directory"):
            found += _unusable(reader, number, entry)
        elif "/" not in entry.path:
            found += _wrong_kind(reader, number, entry)
        elif entry.kind == "directory":
            found += _misplaced(tree, entry)
    return found


def _unusable(reader: TreeReader, number: int, entry: Entry) -> list[SkippedEntry]:
    tree = reader.layer(number)
    if not _stands_for_a_resource(reader, number, entry.path):
        return []
    boundary = "the repository" if tree.kind == "project" else "its source"
    why = {
        "outside": f"points outside {boundary} ({entry.target})",
        "dangling": f"is a dangling symlink ({entry.target})",
        "unreadable": "cannot be read",
    }.get(entry.kind, "is not a regular file")
    return [_skipped(tree, entry.path, why)]


def _stands_for_a_resource(reader: TreeReader, number: int, path: str) -> bool:
    """Whether a resource, or a file of one, is expected at a path.

    What is inside a skill is the skill's own.
    """
    head, _, rest = path.partition("/")
    folder, _, leaf = rest.rpartition("/")
    if not rest:
        return head in FILES or head in FOLDERS
    if head not in FOLDERS or not folder or leaf in RESOURCE_FILES:
        return head in FOLDERS
    return head == "skills" and not manifest_of(reader, number, f"{head}/{folder}")


def _wrong_kind(reader: TreeReader, number: int, entry: Entry) -> list[SkippedEntry]:
    tree = reader.layer(number)
    if entry.path in FOLDERS and entry.kind == "file":
        document = reader.document(number, entry.path, "text")
        text = document.text.strip() if document else ""
        looks = 0 < len(text) < 512 and "\n" not in text and text.startswith((".", "/")) and "/" in text
        return [_skipped(tree, entry.path, "is a file, not a directory", _LINK_HINT if looks else "")]
    if entry.path in FILES and entry.kind == "directory":
        return [_skipped(tree, entry.path, "is a directory, not a file")]
    return []


def _misplaced(tree: Layer, entry: Entry) -> list[SkippedEntry]:
    """A folder in a manifest's place, or one whose name is no id."""
    parts = entry.path.split("/")
    if parts[0] not in ("agents", "skills"):
        return []
    name = parts[-1]
    if len(parts) == 3 and name in RESOURCE_FILES:
        return [_skipped(tree, entry.path, "is a directory, not a file")]
    if len(parts) == 2 and not is_readable(name) and not name.startswith(("_", ".")):
        return [_skipped(tree, entry.path, "is not a valid id", f"rename to {portable(name)}")]
    return []


def _skipped(tree: Layer, path: str, why: str, hint: str = "") -> SkippedEntry:
    return SkippedEntry(path, Notice("warning", "entry-skipped", f"{tree.root}/{path} {why}; skipped", hint))


def ambiguities(reader: TreeReader, settings: Settings) -> tuple[Notice, ...]:
    """Warnings that name the winner, for `validate`, `list` and `sync` only."""
    return (*source_ambiguities(settings), *_rivals(reader), *_categories(reader))


def _categories(reader: TreeReader) -> list[Notice]:
    from outfitter.model.wording import counted

    found: list[Notice] = []
    for layer, tree in enumerate(reader.trees):
        for path, count in category_folders(reader, layer) if not tree.is_native else ():
            text = f"{tree.root}/{path} has no agent.md; its {counted(count, 'Markdown file')} cannot be run as agents"
            found.append(Notice("warning", "agent-category", text, "move agents to agents/<id>.md"))
    return found


def source_ambiguities(settings: Settings) -> tuple[Notice, ...]:
    """Return warnings about the settings' `sources`.

    One repository at several refs; a list that drops a repository of a lower scope.
    """
    return (*_refs(settings), *_dropped(settings))


def _refs(settings: Settings) -> list[Notice]:
    refs: dict[str, list[str]] = {}
    for entry in _entries(settings.values.get("sources")):
        address = _address(entry)
        from outfitter.sync.sources import repository_of

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


def _rivals(reader: TreeReader) -> list[Notice]:
    """One id in several sources, where no tree of the project or the home decides it anyway."""
    found: list[Notice] = []
    for kind, ids in (("agent", _agent_layers(reader)), ("skill", _skill_layers(reader))):
        for name, layers in sorted(ids.items()):
            if len(layers) > 1 and all(reader.layer(layer).kind == "source" for layer in layers):
                labels = [reader.layer(layer).label for layer in layers]
                text = f"{kind} {name!r} is in {' and '.join(labels)}; {labels[0]} wins"
                found.append(Notice("warning", "slug-rivals", text))
    return found


def _agent_layers(reader: TreeReader) -> dict[str, list[int]]:
    return {name: sorted({site.layer for site in found}) for name, found in sites(reader).items()}


def _skill_layers(reader: TreeReader) -> dict[str, list[int]]:
    layers: dict[str, list[int]] = {}
    for layer in range(len(reader.trees)):
        for site in sites_in(reader, layer, "skills"):
            layers.setdefault(site.qualified, []).append(layer)
    return layers


def _entries(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _address(entry: Mapping[str, Any]) -> str:
    from outfitter.sync.sources import repository_of, uri_of

    repository = repository_of(entry)
    if not repository:
        return str(entry.get("path", ""))
    from outfitter.syntax.address import without_credentials

    return without_credentials(uri_of(repository)).removesuffix("/").removesuffix(".git")
