"""What `--dry-run` prints: the plan of a launch, for people and as JSON; values of the environment stay hidden (spec/80). Pure."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from typing import Any

from outfitter.catalog.dump_text import literal_credentials
from outfitter.model.exposure import Verdict
from outfitter.model.projection import Prepared
from outfitter.model.settings import Origin, Resolution
from outfitter.model.wording import counted
from outfitter.render import notice_json, one_line
from outfitter.syntax.address import hide_credentials

SHOWN_WIDTH = 160


def plan_lines(prepared: Prepared) -> Iterator[str]:
    """The plan in sections, each line one fact; data for stdout."""
    plan, composition = prepared.plan, prepared.composition
    yield (
        f"agent      {composition.agent} ({' > '.join(composition.chain)})"
        if composition.chain
        else f"agent      {composition.agent}"
    )
    yield f"harness    {plan.harness}"
    yield f"plan       {composition.digest}"
    yield from _section("layers", [f"{kind:<8} {root}" for kind, root in prepared.trees])
    yield from _section(
        "identity",
        [
            _fragment_line(f.kind, f.path, len(f.content.encode("utf-8", "surrogatepass")))
            for f in composition.fragments
        ],
    )
    yield from _section("skills", [skill.id for skill in composition.skills])
    yield from _section("subagents", [subagent.id for subagent in composition.subagents])
    yield from _section("servers", [server.id for server in composition.servers])
    yield from _section("strategies", [_strategy_line(row) for row in _shown(prepared)])
    yield from _section("command", [_clip(shlex.join(_command(prepared)))])
    yield from _section("sets", sorted(plan.launch.env_set))
    yield from _section("unsets", sorted(plan.launch.env_unset))
    yield from _section("generates", [one_line(path) for path in _generated(prepared)])
    yield from _section("links", [f"{one_line(path)} -> {one_line(target)}" for path, target in _links(prepared)])
    yield from _section("seeds", [f"{one_line(seed.path)} from {one_line(seed.source)}" for seed in plan.seeds])
    yield from _section(
        "merges back",
        [f"{one_line(bridge.path)} ({bridge.rule}) to {one_line(bridge.durable)}" for bridge in plan.bridges],
    )
    yield from trust_lines(prepared.trust)
    yield from _section("cannot project", list(plan.unsupported))
    yield from _section(f"{plan.harness} reads natively", [one_line(path) for path in plan.native_reads])


def plan_json(prepared: Prepared) -> dict[str, Any]:
    """The same facts as one document; lists in the order of the lines."""
    plan, composition = prepared.plan, prepared.composition
    return {
        "agent": composition.agent,
        "chain": list(composition.chain),
        "harness": plan.harness,
        "plan_digest": composition.digest,
        "layers": [{"kind": kind, "root": root} for kind, root in prepared.trees],
        "identity": [
            {"kind": f.kind, "path": f.path, "layer": f.layer, "agent": f.agent, "trusted": f.trusted}
            for f in composition.fragments
        ],
        "skills": [skill.id for skill in composition.skills],
        "subagents": [subagent.id for subagent in composition.subagents],
        "servers": [server.id for server in composition.servers],
        "strategies": [_strategy_json(row) for row in _rows(prepared)],
        "command": _command(prepared),
        "environment": {"sets": sorted(plan.launch.env_set), "unsets": sorted(plan.launch.env_unset)},
        "generates": _generated(prepared),
        "links": [{"path": path, "target": target} for path, target in _links(prepared)],
        "seeds": [{"path": seed.path, "source": seed.source} for seed in plan.seeds],
        "bridges": [{"path": bridge.path, "rule": bridge.rule, "durable": bridge.durable} for bridge in plan.bridges],
        "trust": trust_json(prepared.trust),
        "unsupported": list(plan.unsupported),
        "native_reads": list(plan.native_reads),
        "notices": [notice_json(notice) for notice in prepared.notices],
    }


def _command(prepared: Prepared) -> list[str]:
    """The command without the literal credentials of a tree's servers, which Codex is given as arguments (spec/80)."""
    words = [prepared.plan.launch.executable, *prepared.plan.launch.arguments]
    for secret in literal_credentials(prepared.composition.servers):
        for spelled in (secret, json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]):
            words = [word.replace(spelled, "***") for word in words]
    return [hide_credentials(word) for word in words]


