"""What a launch of Claude Code has to say before it starts: controls and policies that it cannot hold, a login out of reach. Pure."""

from __future__ import annotations

from outfitter.adapters.claude_state import CREDENTIALS, UNKNOWN, Mode, strategy_of
from outfitter.adapters.controls import unsupported_control
from outfitter.model.composition import Composition, Controls
from outfitter.model.projection import Facts
from outfitter.model.request import Notice, Request
from outfitter.model.settings import Resolution, Strategies


def remarks(
    request: Request, strategies: Strategies, composition: Composition, controls: Controls, facts: Facts, chosen: Mode
) -> tuple[Notice, ...]:
    """All of them, in a stable order."""
    return (
        *_controls(composition, controls, strategies, chosen),
        *(() if chosen.isolated else unenforceable(strategies)),
        *(_keychain(request, facts) if chosen.isolated else ()),
        *_server_limits(composition),
    )


def unenforceable(strategies: Strategies) -> tuple[Notice, ...]:
    """One warning that names every `state_persistence` entry which an inherited run cannot hold to (spec/40, Inherit)."""
    rows = (*strategies.idle, strategies.unknown)
    found = [f"{row.path.key}: {row.strategy}" for row in rows if row.form != "default" and _wanted(row)]
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


def _wanted(row: Resolution) -> bool:
    return row.strategy in ("error", "prompt") if row.path.key == UNKNOWN.key else row.strategy != "symlink"


def _controls(composition: Composition, controls: Controls, strategies: Strategies, chosen: Mode) -> tuple[Notice, ...]:
    """A warning for each control that cannot be translated (006.5.9)."""
    names = [f"{name}" for name in controls.extra]
    if controls.deepwork_jobs:
        names.append("deepwork")
    if controls.session_directory and not chosen.isolated:
        names.append("session_directory")
    lost = tuple(unsupported_control(composition.agent, "claude", name) for name in names)
    strategy = strategy_of(strategies, "projects/")
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
