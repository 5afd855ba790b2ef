"""The tables of docs/state.md are the adapters' own (spec/50, seed 000)."""

import re
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from outfitter.adapters import adapter
from outfitter.adapters.claude.state import declared as claude_declared
from outfitter.adapters.pi.state import state_paths as pi_state_paths
from outfitter.model.outcome import ChangeOutcome
from outfitter.model.projection import Facts
from outfitter.model.settings import Strategy

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/state.md").read_text()
PATHS = {"pi": pi_state_paths(Facts("", "/n", "/c", "", "", {})), "claude": claude_declared("/n")}


def part(name):
    """What stands between a marker and its end."""
    return PAGE.split(f"<!-- {name} -->")[1].split("<!-- end -->")[0]


def ticked(text):
    return re.findall(r"`([^`]+)`", text)


@pytest.mark.parametrize("harness", ["pi", "claude"])
def test_declared_paths(harness):
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in part(f"table: {harness}").splitlines()[3:]
        if line
    ]
    found = [(ticked(path)[0], ticked(default)[0], tuple(ticked(allowed))) for path, default, allowed in rows]
    table = [path for path in PATHS[harness] if not path.scratch]
    wanted = [(path.key, path.default, path.allowed) for path in table if path.key != "unknown"]
    unknown = ("unknown", "warn", ("discard", "warn", "error", "prompt"))
    assert found == [*wanted, unknown]


@pytest.mark.parametrize("harness", ["pi", "claude"])
def test_known_scratch(harness):
    plain = [path.key for path in PATHS[harness] if path.scratch and "symlink" not in path.allowed]
    assert sorted(ticked(part(f"scratch: {harness}"))) == sorted(plain)


def test_what_may_be_linked_beyond_the_tables():
    linkable = [path.key for paths in PATHS.values() for path in paths if path.scratch and "symlink" in path.allowed]
    assert sorted(ticked(part("linkable"))) == sorted(linkable)


def test_the_page_is_up_to_date():
    ended = subprocess.run([sys.executable, "docs/state_paths.py", "--check"], cwd=ROOT, check=False)
    assert ended.returncode == 0, "run docs/state_paths.py"


def test_every_strategy_and_outcome_is_explained():
    for word in (*get_args(Strategy), *get_args(ChangeOutcome)):
        assert re.search(rf"^\|.*`{word}`", PAGE, re.MULTILINE), word


def test_codex_declares_nothing():
    assert [path.key for path in adapter("codex").declared] in ([], ["unknown"])
