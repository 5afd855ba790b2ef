"""`outfitter import`: what a repository has becomes a tree that validates; nothing lost unsaid, nothing done twice."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from outfitter.edges import sources
from outfitter.porting.gather import all_spots, everything
from tests.porting.shapes import SHAPES, agent, build, skill


@pytest.fixture(params=SHAPES)
def shape(request, machine):
    files, agents = SHAPES[request.param]
    build(machine, files)
    return machine, agents


def adopt(machine, *words):
    return machine.run("import", "--yes", *words)


def listed(machine, layer=None):
    found = json.loads(machine.run("list", "--json").out)["agents"]
    return sorted(row["id"] for row in found if layer in (None, row["layer"]))


def test_an_import_gives_a_tree_that_validates_and_changes_nothing_the_second_time(shape):
    machine, agents = shape
    before = {path: value for path, value in machine.tree(machine.project).items() if not path.startswith(".agents/")}
    first = adopt(machine)
    assert first.code == 0, first.out + first.err
    assert listed(machine, "project") == agents
    checked = machine.run("validate")
    assert checked.code == 0, checked.out + checked.err
    after = machine.tree(machine.project)
    assert {path: value for path, value in after.items() if not path.startswith(".agents/")} == before
    again = adopt(machine)
    assert again.code == 0
    assert "has all of it already" in again.out
    assert machine.tree(machine.project) == after


def test_a_dry_run_shows_the_difference_and_writes_nothing(machine):
    machine.put(".claude/agents/a.md", agent("a"))
    machine.put(".claude/skills/craft/SKILL.md", skill("craft"))
    ended = machine.run("import", "--dry-run")
    assert ended.code == 0
    assert "+++ .agents/agents/a/agent.md" in ended.out
    assert "+skills: [craft]" in ended.out
    assert "copy .agents/skills/craft" in ended.out
    assert not (machine.project / ".agents").exists()


def test_without_yes_and_without_a_terminal_nothing_is_written(machine):
    machine.put(".claude/agents/a.md", agent("a"))
    ended = machine.run("import")
    assert ended.code == 1
    assert "nothing written; --yes writes it" in ended.out
    assert not (machine.project / ".agents").exists()


def test_credentials_are_replaced_by_references_and_named_but_never_shown(machine):
    machine.put(
        ".mcp.json",
        json.dumps(
            {
                "mcpServers": {
                    "a": {"command": "x", "args": ["--api-key", "s3cr3t-one"], "env": {"API_TOKEN": "s3cr3t-two"}},
                    "b": {"url": "https://user:s3cr3t-three@b.example/mcp?token=s3cr3t-four"},
                    "c": {"url": "https://c.example", "headers": {"Authorization": "Bearer s3cr3t-five"}},
                    "d": {"command": "x", "args": ["--token=s3cr3t-six"], "env": {"SAFE": "${FROM_ENV}"}},
                }
            }
        ),
    )
    machine.put(
        ".claude/agents/own.md",
        "---\nname: own\ndescription: o\nmcpServers:\n  - e: {command: x, env: {E_SECRET: s3cr3t-seven}}\n---\nx\n",
    )
    token = "ghp_" + "aB3dE5fG7hJ9" * 3
    machine.put(".claude/commands/push.md", f"push with {token}\n")
    machine.put(".claude/skills/s/SKILL.md", skill("s"))
    machine.put(".claude/skills/s/.env", "K=s3cr3t-eight\n")
    ended = adopt(machine)
    assert ended.code == 0
    everything = (
        ended.out
        + ended.err
        + json.dumps({k: v[1].decode() for k, v in machine.tree(machine.project / ".agents").items()})
    )
    assert "s3cr3t" not in everything
    assert token not in everything
    for key in (
        "a.args.1",
        "a.env.API_TOKEN",
        "b.url",
        "c.headers.Authorization",
        "d.args.0",
        "e.env.E_SECRET",
        "push.md",
        ".env",
    ):
        assert any(key in line for line in ended.out.splitlines() if line.startswith("credential:")), key
    servers = json.loads((machine.project / ".agents/mcp.json").read_text())["mcpServers"]
    assert servers["d"]["env"] == {"SAFE": "${FROM_ENV}"}
    assert servers["a"]["args"] == ["--api-key", "${A_API_KEY}"]


def test_comments_and_unknown_keys_stay(machine):
    machine.put(".claude/agents/a.md", "---\nname: a\n# why\ndescription: d\nmood: calm\ntools: Read\n---\nx\n")
    machine.put(
        ".codex/agents/b.toml", '# top\nname = "b"\n# cheap\nmodel = "m"\nmood = "calm"\ndeveloper_instructions = "y"\n'
    )
    assert adopt(machine).code == 0
    assert (machine.project / ".agents/agents/a/agent.md").read_text() == (
        machine.project / ".claude/agents/a.md"
    ).read_text()
    made = (machine.project / ".agents/agents/b/agent.md").read_text()
    assert made == "---\n# top\nname: b\n# cheap\nmodel: m\nmood: calm\n---\n\ny\n"


def test_your_change_stays_where_the_source_did_not_change(machine):
    machine.put(".claude/agents/a.md", agent("a"))
    adopt(machine)
    mine = machine.put(".agents/agents/a/agent.md", agent("a", model="opus"))
    ended = adopt(machine)
    assert ended.code == 0
    assert "keep .agents/agents/a/agent.md" in ended.out
    assert mine.read_text() == agent("a", model="opus")


def test_a_changed_source_updates_what_you_left_alone(machine):
    machine.put(".claude/agents/a.md", agent("a"))
    adopt(machine)
    machine.put(".claude/agents/a.md", agent("a", model="opus"))
    ended = adopt(machine)
    assert ended.code == 0
    assert "+model: opus" in ended.out
    assert "model: opus" in (machine.project / ".agents/agents/a/agent.md").read_text()


def test_a_conflict_is_shown_from_three_sides_and_yours_stays(machine):
    machine.put(".claude/agents/a.md", agent("a", model="haiku"))
    adopt(machine)
    mine = machine.put(".agents/agents/a/agent.md", agent("a", model="sonnet"))
    machine.put(".claude/agents/a.md", agent("a", model="opus"))
    ended = adopt(machine)
    assert ended.code == 1
    for words in (
        "conflict .agents/agents/a/agent.md",
        "(last import)",
        "(yours)",
        "(the source)",
        "-model: haiku",
        "+model: sonnet",
        "+model: opus",
    ):
        assert words in ended.out
    assert "model: sonnet" in mine.read_text()


def test_servers_join_a_file_that_is_there_and_leave_the_rest_as_it_is_spelled(machine):
    mine = '{\n  "$schema": "x",\n  "mcpServers": {\n    "mine": {"command": "m", "n": 1.0}\n  }\n}\n'
    machine.put(".agents/mcp.json", mine)
    machine.put(".mcp.json", '{"mcpServers": {"theirs": {"command": "t"}}}')
    assert adopt(machine).code == 0
    made = (machine.project / ".agents/mcp.json").read_text()
    assert '"mine": {"command": "m", "n": 1.0}' in made
    assert json.loads(made)["mcpServers"]["theirs"] == {"command": "t"}
    assert "has all of it already" in adopt(machine).out


def test_a_flat_agent_of_the_same_name_is_compared_not_shadowed(machine):
    machine.put(".agents/agents/a.md", agent("a"))
    machine.put(".claude/agents/a.md", agent("a"))
    assert "has all of it already" in adopt(machine).out
    assert not (machine.project / ".agents/agents/a").exists()


def test_nothing_is_written_through_a_link(machine):
    machine.put(".claude/agents/a.md", agent("a"))
    machine.put(".cursor/agents/b.md", agent("b"))
    (machine.project / ".agents").mkdir()
    (machine.project / ".agents/agents").symlink_to("../.claude/agents")
    before = machine.tree(machine.project / ".claude")
    ended = adopt(machine)
    assert ended.code == 1
    assert "nothing is written through it" in ended.out
    assert machine.tree(machine.project / ".claude") == before


def test_a_tree_that_is_the_source_itself_is_refused(machine):
    machine.put(".claude/agents/a.md", agent("a"))
    (machine.project / ".agents").symlink_to(".claude")
    ended = adopt(machine)
    assert ended.code == 2
    assert "read as it is" in ended.err


def test_hostile_input_is_one_line_each(machine):
    outside = machine.put(machine.top / "outside.md", agent("outside"))
    folder = machine.project / ".claude/agents"
    machine.put(".claude/agents/good.md", agent("good"))
    (folder / "out.md").symlink_to(outside)
    (folder / "up.md").symlink_to("../../../outside.md")
    (folder / "gone.md").symlink_to("nowhere.md")
    os.mkfifo(folder / "pipe.md")
    (folder / "device.md").symlink_to("/dev/zero")
    machine.put(".claude/agents/huge.md", b"---\nname: huge\ndescription: h\n---\n" + b"x" * (11 << 20))
    machine.put(".claude/agents/nul.md", b"---\nname: n\n---\n\0")
    machine.put(".claude/agents/Twin.md", agent("Twin"))
    machine.put(".claude/agents/sub/twin.md", agent("twin"))
    machine.put(".claude/agents/broken.md", "---\nname: broken\n")
    machine.put(".codex/agents/broken.toml", "name = \n")
    machine.put(".codex/config.toml", '[agents.up]\nconfig_file = "../../up.toml"\n')
    (machine.project / ".claude/skills").mkdir()
    (machine.project / ".claude/skills/loop").symlink_to(".")
    (machine.project / ".claude/skills/etc").symlink_to("/etc")
    ended = adopt(machine)
    assert ended.code == 0, ended.err
    assert listed(machine, "project") == ["Twin", "good"]
    lines = ended.out.splitlines()
    for name in (
        "out.md",
        "up.md",
        "gone.md",
        "pipe.md",
        "device.md",
        "huge.md",
        "nul.md",
        "twin.md",
        "broken.md",
        "broken.toml",
        "config.toml",
        "skills/etc",
    ):
        said = [line for line in lines if line.startswith("warning: ") and name in line.split(": ")[1]]
        assert len(said) == 1, (name, said)


def test_a_large_tree_is_read_once_and_listed_once(machine):
    """400 agents and 900 skills: as many reads as there are files, and no listing for each of them."""
    for number in range(400):
        machine.put(f".claude/agents/team-{number % 7}/agent-{number}.md", agent(f"agent-{number}", tools="Read, Grep"))
    for number in range(900):
        machine.put(f".claude/skills/skill-{number}/SKILL.md", skill(f"skill-{number}"))
    counted = Counted()
    root = str(machine.project)
    found = everything(counted, all_spots(root, root, False, ("claude",)))
    assert (len(found.agents), len(found.skills)) == (400, 900)
    assert counted.reads == 1300
    assert counted.listings < 20
    ended = adopt(machine)
    assert ended.code == 0, ended.err
    assert len(list((machine.project / ".agents/agents").iterdir())) == 400
    assert len(list((machine.project / ".agents/skills").iterdir())) == 900


class Counted:
    """The machine's own reading, counted."""

    def __init__(self):
        self.reads = self.listings = 0

    def read(self, path):
        self.reads += 1
        return sources.read(path)

    def listing(self, root, boundary, depth):
        self.listings += 1
        return sources.listing(root, boundary, depth)


