"""The answer `always`, written into the right `settings.local.yml` and proved to win (spec/50, seed 001)."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from blake3 import blake3
from returns.result import Success

from outfitter.bridging.aftermath import words
from outfitter.host import Host
from outfitter.model.projection import Record, State
from outfitter.model.request import Notice
from outfitter.model.settings import Scope, ScopeKind, Settings, StatePath
from outfitter.override import override_text
from outfitter.persistence import entries, resolution
from outfitter.precedence import merge_scopes

_ORDER: tuple[ScopeKind, ...] = ("project-local", "project", "home-local", "home", "remote", "default")
_WANTED = "symlink"


def record_always(host: Host, settings: Settings, record: Record, state: State) -> Notice:
    """Record `<path>: symlink` where the setting that asked stands; a notice if it now wins, else a warning that says why not."""
    if _WANTED not in state.allowed:
        return _failed(state, f"{state.key} does not allow {_WANTED}")
    if state.scope == "remote":
        return _failed(state, f"it was decided by {state.origin or 'a remote source'}, which is never written to")
    path = "settings.local.yml"
    try:
        kind, path = local_scope(host, settings, record, state)
        why = _write(host, record, state, path) or _unproved(host, settings, record, state, kind, path)
    except OSError as error:
        why = words(error)
    if why:
        return _failed(state, f"{path}: {why}")
    return Notice("notice", "always-recorded", f"{path} now says {state.key}: {_WANTED}")


def local_scope(host: Host, settings: Settings, record: Record, state: State) -> tuple[ScopeKind, str]:
    """The scope whose local file records the choice: that of the setting, else the project's if it has a tree, else the home's."""
    project = posixpath.join(record.project_root, ".agents")
    home = posixpath.join(record.home, ".agents")
    in_project = state.scope in ("project", "project-local") or (
        state.scope == "default" and project != home and _has_tree(host, settings, project)
    )
    kind: ScopeKind = "project-local" if in_project else "home-local"
    return kind, posixpath.join(project if in_project else home, "settings.local.yml")


def _has_tree(host: Host, settings: Settings, project: str) -> bool:
    return any(posixpath.dirname(scope.path) == project for scope in settings.scopes) or bool(
        host.sources.names(project)
    )


def _write(host: Host, record: Record, state: State, path: str) -> str:
    content = host.sources.read(path)
    expected = None if content is None else blake3(content).digest()

    def write(made: bytes) -> str:
        return host.durable.write(path, made, expected, None)

    return override_text(content or b"", state.key, state.form, record.harness).map(write).lash(Success).value_or("")


def _unproved(host: Host, settings: Settings, record: Record, state: State, kind: ScopeKind, path: str) -> str:
    document = host.sources.document(path, "yaml")
    if document is None or document.problems or not isinstance(document.value, Mapping):
        return "it could not be read back"
    fresh = Scope(kind, path, posixpath.dirname(path), document.value, document.positions, True)
    scopes = [scope for scope in settings.scopes if scope.path != path] + [fresh]
    scopes.sort(key=lambda scope: _ORDER.index(scope.kind))
    merged = merge_scopes(scopes)
    seen = Settings(merged.values, merged.origins, merged.overridden, tuple(scopes))
    declared = StatePath(state.key, "prompt", state.allowed, scratch=state.scratch)  # type: ignore[arg-type]
    won = resolution(declared, entries(seen, record.harness))
    return (
        "" if won.strategy == _WANTED else f"it was written, but {state.key}: {won.strategy} of {won.origin.path} wins"
    )


def _failed(state: State, why: str) -> Notice:
    text = f"{state.key}: saved this once, but the choice could not be recorded: {why}"
    return Notice("warning", "always-not-recorded", text)
