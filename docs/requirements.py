"""Make docs/requirements.md: each item of OFTR-006 with the tests whose name or docstring carries its number.

.venv/bin/python docs/requirements.py          write it
.venv/bin/python docs/requirements.py --check  exit 1 if it is not up to date, or an item has neither test nor reason
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/requirements.md"
Item = tuple[int, int]

# Section → its title and, in item order, what each item asks for.
SECTIONS: dict[int, tuple[str, tuple[str, ...]]] = {
    1: (
        "The border between composing and projecting",
        (
            "a composition becomes a configuration root and a launch",
            "each projection says which harness it is for",
            "each harness reports what it cannot project",
            "such an element is a warning, fatal before launch under `--strict`",
            "composing knows no harness",
            "a prompt template goes only where there is a native control for it",
        ),
    ),
    2: (
        "Which harnesses there are",
        (
            "Pi from the first day",
            "others may be documented before they exist",
            "none is presented as supported without implementation and tests",
            "Pi's names for Pi's files and messages",
            "Pi is the default",
            "Claude Code",
            "Codex CLI",
        ),
    ),
    3: (
        "Pi's launch",
        (
            "`PI_CODING_AGENT_DIR` is the boundary",
            "environment of the agent",
            "arguments of the agent",
            "a session directory of the agent",
            "extensions by `--extension`",
            "skills by `--skill`",
            "templates by `--prompt-template`",
            "prompts by `--system-prompt` and `--append-system-prompt`",
            "provider, model and thinking by native flags",
            "`.mcp.json` of the Pi folders merges, arrays by identity",
            "the native model registry stays in reach",
            "skills of the layers, and of the Pi folder",
            "DeepWork jobs of the agent and its Pi folder",
            "named shared DeepWork jobs",
            "a layer is not a job folder by itself",
            "an inherited job variable only if allowed",
            "the overlay, higher layers over lower, links not followed, for Pi alone",
            "one system prompt, ordered appends, the template",
            "the durable session directory, and what may override it",
        ),
    ),
    4: (
        "Pi's start-up order",
        (
            "no extension chooses the configuration directory",
            "paths are chosen before Pi starts",
            "a bootstrap extension may do what comes later",
            "it says what takes effect only at the next launch",
            "warnings for what start-up order makes impossible are documented",
        ),
    ),
    5: (
        "Claude Code's launch",
        (
            "inherit by default, isolated on request",
            "the native command",
            "environment of the agent",
            "arguments of the agent",
            "model, effort, prompts and plugin directory by native flags",
            "prompts are passed as files",
            "one append file, in composition order",
            "session directories of the agent",
            "a control that cannot be translated is a warning",
            "a prompt template is unsupported",
            "the server file always, strict only when isolated",
            "what is seeded of credentials and machine state",
            "trust for exactly this directory, if given already",
            "changed credentials go back, unless both sides changed",
            "the account is merged back atomically, malformed state untouched",
            "nothing else of the state file goes back",
            "this directory's session history is seeded, whole",
            "sessions are merged back file by file, never deleting",
            "one failure stops nothing and hides no exit code",
            "an inherited run is a plugin and sets no directory",
            "an inherited run seeds and copies back nothing",
            "without the flags the run is isolated, with a warning",
            "isolation counts from home settings alone",
        ),
    ),
    6: (
        "Codex's launch",
        (
            "the native command, the pass-through unchanged",
            "the model by `-m`",
            "stdio servers by `-c`, references by name, literals with a warning",
            "HTTP servers by `-c`, headers and tokens by variable",
            "the additive warning",
            "what is not projected is reported",
            "no adapter reports extensions",
        ),
    ),
    7: (
        "Pi's settings",
        (
            "a doubled package is not enabled twice",
            "packages are compared by identity",
            "all other settings and packages stay",
            "the generated file is declared, and discarded",
            "else the native file",
        ),
    ),
    8: (
        "Pi's interaction defaults",
        (
            "Shift+Tab reserved, Ctrl+Shift+T for thinking",
            "all other valid bindings stay",
            "the generated bindings are one-run",
            "interactive launches get the bootstrap extension",
            "it toggles build and plan mode",
            "plan mode only reads and blocks Bash",
            "`/outfitter` works without a turn",
            "other launches get no extension",
        ),
    ),
    9: (
        "Models across harnesses",
        (
            "registries merge by layer, a selection resolves to one target",
            "the selection must exist, with `api` and `baseUrl`",
            "Pi: the canonical registry and native flags, not written back",
            "Claude Code: the native model and gateway controls",
            "Codex: provider, endpoint, key, headers and model as overrides",
            "what cannot be kept whole is left out whole",
            "credentials come from the environment alone",
            "without a registry native names pass",
        ),
    ),
}
# Items that no test can show, with the reason.
REASONS: dict[Item, str] = {
    (2, 2): "a permission, not a promise; nothing is documented as a harness that is not implemented",
}
HEAD = """\
# Requirements and their tests

