"""The page about the house names modules that exist, and every room of it."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/design.md").read_text()


def test_every_module_that_the_page_names_exists():
    named = set(re.findall(r"`((?:outfitter|stages|tests|docs)/[\w/.]+)`", PAGE))
    assert named
    assert not {path for path in named if not (ROOT / path).exists()}


def test_the_picture_shows_every_room():
    picture = PAGE.split("## The house")[1].split("```")[1]
    rooms = [path.stem for path in (ROOT / "outfitter").iterdir() if path.is_dir() or path.suffix == ".py"]
    apart = {"__init__", "__main__", "__pycache__", "schemas"}
    assert not [room for room in rooms if room not in apart and not re.search(rf"\b{room}\b", picture)]
