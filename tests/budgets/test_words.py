"""Names, first docstring lines and phrases: what is over the house's limits only ever becomes less.

`words.json` holds what is still over, by module. `python -m tests.budgets.test_words` writes it anew with what is left; it
never takes up more.
"""

import ast
import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEFT = ROOT / "tests/budgets/words.json"
OURS = sorted(path for top in ("outfitter", "stages") for path in (ROOT / top).rglob("*.py"))
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
LONGEST = 100
BANNED = re.compile(
    r"(?<!there )\bis no (?!longer\b)|\bwants one of\b|\bmend(?:s|ed|ing)?\b|\bleads nowhere\b|\bin vain\b|\bfor want of\b",
    re.IGNORECASE,
)
# Class names that two modules may share, each with its reason. Private classes count, too.
SHARED_CLASSES: dict[str, str] = {}
# Module names that several packages may share: the same part of each harness, a command and what it is about, a program's start.
SHARED_MODULES = {
    "__main__": "a package that can be started",
    "arguments": "one part of each harness's adapter",
    "mcp": "servers in a tree, and as Codex takes them",
    "models": "models in a tree, and as a harness takes them",
    "plan": "one part of each harness's adapter, and of setup",
    "state": "one part of each harness's adapter",
    "tools": "one table for all harnesses, and Claude Code's own",
}


def name(path):
    return str(path.relative_to(ROOT))


def classes():
    """Class name → the modules that define it."""
    places = defaultdict(set)
    for path in OURS:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].add(name(path))
    return places


def modules():
    """Module name → the packages that have one; commands and stages carry the name of their subject."""
    places = defaultdict(set)
    for path in OURS:
        if path.stem != "__init__" and path.parts[-2] not in ("cli", "stages"):
            places[path.stem].add(name(path.parent))
    return places


def long_first_lines(path):
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, documented)]
    return sum(len((ast.get_docstring(node) or "").partition("\n")[0]) > LONGEST for node in nodes)


def banned(path):
    return len(BANNED.findall(path.read_text()))


def over():
    """What is over the limits now, in the form of `words.json`: rule → what → how often."""
    return {
        "classes": {
            key: len(places) for key, places in classes().items() if len(places) > 1 and key not in SHARED_CLASSES
        },
        "modules": {
            key: len(places) for key, places in modules().items() if len(places) > 1 and key not in SHARED_MODULES
        },
        "first lines": {name(path): n for path in OURS if (n := long_first_lines(path))},
        "phrases": {name(path): n for path in [*OURS, *PAGES] if (n := banned(path))},
    }


@pytest.mark.parametrize("rule", ["classes", "modules", "first lines", "phrases"])
def test_what_is_over_only_becomes_less(rule):
    """A class or module name twice, a first docstring line over 100 characters, a phrase that nobody says: none is added."""
    left = Counter(json.loads(LEFT.read_text())[rule])
    added = {where: count for where, count in over()[rule].items() if count > left[where]}
    assert added == {}


def contract(kind, key):
    """The modules that a contract of `.importlinter` lists under a key."""
    section = (ROOT / ".importlinter").read_text().split(f"contract:{kind}]")[1].split("[importlinter")[0]
    return set(re.search(rf"{key} =\n((?:    .+\n)+)", section)[1].split())


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names))


def within(module, known):
    return any(module == one or module.startswith(f"{one}.") for one in known)


def test_every_pure_module_is_on_the_list():
    """A module that reaches the machine neither itself nor through another is held to it; commands and edges are not asked."""
    impure = contract("pure", "forbidden_modules") | contract("seam", "forbidden_modules")
    pure = [path for path in OURS if not any(within(module, impure) for module in imported(path))]
    dotted = {name(path).removesuffix(".py").replace("/", ".") for path in pure if path.stem != "__init__"}
    apart = {"outfitter.cli", "outfitter.edges", "outfitter.main", "outfitter.__main__"}
    assert not {module for module in dotted if not within(module, contract("pure", "source_modules") | apart | impure)}


def packages():
    """Package → the packages it imports, below `outfitter`; single modules count as packages."""
    arrows = defaultdict(set)
    for path in OURS:
        parts = name(path).removesuffix(".py").split("/")
        start = parts[1] if parts[0] == "outfitter" and len(parts) > 1 else parts[0]
        for module in imported(path):
            other = module.split(".")
            end = other[1] if other[0] == "outfitter" and len(other) > 1 else other[0]
            if other[0] in ("outfitter", "stages") and end != start and "__init__" not in (start, end):
                arrows[start].add(end)
    return arrows


def test_no_circle_of_packages():
    arrows = packages()

    def reach(start):
        seen, ahead = set(), list(arrows[start])
        while ahead:
            if (at := ahead.pop()) not in seen:
                seen.add(at)
                ahead += arrows.get(at, ())
        return seen

    assert not [package for package in list(arrows) if package in reach(package)]


if __name__ == "__main__":
    kept = json.loads(LEFT.read_text()) if LEFT.exists() else over()
    LEFT.write_text(
        json.dumps(
            {rule: dict(sorted((Counter(now) & Counter(kept[rule])).items())) for rule, now in over().items()}, indent=1
        )
        + "\n"
    )
