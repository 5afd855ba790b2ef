"""Codex CLI: the composition as arguments over the user's own CODEX_HOME.

OFTR-006.6, 006.9.5; spec/40. Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import Any

from returns.result import Failure, Success

from outfitter.adapters import Adapter, FactsRequest
from outfitter.adapters.codex.identity import (
    CodexIdentity,
    copied_skills,
    identity,
    own_skills,
    skill_switches,
    skills_out_of_reach,
    subagents,
)
from outfitter.adapters.codex.mcp import limited_tools, server_overrides, shut_out
from outfitter.adapters.codex.overrides import (
    LONGEST,
    Chosen,
    Override,
    Overrides,
    arguments,
    chosen_model,
    effort,
    joined,
    size,
    too_long,
    window,
    written,
)
from outfitter.adapters.controls import (
    effective_controls,
    first_there,
    harness_defaults,
    native_context,
    unenforced,
    unset_credential,
    unsupported_control,
    unsupported_element,
    without_native_context,
)
from outfitter.adapters.models import credential_missing
from outfitter.model.composition import Composition, Controls
from outfitter.model.errors import CompositionFailed
from outfitter.model.projection import Facts, LaunchPlan, ProjectionPlan
from outfitter.model.request import Notice, Request
from outfitter.model.settings import Settings, Strategies
from outfitter.railway import Outcome

DIRECTORY = "CODEX_HOME"
ELEMENTS = ("identity", "skills", "subagents", "mcp", "model", "thinking", "tools")
# Files of the project of which Codex reads the first it finds.
CONTEXT = ("AGENTS.override.md", "AGENTS.md")
CONFIG = "config.toml"


def plan(
    request: Request, settings: Settings, composition: Composition, strategies: Strategies, facts: Facts
) -> Outcome[ProjectionPlan]:
    """Return the whole launch as data.

    Errors: `CompositionFailed` for a missing credential, or for an element that does not fit into an argument.
    """
    chosen = chosen_model(composition.model, composition.agent)
    missing = unset_credential(composition, "codex", request.ambient.env)
    if missing and chosen.rows:
        return Failure(credential_missing(composition, missing))
    controls = effective_controls(composition, "codex")
    words = controls.args + request.passthrough
    fragments, twice = without_native_context(composition.fragments, facts, first_there(facts, CONTEXT))
    who, helpers = identity(fragments, facts.projection, words), subagents(composition, facts.projection)
    native = _native(facts)
    environment = {**request.ambient.env, **controls.environment}
    overrides = _overrides(
        composition, settings, chosen, who, helpers, native, environment, copied_skills(composition, facts)
    )
    if request.untrusted:
        overrides = overrides._replace(rows=(*overrides.rows, _untrusted(request, facts)))
    long = too_long(overrides)
    if long is not None:
        return Failure(_does_not_fit(composition, long))
    flags = ("-m", chosen.model) if chosen.model else ()
    notices = (
        *unenforced(strategies, "a codex run", "use --harness pi or --harness claude --isolated where they must hold"),
        *_remarks(request, composition, controls, facts, words, twice),
        *overrides.notices,
        *chosen.notices,
        *shut_out(composition),
    )
    return Success(
        ProjectionPlan(
            harness="codex",
            generated=who.generated + helpers.generated,
            copied=(),
            seeds=(),
            bridges=(),
            strategies=strategies,
            launch=LaunchPlan(
                facts.executable, (*flags, *arguments(overrides), *words), dict(controls.environment), ()
            ),
            exported="",
            unsupported=unsupported_elements(composition),
            native_reads=(*_skills_read(composition), *native_context(facts, first_there(facts, CONTEXT))),
            notices=notices,
        )
    )


def unsupported_elements(composition: Composition) -> tuple[str, ...]:
    """Selected loadout elements that Codex has nothing for (006.6.6); never `extensions` (006.6.7)."""
    selected = {
        "skills": skills_out_of_reach(composition),
        "tools": limited_tools(composition).lost,
        "prompt_template": composition.prompt_template,
        "plugins": composition.plugins,
    }
    return tuple(name for name, value in selected.items() if value)


def first_facts(_request: Request, _settings: Settings, native: str) -> FactsRequest:
    """Whether the user's CODEX_HOME is there."""
    return FactsRequest(listings=(native,))


def more_facts(_request: Request, _settings: Settings, facts: Facts) -> FactsRequest:
    """The user's configuration, which overrides are merged with, and the project's own context files."""
    context = tuple(posixpath.join(facts.project_root, name) for name in CONTEXT)
    places, manifests = own_skills(facts)
    return FactsRequest((posixpath.join(facts.native, CONFIG), *context, *manifests), places)


