"""Claude Code: the composition over the machine's own configuration, or as all of it.

OFTR-006.5, 006.9.4; spec/40. Pure.
"""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping
from typing import Any

from attrs import evolve
from returns.result import Failure

from outfitter.adapters import Adapter, FactsRequest
from outfitter.adapters.claude.arguments import (
    APPEND_FILE,
    APPENDED_FILE,
    CONTEXT_FILES,
    SETTINGS,
    SETTINGS_FILE,
    SYSTEM_FILE,
    Words,
    composed_words,
    context_names,
    folded_files,
    generated_texts,
    guarded,
)
from outfitter.adapters.claude.gateway import Gateway, effort, gateway, leader_target
from outfitter.adapters.claude.plugin import (
    SERVER_FILES,
    Parts,
    copy_files,
    copy_listings,
    native_skill_places,
    parts,
    without_native_commands,
)
from outfitter.adapters.claude.state import (
    CREDENTIALS,
    LONGEST,
    STATE,
    Mode,
    alike,
    bridges,
    declared,
    fallback_notice,
    folder,
    knows,
    mode,
    seeded_state,
    seeds,
    slug,
    state_file,
    state_paths,
    strategy_of,
)
from outfitter.adapters.claude.tools import session_tools
from outfitter.adapters.controls import (
    effective_controls,
    native_context,
    one_run,
    unenforced,
    unset_credential,
    unsupported_control,
)
from outfitter.adapters.models import credential_missing
from outfitter.model.composition import Composition, Controls
from outfitter.model.projection import Bridge, Facts, Generated, LaunchPlan, ProjectionPlan, Seed
from outfitter.model.request import Notice, Request, resolved
from outfitter.model.settings import Settings, Strategies
from outfitter.model.value import NamedTuple
from outfitter.railway import Outcome


def first_facts(_request: Request, _settings: Settings, _native: str) -> FactsRequest:
    """Ask for the program's help: everything else depends on what it supports."""
    return FactsRequest(help=("--help",))


def more_facts(request: Request, settings: Settings, facts: Facts) -> FactsRequest:
    """Ask for the rest. An inherited run never looks at the durable login, state or history (006.5.21)."""
    context = tuple(posixpath.join(facts.project_root, name) for name in CONTEXT_FILES)
    directories = skill_directories(request, facts)
    servers = tuple(posixpath.join(facts.project_root, name) for name in SERVER_FILES)
    shared = FactsRequest(
        files=(*context, servers[0], *folded_files(request.passthrough, request.ambient.cwd)),
        listings=directories,
        real=(*servers, *native_skill_places(directories, facts)),
    )
    if not mode(request, settings, facts.help).isolated:
        return evolve(
            shared,
            files=(*shared.files, *copy_files(facts)),
            listings=(*shared.listings, *copy_listings(facts)),
        )
    projects = posixpath.join(facts.native, "projects")
    long = len(slug(request.ambient.cwd)) > LONGEST
    login = (facts.native,) if request.ambient.platform == "darwin" else ()
    return FactsRequest(
        files=(*shared.files, state_file(request, facts.native)),
        listings=(*shared.listings, *login, *((projects,) if long else ())),
        real=shared.real,
        heads=tuple(
            posixpath.join(projects, name) for name in alike(request.ambient.cwd, facts.listings.get(projects, ()))
        ),
    )


def skill_directories(request: Request, facts: Facts) -> tuple[str, ...]:
    """Where the program finds skills by itself, as far as a tree's own may be linked there."""
    places = (request.ambient.cwd, facts.project_root)
    return tuple(
        dict.fromkeys(
            (*(posixpath.join(place, ".claude/skills") for place in places), posixpath.join(facts.native, "skills"))
        )
    )


def session_folder(request: Request, facts: Facts) -> str:
    """The name under `projects/` that belongs to the working directory."""
    projects = posixpath.join(facts.native, "projects")
    heads = {posixpath.basename(place): head for place, head in facts.heads.items()}
    return folder(request.ambient.cwd, facts.listings.get(projects, ()), heads)


DIRECTORY = "CLAUDE_CONFIG_DIR"
# Which of its own settings the program reads; of those of the project, hooks and servers run by themselves.
SOURCES = "--setting-sources"
ELEMENTS = ("identity", "skills", "subagents", "mcp", "model", "thinking", "tools", "commands")
SERVERS_FILE = "mcp.json"


