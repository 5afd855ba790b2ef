"""Where a project begins, what its links may reach, and what a listing costs (spec/10, "Layers", spec/15 V5, spec/95 YML-15)."""

import os
import socket

import pytest

from outfitter import fs
from outfitter.edges import sources
from tests.catalog.world import World


def root_of(world, cwd):
    return sources.project_root(str(cwd), str(world.home))


def test_the_nearest_tree_up_to_the_git_top_level(world):
    world.put(".agents/agents.md", "top")
    inner = world.put("a/b/.agents/agents.md", "inner").parent.parent
    deeper = inner / "c"
    deeper.mkdir()
    assert root_of(world, deeper) == (str(inner), str(world.project), ())
    assert root_of(world, world.project / "a")[0] == str(world.project)


def test_outside_a_work_tree_the_working_directory_alone(tmp_path):
    world = World(tmp_path, git=False)
    world.put(".agents/agents.md", "above")
    below = world.project / "below"
    below.mkdir()
    assert root_of(world, below) == (str(below), str(below), ())
    assert root_of(world, world.project) == (str(world.project), str(world.project), ())


def test_git_as_a_file_marks_a_work_tree(tmp_path):
    world = World(tmp_path, git=False)
    world.put(".git", "gitdir: elsewhere\n")
    below = world.put("x/y", "").parent
    assert root_of(world, below)[1] == str(world.project)


def test_the_homes_own_tree_is_never_a_projects(world):
    world.put("../home/.git/HEAD", "")
    world.put("../home/.agents/agents.md", "home")
    world.put("../home/work/x", "")
    root, boundary, notices = root_of(world, world.home / "work")
    assert (root, boundary, notices) == (str(world.home / "work"), str(world.home), ())
    world.put("../home/.agents/agents/a/agent.md", "You are A.")
    made = world.compose("a", cwd=world.home)
    assert [fragment.kind for fragment in made.fragments] == ["context", "body"]
    assert not made.notices


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda world: world.put("sub/.agents", "../.claude\n"), "core.symlinks"),
        (lambda world: world.put("sub/.agents", "some\nnotes\n"), "is a file"),
        (lambda world: world.link("sub/.agents", "nowhere"), "dangling symlink"),
        (lambda world: world.link("sub/.agents", "/"), "outside the repository"),
    ],
)
def test_what_is_no_tree_is_said_and_the_search_goes_on(world, make, why):
    world.put(".agents/agents.md", "top")
    make(world)
    root, _, notices = root_of(world, world.project / "sub")
    assert root == str(world.project)
    assert len(notices) == 1
    assert why in notices[0].message
    assert str(world.project / "sub/.agents") in notices[0].message


def test_a_tree_that_is_a_link_inside_the_repository(world):
    world.put(".claude/agents/a/agent.md", "You are A.")
    world.link(".agents", ".claude")
    assert world.compose("a").fragments[0].content == "You are A.\n"


def listing(world, depth=8, boundary=None):
    return sources.listing(str(world.project), str(world.project if boundary is None else boundary), depth)


def test_links_that_lead_back_end_the_walk(world):
    world.put("a/x", "")
    world.put("b/y", "")
    world.link("a/to-b", "../b")
    world.link("b/to-a", "../a")
    world.link("a/self", ".")
    world.link("loop", "loop")
    found = listing(world, 30)
    assert len(found) < 40
    assert found["loop"].kind == "dangling"
    assert found["a/to-b/y"].target == str(world.project / "b/y")


def test_many_links_to_each_other_stay_cheap(world):
    for name in range(12):
        (world.project / f"d{name}").mkdir()
        for other in range(12):
            world.link(f"d{name}/l{other}", f"../d{other}")
    assert len(listing(world, 40)) < 12 * 12 * 12 * sources.ALIAS_LIMIT


