"""Every tree of the corpus loads as its author meant it, or is skipped with the one warning that names it (spec/15)."""

import pytest

from tests.catalog.corpus import build, load, names
from tests.catalog.world import World, summary


@pytest.mark.parametrize("name", names())
def test_a_tree_comes_to_what_stands_beside_it(name, tmp_path):
    world = World(tmp_path)
    sections, expected = load(name)
    build(world, sections)
    got = summary(world.compose(expected.get("agent", "a")))
    if "error" in expected:
        assert "error" in got, got
        missing = [word for word in expected["error"] if word not in got["error"]]
        assert not missing, got["error"]
    else:
        assert "error" not in got, got
        wanted = {"warnings": [], **expected.get("run", {})}
        assert {key: got[key] for key in wanted} == wanted, got["messages"]
        assert not [word for word in expected.get("says", []) if word not in got["messages"]], got["messages"]
        assert not [word for word in expected.get("without", []) if word in got["messages"]], got["messages"]
    codes = {finding.code for finding in world.findings()} if "findings" in expected else set()
    assert set(expected.get("findings", ())) <= codes, codes


def test_every_variant_has_a_tree():
    rows = {name.split("-")[0] for name in names()}
    assert {f"V{number:02}" for number in range(1, 34)} <= rows
