"""`SKILL.md` as it is projected: its text kept byte for byte but for what programs would misread (spec/15 V9 and V13)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from outfitter.model.layers import Document

# Outfitter's own keys: what they add lands in the skill's folder, so that the projected copy needs them no more.
SECTIONS = ("references", "scripts", "assets")
_TOP = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:")


def manifest(name: str, document: Document) -> str:
    """The text of a skill's manifest under the name it is projected with.

    `name` is set where it differs or is missing, near-YAML lines are quoted rightly, resolved sections are dropped.
    """
    if document.value is None:
        return f"---\nname: {name}\n---\n{document.text}"
    values: Mapping[str, Any] = document.value
    head, body = _halves(document.text)
    blocks = _blocks(head)
    rewritten = {entry for notice in document.notices if notice.code == "near-yaml" for entry in _quoted(notice.hint)}
    kept: list[str] = []
    for key, lines in blocks:
        if key == "name" and str(values.get("name", "")) != name:
            continue
        if key in SECTIONS and _is_sources(values.get(key)):
            continue
        kept += [f"{key}: {json.dumps(values[key], ensure_ascii=False)}\n"] if key in rewritten else lines
    if str(values.get("name", "")) != name:
        kept.insert(0, f"name: {name}\n")
    return "".join(("---\n", *kept, "---\n", body))


def _halves(text: str) -> tuple[list[str], str]:
    """Front matter lines (without fences) and body, line ends as they are."""
    lines = re.split(r"(?<=\n)", text)
    end = next(number for number, line in enumerate(lines[1:], 1) if line.rstrip() == "---")
    return lines[1:end], "".join(lines[end + 1 :])


def _blocks(lines: list[str]) -> list[tuple[str, list[str]]]:
    """Front matter lines grouped by the top-level key they belong to; what comes before the first has none."""
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in lines:
        top = _TOP.match(line)
        if top:
            found.append((top.group(1), [line]))
        else:
            found[-1][1].append(line)
    return found


def _quoted(hint: str) -> tuple[str, ...]:
    """The key whose right spelling a near-YAML remark gives (`write key: "…"`)."""
    match = re.match(r"write ([A-Za-z_][\w-]*):", hint)
    return (match.group(1),) if match else ()


def _is_sources(value: Any) -> bool:
    items = value if isinstance(value, list) else [value]
    return any(isinstance(item, Mapping) and ("file" in item or "repo_file" in item) for item in items)
