"""The generated session trees, and the second opinion that every benchmark is held against."""

import os
import random
import statistics

import pytest
from hypothesis import given

from benchmarks import independent, trees
from outfitter.fingerprint.scan import scan
from tests.tree import strategies
from tests.tree.trees import make


@pytest.mark.parametrize("tier", [name for name in trees.TIERS if name != "N1M-200B"])
def test_a_tier_holds_what_it_says(tier):
    want, files = trees.TIERS[tier], trees.plan(tier, "-here")
    assert len(files) == len({file.path for file in files}) == want.files
    if tier != "X7k":
        assert abs(sum(file.size for file in files) - want.size) <= max(want.files, want.size // 1000)
    if want.here:
        here = [file for file in files if file.path.startswith("-here/")]
        assert len(here) == want.here[0]
        assert abs(sum(file.size for file in here) - want.here[1]) <= want.here[0]


def test_a_plan_is_the_same_every_time_and_another_by_another_seed():
    assert trees.plan("S", "-here") == trees.plan("S", "-here")
    assert trees.plan("S", "-here") != trees.plan("S", "-here", seed=2)


def test_sizes_follow_their_percentiles():
    chance = random.Random(1)
    drawn = sorted(trees.draw("transcript", chance) for _ in range(20_000))
    for percent, size in ((10, 4e3), (50, 150e3), (90, 2e6), (99, 14e6)):
        assert statistics.quantiles(drawn, n=100)[percent - 1] == pytest.approx(size, rel=0.2)


def test_the_layout_is_the_deep_one():
    paths = [file.path for file in trees.plan("M", "-here")]
    for part in (
        "/subagents/agent-",
        ".meta.json",
        "/subagents/workflows/",
        "/workflows/",
        "/tool-results/",
        "/memory/",
    ):
        assert any(part in path for path in paths), part
    tops = {tuple(path.split("/")[:2]) for path in paths}
    folders = {top for top in tops if "." not in top[1] and top[1] != "memory"}
    orphans = {top for top in folders if (top[0], top[1] + ".jsonl") not in tops}
    assert 0 < len(orphans) < len(folders) / 4


def test_making_a_tree_writes_the_plan(tmp_path):
    files = trees.make(str(tmp_path), "S", "-here")
    assert {file.path: file.size for file in files} == {
        os.path.relpath(os.path.join(place, name), tmp_path): os.path.getsize(os.path.join(place, name))
        for place, _, names in os.walk(tmp_path)
        for name in names
    }


@given(strategies.descriptions)
def test_the_second_opinion_agrees(entries):
    import tempfile

    with tempfile.TemporaryDirectory() as top:
        root = make(top + "/t", entries)
        assert independent.fingerprint(root) == scan(root, (), 0, False).digest.hex()