TRUST_WORDS = {
    "nothing": "nothing here needs any",
    "granted": "granted",
    "path": "allowed by a trusted path",
    "digest": "allowed by --trust",
    "without": "run without it",
    "pending": "not granted; a launch would ask, or be refused",
}


def trust_lines(verdict: Verdict | None) -> Iterator[str]:
    """Yield what the launch would run or send by itself that the home did not write, and who allowed it."""
    rows = verdict.exposure.asking if verdict else ()
    if verdict and rows:
        yield from _section(
            "trust",
            [
                f"{TRUST_WORDS[verdict.state]}, digest {verdict.exposure.digest}",
                *(
                    f"{row.kind:<12} {one_line(row.path)}{f':{row.line}' if row.line else ''}  {row.what}"
                    for row in rows
                ),
            ],
        )


def trust_json(verdict: Verdict | None) -> dict[str, Any]:
    """Return the same as a document."""
    if verdict is None:
        return {"state": "nothing", "digest": "", "rows": []}
    pending = {row.digest for row in verdict.pending}
    return {
        "state": verdict.state,
        "digest": verdict.exposure.digest,
        "rows": [
            {
                "kind": row.kind,
                "layer": row.layer,
                "path": row.path,
                "line": row.line,
                "what": row.what,
                "digest": row.digest,
                "asks": row.asks,
                "granted": row.digest not in pending,
            }
            for row in verdict.exposure.rows
        ],
    }


def _section(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield ""
        yield f"{title}:"
        yield from (f"  {line}" for line in lines)


def _fragment_line(kind: str, path: str, size: int) -> str:
    return f"{kind:<8} {one_line(path)}, {counted(size, 'byte')}"


def _rows(prepared: Prepared) -> list[Resolution]:
    strategies = prepared.plan.strategies
    return [*strategies.declared, strategies.unknown]


def _shown(prepared: Prepared) -> list[Resolution]:
    """Known scratch at its default is noise to a reader; JSON has it all."""
    return [row for row in _rows(prepared) if not row.path.scratch or row.origin.scope != "default"]


def _strategy_line(row: Resolution) -> str:
    return f"{row.path.key:<18} {row.strategy:<8} {origin_text(row.origin)}"


def origin_text(origin: Origin) -> str:
    """`default`, or `file:line`."""
    return "default" if origin.scope == "default" else f"{origin.path}:{origin.at.line}"


def _strategy_json(row: Resolution) -> dict[str, Any]:
    return {
        "path": row.path.key,
        "strategy": row.strategy,
        "allowed": list(row.path.allowed),
        "native": row.path.native,
        "origin": {"scope": row.origin.scope, "path": row.origin.path, "line": row.origin.at.line},
    }


def _generated(prepared: Prepared) -> list[str]:
    plan = prepared.plan
    return sorted({*(item.path for item in plan.generated), *(item.path for item in plan.copied)})


def _links(prepared: Prepared) -> list[tuple[str, str]]:
    """The links that will be made: `symlink` paths that nothing generated stands at."""
    made = set(_generated(prepared))
    return [
        (row.path.key, row.path.native)
        for row in prepared.plan.strategies.declared
        if row.strategy == "symlink" and row.path.native and row.path.key not in made
    ]


def _clip(text: str) -> str:
    """A command line may hold a whole developer prompt: show its beginning and how long it is."""
    line = one_line(text)
    return line if len(line) <= SHOWN_WIDTH * 8 else f"{line[: SHOWN_WIDTH * 8]}… ({len(line)} characters)"
