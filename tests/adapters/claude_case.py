"""What the Claude Code tests plan with: a request, settings, facts and a composition, each changed by what a test says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import evolve

from outfitter.adapters.claude.plan import ADAPTER
from outfitter.model.composition import Composition, Controls, Fragment, Skill, Tools
from outfitter.model.projection import Facts, ProjectionPlan
from outfitter.model.request import Ambient, Position, Request
from outfitter.model.settings import Origin, Settings, Strategies
from outfitter.railway import Outcome
from stages.resolve_strategies import resolve_strategies

HOME, CWD, PROJECTION = "/home/u", "/work/shop", "/tmp/outfitter-a-claude-0a1b2c3d/projection"
NATIVE = HOME + "/.claude"
STATE = HOME + "/.claude.json"
HELP = (Path(__file__).parent / "claude_help.txt").read_text()


def ambient(**more: Any) -> Ambient:
    plain = Ambient(
        cwd=CWD,
        home=HOME,
        temp_root="/tmp",
        state_root=HOME + "/.local/state/outfitter",
        env={"HOME": HOME},
        stdin_tty=False,
        stdout_tty=False,
        stderr_tty=False,
        now_ns=0,
        uid=1000,
        platform="linux",
    )
    return evolve(plain, **more)


def request(*passthrough: str, isolated: bool = False, **around: Any) -> Request:
    return Request(ambient(**around), passthrough=passthrough, isolated=isolated)


def settings(**values: Any) -> Settings:
    """Settings of the home file, every leaf with its origin."""
    origins = {path: Origin("home", HOME + "/.agents/settings.yml", Position(1, 1)) for path in _leaves(values)}
    return Settings(values, origins, {}, ())


def _leaves(values: Any, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(values, dict):
        return [path]
    return [leaf for key, value in values.items() for leaf in _leaves(value, (*path, str(key)))]


def facts(**more: Any) -> Facts:
    plain = Facts(
        executable="/usr/bin/claude",
        native=NATIVE,
        cache=HOME + "/.agents/cache",
        projection=PROJECTION,
        project_root=CWD,
        files={},
        help=HELP,
    )
    return evolve(plain, **more)


def composition(*fragments: Fragment, **more: Any) -> Composition:
    plain = Composition(
        agent="reviewer",
        label="Reviewer",
        description="Reads changes",
        chain=("reviewer",),
        fragments=fragments,
        skills=(),
        subagents=(),
        commands=(),
        knowledge=(),
        servers=(),
        model=None,
        registry={},
        thinking="",
        tools=Tools(),
        extensions=(),
        plugins=(),
        prompt_template=None,
        controls=Controls(),
        harness_controls={},
        job_roots=(),
        overlays=(),
        visible_skills=(),
        digest="0" * 64,
    )
    return evolve(plain, **more)


def body(text: str = "You review.") -> Fragment:
    return Fragment("body", text, CWD + "/.agents/agents/reviewer/agent.md", "project", "reviewer")


def skill(name: str, source: str = "") -> Skill:
    place = source or f"{CWD}/.agents/skills/{name}"
    return Skill(name, place, f"---\nname: {name}\ndescription: {name}\n---\nbody\n", name, "project", "reviewer")


def strategies(asked: Request, given: Settings, known: Facts, **override: str) -> Strategies:
    """What the settings resolve to, but for `override` (by a path's key as the settings write it)."""
    made = resolve_strategies(ADAPTER, given, known, asked).unwrap()
    rows = [row._replace(strategy=override.get(row.path.key, row.strategy)) for row in made.declared]  # type: ignore[arg-type]
    return evolve(made, declared=tuple(rows))


def outcome(
    made: Composition,
    asked: Request | None = None,
    given: Settings | None = None,
    known: Facts | None = None,
    override: dict[str, str] | None = None,
) -> Outcome[ProjectionPlan]:
    asked, given, known = asked or request(), given or settings(), known or facts()
    return ADAPTER.plan(asked, given, made, strategies(asked, given, known, **(override or {})), known)


def plan(*args: Any, **named: Any) -> ProjectionPlan:
    return outcome(*args, **named).unwrap()


def isolated(made: Composition, *passthrough: str, **named: Any) -> ProjectionPlan:
    return plan(made, request(*passthrough, isolated=True), **named)


def content(made: ProjectionPlan, path: str) -> str:
    return next(item.content.decode() for item in made.generated if item.path == path)


def paths(made: ProjectionPlan) -> set[str]:
    return {item.path for item in made.generated} | {item.path for item in made.copied}


def value(made: ProjectionPlan, option: str) -> str:
    arguments = made.launch.arguments
    assert arguments.count(option) == 1, (option, arguments)
    return arguments[arguments.index(option) + 1]


def codes(made: ProjectionPlan) -> list[str]:
    return [notice.code for notice in made.notices]


def warnings(made: ProjectionPlan) -> list[str]:
    return [notice.code for notice in made.notices if notice.level == "warning"]
