"""What `outfitter setup` would write: a first agent and the settings that make it the default (spec/80). Pure.

Nothing that exists is replaced. A settings file gains the keys it lacks, at its end; what it already says stays.
"""

import json
import posixpath
import re
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

Start = Literal["starter", "claude", "pi", "catalog"]

STARTER_BODY = """\
You help with this project. Read before you write. Say what you are about to change, change only that, and say how you checked it.
"""

# What setup cannot do without rewriting a list that somebody made: it says so, and that it is not done.
ASKED_BY_HAND = "add to it yourself"


class Choice(NamedTuple):
    """What the user chose. `tree` is the absolute `.agents` directory; `source` a catalog (path, owner/repo or address), "" for none."""

    start: Start
    agent: str
    harness: str
    tree: str
    source: str = ""


class Material(NamedTuple):
    """What was found: existing paths below the tree, its settings (text and values), and what a native directory offers.

    `identity` is the text of the native instructions; `agents` and `skills` map id → path inside → bytes.
    """

    existing: frozenset[str] = frozenset()
    settings_text: str | None = None
    settings: Mapping[str, Any] = {}
    identity: str = ""
    agents: Mapping[str, bytes] = {}
    skills: Mapping[str, Mapping[str, tuple[bytes, bool]]] = {}


class Write(NamedTuple):
    """One file to write: `path` relative to the tree; `fresh` False for a settings file that gains lines."""

    path: str
    content: bytes
    executable: bool = False
    fresh: bool = True


def plan(choice: Choice, found: Material) -> tuple[tuple[Write, ...], tuple[str, ...]]:
    """The files to write, sorted by path, and what is left as it is (one line each). No files: nothing to do."""
    wanted = [] if choice.start == "catalog" else _agent_files(choice, found)
    left = tuple(f"{write.path} exists and stays as it is" for write in wanted if write.path in found.existing)
    fresh = [write for write in wanted if write.path not in found.existing]
    settings, kept = _settings(choice, found)
    return tuple(sorted([*fresh, *settings])), (*left, *kept)


def source_entry(source: str) -> dict[str, str]:
    """A catalog as the `sources` list takes it: a path, `owner/repo`, or an address with an optional `#ref`."""
    place, _, ref = source.partition("#")
    more = {"ref": ref} if ref else {}
    if "://" in place or re.match(r"[\w.-]+@[\w.-]+:", place):
        return {"uri": place, **more}
    if re.fullmatch(r"[A-Za-z0-9][\w.-]*/[\w.-]+", place) and not place.startswith("."):
        return {"github": place, **more}
    return {"path": place}


def _agent_files(choice: Choice, found: Material) -> list[Write]:
    skills = sorted(found.skills)
    subagents = sorted(name for name in found.agents if name != choice.agent)
    front = [f"name: {choice.agent}", "description: " + json.dumps(_description(choice))]
    front += [f"skills: {json.dumps(skills)}"] if skills else []
    front += [f"subagents: {json.dumps(subagents)}"] if subagents else []
    body = found.identity.strip() or STARTER_BODY.strip()
    text = "---\n" + "\n".join(front) + f"\n---\n\n{body}\n"
    writes = [Write(f"agents/{choice.agent}/agent.md", text.encode("utf-8", "surrogateescape"))]
    writes += [Write(f"agents/{name}/agent.md", found.agents[name]) for name in subagents]
    for name in skills:
        writes += [
            Write(posixpath.join("skills", name, path), content, executable)
            for path, (content, executable) in sorted(found.skills[name].items())
        ]
    return writes


def _description(choice: Choice) -> str:
    return {"starter": "A first agent", "claude": "From ~/.claude", "pi": "From ~/.pi/agent", "catalog": ""}[
        choice.start
    ]


def _settings(choice: Choice, found: Material) -> tuple[list[Write], tuple[str, ...]]:
    wanted: dict[str, Any] = {"default_agent": choice.agent} if choice.agent else {}
    wanted["default_harness"] = choice.harness
    lines, kept = [], []
    for key, value in wanted.items():
        if found.settings.get(key) is None:
            lines.append(
                f"{key}: {json.dumps(value)}" if not re.fullmatch(r"[a-z][a-z0-9.-]*", value) else f"{key}: {value}"
            )
        elif found.settings[key] != value:
            kept.append(f"settings.yml already says {key}: {found.settings[key]}; it stays")
    if choice.source:
        entry = source_entry(choice.source)
        listed = found.settings.get("sources")
        if listed is None:
            lines += ["sources:", f"  - {json.dumps(entry)}"]
        elif entry not in listed:
            kept.append(f"settings.yml has a list of sources; {ASKED_BY_HAND}: - {json.dumps(entry)}")
    if not lines:
        return [], tuple(kept)
    before = found.settings_text or ""
    joined = before + ("" if not before or before.endswith("\n") else "\n") + "\n".join(lines) + "\n"
    return [Write("settings.yml", joined.encode("utf-8", "surrogateescape"), fresh=found.settings_text is None)], tuple(
        kept
    )