def test_setup_from_another_tool_is_an_import(machine):
    machine.put(machine.home / ".codex/agents/c.toml", 'name = "c"\ndescription = "d"\ndeveloper_instructions = "x"\n')
    assert machine.run("setup", "--from", "codex", "--yes").code == 0
    assert (machine.home / ".agents/agents/c/agent.md").exists()


@pytest.mark.parametrize("there", [False, True], ids=["fresh", "existing"])
def test_an_import_that_is_killed_leaves_only_whole_resources(machine, there):
    for number in range(300):
        for part in ("SKILL.md", "a.md", "b.md"):
            machine.put(f".claude/skills/s{number}/{part}", skill(f"s{number}") if part == "SKILL.md" else "x")
    if there:
        machine.put(".agents/agents/mine/agent.md", agent("mine"))
    for delay in (0.15, 0.3, 0.45, 0.6, 0.8, 1.0):
        process = machine.start("import", "--yes")
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        skills = machine.project / ".agents/skills"
        for folder in skills.iterdir() if skills.is_dir() else ():
            assert sorted(path.name for path in folder.iterdir()) == ["SKILL.md", "a.md", "b.md"]
    assert adopt(machine).code == 0
    assert len(list((machine.project / ".agents/skills").iterdir())) == 300
    assert not list(machine.project.rglob(".outfitter-import-*"))


