"""Where a project begins, what its links may reach, and what a listing costs (spec/10, "Layers", spec/15 V5, spec/95 YML-15)."""

import os
import socket

import pytest

from outfitter.edges import sources
from tests.catalog.stand import Stand


@pytest.fixture
def stand(tmp_path):
    return Stand(tmp_path)


def root_of(stand, cwd):
    return sources.project_root(str(cwd), str(stand.home))


def test_the_nearest_tree_up_to_the_git_top_level(stand):
    stand.put(".agents/agents.md", "top")
    inner = stand.put("a/b/.agents/agents.md", "inner").parent.parent
    deeper = inner / "c"
    deeper.mkdir()
    assert root_of(stand, deeper) == (str(inner), str(stand.project), ())
    assert root_of(stand, stand.project / "a")[0] == str(stand.project)


def test_outside_a_work_tree_the_working_directory_alone(tmp_path):
    stand = Stand(tmp_path, git=False)
    stand.put(".agents/agents.md", "above")
    below = stand.project / "below"
    below.mkdir()
    assert root_of(stand, below) == (str(below), str(below), ())
    assert root_of(stand, stand.project) == (str(stand.project), str(stand.project), ())


def test_git_as_a_file_marks_a_work_tree(tmp_path):
    stand = Stand(tmp_path, git=False)
    stand.put(".git", "gitdir: elsewhere\n")
    below = stand.put("x/y", "").parent
    assert root_of(stand, below)[1] == str(stand.project)


def test_the_homes_own_tree_is_never_a_projects(stand):
    stand.put("../home/.git/HEAD", "")
    stand.put("../home/.agents/agents.md", "home")
    stand.put("../home/work/x", "")
    root, boundary, notices = root_of(stand, stand.home / "work")
    assert (root, boundary, notices) == (str(stand.home / "work"), str(stand.home), ())
    stand.put("../home/.agents/agents/a/agent.md", "You are A.")
    made = stand.compose("a", cwd=stand.home)
    assert [fragment.kind for fragment in made.fragments] == ["context", "body"]
    assert not made.notices


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda stand: stand.put("sub/.agents", "../.claude\n"), "core.symlinks"),
        (lambda stand: stand.put("sub/.agents", "some\nnotes\n"), "is a file"),
        (lambda stand: stand.link("sub/.agents", "nowhere"), "leads nowhere"),
        (lambda stand: stand.link("sub/.agents", "/"), "outside the repository"),
    ],
)
def test_what_is_no_tree_is_said_and_the_search_goes_on(stand, make, why):
    stand.put(".agents/agents.md", "top")
    make(stand)
    root, _, notices = root_of(stand, stand.project / "sub")
    assert root == str(stand.project)
    assert len(notices) == 1
    assert why in notices[0].message
    assert str(stand.project / "sub/.agents") in notices[0].message


def test_a_tree_that_is_a_link_inside_the_repository(stand):
    stand.put(".claude/agents/a/agent.md", "You are A.")
    stand.link(".agents", ".claude")
    assert stand.compose("a").fragments[0].content == "You are A.\n"


def listing(stand, depth=8, boundary=None):
    return sources.listing(str(stand.project), str(stand.project if boundary is None else boundary), depth)


def test_links_that_lead_back_end_the_walk(stand):
    stand.put("a/x", "")
    stand.put("b/y", "")
    stand.link("a/to-b", "../b")
    stand.link("b/to-a", "../a")
    stand.link("a/self", ".")
    stand.link("loop", "loop")
    found = listing(stand, 30)
    assert len(found) < 40
    assert found["loop"].kind == "dangling"
    assert found["a/to-b/y"].target == str(stand.project / "b/y")


def test_many_links_to_each_other_stay_cheap(stand):
    for name in range(12):
        (stand.project / f"d{name}").mkdir()
        for other in range(12):
            stand.link(f"d{name}/l{other}", f"../d{other}")
    assert len(listing(stand, 40)) < 12 * 12 * 12 * sources.ALIAS_LIMIT


