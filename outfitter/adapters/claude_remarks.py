"""What a launch of Claude Code has to say before it starts: controls and policies that it cannot hold, a login out of reach. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outfitter.adapters.claude_state import CREDENTIALS, Mode, declared
from outfitter.adapters.controls import unsupported_control
from outfitter.model.composition import Composition, Controls
from outfitter.model.projection import Facts
from outfitter.model.request import Notice, Request
from outfitter.model.settings import Settings

# From the highest scope down (spec/20).
_SCOPES = ("project-local", "project", "home-local", "home", "remote", "default")


def remarks(
    request: Request, settings: Settings, composition: Composition, controls: Controls, facts: Facts, chosen: Mode
) -> tuple[Notice, ...]:
    """All of them, in a stable order."""
    return (
        *_controls(composition, controls, settings, chosen),
        *(() if chosen.isolated else unenforceable(settings)),
        *(_keychain(request, facts) if chosen.isolated else ()),
        *_server_limits(composition),
    )


def unenforceable(settings: Settings) -> tuple[Notice, ...]:
    """One warning that names every `state_persistence` entry which an inherited run cannot hold to (spec/40, Inherit)."""
    found = [f"{key}: {strategy}" for key, strategy in sorted(configured(settings).items()) if _wanted(key, strategy)]
    if not found:
        return ()
    return (
        Notice(
            "warning",
            "state-not-enforced",
            f"an inherited claude run writes the user's own files, so state_persistence cannot hold {', '.join(found)}",
            "only --isolated enforces them",
        ),
    )


def configured(settings: Settings) -> Mapping[str, str]:
    """The effective `state_persistence` entry of each of Claude Code's paths that settings name.

    The higher scope wins first; within one scope the harness's block wins over the plain key, which reaches no known scratch.
    """
    block = settings.values.get("state_persistence")
    if not isinstance(block, Mapping):
        return {}
    own = block.get("claude")
    own = own if isinstance(own, Mapping) else {}
    found: dict[str, str] = {}
    for path in declared(""):
        plain: Any = None if path.scratch else block.get(path.key)
        mine: Any = own.get(path.key)
        first = mine is not None and (
            plain is None
            or _rank(settings, ("state_persistence", "claude", path.key))
            <= _rank(settings, ("state_persistence", path.key))
        )
        value = mine if first else plain
        if isinstance(value, str):
            found[path.key] = value
    return found


def _rank(settings: Settings, key: tuple[str, ...]) -> int:
    origin = settings.origins.get(key)
    return _SCOPES.index(origin.scope) if origin else len(_SCOPES)


def _wanted(key: str, strategy: str) -> bool:
    return strategy in ("error", "prompt") if key == "unknown" else strategy != "symlink"


def _controls(composition: Composition, controls: Controls, settings: Settings, chosen: Mode) -> tuple[Notice, ...]:
    """A warning for each control that cannot be translated (006.5.9)."""
    names = [f"{name}" for name in controls.extra]
    if controls.deepwork_jobs:
        names.append("deepwork")
    if controls.session_directory and not chosen.isolated:
        names.append("session_directory")
    lost = tuple(unsupported_control(composition.agent, "claude", name) for name in names)
    strategy = configured(settings).get("projects/", "symlink")
    if not (controls.session_directory and chosen.isolated and strategy != "symlink"):
        return lost
    message = f"agent {composition.agent}: controls.session_directory has no effect while state_persistence has projects/: {strategy}"
    return (*lost, Notice("warning", "session-directory-unused", message))


def _keychain(request: Request, facts: Facts) -> tuple[Notice, ...]:
    """On macOS the login is in the Keychain, which a configuration directory of its own does not reach."""
    ambient = request.ambient
    signed = any(
        value and (name.startswith("ANTHROPIC_") or name == "CLAUDE_CODE_OAUTH_TOKEN")
        for name, value in ambient.env.items()
    )
    if ambient.platform != "darwin" or signed or CREDENTIALS in facts.listings.get(facts.native, ()):
        return ()
    return (
        Notice(
            "notice",
            "claude-login-keychain",
            "Claude Code keeps its login in the macOS Keychain, out of an isolated run's reach",
            "claude setup-token makes a token: export it as CLAUDE_CODE_OAUTH_TOKEN",
        ),
    )


def _server_limits(composition: Composition) -> tuple[Notice, ...]:
    """A server's own tool list, which Claude Code does not know (spec/15 V20 to V26)."""
    return tuple(
        Notice(
            "warning",
            "server-limit",
            f"server {server.id}: claude does not apply available_tools; all its tools are available",
            "deny the others by name: tools: {deny: [mcp__server__tool]}",
        )
        for server in composition.servers
        if "available_tools" in server.definition
    )
