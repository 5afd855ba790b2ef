"""Pi: the composition as a whole configuration directory.

OFTR-006.3, 006.4, 006.7, 006.8; spec/40. Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from returns.result import Failure, Success

from outfitter.adapters import Adapter, FactsRequest
from outfitter.adapters.controls import (
    effective_controls,
    first_there,
    harness_defaults,
    native_context,
    one_run,
    unset_credential,
    unsupported_control,
    without_native_context,
)
from outfitter.adapters.models import credential_missing
from outfitter.adapters.native_json import json_bytes
from outfitter.adapters.pi.arguments import JOBS, is_interactive, jobs_variable, model_flags, tool_flags
from outfitter.adapters.pi.files import (
    OURS,
    Files,
    command_files,
    joined,
    overlay_files,
    prompt_files,
    skill_arguments,
)
from outfitter.adapters.pi.runtime import NATIVE_FILES, runtime_files, stored_login
from outfitter.adapters.pi.state import CHOSEN, from_outer_launch, sessions, state_paths
from outfitter.adapters.pi.state import VARIABLE as SESSIONS
from outfitter.model.composition import Composition, Controls, Fragment
from outfitter.model.projection import Copied, Facts, Generated, LaunchPlan, ProjectionPlan
from outfitter.model.request import Ambient, Notice, Request
from outfitter.model.settings import Settings, Strategies
from outfitter.railway import Outcome

DIRECTORY = "PI_CODING_AGENT_DIR"
ELEMENTS = ("identity", "skills", "mcp", "model", "thinking", "tools", "prompt_template", "commands", "extensions")
# Files of the project of which Pi reads the first it finds.
CONTEXT = ("AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")
_OWN_CONTROLS = ("allow_external_deepwork_jobs",)


def plan(
    request: Request, settings: Settings, composition: Composition, strategies: Strategies, facts: Facts
) -> Outcome[ProjectionPlan]:
    """Return the whole launch as data.

    Errors: `CompositionFailed` if the credential of the selected model is not in the environment.
    """
    ambient = request.ambient
    model = model_flags(composition)
    missing = unset_credential(composition, "pi", ambient.env)
    if missing and "--model" in model.arguments:
        return Failure(credential_missing(composition, missing))
    controls = effective_controls(composition, "pi")
    words = controls.args + request.passthrough
    fragments, twice = _fragments(composition, facts, words)
    tools = tool_flags(composition)
    runtime = runtime_files(composition, facts, ambient)
    files = joined(
        (
            overlay_files(composition),
            skill_arguments(composition.skills, composition.overlays, composition.agent, facts.projection),
            prompt_files(fragments, composition.prompt_template, facts.projection),
            command_files(composition.commands, facts.projection),
            _extensions(composition, facts.projection, ambient, is_interactive(ambient, words)),
        )
    )
    environment, unset, told = _environment(request, composition, controls, strategies, facts)
    generated = files.generated + runtime.generated
    notices = (
        *_remarks(request, settings, composition, controls, twice),
        *files.notices,
        *runtime.notices,
        *model.notices,
        *stored_login(composition, facts),
        *tools.notices,
        *told,
    )
    return Success(
        ProjectionPlan(
            harness="pi",
            generated=generated,
            copied=files.copied,
            seeds=(),
            bridges=(),
            strategies=one_run(strategies, (file.path for file in generated)),
            launch=LaunchPlan(
                facts.executable,
                (
                    *(("--no-approve",) if request.untrusted else ()),
                    *files.arguments,
                    *model.arguments,
                    *tools.arguments,
                    *words,
                ),
                environment,
                unset,
            ),
            exported=facts.projection,
            unsupported=unsupported_elements(composition),
            native_reads=native_context(facts, first_there(facts, CONTEXT)),
            notices=notices,
        )
    )


def unsupported_elements(composition: Composition) -> tuple[str, ...]:
    """Selected loadout elements that Pi has nothing for (006.1.3)."""
    selected = {"subagents": composition.subagents, "plugins": composition.plugins}
    return tuple(name for name, values in selected.items() if values)


def more_facts(_request: Request, _settings: Settings, facts: Facts) -> FactsRequest:
    """Native files that a run may regenerate, and the project's own context files."""
    native = tuple(posixpath.join(facts.native, name) for name in NATIVE_FILES)
    return FactsRequest(native + tuple(posixpath.join(facts.project_root, name) for name in CONTEXT))


