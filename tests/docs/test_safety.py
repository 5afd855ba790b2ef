"""Every promise of docs/safety.md names a test that exists."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/safety.md").read_text()


def named():
    """(file, test) for each one the page names; `::name` alone goes with the file before it."""
    file = ""
    for path, name in re.findall(r"`(tests/[\w/]+\.py)?::(\w+)`", PAGE):
        file = path or file
        yield file, name


def test_each_named_test_exists():
    pairs = list(named())
    assert len(pairs) > 40
    for file, name in pairs:
        tree = ast.parse((ROOT / file).read_text())
        known = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        known |= {
            target.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        assert name in known, f"{file}::{name}"


def test_each_fault_has_a_test():
    rows = [
        line for line in PAGE.split("## Faults")[1].split("## What is not")[0].splitlines() if line.startswith("| ")
    ]
    assert all("::" in row for row in rows[1:]), [row for row in rows[1:] if "::" not in row]
