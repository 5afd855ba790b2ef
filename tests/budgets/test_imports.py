"""What a warm launch has imported when the harness is started: an exact budget, without a clock (spec/80, "Start-up")."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.budgets.spawned import FORBIDDEN, HOT_ROWS, MOST_CLASSES, MOST_MODULES

ROOT = Path(__file__).resolve().parents[2]

SPY = """
import json, os, sys
real = os.posix_spawn
def spying(*given, **options):
    ours = sorted(name for name in sys.modules if name.split(".")[0] in ("outfitter", "stages"))
    classes = sorted({f"{value.__module__}.{value.__name__}" for name in ours for value in vars(sys.modules[name]).values()
                      if isinstance(value, type) and "__attrs_attrs__" in vars(value)})
    with open(sys.argv[1], "a") as file:
        file.write(json.dumps({"modules": sorted(sys.modules), "ours": ours, "classes": classes}) + "\\n")
    return real(*given, **options)
os.posix_spawn = spying
from outfitter.main import main
sys.exit(main(sys.argv[2:]))
"""


def launch(machine, *words):
    """What was imported at each start of a child of the last of three launches."""
    for turn in range(3):
        record = machine.top / f"spawned-{turn}"
        ran = subprocess.run(
            [sys.executable, "-c", SPY, str(record), *words],
            cwd=machine.project,
            env=machine.env(),
            capture_output=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
    return [json.loads(line) for line in record.read_text().splitlines()]


def makes_rows_by_typing(module):
    """Whether a module of ours has rows of `typing`'s (the rule is in `outfitter/model/value.py`)."""
    path = ROOT / (module.replace(".", "/") + ".py")
    tree = ast.parse((path if path.exists() else path.with_suffix("") / "__init__.py").read_text())
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module == "typing"]
    named = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "NamedTuple"]
    return bool(named) or any(name.name == "NamedTuple" for node in imported for name in node.names)


@pytest.mark.parametrize(
    "words", [("run", "a", "--harness", "pi"), ("run", "a", "--harness", "claude", "--isolated")], ids=["pi", "claude"]
)
def test_a_warm_launch_imports_no_more_than_it_needs_before_the_spawn(machine, words):
    machine.agent("a")
    machine.settings("default_agent: a\n")
    machine.put(machine.home / f".claude/projects/{machine.slug()}/s.jsonl", "{}\n")
    (spawned,) = launch(machine, *words)
    assert set(FORBIDDEN) & set(spawned["modules"]) == set()
    assert len(spawned["ours"]) <= MOST_MODULES, spawned["ours"]
    assert {name for name in spawned["ours"] if makes_rows_by_typing(name)} <= HOT_ROWS
    assert len(spawned["classes"]) <= MOST_CLASSES, spawned["classes"]