def _fragments(composition: Composition, facts: Facts, words: tuple[str, ...]) -> tuple[tuple[Fragment, ...], str]:
    if {"-nc", "--no-context-files"} & set(words):
        return composition.fragments, ""
    return without_native_context(composition.fragments, facts, first_there(facts, CONTEXT))


def _extensions(composition: Composition, root: str, ambient: Ambient, interactive: bool) -> Files:
    """Return the bootstrap extension in interactive launches (006.8.4, 8), then the agent's own.

    Each package appears once, as written.
    """
    sources = composition.extensions
    if len(sources) > 1:
        from outfitter.adapters.pi.runtime import distinct

        sources = distinct(sources, ambient.cwd, ambient.home)
    words = tuple(word for source in sources for word in ("--extension", source))
    if not interactive:
        return Files(arguments=words)
    path = f"{OURS}/bootstrap.ts"
    about = Generated(f"{OURS}/launch.json", _about(composition))
    copied = Copied(posixpath.join(posixpath.dirname(__file__), "bootstrap.ts"), path)
    return Files((about,), (copied,), ("--extension", posixpath.join(root, path), *words))


def _about(composition: Composition) -> bytes:
    """What `/outfitter` can say of this launch."""
    return json_bytes(
        {
            "agent": composition.agent,
            "label": composition.label,
            "inherits": [name for name in composition.chain if name != composition.agent],
            "skills": [skill.id for skill in composition.skills],
            "servers": [server.id for server in composition.servers],
            "extensions": list(composition.extensions),
        }
    )


def _environment(
    request: Request, composition: Composition, controls: Controls, strategies: Strategies, facts: Facts
) -> tuple[Mapping[str, str], tuple[str, ...], tuple[Notice, ...]]:
    ambient = request.ambient
    where = sessions(ambient, controls, strategies, facts, controls.args + request.passthrough)
    jobs, notices = jobs_variable(composition, controls, ambient)
    environment = {**controls.environment, DIRECTORY: facts.projection}
    if where.directory:
        environment |= {SESSIONS: where.directory, CHOSEN: where.directory}
    if jobs:
        environment[JOBS] = jobs
    unset = (JOBS,) if JOBS in ambient.env and not jobs else ()
    if not where.directory and from_outer_launch(ambient):
        unset = (*unset, SESSIONS, CHOSEN)
    return environment, unset, (*where.notices, *notices)


def _remarks(
    request: Request, settings: Settings, composition: Composition, controls: Controls, twice: str
) -> tuple[Notice, ...]:
    notices = [unsupported_control(composition.agent, "pi", key) for key in controls.extra if key not in _OWN_CONTROLS]
    if harness_defaults(settings, "pi"):
        message = "harness_defaults.pi is not projected: it would make every change of Pi's settings one-run"
        notices.append(Notice("warning", "defaults-unsupported", message, "put it into Pi's own settings.json"))
    if request.isolated:
        notices.append(Notice("notice", "isolated", "pi: every run already has a configuration directory of its own"))
    if twice:
        notices.append(
            Notice("notice", "context-native", f"Pi reads {twice} by itself; it is not passed a second time")
        )
    return tuple(notices)


ADAPTER = Adapter(
    id="pi",
    command="pi",
    variable=DIRECTORY,
    home=".pi/agent",
    install="npm install -g @earendil-works/pi-coding-agent",
    elements=ELEMENTS,
    state_paths=lambda _request, _settings, facts: state_paths(facts),
    first_facts=lambda _request, _settings, _native: FactsRequest(),
    unsupported_elements=unsupported_elements,
    plan=plan,
    more_facts=more_facts,
    declared=state_paths(Facts("", "", "", "", "", {})),
)
