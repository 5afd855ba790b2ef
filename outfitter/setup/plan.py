"""What `outfitter setup` would write: a first agent, and settings that make it the default (spec/80).

Pure. Nothing that exists is replaced. A settings file gains the keys it lacks, at its end.
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

# Shown where setup would have to rewrite the user's list, which it does not do.
ADD_BY_HAND = "add to it yourself"


class SetupChoice(NamedTuple):
    """What the user chose: `tree` is the absolute `.agents` directory, `source` a catalog or "".

    A catalog is a path, `owner/repo` or a git address.
    """

    start: Start
    agent: str
    harness: str
    tree: str
    source: str = ""


class ExistingFiles(NamedTuple):
    """Existing paths below the tree, its settings (text and values), and what a native directory offers.

    `identity` is the text of the native instructions; `agents` and `skills` map id → path inside → bytes.
    """

    paths: frozenset[str] = frozenset()
    settings_text: str | None = None
    settings: Mapping[str, Any] = {}
    identity: str = ""
    agents: Mapping[str, bytes] = {}
    skills: Mapping[str, Mapping[str, tuple[bytes, bool]]] = {}


class PlannedFile(NamedTuple):
    """One file to write: `path` relative to the tree; `fresh` is False for settings that gain lines."""

    path: str
    content: bytes
    executable: bool = False
    fresh: bool = True


def plan(choice: SetupChoice, existing: ExistingFiles) -> tuple[tuple[PlannedFile, ...], tuple[str, ...]]:
    """Return the files to write, sorted by path, and one line for each thing that is not changed."""
    wanted = [] if choice.start == "catalog" else _agent_files(choice, existing)
    left = tuple(f"{file.path} exists; it is not changed" for file in wanted if file.path in existing.paths)
    fresh = [file for file in wanted if file.path not in existing.paths]
    settings, kept = _settings(choice, existing)
    return tuple(sorted([*fresh, *settings])), (*left, *kept)


def source_entry(source: str) -> dict[str, str]:
    """Return a catalog (a path, `owner/repo`, or an address with `#ref`) as an entry of `sources`."""
    address, _, ref = source.partition("#")
    more = {"ref": ref} if ref else {}
    if "://" in address or re.match(r"[\w.-]+@[\w.-]+:", address):
        return {"uri": address, **more}
    if re.fullmatch(r"[A-Za-z0-9][\w.-]*/[\w.-]+", address) and not address.startswith("."):
        return {"github": address, **more}
    return {"path": address}


def _agent_files(choice: SetupChoice, existing: ExistingFiles) -> list[PlannedFile]:
    skills = sorted(existing.skills)
    subagents = sorted(name for name in existing.agents if name != choice.agent)
    front = [f"name: {choice.agent}", "description: " + json.dumps(_description(choice))]
    front += [f"skills: {json.dumps(skills)}"] if skills else []
    front += [f"subagents: {json.dumps(subagents)}"] if subagents else []
    body = existing.identity.strip() or STARTER_BODY.strip()
    text = "---\n" + "\n".join(front) + f"\n---\n\n{body}\n"
    files = [PlannedFile(f"agents/{choice.agent}/agent.md", text.encode("utf-8", "surrogateescape"))]
    files += [PlannedFile(f"agents/{name}/agent.md", existing.agents[name]) for name in subagents]
    for name in skills:
        files += [
            PlannedFile(posixpath.join("skills", name, path), content, executable)
            for path, (content, executable) in sorted(existing.skills[name].items())
        ]
    return files


def _description(choice: SetupChoice) -> str:
    return {"starter": "A first agent", "claude": "From ~/.claude", "pi": "From ~/.pi/agent", "catalog": ""}[
        choice.start
    ]


def _settings(choice: SetupChoice, existing: ExistingFiles) -> tuple[list[PlannedFile], tuple[str, ...]]:
    wanted: dict[str, Any] = {"default_agent": choice.agent} if choice.agent else {}
    wanted["default_harness"] = choice.harness
    lines, kept = [], []
    for key, value in wanted.items():
        if existing.settings.get(key) is None:
            lines.append(
                f"{key}: {json.dumps(value)}" if not re.fullmatch(r"[a-z][a-z0-9.-]*", value) else f"{key}: {value}"
            )
        elif existing.settings[key] != value:
            kept.append(f"settings.yml already sets {key}: {existing.settings[key]}; it is not changed")
    if choice.source:
        entry = source_entry(choice.source)
        listed = existing.settings.get("sources")
        if listed is None:
            lines += ["sources:", f"  - {json.dumps(entry)}"]
        elif entry not in listed:
            kept.append(f"settings.yml already has a list of sources; {ADD_BY_HAND}: - {json.dumps(entry)}")
    if not lines:
        return [], tuple(kept)
    before = existing.settings_text or ""
    joined = before + ("" if not before or before.endswith("\n") else "\n") + "\n".join(lines) + "\n"
    return [
        PlannedFile("settings.yml", joined.encode("utf-8", "surrogateescape"), fresh=existing.settings_text is None)
    ], tuple(kept)
