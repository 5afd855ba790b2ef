"""Skills of all layers: where they are, and which one a loadout's slug means (spec/10, spec/15 V7 to V10, V30)."""

from __future__ import annotations

from collections.abc import Mapping

from outfitter.catalog.fields import is_readable
from outfitter.catalog.tree_reader import DEEP, Demand
from outfitter.model.value import NamedTuple

CATEGORY_LEVELS = 4
MANIFESTS = ("SKILL.md", "skill.md")


class SkillSite(NamedTuple):
    """A skill's folder in one layer: `base` is `skills` or an agent's own; `qualified` the path below it, `leaf` its last part."""

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
    """What a slug means: a site or nothing; `rivals` are the paths that fit as well; `hidden` that the winner is switched off."""

    site: SkillSite | None
    rivals: tuple[str, ...] = ()
    hidden: bool = False


def sites_in(demand: Demand, layer: int, base: str) -> list[SkillSite]:
    """Every skill below a base folder, categories entered, in order of path; the same folder met twice counts once."""
    memo = demand.memo.get((layer, base))
    if memo is None:
        memo = demand.memo[(layer, base)] = list(_walk(demand, layer, base, "", CATEGORY_LEVELS))
    return list(memo)


def _walk(demand: Demand, layer: int, base: str, prefix: str, levels: int) -> list[SkillSite]:
    found: list[SkillSite] = []
    for name in demand.children(layer, f"{base}/{prefix}".rstrip("/")):
        qualified = f"{prefix}{name}"
        path = f"{base}/{qualified}"
        if not is_readable(name) or not demand.is_folder(layer, path):
            continue
        manifest = manifest_of(demand, layer, path)
        if manifest:
            found.append(SkillSite(layer, base, qualified, name, manifest))
        elif levels > 1 and _has_folders(demand, layer, path) and demand.listed(layer, path, DEEP):
            found += _walk(demand, layer, base, qualified + "/", levels - 1)
    return found


def _has_folders(demand: Demand, layer: int, path: str) -> bool:
    return any(demand.is_folder(layer, f"{path}/{name}") for name in demand.children(layer, path))


def manifest_of(demand: Demand, layer: int, path: str) -> str:
    """The path of a skill folder's manifest, "" where the folder is no skill."""
    return next((f"{path}/{name}" for name in MANIFESTS if demand.is_file(layer, f"{path}/{name}")), "")


def bases(demand: Demand, owner: str) -> list[tuple[int, str]]:
    """Where a slug that `owner` declared is looked for, in order: its own `skills/` of every layer, then the shared ones."""
    layers = range(len(demand.trees))
    own = [(layer, f"agents/{owner}/skills") for layer in layers] if owner else []
    for layer, _ in own:
        if demand.is_folder(layer, f"agents/{owner}/skills"):
            demand.listed(layer, f"agents/{owner}", DEEP)
    return own + [(layer, "skills") for layer in layers]


def resolve(demand: Demand, slug: str, owner: str) -> Resolved:
    """The skill that a slug in `owner`'s loadout means."""
    places = bases(demand, owner)
    for layer, base in places:
        found = _in_layer(demand, layer, base, slug)
        if found:
            return _shown(demand, found)
    named = [site for layer, base in places for site in _by_name(demand, layer, base, slug)]
    return _shown(demand, Resolved(named[0])) if named else Resolved(None)


def _in_layer(demand: Demand, layer: int, base: str, slug: str) -> Resolved | None:
    path = f"{base}/{slug}"
    manifest = manifest_of(demand, layer, path)
    if manifest:
        return Resolved(SkillSite(layer, base, slug, slug.rpartition("/")[2], manifest))
    if "/" in slug:
        parts = slug.split("/")
        if len(parts) <= CATEGORY_LEVELS and demand.is_folder(layer, f"{base}/{parts[0]}"):
            demand.listed(layer, f"{base}/{parts[0]}", DEEP)
        return None
    fitting = _leaves(demand, layer, base).get(slug, [])
    physical = {_physical(demand, site): site for site in reversed(fitting)}
    if not physical:
        return None
    first = fitting[0]
    return Resolved(first, tuple(site.path for site in fitting) if len(physical) > 1 else ())


def _leaves(demand: Demand, layer: int, base: str) -> dict[str, list[SkillSite]]:
    key = ("leaves", layer, base)
    if key not in demand.memo:
        leaves: dict[str, list[SkillSite]] = {}
        for site in sites_in(demand, layer, base):
            leaves.setdefault(site.leaf, []).append(site)
        demand.memo[key] = leaves
    found: dict[str, list[SkillSite]] = demand.memo[key]
    return found


def winner(demand: Demand, site: SkillSite) -> SkillSite:
    """The skill of a higher layer that a site's spelling means, else the site itself."""
    for layer in range(site.layer):
        found = _in_layer(demand, layer, site.base, site.qualified)
        if found and found.site:
            return found.site
    return site


def _physical(demand: Demand, site: SkillSite) -> str:
    entry = demand.entry(site.layer, site.path)
    return entry.target if entry else site.path


def _by_name(demand: Demand, layer: int, base: str, word: str) -> list[SkillSite]:
    """The one skill of a layer whose front matter has this `name` (V9)."""
    found = [site for site in sites_in(demand, layer, base) if _name(demand, site) == word]
    return found if len(found) == 1 else []


def _name(demand: Demand, site: SkillSite) -> str:
    document = demand.document(site.layer, site.manifest, "markdown")
    value = document.value if document else None
    return str(value.get("name") or "") if isinstance(value, Mapping) else ""


def _shown(demand: Demand, found: Resolved) -> Resolved:
    if found.site is None:
        return found
    document = demand.document(found.site.layer, found.site.manifest, "markdown")
    return found._replace(hidden=bool(document and is_off(document.value)))


def is_off(value: object) -> bool:
    """Whether front matter switches its resource off (V27: `false`, `no`, `off`, `0`, in any case, also as text)."""
    enabled = value.get("enabled") if isinstance(value, Mapping) else None
    return enabled is not None and str(enabled).strip().lower() in ("false", "no", "off", "0")


def why_missing(demand: Demand, slug: str, owner: str) -> tuple[str, str]:
    """Message and hint for a slug that resolves nowhere: a flat file (V8), a name that is no id (V10), or the nearest known ones."""
    from outfitter.model.wording import did_you_mean

    for layer, base in bases(demand, owner):
        if demand.is_file(layer, f"{base}/{slug}.md"):
            where = demand.place(layer, f"{base}/{slug}.md")
            return f"{where} is a file, not a skill", f"move it to {base}/{slug}/SKILL.md"
        entry = demand.entry(layer, f"{base}/{slug}")
        if entry and entry.kind in ("outside", "dangling"):
            return f"skill {slug!r} is not in reach: its link is skipped", ""
    known = {
        name
        for layer, base in bases(demand, owner)
        for site in sites_in(demand, layer, base)
        for name in (site.leaf, site.qualified)
    }
    hint = did_you_mean(slug, known, "outfitter list skills shows them")
    return f"skill {slug!r} is found in no layer", hint


def visible(demand: Demand) -> list[SkillSite]:
    """Shared skills of the project's and the home's tree: what a harness may read by itself (V3)."""
    return [
        site
        for layer, tree in enumerate(demand.trees)
        if tree.kind in ("project", "home")
        for site in sites_in(demand, layer, "skills")
    ]