def test_every_kind_is_told_apart(world):
    os.mkfifo(world.project / "fifo")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(world.project / "socket"))
    server.close()
    world.put("run.sh", "#!/bin/sh\n", 0o755)
    world.put("plain", "")
    world.link("out", "/etc")
    world.link("gone", "nothing")
    world.link("dev", "/dev/null")
    os.mkdir(os.fsencode(world.project) + b"/caf\xe9")
    kinds = {path: (entry.kind, entry.executable) for path, entry in listing(world, 1).items()}
    assert kinds["fifo"] == kinds["socket"] == ("special", False)
    assert kinds["run.sh"] == ("file", True)
    assert kinds["plain"] == ("file", False)
    assert kinds["out"] == kinds["dev"] == ("outside", False)
    assert kinds["gone"] == ("dangling", False)
    assert kinds["caf\udce9"] == ("directory", False)
    assert listing(world, 1, boundary="")["dev"].kind == "special"


def test_no_tree_is_an_empty_listing(world):
    assert sources.listing(str(world.project / "none"), "", 3) == {}
    assert sources.listing(str(world.put("file", "")), "", 3) == {}
    assert sources.listing(str(world.top), str(world.project), 3) == {}


def test_reading_never_waits_and_has_a_limit(world):
    os.mkfifo(world.project / "fifo")
    assert sources.read(str(world.project / "fifo")) is None
    assert sources.read(str(world.project / "none")) is None
    assert sources.read(str(world.project)) is None
    assert sources.read(str(world.put("x", "abc"))) == b"abc"
    big = world.put("big", b"x" * (fs.READ_LIMIT + 1))
    with pytest.raises(OSError, match="10 MB"):
        sources.read(str(big))
    assert len(sources.digest(str(big))) == 64
    assert sources.digest(str(world.project / "fifo")) == ""


@pytest.mark.other_uid
@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to become another user")
def test_a_folder_that_may_not_be_read_is_said(world):
    world.put(".agents/agents/a/agent.md", "You are A.")
    world.put(".agents/skills/locked/SKILL.md", "x").parent.chmod(0o000)
    for place in (world.top, *world.top.parents):
        if place.stat().st_mode & 0o005 != 0o005:
            place.chmod(0o755)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setuid(65534)
            made = world.compose("a")
            said = [n.message for n in made.notices]
            code = 0 if any("skills/locked cannot be read" in text for text in said) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    (world.project / ".agents/skills/locked").chmod(0o755)


@pytest.mark.parametrize("name", ["settings.yml", "settings.local.yml"])
@pytest.mark.parametrize(
    "make",
    [
        lambda world, name: world.link(f".agents/{name}", "gone"),
        lambda world, name: world.link(f".agents/{name}", "/etc/hostname"),
        lambda world, name: (world.project / f".agents/{name}").mkdir(),
        lambda world, name: os.mkfifo(world.project / f".agents/{name}"),
    ],
    ids=["dangling", "outside", "directory", "fifo"],
)
def test_settings_that_cannot_be_read_are_an_error_never_absent(world, make, name):
    world.agent("a")
    make(world, name)
    error = world.compose("a")
    assert [problem.path for problem in error.problems] == [str(world.project / ".agents" / name)]


@pytest.mark.parametrize(
    "make", [lambda s: s.link("../home/.agents", "gone"), lambda s: s.put("../home/.agents", "text")]
)
def test_a_home_tree_that_is_no_directory_is_an_error(world, make):
    world.agent("a")
    make(world)
    (problem,) = world.compose("a").problems
    assert problem.path == str(world.home / ".agents")


def test_an_empty_home_tree_is_none(world):
    world.agent("a")
    (world.home / ".agents").mkdir()
    assert world.compose("a").agent == "a"


def test_a_link_out_of_the_repository_inside_a_category(world):
    world.agent("a", "skills: [kit/one]")
    world.skill("kit/one")
    world.link(".agents/skills/kit/out", "/etc")
    assert [n.message for n in world.compose("a").notices if "skills/kit/out points outside" in n.message]