def _overrides(
    composition: Composition,
    settings: Settings,
    chosen: Chosen,
    who: CodexIdentity,
    helpers: CodexIdentity,
    native: Mapping[str, Any],
    environment: Mapping[str, str],
    copies: tuple[str, ...],
) -> Overrides:
    limited = limited_tools(composition)
    level, said = effort(composition.thinking, composition.agent)
    rows = [
        Override("harness_defaults.codex", key, value) for key, value in harness_defaults(settings, "codex").items()
    ]
    if chosen.provider:
        rows.append(Override("model", "model_provider", chosen.provider))
    rows += [*chosen.rows, *(window(composition.model) if chosen.rows else ())]
    if level:
        rows.append(Override("thinking", "model_reasoning_effort", level))
    rows += limited.rows
    return written(
        joined(
            (
                Overrides(tuple(rows), said),
                who.overrides,
                helpers.overrides,
                skill_switches(composition, copies),
                server_overrides(composition, limited.lists, _own_servers(native), environment),
            )
        )
    )


def _untrusted(request: Request, facts: Facts) -> Override:
    """Return the override that keeps Codex from the project's own `.codex/`."""
    up = [request.ambient.cwd]
    while up[-1] not in (facts.project_root, "/"):
        up.append(posixpath.dirname(up[-1]))
    places = dict.fromkeys((*up, facts.project_root, *_above(facts.project_root)))
    return Override("trust", "projects", {place: {"trust_level": "untrusted"} for place in places})


def _above(path: str) -> tuple[str, ...]:
    """Return every directory above a path, but for the root of the file system."""
    found: list[str] = []
    while (path := posixpath.dirname(path)) != "/" and path:
        found.append(path)
    return tuple(found)


def _does_not_fit(composition: Composition, long: Override) -> CompositionFailed:
    from outfitter.model.wording import counted

    return CompositionFailed(
        f"agent {composition.agent}: {long.element} is {counted(size(long), 'byte')} as a Codex argument; {LONGEST} fit",
        "shorten it, or use a harness that takes it as a file (pi, claude)",
    )


def _remarks(
    request: Request, composition: Composition, controls: Controls, facts: Facts, words: tuple[str, ...], twice: str
) -> tuple[Notice, ...]:
    agent = composition.agent
    named = [*controls.extra, *(("session_directory",) if controls.session_directory else ())]
    named += ["deepwork"] if controls.deepwork_jobs else []
    notices = [unsupported_control(agent, "codex", key) for key in named]
    if DIRECTORY in request.ambient.env and not facts.listings.get(facts.native):
        message = f"{DIRECTORY} is {facts.native}, which is missing or empty; Codex stops where it does not exist"
        notices.append(Notice("notice", "codex-home", message, f"unset {DIRECTORY}, or make the directory"))
    if twice:
        notices.append(
            Notice("notice", "context-native", f"Codex reads {twice} by itself; it is not passed a second time")
        )
    out = skills_out_of_reach(composition)
    if out:
        why = f"codex reads those in the home's and the project's skills/ alone; left out: {', '.join(out)}"
        notices.append(unsupported_element("skills", why))
    asking = [s.id for s in composition.servers if "default_tools_approval_mode" not in s.definition]
    if asking and "exec" in words:
        message = f"codex exec refuses every MCP call that would need an approval; servers: {', '.join(asking)}"
        hint = 'give the server "default_tools_approval_mode": "approve" in mcp.json if its calls may run unasked'
        notices.append(Notice("warning", "mcp-approval", message, hint))
    return tuple(notices)


def _skills_read(composition: Composition) -> tuple[str, ...]:
    return tuple(skill.manifest_path for skill in composition.visible_skills if skill.selected)


def _native(facts: Facts) -> Mapping[str, Any]:
    """The user's `config.toml` where it could matter to what we pass; {} where it is absent or no TOML."""
    raw = facts.files.get(posixpath.join(facts.native, CONFIG))
    if raw is None or b"mcp_servers" not in raw:
        return {}
    import tomllib

    try:
        return tomllib.loads(raw.decode())
    except ValueError:
        return {}


def _own_servers(native: Mapping[str, Any]) -> Mapping[str, Any]:
    servers = native.get("mcp_servers")
    return servers if isinstance(servers, dict) else {}


def no_state(_request: Request, _settings: Settings, _facts: Facts) -> tuple[()]:
    """Codex runs over the user's own CODEX_HOME and declares nothing (spec/40)."""
    return ()


ADAPTER = Adapter(
    id="codex",
    command="codex",
    variable=DIRECTORY,
    home=".codex",
    install="npm install -g @openai/codex",
    elements=ELEMENTS,
    state_paths=no_state,
    first_facts=first_facts,
    unsupported_elements=unsupported_elements,
    plan=plan,
    more_facts=more_facts,
)
