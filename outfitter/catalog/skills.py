"""Skills of all layers: where they are, and which one a slug means.

See spec/10 and spec/15 V7 to V10, V30.
"""

from __future__ import annotations

from collections.abc import Mapping

from outfitter.catalog.fields import is_readable
from outfitter.catalog.tree_reader import DEEP, TreeReader
from outfitter.model.value import NamedTuple

CATEGORY_LEVELS = 4
MANIFESTS = ("SKILL.md", "skill.md")


class SkillSite(NamedTuple):
    """A skill's directory in one layer.

    `base` is `skills` or an agent's own; `qualified` is the path below it, `leaf` its last part.
    """

    layer: int
    base: str
    qualified: str
    leaf: str
    manifest: str

    @property
    def path(self) -> str:
        """The folder, relative to the layer."""
        return f"{self.base}/{self.qualified}"


class Resolved(NamedTuple):
    """What a slug means: a site, or None.

    `rivals` are other paths that match; `hidden` is true if the winner is switched off.
    """

    site: SkillSite | None
    rivals: tuple[str, ...] = ()
    hidden: bool = False


def sites_in(reader: TreeReader, layer: int, base: str) -> list[SkillSite]:
    """Return every skill below a base directory, categories included, sorted by path."""
    return list(reader.cached(("skills", layer, base), lambda: _walk(reader, layer, base, "", CATEGORY_LEVELS)))


def _walk(reader: TreeReader, layer: int, base: str, prefix: str, levels: int) -> list[SkillSite]:
    found: list[SkillSite] = []
    for name in reader.children(layer, f"{base}/{prefix}".rstrip("/")):
        qualified = f"{prefix}{name}"
        path = f"{base}/{qualified}"
        hidden = name.startswith(".") and name != ".git" and is_readable(name[1:])
        if not (hidden or is_readable(name)) or not reader.is_folder(layer, path):
            continue
        manifest = "" if hidden else manifest_of(reader, layer, path)
        if manifest:
            found.append(SkillSite(layer, base, qualified, name, manifest))
        elif levels > 1 and _has_folders(reader, layer, path) and reader.listed(layer, path, DEEP):
            found += _walk(reader, layer, base, qualified + "/", levels - 1)
    return found


def _has_folders(reader: TreeReader, layer: int, path: str) -> bool:
    return any(reader.is_folder(layer, f"{path}/{name}") for name in reader.children(layer, path))


def manifest_of(reader: TreeReader, layer: int, path: str) -> str:
    """Return the path of a manifest in a directory, "" if the directory is not a skill."""
    for name in MANIFESTS:
        if reader.is_file(layer, f"{path}/{name}"):
            return f"{path}/{name}"
    others = (name for name in reader.children(layer, path) if name.lower() == "skill.md")
    return next((f"{path}/{name}" for name in others if reader.is_file(layer, f"{path}/{name}")), "")


def bases(reader: TreeReader, owner: str) -> list[tuple[int, str]]:
    """Return where to look for a slug that `owner` declared, in order.

    The owner's own `skills/` of every layer, then the shared ones.
    """
    layers = _from_its_own(reader, owner)
    own = [(layer, f"agents/{owner}/skills") for layer in layers] if owner else []
    for layer, _ in own:
        if reader.is_folder(layer, f"agents/{owner}/skills"):
            reader.listed(layer, f"agents/{owner}", DEEP)
    return own + [(layer, "skills") for layer in layers]


def _from_its_own(reader: TreeReader, owner: str) -> tuple[int, ...]:
    """Layers in order of lookup; the native layer of a native agent comes first."""
    own = next((layer for layer in reader.order if owner and reader.is_file(layer, f"agents/{owner}/agent.md")), None)
    if own is None or not reader.layer(own).is_native:
        return reader.order
    return (own, *(layer for layer in reader.order if layer != own))


def resolve(reader: TreeReader, slug: str, owner: str) -> Resolved:
    """The skill that a slug in `owner`'s loadout means."""
    places = bases(reader, owner)
    for layer, base in places:
        found = _in_layer(reader, layer, base, slug)
        if found:
            return _shown(reader, found)
    named = [site for layer, base in places for site in _by_name(reader, layer, base, slug)]
    return _shown(reader, Resolved(named[0])) if named else Resolved(None)


