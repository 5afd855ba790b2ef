"""Make the support matrix of docs/adapters.md from the adapters: one element selected at a time, and what that changes.

.venv/bin/python docs/matrix.py          write it
.venv/bin/python docs/matrix.py --check  exit 1 if it is not up to date
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from outfitter.adapters import adapter  # noqa: E402
from outfitter.model.projection import ProjectionPlan  # noqa: E402
from tests.adapters.elements import ELEMENTS, projected, selecting, warnings_of  # noqa: E402
from tests.adapters.samples import composed  # noqa: E402

PAGE = ROOT / "docs/adapters.md"
BEGIN, END = "<!-- support matrix: made by docs/matrix.py -->", "<!-- end of the support matrix -->"
COLUMNS = (("pi", False), ("claude", False), ("claude", True), ("codex", False))
HEADS = ("Pi", "Claude Code, inherited", "Claude Code, isolated", "Codex CLI")


def matrix() -> str:
    """The table: a row an element, a column a harness."""
    lines = ["| element | " + " | ".join(HEADS) + " |", "|---" * (len(HEADS) + 1) + "|"]
    for name in ELEMENTS:
        cells = [_cell(harness, isolated, name) for harness, isolated in COLUMNS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with its table replaced."""
    head, _, rest = text.partition(BEGIN)
    _, _, tail = rest.partition(END)
    return f"{head}{BEGIN}\n{matrix()}\n{END}{tail}"


def _cell(harness: str, isolated: bool, name: str) -> str:
    one = adapter(harness)
    bare, with_it = projected(one, composed(), isolated), projected(one, selecting(name), isolated)
    if name in with_it.unsupported and name not in one.elements:
        return "unsupported: a warning"
    changes = list(dict.fromkeys(_changes(bare, with_it)))
    if name in with_it.unsupported:
        return "in part: " + ", ".join(changes) if changes else "in part, see below"
    if changes:
        return ", ".join(changes)
    return "a warning" if warnings_of(with_it) - warnings_of(bare) else "–"


def _changes(bare: ProjectionPlan, with_it: ProjectionPlan) -> Iterator[str]:
    """What a plan has that the bare one has not: options, variables, folders, files read natively."""
    more = Counter(_options(with_it)) - Counter(_options(bare))
    yield from (f"`{option}`" for option in more)
    yield from (f"`{key}`" for key in with_it.launch.env_set if key not in bare.launch.env_set)
    was, now = _state(bare), _state(with_it)
    yield from (f"`{key}`" for key in now if was.get(key) != now[key])
    shared = bare.launch.env_set.keys() & with_it.launch.env_set.keys()
    yield from (f"`{key}`" for key in sorted(shared) if bare.launch.env_set[key] != with_it.launch.env_set[key])
    if set(with_it.native_reads) - set(bare.native_reads):
        yield "read natively"
    known = {(file.path, file.content) for file in bare.generated}
    for path in [file.path for file in with_it.generated if (file.path, file.content) not in known]:
        top, slash, _ = path.partition("/")
        yield f"files in `{top}/`" if slash else f"`{top}`"


def _state(plan: ProjectionPlan) -> dict[str, object]:
    """Each declared path with where it leads; what is generated there is shown as a file."""
    made = {file.path for file in plan.generated}
    return {row.path.key: row.path.native for row in plan.strategies.declared if row.path.key not in made}


def _options(plan: ProjectionPlan) -> Iterator[str]:
    """The options of a command line; of Codex's `-c` with their key."""
    words = plan.launch.arguments
    for at, word in enumerate(words):
        if word == "-c":
            key = words[at + 1].partition("=")[0]
            parts = key.split(".")
            yield "-c " + (f"{parts[0]}.…" if parts[0] in ("mcp_servers", "agents") else key)
        elif word.startswith("-"):
            yield word


def main(words: list[str]) -> int:
    """Write the page, or check it."""
    text = PAGE.read_text()
    fresh = page(text)
    if "--check" in words:
        return 0 if fresh == text else 1
    PAGE.write_text(fresh)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
