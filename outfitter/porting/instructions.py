"""Standing instructions (CLAUDE.md, AGENTS.md, GEMINI.md, rules) as the tree's `agents.md`.

Where programs miss them. Pure.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from typing import Any

from outfitter.porting import front_text
from outfitter.porting.growing import Growing
from outfitter.syntax.fault import TextError
from outfitter.syntax.text import decode

_IMPORT = re.compile(r"(?m)(?:^|\s)@([\w./~-]+\.\w+)")
_ONLY_IMPORT = re.compile(r"\s*@\.?/?AGENTS\.md\s*")
TARGET = "agents.md"


def claude_instructions(growing: Growing) -> None:
    """CLAUDE.md as `agents.md`, byte for byte, so that Claude Code is not given it twice."""
    spot = growing.native.spot
    places = (
        [f"{spot.directory}/CLAUDE.md"] if spot.home else [f"{spot.around}/CLAUDE.md", f"{spot.directory}/CLAUDE.md"]
    )
    for path in places:
        text = _text(growing, path)
        if text is None:
            continue
        if _ONLY_IMPORT.fullmatch(text):
            growing.native.note("named", path, "imports AGENTS.md, which every program reads by itself; not copied")
            continue
        if not spot.home and _text(growing, f"{spot.around}/AGENTS.md") == text:
            growing.native.note("named", path, "equals AGENTS.md, which every program reads by itself; not copied")
            continue
        imports = sorted(set(_IMPORT.findall(text)))
        if imports:
            said = f"imports {', '.join(imports[:4])} with @; only Claude Code follows that"
            growing.native.note("named", path, said)
        _add(growing, path, text)
    local = f"{spot.around}/CLAUDE.local.md"
    if not spot.home and posixpath.basename(local) in growing.native.below_one(spot.around):
        growing.native.note("named", local, "your personal notes; Claude Code goes on reading them, not copied")


def shared_instructions(growing: Growing, name: str) -> None:
    """A project's instructions of this name (GEMINI.md, .github/copilot-instructions.md) as `agents.md`.

    Unless AGENTS.md says the same.
    """
    spot = growing.native.spot
    path = f"{spot.directory if spot.home else spot.around}/{name}"
    text = _text(growing, path)
    if text is None:
        return
    if _ONLY_IMPORT.fullmatch(text) or (not spot.home and _text(growing, f"{spot.around}/AGENTS.md") == text):
        growing.native.note("named", path, "says what AGENTS.md says, which every program reads by itself; not copied")
        return
    _add(growing, path, text)


def read_by_all(growing: Growing) -> None:
    """AGENTS.md of a project: all programs read it by themselves, so that a copy would only grow old."""
    spot = growing.native.spot
    path = f"{spot.around}/AGENTS.md"
    if not spot.home and _text(growing, path) is not None:
        growing.native.note("named", path, "every program reads it by itself; not copied")
    if spot.home:
        text = _text(growing, f"{spot.directory}/AGENTS.md")
        if text is not None:
            _add(growing, f"{spot.directory}/AGENTS.md", text)


def rule(growing: Growing, source: str, text: str, values: Mapping[str, Any], always: bool, files: str) -> None:
    """One rule: part of `agents.md` where it always holds.

    Else a skill that says for which files it is meant.
    """
    body = front_text.halves(text).body.strip()
    stem = posixpath.basename(source).partition(".")[0]
    if not body:
        growing.native.note("named", source, "says nothing; it is left out")
        return
    if always:
        _add(growing, source, body + "\n")
        return
    description = str(values.get("description") or "").strip()
    about = description or f"Rules of this project about {stem.replace('-', ' ').replace('_', ' ')}"
    meant = f"{about.rstrip('.')}. For files that match {files}." if files else about
    name = growing.take("skills", stem, source)
    if name:
        front = front_text.written({"name": name, "description": meant}, {}, body)
        growing.text(f"skills/{name}/SKILL.md", source, front)


def _add(growing: Growing, path: str, text: str) -> None:
    """One more source of `agents.md`; with several, each is headed by a comment that names it."""
    before = growing.files.get(TARGET)
    if before is None:
        growing.text(TARGET, path, text, exact=True)
        return
    first = before.text.decode("utf-8", "surrogateescape")
    if before.exact:
        first = _headed(growing, before.source, first)
    growing.text(TARGET, before.source, f"{first.rstrip()}\n\n{_headed(growing, path, text)}")


def _headed(growing: Growing, path: str, text: str) -> str:
    shown = posixpath.relpath(path, growing.native.spot.around)
    return f"<!-- from {shown} -->\n{text.strip()}\n"


def _text(growing: Growing, path: str) -> str | None:
    content = growing.native.alone(path)
    if content is None or not content.strip():
        return None
    try:
        return decode(content)
    except TextError as fault:
        growing.native.note("skipped", path, f"{fault.message}; skipped", fault.hint)
        return None
