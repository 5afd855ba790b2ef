"""Ask about changed `prompt` paths on a terminal: persist, discard, always (spec/50)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from blake3 import blake3
from returns.result import Failure, Result, Success

from outfitter.bridge.context import BridgeContext, FileResult, Topic, unreadable, unsupported_type
from outfitter.bridge.files import Job, job, settle_all
from outfitter.bridge.notices import SAMPLED, change_counts, listed
from outfitter.host import Settling
from outfitter.model.errors import os_error_text
from outfitter.model.outcome import Change
from outfitter.model.projection import Record, State
from outfitter.model.request import Notice
from outfitter.model.settings import Scope, ScopeKind, Settings, StatePath
from outfitter.settings.merge import merge_scopes
from outfitter.settings.state_persistence import SECTION, entries, resolution
from outfitter.settings.yaml_edit import splice

_ORDER: tuple[ScopeKind, ...] = ("project-local", "project", "home-local", "home", "remote", "default")
_WANTED = "symlink"


def record_always(using: Settling, settings: Settings, record: Record, state: State) -> Notice:
    """Record `<path>: symlink` next to the setting that asked; warn if that fails or does not win."""
    if _WANTED not in state.allowed:
        return _failed(state, f"{state.key} does not allow {_WANTED}")
    if state.scope == "remote":
        return _failed(state, f"it was decided by {state.origin or 'a remote source'}, which is never written to")
    path = "settings.local.yml"
    try:
        kind, path = local_scope(using, settings, record, state)
        reason = _write(using, record, state, path) or _unproved(using, settings, record, state, kind, path)
    except OSError as error:
        reason = os_error_text(error)
    if reason:
        return _failed(state, f"{path}: {reason}")
    return Notice("notice", "always-recorded", f"{path} now says {state.key}: {_WANTED}")


def local_scope(using: Settling, settings: Settings, record: Record, state: State) -> tuple[ScopeKind, str]:
    """Return the scope and the local file that record the choice.

    That is the scope of the setting; for a default the project's, if it has a tree, else the home's.
    """
    project = posixpath.join(record.project_root, ".agents")
    home = posixpath.join(record.home, ".agents")
    in_project = state.scope in ("project", "project-local") or (
        state.scope == "default" and project != home and _has_tree(using, settings, project)
    )
    kind: ScopeKind = "project-local" if in_project else "home-local"
    return kind, posixpath.join(project if in_project else home, "settings.local.yml")


def _has_tree(using: Settling, settings: Settings, project: str) -> bool:
    return any(posixpath.dirname(scope.path) == project for scope in settings.scopes) or bool(
        using.files.names(project)
    )


def _write(using: Settling, record: Record, state: State, path: str) -> str:
    """Write the setting; return why it could not be written, "" if it was."""
    content = using.files.read(path)
    expected = None if content is None else blake3(content).digest()

    def write(edited: bytes) -> str:
        failure = using.durable.write(path, edited, expected, None)
        return failure.reason if failure else ""

    return override_text(content or b"", state.key, state.form, record.harness).map(write).lash(Success).value_or("")


def _unproved(using: Settling, settings: Settings, record: Record, state: State, kind: ScopeKind, path: str) -> str:
    document = using.files.document(path, "yaml")
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


def _failed(state: State, reason: str) -> Notice:
    text = f"{state.key}: saved this once, but the choice could not be recorded: {reason}"
    return Notice("warning", "always-not-recorded", text)


TOPIC: Topic = "persisted change"


class Asked(NamedTuple):
    """What came of the questions: a result per change, notices, and the state paths asked about."""

    items: tuple[FileResult, ...] = ()
    notices: tuple[Notice, ...] = ()
    keys: frozenset[str] = frozenset()


def ask_all(
    using: Settling, settings: Settings | None, context: BridgeContext, by_state: dict[State, list[Change]]
) -> Asked:
    """Ask one question per changed `prompt` path, unless in recovery (`settings` None) or without terminal."""
    if settings is None or not context.record.interactive:
        return Asked()
    items: list[FileResult] = []
    notices: list[Notice] = []
    for state, changes in by_state.items():
        answer, remark = using.user.ask(question(state, changes))
        if remark:
            notices.append(Notice("warning", "prompt-discarded", f"{state.key}: {remark}"))
        if answer == "discard":
            items += [FileResult(change.path, "discarded", TOPIC) for change in changes]
            continue
        items += persist(context, state, changes)
        if answer == "always":
            notices.append(record_always(using, settings, context.record, state))
    return Asked(tuple(items), tuple(notices), frozenset(state.key for state in by_state))


def question(state: State, changes: list[Change]) -> str:
    """Return the question in one line; names with control characters cannot command the terminal."""
    inside = f" ({listed([change.path for change in changes], SAMPLED)})" if state.key.endswith("/") else ""
    text = f"{state.key} changed in this run: {change_counts(changes)}{inside}. Copy to {state.durable}?"
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def persist(context: BridgeContext, state: State, changes: list[Change]) -> Iterator[FileResult]:
    """Copy each change to its durable target once, by the three-way rule; nothing is deleted."""
    return settle_all(context, (_job(context, state, change) for change in changes))


def _job(context: BridgeContext, state: State, change: Change) -> Job | FileResult:
    if change.outcome == "unreadable":
        return unreadable(change, TOPIC)
    if change.change == "deleted":
        return FileResult(change.path, "discarded", TOPIC, "unsupported-type", "a deletion is never carried over")
    if change.change == "mode":
        return FileResult(
            change.path, "discarded", TOPIC, "unsupported-type", "an execute bit alone is not carried over"
        )
    inside = state.key.endswith("/")
    target = posixpath.join(state.durable, change.path[len(state.key) :]) if inside else state.durable
    carried = job(
        context, change.path, target, TOPIC, "persisted", context.seeded(change.path), context.behind(change.path)
    )
    if carried is not None:
        return carried
    now = context.now(change.path)
    if inside and now is not None and now.tag == "d":
        return FileResult(change.path, "persisted", TOPIC)
    return unsupported_type(context, change, TOPIC, change.note or "not a regular file", state.key)


_MARK = b"\xef\xbb\xbf"


def override_text(content: bytes, key: str, form: str, harness: str, strategy: str = "symlink") -> Result[bytes, str]:
    """Return a settings file's bytes with `state_persistence: {<key>: <strategy>}` set.

    `content` is b"" for a new file. `form` "harness" sets it in the block of `harness`, any other among the plain keys. Failure:
    the reason, if the file is not UTF-8 or not YAML that can be edited safely.
    """
    from outfitter.syntax.fault import TextError
    from outfitter.syntax.text import decode

    try:
        text = decode(content)
    except TextError as error:
        return Failure(error.message)
    path = (SECTION, harness, key) if form == "harness" else (SECTION, key)
    mark = _MARK if content.startswith(_MARK) else b""
    return splice(text, path, strategy).map(lambda new: mark + new.encode())
