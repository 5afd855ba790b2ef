"""Trees that mean harm or fell on the floor: bounded work, and one clear line for each (spec/10, "Hostile and broken input")."""

import json
import os
import tracemalloc

import pytest

from outfitter.model.composition import Composition
from outfitter.model.errors import CompositionFailed
from tests.catalog.world import summary


@pytest.fixture
def world(world):
    world.agent("a", "skills: [one]")
    world.skill("one")
    return world


def test_folders_that_link_to_each_other(world):
    world.link(".agents/skills/one/up", "..")
    world.link(".agents/skills/x", "../agents")
    world.link(".agents/agents/y", "../skills")
    world.link(".agents/agents/self", ".")
    world.link(".agents/commands", ".")
    made = world.compose("a")
    assert [skill.id for skill in made.skills] == ["one"]
    assert len(made.skills[0].files) < 50


@pytest.mark.parametrize("name", ["agents.md", "system-prompt.md", "mcp.json", "models.json", "agents/a/config.json"])
@pytest.mark.parametrize("kind", ["fifo", "directory", "outside"])
def test_what_is_no_file_is_skipped_with_one_line(world, name, kind):
    place = world.project / ".agents" / name
    if kind == "fifo":
        os.mkfifo(place)
    elif kind == "directory":
        place.mkdir()
    else:
        place.symlink_to("/etc/hostname")
    got = summary(world.compose("a"))
    assert got["warnings"] == ["entry-skipped"]
    assert name in got["messages"]


BOMB = "x0: &x0 [1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"x{n}: &x{n} [{','.join(f'*x{n - 1}' for _ in range(9))}]\n" for n in range(1, 12)
)


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("agents/a/agent.md", f"---\n{BOMB}---\nx\n"),
        ("agents/a/agent.md", "---\nlabel: L\nlabel: M\n---\nx\n"),
        ("agents/a/agent.md", "---\n- a\n---\nx\n"),
        ("agents/a/agent.md", "---\ncontrols:\n\targs: [x]\n---\nx\n"),
        ("agents/a/agent.md", b"---\nlabel: \xff\n---\nx\n"),
        ("agents/a/agent.md", b"x\0y"),
        ("agents/a/agent.md", b"x" * 11_000_000),
        ("agents/a/agent.md", "---\nskills: !!python/object/apply:os.system [id]\n---\nx\n"),
        ("agents/a/agent.md", "---\nskills: " + "[" * 5000 + "\n---\nx\n"),
        ("agents/a/config.json", '{"model": "a", "model": "b"}'),
        ("agents/a/config.json", "[1]"),
        ("agents/a/config.json", "[" * 100_000),
        ("agents/a/config.json", '{"model": NaN}'),
        ("skills/one/SKILL.md", f"---\n{BOMB}---\nx\n"),
        ("skills/one/SKILL.md", b"\xff\xfe-\0-\0-\0"),
        ("skills/one/SKILL.md", b"x" * 11_000_000),
        ("agents.md", b"\xc3\x28"),
        ("system-prompt.md", b"x" * 11_000_000),
        ("mcp.json", '{"mcpServers": {"a": {"command": "x"}, "a": {"command": "y"}}}'),
        ("mcp.json", "{'mcpServers': {}}"),
        ("models.json", '{"providers": {}, // note\n}'),
    ],
)
def test_a_broken_file_is_one_line_that_names_it(world, path, content):
    world.put(f".agents/{path}", content)
    tracemalloc.start()
    error = world.compose("a")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(error, CompositionFailed), error
    assert len(error.problems) == 1
    assert error.problems[0].path == str(world.project / ".agents" / path)
    assert "\n" not in error.problems[0].message
    assert peak < 80_000_000


def test_broken_files_that_nothing_needs_stop_nothing(world):
    world.put(".agents/agents/b/agent.md", "---\n- x\n---\n")
    world.put(".agents/skills/two/SKILL.md", "---\n- x\n---\n")
    world.put(".agents/agents/b/mcp.json", "{")
    assert summary(world.compose("a"))["warnings"] == []


def test_deep_nesting_is_bounded(world):
    deep = "/".join("d" * 1 for _ in range(200))
    world.put(f".agents/skills/one/{deep}/x", "x")
    world.put(f".agents/{deep}/x", "x")
    world.put(f".agents/skills/cat/{deep}/SKILL.md", "x")
    made = world.compose("a")
    assert [skill.id for skill in made.skills] == ["one"]


@pytest.mark.parametrize("folder", ["skills", "agents"])
def test_names_that_are_not_utf_8(world, folder):
    base = os.fsencode(world.project / ".agents" / folder) + b"/caf\xe9"
    os.mkdir(base)
    with open(base + b"/SKILL.md", "w") as file:
        file.write("---\ndescription: d\n---\n")
    got = summary(world.compose("a"))
    assert got["warnings"] == ["entry-skipped"]
    assert "caf" in got["messages"]


def test_a_file_inside_a_skill_may_have_any_name(world):
    with open(os.fsencode(world.project / ".agents/skills/one") + b"/caf\xe9\n.txt", "w") as file:
        file.write("x")
    made = world.compose("a")
    assert [part.path for part in made.skills[0].files] == ["caf\udce9\n.txt"]
    assert len(made.digest) == 64


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "a b", "A" * 65, "-x", "a\0b", "caf\udce9", ".", "*"])
def test_no_agent_is_looked_for_outside_its_folder(world, name):
    world.put(".agents/x/agent.md", "You are X.")
    error = world.compose(name)
    assert isinstance(error, CompositionFailed)
    assert not error.problems


def test_a_word_that_stands_for_a_thousand_skills_is_found_fast(world):
    for number in range(300):
        world.skill(f"s-{number}")
    world.agent("a", f"skills: {json.dumps([f't-{number}' for number in range(100)])}")
    made = world.compose("a")
    assert isinstance(made, Composition)
    assert len([n for n in made.notices if n.code == "skill-missing"]) == 100


def test_too_many_names_in_one_tree_are_refused(world, monkeypatch):
    from outfitter.edges import sources

    monkeypatch.setattr(sources, "ENTRY_LIMIT", 20)
    for number in range(30):
        world.put(f".agents/skills/one/f{number}")
    with pytest.raises(OSError, match="more than 20 files"):
        sources.listing(str(world.project / ".agents"), "", 5)
