"""Small values for adapter tests: a composition with nothing in it, a machine, and a plan made of both."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import evolve

from outfitter.adapters import Adapter, adapter
from outfitter.model.composition import Composition, Controls, Fragment, ModelTarget, Overlay, Server, Skill, Tools
from outfitter.model.errors import LaunchError
from outfitter.model.projection import Facts, ProjectionPlan
from outfitter.model.request import Ambient, Request
from outfitter.model.settings import Settings, Strategies, Strategy
from outfitter.railway import fold
from stages.resolve_strategies import resolve_strategies

HOME, PROJECT, ROOT = "/h", "/w/p", "/tmp/outfitter-a-x"


def composed(**changes: Any) -> Composition:
    """Agent `a` with nothing selected, and the changes."""
    empty = Composition(
        agent="a",
        label="a",
        description="",
        chain=("a",),
        fragments=(),
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
        digest="",
    )
    return evolve(empty, **changes)


def ambient(**changes: Any) -> Ambient:
    base = Ambient(PROJECT, HOME, "/tmp", f"{HOME}/.local/state", {}, False, False, False, 0, 0, "linux")
    return evolve(base, **changes)


def request(passthrough: tuple[str, ...] = (), **changes: Any) -> Request:
    """A request with this pass-through; the changes are of its surroundings (`env`, `cwd`, `stdin_tty` …) or its own."""
    own = {key: changes.pop(key) for key in ("isolated", "strict") if key in changes}
    return Request(ambient(**changes), passthrough=passthrough, **own)


def settings(**values: Any) -> Settings:
    return Settings(values, {}, {}, ())


def facts(name: str, files: Mapping[str, Any] | None = None, **changes: Any) -> Facts:
    """A machine on which the harness lives in its usual place; file values that are no bytes are written as JSON."""
    native = f"{HOME}/{adapter(name).home}"
    raw = {
        (path if path.startswith("/") else f"{native}/{path}"): value
        if isinstance(value, bytes)
        else json.dumps(value).encode()
        for path, value in (files or {}).items()
    }
    base = Facts(f"/bin/{name}", native, f"{HOME}/.agents/cache", f"{ROOT}/projection", PROJECT, raw)
    return evolve(base, **changes)


def strategies(name: str, req: Request, given: Settings, known: Facts, **chosen: Strategy) -> Strategies:
    """The defaults, and these strategies by path."""
    found: Strategies = fold(resolve_strategies(adapter(name), given, known, req), _same, _raise)
    return evolve(
        found,
        declared=tuple(r._replace(strategy=chosen.get(r.path.key, r.strategy)) for r in found.declared),
    )


def outcome_of(
    name: str,
    composition: Composition,
    req: Request | None = None,
    files: Mapping[str, Any] | None = None,
    given: Settings | None = None,
    known: Facts | None = None,
    chosen: Mapping[str, Strategy] | None = None,
) -> Any:
    """The outcome of planning: everything that is not given is as empty as it can be."""
    req = req or request()
    given = given or settings()
    known = known or facts(name, files)
    resolved = strategies(name, req, given, known, **(chosen or {}))
    return adapter(name).plan(req, given, composition, resolved, known)


def planned(name: str, composition: Composition, req: Request | None = None, **rest: Any) -> ProjectionPlan:
    """The plan; a failure fails the test."""
    plan: ProjectionPlan = fold(outcome_of(name, composition, req, **rest), _same, _raise)
    return plan


def refused(name: str, composition: Composition, req: Request | None = None, **rest: Any) -> LaunchError:
    """The error; a plan fails the test."""
    error: LaunchError = fold(outcome_of(name, composition, req, **rest), _unexpected, _same)
    return error


def values(plan: ProjectionPlan, option: str) -> list[str]:
    """Every value that follows an option in the arguments."""
    words = plan.launch.arguments
    return [words[i + 1] for i, word in enumerate(words[:-1]) if word == option]


def texts(plan: ProjectionPlan) -> dict[str, str]:
    """The generated files by path."""
    return {file.path: file.content.decode() for file in plan.generated}


def said(plan: ProjectionPlan, code: str, level: str = "warning") -> list[str]:
    """The messages of a code."""
    return [notice.message for notice in plan.notices if notice.code == code and notice.level == level]


def warnings(plan: ProjectionPlan) -> list[str]:
    return [notice.message for notice in plan.notices if notice.level == "warning"]


def fragment(kind: Any, content: str, path: str = "/t/x.md") -> Fragment:
    return Fragment(kind, content, path, "project")


def skill(name: str, source: str = "") -> Skill:
    manifest = f"---\nname: {name}\ndescription: about {name}\n---\nbody\n"
    return Skill(name, source or f"/t/skills/{name}", manifest, f"about {name}", "project", "a")


def server(name: str, **definition: Any) -> Server:
    return Server(
        name, {"type": "stdio", **definition} if "command" in definition else definition, "/t/mcp.json", "project"
    )


def overlay(
    path: str, content: bytes | dict[str, Any] = b"x", executable: bool = False, layer: str = "project"
) -> Overlay:
    raw = content if isinstance(content, bytes) else json.dumps(content).encode()
    return Overlay(f"/{layer}/agents/a/pi/{path}", path, raw, executable, layer)


def registry_target(**changes: Any) -> ModelTarget:
    base = ModelTarget("registry", "m1", "gw", "openai-responses", "http://127.0.0.1:9/v1", "GW_KEY")
    return base._replace(**changes)


def each_adapter() -> list[Adapter]:
    """Every adapter that is there."""
    from outfitter.adapters import NAMES

    return [adapter(name) for name in NAMES]


def _same(value: Any) -> Any:
    return value


def _raise(error: LaunchError) -> Any:
    raise AssertionError(error)


def _unexpected(plan: Any) -> Any:
    raise AssertionError(plan)
