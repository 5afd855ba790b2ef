"""The composition's canonical digest: what reaches the harness, not where it came from (spec/30)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from blake3 import blake3

from outfitter.catalog.native import is_pi_state
from outfitter.model.composition import Composition, Controls, ModelTarget, Overlay, Skill, Subagent

FORMAT = 1


def composition_digest(
    composition: Composition,
    extensions: tuple[str, ...],
    jobs: list[tuple[str, str, str]],
    content: Callable[[str], str],
) -> str:
    """BLAKE3 (hex) over a canonical JSON of kinds, ids, contents, order and limits.

    `extensions` and `jobs` stand for the composition's own, with digests in place of paths; `content` gives a copied file's digest.
    """
    made = composition
    value = {
        "format": FORMAT,
        "agent": [made.agent, made.label, made.description],
        "fragments": [[fragment.kind, fragment.content] for fragment in made.fragments],
        "skills": [_skill(skill, content) for skill in made.skills],
        "subagents": [_subagent(one, content) for one in made.subagents],
        "commands": [[command.id, command.text] for command in made.commands],
        "servers": [[server.id, server.definition] for server in made.servers],
        "model": _target(made.model),
        "registry": made.registry,
        "thinking": made.thinking,
        "tools": [made.tools.allow, made.tools.deny],
        "extensions": extensions,
        "plugins": made.plugins,
        "prompt_template": made.prompt_template.content if made.prompt_template else None,
        "controls": _controls(made.controls),
        "harness_controls": {name: _controls(block) for name, block in made.harness_controls.items()},
        "jobs": jobs,
        "overlay": [[file.path, file.executable, blake3(file.content).hexdigest()] for file in _laid(made)],
    }
    return blake3(canonical(value).encode()).hexdigest()


def _laid(made: Composition) -> list[Overlay]:
    """Return overlay files by path; several of one path keep their order, in which they are merged."""
    return sorted((file for file in made.overlays if not is_pi_state(file.path)), key=lambda file: file.path)


def canonical(value: Any) -> str:
    """One spelling of a JSON-like value: sorted keys, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} in a composition")


def _skill(skill: Skill, content: Callable[[str], str]) -> list[Any]:
    parts = sorted((part.path, part.executable, content(part.source)) for part in (*skill.files, *skill.extras))
    return [skill.id, skill.manifest, parts]


def _subagent(one: Subagent, content: Callable[[str], str]) -> list[Any]:
    return [
        one.id,
        one.description,
        one.body,
        [one.tools.allow, one.tools.deny],
        _target(one.model),
        one.thinking,
        one.skills,
        [_skill(skill, content) for skill in one.resolved],
    ]


def _target(target: ModelTarget | None) -> Any:
    return None if target is None else list(target._replace(layer=""))


def _controls(block: Controls) -> list[Any]:
    return [block.environment, block.args, block.session_directory, block.deepwork_jobs, block.extra]
