"""Make the lists of paths in docs/state.md from the adapters.

.venv/bin/python docs/state_paths.py          write them
.venv/bin/python docs/state_paths.py --check  exit 1 if they are not up to date
"""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from outfitter.adapters.claude.state import declared  # noqa: E402
from outfitter.adapters.pi.state import state_paths  # noqa: E402
from outfitter.model.projection import Facts  # noqa: E402
from outfitter.model.settings import StatePath  # noqa: E402
from outfitter.settings.state_persistence import UNKNOWN  # noqa: E402

PAGE = ROOT / "docs/state.md"
PATHS: dict[str, tuple[StatePath, ...]] = {
    "pi": state_paths(Facts("", "/n", "/c", "", "", {})),
    "claude": declared("/n"),
}
NAMES = {"pi": "Pi", "claude": "Claude Code"}
LINKED = "Pi's MCP logins are, unless you say otherwise; Claude Code's hold data of all projects, so they are not."


def table(harness: str) -> str:
    """The declared paths of seed 000, each with its default and what it allows."""
    rows = [path for path in PATHS[harness] if not path.scratch and path.key != "unknown"]
    lines = ["| path | default | allowed |", "|---|---|---|"]
    lines += [f"| {tick(row.key)} | {tick(row.default)} | {ticks(row.allowed)} |" for row in (*rows, UNKNOWN)]
    return "\n".join(lines)


def scratch(harness: str) -> str:
    """What a harness keeps for itself, in one paragraph."""
    keys = [path.key for path in PATHS[harness] if path.scratch and "symlink" not in path.allowed]
    return wrapped(f"{NAMES[harness]}: {ticks(keys)}.")


def linkable() -> str:
    """What may be linked beyond the tables."""
    keys = [path.key for paths in PATHS.values() for path in paths if path.scratch and "symlink" in path.allowed]
    return wrapped(f"These hold your own data, so they may be linked, too: {ticks(keys)}. {LINKED}")


def tick(word: str) -> str:
    """A word as code."""
    return f"`{word}`"


def ticks(words: list[str] | tuple[str, ...]) -> str:
    """Words as code, in order."""
    return ", ".join(map(tick, words))


def wrapped(text: str) -> str:
    """A paragraph in lines of 130 characters, no path broken."""
    return "\n".join(textwrap.wrap(text, 130, break_on_hyphens=False, break_long_words=False))


def page(text: str) -> str:
    """The page with its lists replaced."""
    parts = {f"table: {name}": table(name) for name in PATHS} | {f"scratch: {name}": scratch(name) for name in PATHS}
    for name, content in {**parts, "linkable": linkable()}.items():
        block = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end -->)", re.DOTALL)
        text = block.sub(lambda found, new=content: f"{found[1]}{new}\n{found[2]}", text)  # type: ignore[misc]
    return text


def main() -> int:
    """Write the page, or with `--check` only compare it."""
    old = PAGE.read_text()
    new = page(old)
    if "--check" not in sys.argv:
        PAGE.write_text(new)
    return 1 if "--check" in sys.argv and new != old else 0


if __name__ == "__main__":
    sys.exit(main())
