"""A fourth harness: one module like this, and its name in `outfitter.adapters.NAMES` (docs/adapters.md)."""

from __future__ import annotations

from returns.result import Success

from outfitter.adapters import Adapter, FactsRequest
from outfitter.adapters.controls import effective_controls, unsupported_control
from outfitter.model.composition import Composition
from outfitter.model.projection import Facts, Generated, LaunchPlan, ProjectionPlan
from outfitter.model.request import Request
from outfitter.model.settings import Settings, StatePath, Strategies
from outfitter.railway import Outcome

DIRECTORY = "EXAMPLE_HOME"
_PROJECTED = ("identity", "commands")
_ELEMENTS = ("skills", "subagents", "model", "thinking", "prompt_template", "plugins")


def state_paths(_request: Request, _settings: Settings, facts: Facts) -> tuple[StatePath, ...]:
    """One durable file, and one that nobody needs to hear of."""
    return (
        StatePath("login.json", "symlink", ("symlink", "error"), f"{facts.native}/login.json", create=b"{}"),
        StatePath("log.txt", "discard", ("discard", "warn", "error"), scratch=True),
    )


def unsupported_elements(composition: Composition) -> tuple[str, ...]:
    """All that this harness has no flag for; never `extensions`."""
    selected = {name: getattr(composition, name) for name in _ELEMENTS}
    selected |= {"mcp": composition.servers, "tools": composition.tools.allow is not None or composition.tools.deny}
    return tuple(name for name, value in selected.items() if value)


def plan(
    request: Request, _settings: Settings, composition: Composition, strategies: Strategies, facts: Facts
) -> Outcome[ProjectionPlan]:
    """A prompt file and a flag that names it."""
    controls = effective_controls(composition, "example")
    prompt = "\n\n".join(fragment.content for fragment in composition.fragments).encode()
    named = [
        name
        for name, given in (("session_directory", controls.session_directory), ("deepwork", controls.deepwork_jobs))
        if given
    ]
    commands = tuple(Generated(f"commands/{command.id}.md", command.text.encode()) for command in composition.commands)
    flags = ("--prompt-file", f"{facts.projection}/prompt.md") if prompt else ()
    return Success(
        ProjectionPlan(
            harness="example",
            generated=(*((Generated("prompt.md", prompt),) if prompt else ()), *commands),
            copied=(),
            seeds=(),
            bridges=(),
            strategies=strategies,
            launch=LaunchPlan(
                facts.executable,
                (*flags, *controls.args, *request.passthrough),
                {**controls.environment, DIRECTORY: facts.projection},
                (),
            ),
            exported=facts.projection,
            unsupported=unsupported_elements(composition),
            notices=tuple(unsupported_control(composition.agent, "example", name) for name in named),
        )
    )


ADAPTER = Adapter(
    id="example",
    command="example",
    variable=DIRECTORY,
    home=".example",
    install="put example on PATH",
    elements=_PROJECTED,
    state_paths=state_paths,
    first_facts=lambda _request, _settings, _native: FactsRequest(),
    unsupported_elements=unsupported_elements,
    plan=plan,
)
