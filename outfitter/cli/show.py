"""`outfitter show AGENT`: one agent composed, with the source of each part (spec/30, spec/80)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from outfitter.adapters import NAMES, adapter
from outfitter.catalog.tree_reader import TreeReader
from outfitter.cli.context import Context
from outfitter.cli.parser import json_option, parser
from outfitter.cli.reading import composed, tree
from outfitter.model.composition import Composition, Fragment, ModelTarget, Skill, Subagent, Tools
from outfitter.railway import fold
from outfitter.render import notice_json, one_line

SUMMARY = "One agent as a launch would compose it: identity, loadout, model, and what each harness cannot project."
EXAMPLES = ("outfitter show reviewer", "outfitter show reviewer --origin", "outfitter show reviewer --json")


def arguments(made: argparse.ArgumentParser) -> None:
    """AGENT, --json."""
    made.add_argument("agent", nargs="?", metavar="AGENT", help="agent id; default_agent of the settings without one")
    made.add_argument("--origin", action="store_true", help="also where each layer is, and what kind of layer it is")
    json_option(made)


def main(words: list[str], context: Context) -> int:
    """Print the composition. Exit 1 where the agent cannot be composed."""
    options = parser("show", SUMMARY, arguments, EXAMPLES).parse_args(words)
    env = context.ambient.env
    return fold(
        tree(context, options.agent, "agent").bind(
            lambda read: composed(*read, options.agent, env).map(lambda made: (read[0], made))
        ),
        lambda shown: _show(options, context, *shown),
        lambda error: context.fail(error, options.json),
    )


def _show(options: argparse.Namespace, context: Context, reader: TreeReader, made: Composition) -> int:
    if options.json:
        context.console.document({**_document(made), "layers": _layers(reader)})
        return 0
    for notice in made.notices:
        context.console.say(notice)
    context.console.data("\n".join(_lines(made)))
    if options.origin:
        context.console.data("\n".join(("layers:", *(_layer_line(row) for row in _layers(reader)))))
    return 0


def _layers(reader: TreeReader) -> list[dict[str, Any]]:
    return [{"kind": tree.kind, "label": tree.label, "root": tree.root} for tree in reader.trees]


def _layer_line(row: dict[str, Any]) -> str:
    used = ", used in place, never written" if row["kind"].startswith("native") else ""
    return f"  [{one_line(row['label'])}] {row['kind']}{used}: {one_line(row['root'])}"


def unsupported(made: Composition) -> dict[str, tuple[str, ...]]:
    """What each harness has nothing for, by harness."""
    return {name: adapter(name).unsupported_elements(made) for name in NAMES}


def _lines(made: Composition) -> Iterator[str]:
    label = f" ({one_line(made.label)})" if made.label != made.agent else ""
    yield f"agent      {made.agent}{label}"
    if made.description:
        yield f"about      {one_line(made.description)}"
    yield f"line       {' > '.join(made.chain)}"
    yield f"digest     {made.digest}"
    yield f"model      {_model_line(made.model)}"
    yield f"thinking   {made.thinking or '-'}"
    yield f"tools      {_tools_line(made.tools)}"
    yield from _section("skills", [f"{skill.id}  [{skill.layer}] {one_line(skill.source)}" for skill in made.skills])
    yield from _section("subagents", [f"{one.id}  [{one.layer}] {one_line(one.path)}" for one in made.subagents])
    yield from _section("servers", [f"{one.id} ({one.definition.get('type')})  [{one.layer}]" for one in made.servers])
    yield from _section("extensions", [one_line(word) for word in made.extensions])
    yield from _section("plugins", [one_line(word) for word in made.plugins])
    yield from _section("commands", [f"{one.id}  [{one.layer}] {one_line(one.path)}" for one in made.commands])
    yield from _section("knowledge", [f"{one.id}  [{one.layer}] {one_line(one.path)}" for one in made.knowledge])
    yield from _section("jobs", [one_line(root.path) for root in made.job_roots])
    yield from _section("pi overlay", [f"{one_line(one.path)}  [{one.layer}]" for one in made.overlays])
    yield from _section(
        "cannot project", [f"{name}: {', '.join(words)}" for name, words in unsupported(made).items() if words]
    )
    yield from _section("identity", [])
    template = [made.prompt_template._replace(kind="append")] if made.prompt_template else []
    for fragment in (*made.fragments, *template):
        yield f"--- {_source(fragment)}"
        yield fragment.content.rstrip("\n")


def _section(title: str, rows: list[str]) -> Iterator[str]:
    if rows or title == "identity":
        yield f"{title}:"
        yield from (f"  {row}" for row in rows)


def _source(fragment: Fragment) -> str:
    owner = f" of {fragment.agent}" if fragment.agent else ""
    trust = "" if fragment.trusted else "  (repository content, not trusted)"
    return f"{fragment.kind}{owner}  [{fragment.layer}] {one_line(fragment.path)}{trust}"


def _model_line(target: ModelTarget | None) -> str:
    if target is None:
        return "- (the harness's own default)"
    if target.kind == "native":
        return f"{target.model} (native name)"
    if target.kind == "split":
        return f"{target.provider}/{target.model} (no registry)"
    variable = f", ${target.variable}" if target.variable else ""
    return f"{target.provider}/{target.model} ({target.api} at {target.base_url}{variable})  [{target.layer}]"


def _tools_line(tools: Tools) -> str:
    allow = "all" if tools.allow is None else ", ".join(tools.allow) or "none"
    return allow + (f"; never {', '.join(tools.deny)}" if tools.deny else "")


def _document(made: Composition) -> dict[str, Any]:
    return {
        "agent": made.agent,
        "label": made.label,
        "description": made.description,
        "chain": list(made.chain),
        "digest": made.digest,
        "identity": [_fragment(fragment) for fragment in made.fragments],
        "prompt_template": _fragment(made.prompt_template) if made.prompt_template else None,
        "skills": [_skill(skill) for skill in made.skills],
        "subagents": [_subagent(one) for one in made.subagents],
        "servers": [
            {"id": one.id, "type": one.definition.get("type"), "layer": one.layer, "path": one.path}
            for one in made.servers
        ],
        "model": _model(made.model),
        "thinking": made.thinking,
        "tools": _tools(made.tools),
        "extensions": list(made.extensions),
        "plugins": list(made.plugins),
        "commands": [{"id": one.id, "layer": one.layer, "path": one.path} for one in made.commands],
        "knowledge": [{"id": one.id, "layer": one.layer, "path": one.path} for one in made.knowledge],
        "jobs": [{"path": root.path, "names": list(root.names or root.held)} for root in made.job_roots],
        "overlay": [{"path": one.path, "layer": one.layer} for one in made.overlays],
        "environment": sorted(
            {name for block in (made.controls, *made.harness_controls.values()) for name in block.environment}
        ),
        "unsupported": {name: list(words) for name, words in unsupported(made).items()},
        "notices": [notice_json(notice) for notice in made.notices],
    }


def _fragment(fragment: Fragment) -> dict[str, Any]:
    return fragment._asdict()


def _skill(skill: Skill) -> dict[str, Any]:
    files = sorted(part.path for part in (*skill.files, *skill.extras))
    return {
        "id": skill.id,
        "description": skill.description,
        "agent": skill.agent,
        "layer": skill.layer,
        "source": skill.source,
        "files": files,
    }


def _subagent(one: Subagent) -> dict[str, Any]:
    return {
        "id": one.id,
        "description": one.description,
        "skills": list(one.skills),
        "tools": _tools(one.tools),
        "model": _model(one.model),
        "thinking": one.thinking,
        "layer": one.layer,
        "path": one.path,
    }


def _tools(tools: Tools) -> dict[str, Any]:
    return {"allow": None if tools.allow is None else list(tools.allow), "deny": list(tools.deny)}


def _model(target: ModelTarget | None) -> dict[str, Any] | None:
    """The target without its header values: they may be somebody's secret."""
    if target is None:
        return None
    return {
        "kind": target.kind,
        "provider": target.provider,
        "model": target.model,
        "api": target.api,
        "base_url": target.base_url,
        "variable": target.variable,
        "headers": sorted(target.headers),
        "layer": target.layer,
    }
