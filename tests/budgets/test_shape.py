"""The house rules that a tool can check: sizes, names, docstrings, and where containers may be opened."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OURS = sorted(path for top in ("outfitter", "stages") for path in (ROOT / top).rglob("*.py"))
CEILING = 500


def names(paths):
    return [str(path.relative_to(ROOT)) for path in paths]


@pytest.mark.parametrize("path", OURS, ids=names(OURS))
def test_a_module_is_short_and_says_what_it_is(path):
    text = path.read_text()
    assert len(text.splitlines()) <= CEILING, (
        f"{path.name} has {len(text.splitlines())} lines; the ceiling is {CEILING}"
    )
    assert ast.get_docstring(ast.parse(text)), "no docstring"


def test_no_module_has_a_name_that_says_nothing():
    vague = {"utils", "util", "helpers", "helper", "common", "manager", "managers", "base", "service", "misc"}
    assert not [name for name in names(OURS) if vague & set(re.split(r"[/_.]", name))]


def test_containers_are_opened_in_one_place():
    opened = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in OURS
        if path.name != "railway.py"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute) and node.attr in ("unwrap", "_inner_value")
    ]
    assert not opened


def test_every_stage_says_what_it_reads_adds_and_does():
    for path in sorted((ROOT / "stages").glob("[a-z]*.py")):
        doc = ast.get_docstring(ast.parse(path.read_text())) or ""
        assert all(f"\n{word}:" in doc for word in ("Reads", "Adds", "Effects")), path.name


def test_the_exit_code_tables_agree():
    from outfitter.cli.help import RUN_CODES

    page = (ROOT / "docs/exit-codes.md").read_text()
    for code, meaning in RUN_CODES:
        assert f"| {code} | {meaning} |" in page, code


def test_every_module_has_its_place_in_the_layers():
    placed = set(re.findall(r"outfitter\.(\w+)", (ROOT / ".importlinter").read_text()))
    ours = {path.stem for path in (ROOT / "outfitter").iterdir() if path.is_dir() or path.suffix == ".py"}
    assert ours - placed - {"__init__", "__pycache__", "schemas"} == set()