def _in_layer(reader: TreeReader, layer: int, base: str, slug: str) -> Resolved | None:
    path = f"{base}/{slug}"
    manifest = manifest_of(reader, layer, path)
    if manifest:
        return Resolved(SkillSite(layer, base, slug, slug.rpartition("/")[2], manifest))
    if "/" in slug:
        parts = slug.split("/")
        if len(parts) <= CATEGORY_LEVELS and reader.is_folder(layer, f"{base}/{parts[0]}"):
            reader.listed(layer, f"{base}/{parts[0]}", DEEP)
        return None
    fitting = _leaves(reader, layer, base).get(slug, [])
    physical = {_physical(reader, site): site for site in reversed(fitting)}
    if not physical:
        return None
    first = fitting[0]
    return Resolved(first, tuple(site.path for site in fitting) if len(physical) > 1 else ())


def _leaves(reader: TreeReader, layer: int, base: str) -> dict[str, list[SkillSite]]:
    """The skills of a base folder by the last part of their path."""

    def by_leaf() -> dict[str, list[SkillSite]]:
        leaves: dict[str, list[SkillSite]] = {}
        for site in sites_in(reader, layer, base):
            leaves.setdefault(site.leaf, []).append(site)
        return leaves

    return reader.cached(("skills by leaf", layer, base), by_leaf)


def winner(reader: TreeReader, site: SkillSite) -> SkillSite:
    """The skill of a higher layer that a site's spelling means, else the site itself."""
    for layer in reader.order[: reader.order.index(site.layer)]:
        found = _in_layer(reader, layer, site.base, site.qualified)
        if found and found.site:
            return found.site
    return site


def _physical(reader: TreeReader, site: SkillSite) -> str:
    entry = reader.entry(site.layer, site.path)
    return entry.target if entry else site.path


def _by_name(reader: TreeReader, layer: int, base: str, word: str) -> list[SkillSite]:
    """The one skill of a layer whose front matter has this `name` (V9)."""
    found = [site for site in sites_in(reader, layer, base) if _name(reader, site) == word]
    return found if len(found) == 1 else []


def _name(reader: TreeReader, site: SkillSite) -> str:
    document = reader.document(site.layer, site.manifest, "markdown")
    value = document.value if document else None
    return str(value.get("name") or "") if isinstance(value, Mapping) else ""


def _shown(reader: TreeReader, found: Resolved) -> Resolved:
    if found.site is None:
        return found
    document = reader.document(found.site.layer, found.site.manifest, "markdown")
    return found._replace(hidden=bool(document and is_off(document.value)))


def is_off(value: object) -> bool:
    """Whether front matter switches its resource off (V27).

    `false`, `no`, `off` and `0` count, in any case, also as text.
    """
    enabled = value.get("enabled") if isinstance(value, Mapping) else None
    return enabled is not None and str(enabled).strip().lower() in ("false", "no", "off", "0")


def why_missing(reader: TreeReader, slug: str, owner: str) -> tuple[str, str]:
    """Return a message and a hint for a slug that does not resolve.

    A flat file (V8), an invalid name (V10), or the nearest known ids.
    """
    from outfitter.model.wording import did_you_mean

    for layer, base in bases(reader, owner):
        if reader.is_file(layer, f"{base}/{slug}.md"):
            where = reader.place(layer, f"{base}/{slug}.md")
            return f"{where} is a file, not a skill", f"move it to {base}/{slug}/SKILL.md"
        entry = reader.entry(layer, f"{base}/{slug}")
        if entry and entry.kind in ("outside", "dangling"):
            return f"skill {slug!r} is out of reach: its symlink is skipped", ""
    known = {
        name
        for layer, base in bases(reader, owner)
        for site in sites_in(reader, layer, base)
        for name in (site.leaf, site.qualified)
    }
    hint = did_you_mean(slug, known, "see outfitter list skills")
    return f"skill {slug!r} was not found in any layer", hint


def visible(reader: TreeReader) -> list[SkillSite]:
    """Shared skills of the project's and the home's tree: what a harness may read by itself (V3)."""
    return [
        site
        for layer, tree in enumerate(reader.trees)
        if tree.kind in ("project", "home")
        for site in sites_in(reader, layer, "skills")
    ]
