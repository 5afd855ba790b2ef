"""The diff stage: kinds, zones, strategies and provisional outcomes of every sort of change (spec/50)."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outfitter.fingerprint.tree import pack
from outfitter.model.outcome import Identity, Row, Snapshot, Tree
from outfitter.model.projection import Bridge, Record, State
from outfitter.run.ownership import index_paths, owner_of
from stages.diff import change_kind, diff

NOWHERE = Identity(0, 0, 0, 0)
TAGS = "fxldou"


def row(path, tag="f", digest=b"a", size=1, **more):
    return Row(os.fsencode(path), tag, digest.ljust(32, b"."), size, 0o600, NOWHERE, **more)


def snapshot(rows, durable=()):
    """A snapshot of rows with their directories."""
    every = {r.path: r for r in rows}
    for path in list(every):
        while path := os.path.dirname(path):
            every.setdefault(path, row(os.fsdecode(path), "d", size=0))
    return Snapshot(Tree(pack(every.values()), b"", True, 0), tuple(sorted(durable)))


def record(states=(), unknown="warn", bridges=(), generated=()):
    return Record(
        "r",
        "a",
        "pi",
        "/tmp/r",
        0,
        0,
        0,
        0,
        "",
        False,
        False,
        "/p",
        "/h",
        "/n",
        "/c",
        states,
        unknown,
        bridges,
        generated,
    )


def state(key, handling="symlink"):
    return State(key, handling, "/n/" + key.rstrip("/"), "default", "", "plain", ())


def changes(rec, before, after):
    return {c.path: c for c in diff(rec, before, after).unwrap()}


@given(st.sampled_from(TAGS), st.sampled_from(TAGS), st.booleans())
def test_every_pair_of_tags_is_one_kind(old, new, same):
    kind = change_kind(row("p", old), row("p", new, b"a" if same else b"b"))
    if old == "l":
        assert kind == ("relinked" if new == "l" else "kind" if new == "o" else "replaced-link")
    elif {old, new} <= set("fxu") or {old, new} == set("du"):
        assert kind == ("mode" if {old, new} == set("fx") and same else "modified")
    else:
        assert kind == "kind"


def test_added_and_deleted():
    assert change_kind(None, row("p")) == "added"
    assert change_kind(row("p"), None) == "deleted"


@pytest.mark.parametrize(
    ("handling", "added", "deleted"),
    [
        ("symlink", "adopted", "discarded"),
        ("discard", "discarded", "discarded"),
        ("warn", "warned", "warned"),
        ("error", "failed", "failed"),
        ("prompt", "warned", "warned"),
    ],
)
def test_what_each_strategy_does(handling, added, deleted):
    rec = record((state("d/", handling),))
    found = changes(rec, snapshot([row("d/old")]), snapshot([row("d/new")]))
    assert {p: (c.change, c.zone, c.state_path, c.strategy, c.outcome) for p, c in found.items()} == {
        "d/new": ("added", "declared", "d/", handling, added),
        "d/old": ("deleted", "declared", "d/", handling, deleted),
    }


@pytest.mark.parametrize("handling", ["symlink", "warn", "error", "prompt"])
def test_what_cannot_be_read_is_unreadable_unless_it_is_thrown_away(handling):
    found = changes(record((state("d/", handling),)), snapshot([]), snapshot([row("d/x", "u", note="EACCES")]))
    assert found["d/x"].outcome == "unreadable"
    found = changes(record((state("d/", "discard"),)), snapshot([]), snapshot([row("d/x", "u")]))
    assert found["d/x"].outcome == "discarded"


def test_the_longest_declared_path_counts():
    rec = record((state("a/", "warn"), state("a/b/", "error"), state("a/c", "discard")))
    held = index_paths(rec)
    assert owner_of(held, "a/b").strategy == "error"
    assert owner_of(held, "a/b/x/y").state_path == "a/b/"
    assert owner_of(held, "a/c").state_path == "a/c"
    assert owner_of(held, "a/cc").state_path == "a/"
    assert owner_of(held, "a").state_path == "a/"
    assert owner_of(held, "ab").zone == "unknown"
    assert owner_of(held, "a/c/inside").state_path == "a/"


def test_no_path_is_of_two_kinds():
    rec = record(
        (state("skills/"), state("mcp.json", "discard"), state("hooks/", "warn")),
        generated=("skills/mine/SKILL.md", "mcp.json", "prompts/a.md", "skills/top.md"),
    )
    held = index_paths(rec)
    assert owner_of(held, "mcp.json")[:3] == ("declared", "discard", "mcp.json")
    assert owner_of(held, "skills/mine/SKILL.md").zone == "generated"
    assert owner_of(held, "skills/mine/new/x").zone == "generated"
    assert owner_of(held, "skills/mine").zone == "generated"
    assert owner_of(held, "skills/top.md").zone == "generated"
    assert owner_of(held, "skills/other/SKILL.md")[:3] == ("declared", "symlink", "skills/")
    assert owner_of(held, "skills").zone == "declared"
    assert owner_of(held, "prompts/a.md").zone == "generated"
    assert owner_of(held, "prompts").zone == "generated"
    assert owner_of(held, "prompts/new.md").zone == "unknown"
    assert owner_of(held, "hooks/h").zone == "declared"


def test_a_bridged_path_is_declared_even_if_it_was_written_by_us():
    rec = record(
        (state("projects/", "bridge"),),
        bridges=(Bridge("member", ".claude.json", "/h/.claude.json"), Bridge("sessions", "projects/", "/n/projects")),
        generated=(".claude.json",),
    )
    after = snapshot([row(".claude.json", digest=b"b"), row("projects/s/a.jsonl"), row("projects/s/pipe", "o")])
    found = changes(rec, snapshot([row(".claude.json"), row("projects/s/gone.jsonl")]), after)
    assert {p: (c.zone, c.strategy, c.outcome) for p, c in found.items()} == {
        ".claude.json": ("declared", "bridge", "bridged"),
        "projects/s/a.jsonl": ("declared", "symlink", "bridged"),
        "projects/s/gone.jsonl": ("declared", "symlink", "discarded"),
        "projects/s/pipe": ("declared", "symlink", "discarded"),
    }


def test_directories_are_told_by_what_is_in_them():
    found = changes(record(), snapshot([row("old/x")]), snapshot([row("a/b/c"), row("empty", "d"), row("e/f", "d")]))
    assert set(found) == {"a/b/c", "empty", "e/f", "old/x"}


def test_a_file_that_became_a_directory_and_back():
    found = changes(record(), snapshot([row("x"), row("y/in")]), snapshot([row("x/in"), row("y")]))
    assert {p: c.change for p, c in found.items()} == {"x": "kind", "x/in": "added", "y": "kind", "y/in": "deleted"}


def test_a_linked_file_is_listed_where_its_durable_bytes_changed():
    rec = record((state("s.json"), state("t.json"), state("gone.json"), state("dir/")))
    links = [row(name, "l", target=b"/n/x") for name in ("s.json", "t.json", "gone.json", "dir")]
    before = snapshot(links, [row("s.json", size=2), row("t.json"), row("gone.json")])
    after = snapshot(links, [row("s.json", digest=b"b", size=9), row("t.json")])
    found = changes(rec, before, after)
    assert {p: (c.change, c.outcome, c.size_before, c.size_after) for p, c in found.items()} == {
        "gone.json": ("deleted", "durable", 1, None),
        "s.json": ("modified", "durable", 2, 9),
    }


def test_a_link_among_generated_entries_too():
    rec = record((state("skills/"),), generated=("skills/mine/SKILL.md",))
    rows = [row("skills/mine/SKILL.md"), row("skills/native.md", "l")]
    before, after = snapshot(rows, [row("skills/native.md")]), snapshot(rows, [row("skills/native.md", digest=b"b")])
    assert changes(rec, before, after)["skills/native.md"].outcome == "durable"


def test_a_replaced_link_is_one_change_with_the_durable_size_before():
    rec = record((state("s.json"),))
    before = snapshot([row("s.json", "l")], [row("s.json", size=7)])
    after = snapshot([row("s.json", size=9)], [row("s.json", digest=b"z", size=5)])
    (change,) = diff(rec, before, after).unwrap()
    assert change[1:8] == ("replaced-link", "declared", "s.json", "symlink", "adopted", 7, 9)


def test_what_a_seeded_file_s_durable_side_does_is_not_this_run_s():
    rec = record((state("w.json", "prompt"),))
    before, after = snapshot([row("w.json")], [row("w.json")]), snapshot([row("w.json")], [row("w.json", digest=b"b")])
    assert changes(rec, before, after) == {}


def test_nothing_changed_is_nothing():
    rows = [row("a/b"), row("l", "l"), row("p", "o"), row("u", "u")]
    assert changes(record(), snapshot(rows), snapshot(rows)) == {}


NAMES = st.text("ab.\u00e9", min_size=1, max_size=3).filter(lambda n: n not in (".", ".."))
PATHS = st.lists(NAMES, min_size=1, max_size=3).map("/".join)


@st.composite
def files(draw):
    """Rows of regular files and links, no path inside another."""
    found: dict[str, Row] = {}
    for path in draw(st.lists(PATHS, max_size=6)):
        if not any(p == path or p.startswith(path + "/") or path.startswith(p + "/") for p in found):
            found[path] = row(path, draw(st.sampled_from("fxl")), draw(st.sampled_from([b"a", b"b"])))
    return list(found.values())


@given(files(), files())
def test_a_diff_mirrors_and_is_sorted(one, other):
    rec = record((state("a/"), state("b", "warn")), generated=("ab/x",))
    there = diff(rec, snapshot(one), snapshot(other)).unwrap()
    back = diff(rec, snapshot(other), snapshot(one)).unwrap()
    assert [os.fsencode(c.path) for c in there] == sorted(os.fsencode(c.path) for c in there)
    assert {c.path for c in there} == {c.path for c in back}
    mirror = {"added": "deleted", "deleted": "added"}
    for a, b in zip(there, back, strict=True):
        if a.change in mirror:
            assert b.change == mirror[a.change]
        assert (a.zone, a.state_path, a.strategy) == (b.zone, b.state_path, b.strategy)
    old, new = ({r.path: (r.tag, r.digest) for r in rows} for rows in (one, other))
    differing = {p for p in old.keys() | new.keys() if old.get(p) != new.get(p)}
    assert differing <= {os.fsencode(c.path) for c in there}
