"""docs/json.md names exactly the keys that the commands print."""

import json
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs/json.md"


def documented(command):
    section = PAGE.read_text().split(f"## `outfitter {command}")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (`[^|]+) \|", section, re.MULTILINE)
    return {key for cell in cells for key in re.findall(r"`([a-z_]+)`", cell)}


@pytest.mark.parametrize("words", [("list",), ("show", "a"), ("validate",), ("dump", "--agent", "a")])
def test_the_page_and_the_command_agree(machine, words):
    machine.agent("a")
    made = json.loads(machine.run(*words, "--json").out)
    assert set(made) - {"schema_version"} == documented(words[0])
