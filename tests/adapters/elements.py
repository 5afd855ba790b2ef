"""One composition for each loadout element, and what each adapter makes of it: for the contract battery and the support matrix."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import evolve

from outfitter.adapters import Adapter
from outfitter.model.composition import (
    Command,
    Composition,
    Controls,
    JobRoot,
    ModelTarget,
    Subagent,
    Tools,
    VisibleSkill,
)
from outfitter.model.projection import Facts, ProjectionPlan
from outfitter.model.request import Request
from outfitter.railway import fold
from stages.plan_projection import plan_projection
from stages.resolve_strategies import resolve_strategies
from tests.adapters.samples import HOME, PROJECT, ROOT, composed, fragment, overlay, request, server, settings, skill

CLAUDE_HELP = (Path(__file__).parent / "claude_help.txt").read_text()
CREDENTIAL = "planted-credential-7731"
ENV = {"GW_KEY": CREDENTIAL, "HOME": HOME, "OPENAI_API_KEY": CREDENTIAL, "ANTHROPIC_API_KEY": CREDENTIAL}

SUBAGENT = Subagent("helper", "helps", "You help.", Tools(), None, "", (), "/t/helper.md", "project")
VISIBLE = VisibleSkill("one", f"{PROJECT}/.agents/skills/one/SKILL.md", "/t/skills/one", "project", True)

# Element → the part of a composition that selects it, in the order of the matrix.
ELEMENTS: dict[str, dict[str, Any]] = {
    "identity": {"fragments": (fragment("system", "You are."), fragment("body", "You do."))},
    "skills": {"skills": (skill("one"),), "visible_skills": (VISIBLE,)},
    "subagents": {"subagents": (SUBAGENT,)},
    "mcp": {"servers": (server("db", command="db-mcp"),)},
    "model": {"model": ModelTarget("native", "some-model")},
    "thinking": {"thinking": "high"},
    "tools": {"tools": Tools(("read", "bash"), ("bash",))},
    "prompt_template": {"prompt_template": fragment("append", "Do $1", "/t/do.md")},
    "commands": {"commands": (Command("tidy", "Tidy up", "/t/tidy.md", "project"),)},
    "extensions": {"extensions": ("npm:some-package",)},
    "plugins": {"plugins": ("some-plugin",)},
    "controls.environment": {"controls": Controls({"SOME_VARIABLE": "1"})},
    "controls.args": {"controls": Controls(args=("--some-flag",))},
    "controls.session_directory": {"controls": Controls(session_directory="/s")},
    "controls.deepwork": {
        "controls": Controls(deepwork_jobs=("job",)),
        "job_roots": (JobRoot("/t/jobs", "home", ("job",)),),
    },
    "overlay": {"overlays": (overlay("themes/dark.json"),)},
}
# What is selected without being an element of the loadout: an adapter that has nothing for it says nothing.
SILENT = ("commands", "overlay")


def selecting(*names: str) -> Composition:
    """A composition with these elements; all of them without a name."""
    return composed(**{key: value for name in names or tuple(ELEMENTS) for key, value in ELEMENTS[name].items()})


def machine(adapter: Adapter) -> Facts:
    """The harness where it usually lives, new enough for everything."""
    help_text = CLAUDE_HELP if adapter.id == "claude" else ""
    native = f"{HOME}/{adapter.home}"
    return Facts(
        executable=f"/bin/{adapter.command}",
        native=native,
        cache=f"{HOME}/.agents/cache",
        projection=f"{ROOT}/projection",
        project_root=PROJECT,
        files={},
        listings={native: ("x",)},
        help=help_text,
    )


def projected(
    adapter: Adapter, composition: Composition, isolated: bool = False, asked: Request | None = None
) -> ProjectionPlan:
    """The checked plan, as the pipeline makes it."""
    asked = evolve(asked or request(env=ENV), isolated=isolated)
    known, given = machine(adapter), settings()

    def plan(strategies: Any) -> Any:
        return plan_projection(adapter, given, composition, strategies, known, asked)

    made: ProjectionPlan = fold(resolve_strategies(adapter, given, known, asked).bind(plan), lambda value: value, _fail)
    return made


def warnings_of(plan: ProjectionPlan) -> set[str]:
    return {f"{notice.code}: {notice.message}" for notice in plan.notices if notice.level == "warning"}


def _fail(error: Any) -> Any:
    raise AssertionError(error)
