"""Generated pages are what the code would generate now."""

import runpy
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_command_line_page_is_up_to_date():
    page = runpy.run_path(str(DOCS / "commands.py"))["page"]()
    assert (DOCS / "cli.md").read_text() == page, f"run {sys.executable} docs/commands.py"


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_knows_every_command(name):
    from outfitter.cli.commands import COMMANDS
    from outfitter.cli.completion import script

    made = script(name)
    assert all(command in made for command in COMMANDS)
