"""A request's settings files and the roots of its trees, in order of precedence."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from typing import Any

from outfitter.host import Sources
from outfitter.model.layers import Document, LayerKind
from outfitter.model.request import Ambient, Notice, Position, Problem, Request, resolved
from outfitter.model.settings import HOME_SCOPES, Origin, Scope, ScopeKind, Settings, SettingsFiles
from outfitter.model.value import NamedTuple

FILES: tuple[tuple[str, ScopeKind, ScopeKind], ...] = (
    ("settings.local.yml", "project-local", "home-local"),
    ("settings.yml", "project", "home"),
)
# Files beside ours that people mistake for settings (spec/15 V29).
MISNAMED = (("settings.yaml", "yaml"), ("settings.json", "json"))
OUR_KEYS = (
    "default_agent",
    "default_harness",
    "isolation",
    "sources",
    "remote_settings",
    "state_persistence",
    "agent_defaults",
    "native_layers",
)


class Root(NamedTuple):
    """One tree's root; its symlinks may not leave `boundary` ("" for no boundary)."""

    kind: LayerKind
    label: str
    path: str
    boundary: str


class Roots(NamedTuple):
    """The trees in order of precedence, and a warning for each source that is not there yet."""

    roots: tuple[Root, ...]
    notices: tuple[Notice, ...] = ()


def local_scopes(sources: Sources, request: Request) -> SettingsFiles:
    """Read the project's and the home's settings files; one that cannot be read is a problem."""
    home = posixpath.join(request.ambient.home, ".agents")
    root, boundary, notices = sources.project_root(request.ambient.cwd, request.ambient.home)
    tree = posixpath.join(root, ".agents")
    read = SettingsFiles(root, boundary, notices=notices)
    if sources.real(tree) != sources.real(home):
        read = _files(sources, read, tree, boundary, 1)
    return _files(sources, read, home, "", 2)


def _files(sources: Sources, read: SettingsFiles, tree: str, boundary: str, column: int) -> SettingsFiles:
    entries = sources.listing(tree, boundary, 1)
    if not entries and column == 2:
        read = _home(sources, read, tree)
    for row in FILES:
        entry = entries.get(row[0])
        path = posixpath.join(tree, row[0])
        if entry is None:
            continue
        if entry.kind == "outside":
            message = f"points outside the repository ({entry.target}); settings are not followed there"
            read = read._replace(problems=(*read.problems, Problem(path, message)))
            continue
        read = with_scope(read, sources.document(path, "settings"), row[1] if column == 1 else row[2])
    for name, form in MISNAMED:
        if name in entries and entries[name].kind == "file":
            found = sources.document(posixpath.join(tree, name), form)  # type: ignore[arg-type]
            if found and isinstance(found.value, Mapping) and any(key in found.value for key in OUR_KEYS):
                text = f"{found.path} is not read: settings are read from settings.yml"
                read = read._replace(notices=(*read.notices, Notice("warning", "settings-misnamed", text, "rename it")))
    return read


def _home(sources: Sources, read: SettingsFiles, tree: str) -> SettingsFiles:
    """A home tree that is no directory is an error: the settings in it may hold policy."""
    entry = sources.listing(posixpath.dirname(tree), "", 1).get(posixpath.basename(tree))
    if entry is None or entry.kind == "directory":
        return read
    why = f"is a dangling symlink ({entry.target})" if entry.kind == "dangling" else "is not a directory"
    return read._replace(problems=(*read.problems, Problem(tree, why)))


def with_scope(read: SettingsFiles, document: Document | None, kind: ScopeKind) -> SettingsFiles:
    """A reading with one more settings file, below those it has."""
    if document is None:
        return read
    scope = Scope(
        kind,
        document.path,
        posixpath.dirname(document.path),
        document.value or {},
        document.positions,
        kind != "remote",
    )
    return read._replace(
        scopes=(*read.scopes, scope),
        problems=(*read.problems, *document.problems),
        notices=(*read.notices, *document.notices),
    )