Each item of OFTR-006, in our own words, and the tests whose name or docstring carries its number. Made by
`docs/requirements.py`; `tests/budgets/test_requirements.py` fails where an item has neither a test nor a reason.
"""
_IN_TEXT = re.compile(r"006\.(\d)\.(\d+)(?: to (?:006\.\d\.)?(\d+))?")


def carried(name: str, docstring: str) -> set[Item]:
    """The items that a test names: `test_006_3_2_and_3_…`, `…_006_7_1_to_3_…`, or `006.8.4 to 7` in its docstring."""
    found = {
        (int(section), number)
        for section, first, last in _IN_TEXT.findall(docstring)
        for number in range(int(first), int(last or first) + 1)
    }
    words = name.split("_")
    for at in [at for at, word in enumerate(words) if word == "006"]:
        found |= set(_spelled(words[at + 1 :]))
    return found


def _spelled(words: list[str]) -> Iterator[Item]:
    """Items out of the words after `006`: a section, an item, then further ones bare, after `and`, or up to one after `to`."""
    if len(words) < 2 or not (words[0].isdigit() and words[1].isdigit()):
        return
    section, last, at = int(words[0]), int(words[1]), 2
    yield section, last
    while at < len(words):
        step = 1 if words[at].isdigit() else 2
        if step == 2 and not (words[at] in ("and", "to") and at + 1 < len(words) and words[at + 1].isdigit()):
            return
        number = int(words[at + step - 1])
        if number > 99 or words[at + step - 1] == "006":
            return
        for one in range(last + 1, number + 1) if words[at] == "to" else (number,):
            yield section, one
        last, at = number, at + step


def tests() -> dict[Item, list[str]]:
    """Item → `path::name` of its tests."""
    found: dict[Item, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for item in carried(node.name, ast.get_docstring(node) or ""):
                    found.setdefault(item, []).append(f"{path.relative_to(ROOT)}::{node.name}")
    return found


def missing(found: dict[Item, list[str]]) -> list[str]:
    """Items with neither a test nor a reason."""
    return [f"006.{item[0]}.{item[1]}" for item in items() if item not in found and item not in REASONS]


def items() -> Iterator[Item]:
    """Every item, in order."""
    for section, (_, wanted) in SECTIONS.items():
        yield from ((section, number) for number in range(1, len(wanted) + 1))


def page(found: dict[Item, list[str]]) -> str:
    """The whole page."""
    lines = [HEAD]
    for section, (title, wanted) in SECTIONS.items():
        lines += [f"## OFTR-006.{section}: {title}", "", "| item | asks for | tests |", "|---|---|---|"]
        for number, text in enumerate(wanted, 1):
            item = (section, number)
            rows = [f"`{name.removeprefix('tests/')}`" for name in sorted(found.get(item, []))]
            reason = [f"no test: {REASONS[item]}"] if item in REASONS and not rows else []
            lines.append(f"| 006.{section}.{number} | {text} | {'<br>'.join(rows + reason)} |")
        lines.append("")
    return "\n".join(lines)


def main(words: list[str]) -> int:
    """Write the page, or check it."""
    found = tests()
    if "--check" in words:
        return 1 if missing(found) or PAGE.read_text() != page(found) else 0
    PAGE.write_text(page(found))
    sys.stdout.write("".join(f"{item}: neither a test nor a reason\n" for item in missing(found)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