class InitialState(NamedTuple):
    """What a run starts from and merges back: nothing at all where it is inherited (006.5.21)."""

    strategies: Strategies
    generated: tuple[Generated, ...] = ()
    seeds: tuple[Seed, ...] = ()
    bridges: tuple[Bridge, ...] = ()
    notices: tuple[Notice, ...] = ()


def plan(
    request: Request, settings: Settings, composition: Composition, strategies: Strategies, facts: Facts
) -> Outcome[ProjectionPlan]:
    """The whole launch as data.

    Errors: `CompositionFailed` where the selected gateway's credential is not in the environment, `UsageError` where a
    pass-through file that must be merged cannot be read.
    """
    chosen = mode(request, settings, facts.help)
    controls = effective_controls(composition, "claude")
    env = {**request.ambient.env, **controls.environment}
    target, _ = leader_target(composition)
    missing = unset_credential(composition, "claude", request.ambient.env)
    if missing and target is not None:
        return Failure(credential_missing(composition, missing))
    composition = composition if chosen.isolated else without_native_commands(composition, facts)
    own = evolve(facts, real={}) if request.untrusted else facts
    made = parts(composition, own, not chosen.isolated)
    state = _state(request, strategies, facts, chosen, controls)
    return gateway(target, composition.agent, env, not chosen.isolated).bind(
        lambda way: composed_words(request, settings, composition, facts, chosen, controls, made.off, way).map(
            lambda words: _assembled(request, composition, facts, chosen, controls, _Made(made, state, way, words))
        )
    )


def unsupported_elements(composition: Composition) -> tuple[str, ...]:
    """Return the selected elements that Claude Code has nothing for (006.1.3, 006.5.10).

    `extensions` is never among them (006.6.7).
    """
    selected = {"plugins": composition.plugins, "prompt_template": composition.prompt_template}
    return tuple(name for name, value in selected.items() if value)


class _Made(NamedTuple):
    parts: Parts
    state: InitialState
    gateway: Gateway
    words: Words


def _assembled(
    request: Request,
    composition: Composition,
    facts: Facts,
    chosen: Mode,
    controls: Controls,
    made: _Made,
) -> ProjectionPlan:
    arguments, told = _arguments(composition, facts, chosen, made.words)
    ours = (*generated_texts(made.words), Generated(SERVERS_FILE, _servers(composition)), *made.parts.generated)
    generated = (*ours, *made.state.generated)
    guard = ("--strict-mcp-config",) if chosen.isolated else ("--plugin-dir", facts.projection)
    if request.untrusted:
        guard = (SOURCES, "user", *dict.fromkeys(("--strict-mcp-config", *guard)))
    return ProjectionPlan(
        harness="claude",
        generated=generated,
        copied=made.parts.copied,
        seeds=made.state.seeds,
        bridges=made.state.bridges,
        strategies=one_run(made.state.strategies, (file.path for file in generated)),
        launch=LaunchPlan(
            facts.executable,
            (*arguments, *guard, *guarded(made.words.args, guard), *made.words.passthrough),
            _environment(controls, chosen, facts, made.gateway),
            made.gateway.unset,
        ),
        exported=facts.projection,
        unsupported=unsupported_elements(composition),
        native_reads=(*native_context(facts, context_names(facts)), *made.parts.native),
        notices=(
            *fallback_notice(chosen, facts.executable, facts.help),
            *made.words.notices,
            *remarks(request, made.state.strategies, composition, controls, facts, chosen),
            *made.parts.notices,
            *made.state.notices,
            *told,
        ),
    )


def _arguments(
    composition: Composition, facts: Facts, chosen: Mode, words: Words
) -> tuple[tuple[str, ...], tuple[Notice, ...]]:
    """Our own options; those that take a list stand before others, so that no prompt is swallowed."""
    target, lost = leader_target(composition)
    tools = session_tools(composition, not chosen.isolated)
    level = effort(composition.thinking, composition.agent, facts.help)
    files = (
        ("--system-prompt-file", SYSTEM_FILE, bool(words.prompts.system)),
        (APPEND_FILE, APPENDED_FILE, bool(words.prompts.appended)),
        ("--mcp-config", SERVERS_FILE, True),
    )
    composed = words.prompts.system or words.prompts.appended
    fresh = bool(composed) and knows(facts.help, "--system-prompt-snapshot")
    values = (
        ("--tools", tools.allow, tools.allow is not None),
        ("--disallowedTools", tools.deny, bool(tools.deny)),
        (SETTINGS, posixpath.join(facts.projection, SETTINGS_FILE), words.settings is not None),
        ("--model", target.model if target else "", target is not None),
        ("--effort", level.name, bool(level.name)),
        ("--system-prompt-snapshot", "off", fresh),
    )
    places = [(option, posixpath.join(facts.projection, name)) for option, name, wanted in files if wanted]
    given = [(option, value or "") for option, value, wanted in values if wanted]
    flat = tuple(word for pair in (*places, *given) for word in pair)
    return flat, (*lost, *tools.notices, *level.notices)