def test_every_kind_is_told_apart(stand):
    os.mkfifo(stand.project / "fifo")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(stand.project / "socket"))
    server.close()
    stand.put("run.sh", "#!/bin/sh\n", 0o755)
    stand.put("plain", "")
    stand.link("out", "/etc")
    stand.link("gone", "nothing")
    stand.link("dev", "/dev/null")
    os.mkdir(os.fsencode(stand.project) + b"/caf\xe9")
    kinds = {path: (entry.kind, entry.executable) for path, entry in listing(stand, 1).items()}
    assert kinds["fifo"] == kinds["socket"] == ("special", False)
    assert kinds["run.sh"] == ("file", True)
    assert kinds["plain"] == ("file", False)
    assert kinds["out"] == kinds["dev"] == ("outside", False)
    assert kinds["gone"] == ("dangling", False)
    assert kinds["caf\udce9"] == ("directory", False)
    assert listing(stand, 1, boundary="")["dev"].kind == "special"


def test_no_tree_is_an_empty_listing(stand):
    assert sources.listing(str(stand.project / "none"), "", 3) == {}
    assert sources.listing(str(stand.put("file", "")), "", 3) == {}
    assert sources.listing(str(stand.top), str(stand.project), 3) == {}


def test_reading_never_waits_and_has_a_limit(stand):
    os.mkfifo(stand.project / "fifo")
    assert sources.read(str(stand.project / "fifo")) is None
    assert sources.read(str(stand.project / "none")) is None
    assert sources.read(str(stand.project)) is None
    assert sources.read(str(stand.put("x", "abc"))) == b"abc"
    big = stand.put("big", b"x" * (sources.READ_LIMIT + 1))
    with pytest.raises(OSError, match="10 MB"):
        sources.read(str(big))
    assert len(sources.digest(str(big))) == 64
    assert sources.digest(str(stand.project / "fifo")) == ""


@pytest.mark.other_uid
@pytest.mark.skipif(os.getuid() != 0, reason="needs root, to become another user")
def test_a_folder_that_may_not_be_read_is_said(stand):
    stand.put(".agents/agents/a/agent.md", "You are A.")
    stand.put(".agents/skills/locked/SKILL.md", "x").parent.chmod(0o000)
    for place in (stand.top, *stand.top.parents):
        if place.stat().st_mode & 0o005 != 0o005:
            place.chmod(0o755)
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setuid(65534)
            made = stand.compose("a")
            said = [n.message for n in made.notices]
            code = 0 if any("skills/locked cannot be read" in text for text in said) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    (stand.project / ".agents/skills/locked").chmod(0o755)


@pytest.mark.parametrize("name", ["settings.yml", "settings.local.yml"])
@pytest.mark.parametrize(
    "make",
    [
        lambda stand, name: stand.link(f".agents/{name}", "gone"),
        lambda stand, name: stand.link(f".agents/{name}", "/etc/hostname"),
        lambda stand, name: (stand.project / f".agents/{name}").mkdir(),
        lambda stand, name: os.mkfifo(stand.project / f".agents/{name}"),
    ],
    ids=["dangling", "outside", "directory", "fifo"],
)
def test_settings_that_cannot_be_read_are_an_error_never_absent(stand, make, name):
    stand.agent("a")
    make(stand, name)
    error = stand.compose("a")
    assert [problem.path for problem in error.problems] == [str(stand.project / ".agents" / name)]


@pytest.mark.parametrize(
    "make", [lambda s: s.link("../home/.agents", "gone"), lambda s: s.put("../home/.agents", "text")]
)
def test_a_home_tree_that_is_no_directory_is_an_error(stand, make):
    stand.agent("a")
    make(stand)
    (problem,) = stand.compose("a").problems
    assert problem.path == str(stand.home / ".agents")


def test_an_empty_home_tree_is_none(stand):
    stand.agent("a")
    (stand.home / ".agents").mkdir()
    assert stand.compose("a").agent == "a"


def test_a_link_out_of_the_repository_inside_a_category(stand):
    stand.agent("a", "skills: [kit/one]")
    stand.skill("kit/one")
    stand.link(".agents/skills/kit/out", "/etc")
    assert [n.message for n in stand.compose("a").notices if "skills/kit/out points outside" in n.message]