def test_an_interrupt_leaves_nothing_behind(machine):
    for number in range(600):
        machine.put(f".claude/skills/s{number}/SKILL.md", skill(f"s{number}"))
    process = subprocess.Popen(
        [sys.executable, "-m", "outfitter", "import", "--yes"],
        cwd=machine.project,
        env=machine.env(),
        stdout=subprocess.DEVNULL,
    )
    time.sleep(0.4)
    process.send_signal(signal.SIGINT)
    assert process.wait(30) in (0, 130, -2)
    assert not list(machine.project.rglob(".outfitter-import-*"))


def test_an_import_from_elsewhere_and_of_a_home(machine):
    machine.put("other/.claude/agents/a.md", agent("a"))
    assert adopt(machine, "claude", "--from", "other", "--to", "tree").code == 0
    assert (machine.project / "tree/agents/a/agent.md").exists()
    machine.put(machine.home / ".claude/agents/h.md", agent("h"))
    machine.put(machine.home / ".claude.json", '{"oauthAccount": {"x": 1}, "mcpServers": {"s": {"command": "x"}}}')
    assert adopt(machine, "claude", "--from", "~").code == 0
    assert (machine.home / ".agents/agents/h/agent.md").exists()
    assert "oauth" not in (machine.home / ".agents/mcp.json").read_text()


def test_nothing_to_import_says_where_it_looked(machine):
    ended = adopt(machine)
    assert ended.code == 2
    assert ".claude" in ended.err
