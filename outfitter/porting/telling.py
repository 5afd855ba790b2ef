"""What an import shows.

The difference of each file, conflicts from three sides, and what is left behind. Pure.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping
from difflib import unified_diff

from outfitter.model.wording import counted
from outfitter.porting.adoption_plan import Row
from outfitter.porting.gather import unit_of
from outfitter.porting.servers import without_credentials
from outfitter.porting.translation import LeftBehind, Translation

_MANNERS = {"named": "note", "secret": "credential", "skipped": "warning"}


def heading(found: Translation, root: str) -> str:
    """What was found, in one line."""
    parts = [
        counted(len(found.agents), "agent"),
        counted(len(found.skills), "skill"),
        counted(len(found.commands), "command"),
        counted(len(found.servers), "server"),
        *(["instructions"] if "agents.md" in found.files else []),
    ]
    return f"found in {root}: {', '.join(parts)}"


def row_lines(rows: Iterable[Row], root: str, sources: Mapping[str, bytes], tree: str) -> Iterator[str]:
    """Each file's difference; files that are copied as they are in one line a resource."""
    copied: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.fate == "same":
            continue
        if row.fate == "new" and (row.copied or sources.get(row.source) == row.now):
            copied.setdefault((unit_of(row.path), _unit_source(row, root)), []).append(row)
            continue
        yield from _differences(row, root, sources, tree)
    for (unit, source), several in copied.items():
        size = sum(len(row.now) for row in several)
        files = f"{counted(len(several), 'file')}, " if unit != several[0].path else ""
        yield f"copy {tree}/{unit}  ({files}{counted(size, 'byte')} from {source})"


def _unit_source(row: Row, root: str) -> str:
    inside = row.path[len(unit_of(row.path)) :]
    source = shown(row.source, root)
    return source.removesuffix(inside) if inside and source.endswith(inside) else source


def _differences(row: Row, root: str, sources: Mapping[str, bytes], tree: str) -> Iterator[str]:
    target, source = f"{tree}/{row.path}", shown(row.source, root)
    if row.fate == "blocked":
        yield f"conflict {target}: {row.why}"
    elif row.fate == "kept":
        yield f"keep {target}: you changed it, {source} is as it was"
    elif row.fate == "new":
        before = sources.get(row.source, b"") if row.path.endswith("agent.md") else b""
        yield from _diff(before, row.now, source if before else "/dev/null", target)
    elif row.fate == "update":
        yield from _diff(row.there or b"", row.now, target, f"{target} (with {source})")
    else:
        yield f"conflict {target}: {row.why or 'you and the source both changed it; yours stays'}"
        last = row.last.text if row.last else None
        if last is None:
            yield from _diff(row.there or b"", row.said, f"{target} (yours)", f"{source} (the source)")
        else:
            yield from _diff(last, row.there or b"", f"{target} (last import)", f"{target} (yours)")
            yield from _diff(last, row.said, f"{target} (last import)", f"{source} (the source)")


def _diff(before: bytes, after: bytes, old: str, new: str) -> Iterator[str]:
    if new.partition(" ")[0].endswith("mcp.json") or old.partition(" ")[0].endswith("mcp.json"):
        before, after = without_credentials(before), without_credentials(after)
    one, other = (content.decode("utf-8", "replace").splitlines() for content in (before, after))
    yield from unified_diff(one, other, old, new, lineterm="", n=1)


def left_lines(left: Iterable[LeftBehind], root: str) -> Iterator[str]:
    """One line for each thing that does not come along."""
    order = {"secret": 0, "skipped": 1, "named": 2}
    for one in sorted(left, key=lambda item: order[item.manner]):
        yield f"{_MANNERS[one.manner]}: {shown(one.path, root)}: {shortened(one.said, root)}" + (
            f" (hint: {one.hint})" if one.hint else ""
        )


def summary(rows: Iterable[Row], tree: str) -> str:
    """How many files have which fate."""
    fates = [row.fate for row in rows]
    words = {
        "new": "new",
        "update": "to update",
        "same": "there already",
        "kept": "kept as you changed them",
        "conflict": "in conflict",
        "blocked": "that cannot be written",
    }
    parts = [f"{fates.count(fate)} {word}" for fate, word in words.items() if fate in fates]
    return f"{tree}: {', '.join(parts)}" if parts else f"{tree}: nothing to import"


def shown(path: str, root: str) -> str:
    """A path relative to where the import looked."""
    return path[len(root) + 1 :] if path.startswith(root + "/") else path


def shortened(text: str, root: str) -> str:
    """A sentence with the paths in it made relative."""
    return text.replace(root + "/", "") if root != posixpath.sep else text