def with_remotes(
    sources: Sources, read: SettingsFiles, environment: Ambient, absent_is_fine: bool = False
) -> SettingsFiles:
    """Add the cached remote settings below the local ones.

    One that was never synchronized is a problem, since it may hold policy (spec/10), unless `absent_is_fine`.
    """
    entries, origin = _deciding(read.scopes, "remote_settings")
    given, set_by = _deciding([scope for scope in read.scopes if scope.kind in HOME_SCOPES], "cache_directory")
    cache = _cache_directory(given, set_by, environment)
    for entry in _mappings(entries):
        from outfitter.sync.sources import checkout, inside

        name = label(entry)
        root = checkout(cache, entry)
        path = inside(root, entry.get("path"))
        document, message, hint = None, "", ""
        if "checkout" not in sources.names(posixpath.dirname(root)):
            if absent_is_fine:
                continue
            message, hint = f"{name} was never fetched", "outfitter sync"
        elif not path or not _contained(sources, path, root):
            message = f"{name} leaves its repository"
        else:
            document = sources.document(path, "settings")
            message = "" if document else f"{name} does not exist in its repository"
        if message:
            problem = Problem(origin.path, message, "remote_settings", origin.at, hint)
            read = read._replace(problems=(*read.problems, problem))
        read = with_scope(read, document, "remote")
    return read


def _deciding(scopes: Iterable[Scope], key: str) -> tuple[Any, Origin]:
    """Return a top-level key's value in the highest scope that sets it, and its origin."""
    for scope in scopes:
        if scope.values.get(key) is not None:
            return scope.values[key], Origin(scope.kind, scope.path, scope.positions.get((key,), Position()))
    return None, Origin("default")


def cache_directory(settings: Settings, environment: Ambient) -> str:
    """Return Outfitter's cache directory: `cache_directory`, else `~/.agents/cache` (spec/20)."""
    origin = settings.origins.get(("cache_directory",), Origin("default"))
    return _cache_directory(settings.values.get("cache_directory"), origin, environment)


def _cache_directory(given: Any, origin: Origin, environment: Ambient) -> str:
    """Resolve a configured path relative to the file that sets it."""
    if not isinstance(given, str):
        return posixpath.join(environment.home, ".agents/cache")
    return resolved(given, environment.home, posixpath.dirname(origin.path) if origin.path else environment.home)


def roots(sources: Sources, request: Request, files: SettingsFiles, settings: Settings) -> Roots:
    """Return the roots of the project's tree, the home's, and the configured sources; each directory once."""
    home = posixpath.join(request.ambient.home, ".agents")
    project = posixpath.join(files.project_root, ".agents")
    cache = cache_directory(settings, request.ambient)
    candidates = [Root("project", "project", project, files.boundary), Root("home", "home", home, "")]
    if sources.real(project) == sources.real(home):
        del candidates[0]
    missing: list[str] = []
    for entry in _mappings(settings.values.get("sources")):
        from outfitter.sync.sources import checkout, inside, repository_of

        if repository_of(entry):
            root = checkout(cache, entry)
            if "checkout" not in sources.names(posixpath.dirname(root)):
                missing.append(label(entry))
                continue
            path = inside(root, entry.get("path"))
            candidates += [Root("source", label(entry), path, root)] if path else []
        else:
            path = local_path(settings, str(entry.get("path", "")), request.ambient.home)
            boundary = sources.project_root(path, request.ambient.home)[1]
            candidates.append(Root("source", path, path, boundary))
    unique: dict[str, Root] = {}
    for candidate in candidates:
        unique.setdefault(sources.real(candidate.path), candidate)
    return Roots(tuple(unique.values()), _unfetched(missing) if missing else ())


def _unfetched(sources: list[str]) -> tuple[Notice, ...]:
    """One warning, however many they are."""
    from outfitter.model.wording import counted, listed

    count = counted(len(sources), "source was never fetched and is", "sources were never fetched and are")
    return (Notice("warning", "source-unsynced", f"{count} left out: {listed(sources, 4)}", "outfitter sync"),)


def local_path(settings: Settings, path: str, home: str) -> str:
    """A local source's directory: relative to the settings file that names it, `~` expanded."""
    origin = settings.origins.get(("sources",))
    base = posixpath.dirname(origin.path) if origin else home
    return resolved(path, home, base)


def label(entry: Mapping[str, Any]) -> str:
    """What people call a source: its repository without credentials, ref and path."""
    from outfitter.sync.sources import repository_of

    repository = repository_of(entry)
    if not repository:
        return str(entry.get("path", ""))
    from outfitter.syntax.address import without_credentials

    ref = f"@{entry['ref']}" if entry.get("ref") else ""
    return f"{without_credentials(repository)}{ref}" + (f"#{entry['path']}" if entry.get("path") else "")


def _mappings(value: Any) -> list[Mapping[str, Any]]:
    """Return the mappings in a list, [] for anything else."""
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _contained(sources: Sources, path: str, root: str) -> bool:
    physical, limit = sources.real(path), sources.real(root)
    return physical.startswith(limit + "/")