def _state(request: Request, strategies: Strategies, facts: Facts, chosen: Mode, controls: Controls) -> InitialState:
    if not chosen.isolated:
        return InitialState(strategies)
    linked = strategy_of(strategies, "projects/") == "symlink"
    place = controls.session_directory
    bridged = linked and not place
    native = state_file(request, facts.native)
    seeded = seeded_state(native, facts.files.get(native), request.ambient.cwd, facts.unreadable.get(native, ""))
    return InitialState(
        _rerouted(strategies, resolved(place, request.ambient.home, facts.project_root))
        if linked and place
        else strategies,
        (Generated(STATE, seeded.content),) if seeded.content is not None else (),
        seeds(facts, session_folder(request, facts), bridged),
        bridges(request, facts, strategies, seeded.account, bridged),
        (*seeded.notices, *(_outside(place, request, facts) if linked and place else ())),
    )


def _outside(place: str, request: Request, facts: Facts) -> tuple[Notice, ...]:
    """Say that transcripts go to a place of the agent's choice, unless that is below the native directory."""
    chosen = resolved(place, request.ambient.home, facts.project_root)
    if posixpath.normpath(chosen).startswith(facts.native.rstrip("/") + "/"):
        return ()
    return (Notice("notice", "session-directory", f"controls.session_directory: transcripts are kept in {chosen}"),)


def _rerouted(strategies: Strategies, place: str) -> Strategies:
    """`projects/` over a configured session directory (006.5.8)."""
    rows = (
        row._replace(path=row.path._replace(native=place.rstrip("/") + "/")) if row.path.key == "projects/" else row
        for row in strategies.declared
    )
    return evolve(strategies, declared=tuple(rows))


def _servers(composition: Composition) -> bytes:
    """Always written: an isolated run is strict even with no server at all (006.5.11)."""
    servers = {server.id: _startable(server.definition) for server in composition.servers}
    return json.dumps({"mcpServers": servers}, indent=2, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n"


def _startable(definition: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a server definition with its working directory moved into its command.

    Measured: the program has no key for the directory and starts servers elsewhere.
    """
    place, command = definition.get("cwd"), definition.get("command")
    if not (isinstance(place, str) and place and isinstance(command, str)):
        return definition
    rest = {key: value for key, value in definition.items() if key != "cwd"}
    words = ["-c", 'cd -- "$1" && shift && exec "$@"', "sh", place, command, *definition.get("args", ())]
    return {**rest, "command": "/bin/sh", "args": words}


def _environment(controls: Controls, chosen: Mode, facts: Facts, way: Gateway) -> Mapping[str, str]:
    """An inherited run neither sets nor unsets the directory variable (006.5.20, spec/95 RUN-13)."""
    own = {name: value for name, value in controls.environment.items() if name not in way.unset}
    return {**own, **way.env, **({DIRECTORY: facts.projection} if chosen.isolated else {})}


ADAPTER = Adapter(
    id="claude",
    command="claude",
    variable=DIRECTORY,
    home=".claude",
    install="npm install -g @anthropic-ai/claude-code",
    elements=ELEMENTS,
    state_paths=state_paths,
    first_facts=first_facts,
    unsupported_elements=unsupported_elements,
    plan=plan,
    more_facts=more_facts,
    declared=declared(""),
)


def remarks(
    request: Request, strategies: Strategies, composition: Composition, controls: Controls, facts: Facts, chosen: Mode
) -> tuple[Notice, ...]:
    """All of them, in a stable order."""
    return (
        *_controls(composition, controls, strategies, chosen),
        *(
            ()
            if chosen.isolated
            else unenforced(strategies, "an inherited claude run", "only --isolated enforces them")
        ),
        *(_keychain(request, facts) if chosen.isolated else ()),
        *_server_limits(composition),
    )


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
