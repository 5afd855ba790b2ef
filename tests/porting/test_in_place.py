"""Other tools' directories used where they are: a layer of their own, lowest of the project's, never written."""

import json

import pytest

from tests.porting.shapes import SHAPES, agent, build, skill

PLUGINS = ("a plugin", "a marketplace", "old cursor rules")


def rows(machine, kind="agents"):
    return {row["id"]: row for row in json.loads(machine.run("list", "--json").out)[kind]}


@pytest.mark.parametrize("name", [name for name in SHAPES if name not in PLUGINS])
def test_list_shows_every_agent_of_a_shape_and_each_can_be_run(machine, name):
    files, agents = SHAPES[name]
    build(machine, files)
    before = machine.tree(machine.project)
    found = rows(machine)
    assert sorted(found) == agents
    assert all(row["layer"].startswith("native ") for row in found.values())
    for one in agents[:1]:
        ended = machine.run("run", one, "--dry-run", "--json")
        assert ended.code == 0, ended.err
        assert any(layer["kind"] == "native" for layer in json.loads(ended.out)["layers"])
    assert machine.tree(machine.project) == before


def test_an_agent_of_the_project_runs_in_place_with_its_skills_and_servers(machine):
    machine.put(".claude/agents/reviewer.md", agent("reviewer", model="sonnet"))
    machine.put(".claude/skills/craft/SKILL.md", skill("craft"))
    machine.put(".mcp.json", '{"mcpServers": {"docs": {"command": "sh"}}}')
    ended = machine.run("run", "reviewer", "--", "-p", "hi")
    assert ended.code == 0, ended.err
    words = " ".join(ended.argv)
    assert "craft" in words
    shown = json.loads(machine.run("show", "reviewer", "--json").out)
    assert [one["id"] for one in shown["skills"]] == ["craft"]
    assert [one["id"] for one in shown["servers"]] == ["docs"]
    assert shown["skills"][0]["layer"] == "native .claude"
    assert "native .claude" in machine.run("show", "reviewer", "--origin").out


@pytest.mark.parametrize("where", ["project", "home"])
def test_an_agent_of_an_agents_tree_wins_whatever_its_layer(machine, where):
    machine.put(".claude/agents/a.md", agent("a"))
    machine.agent("a", "From the tree.", under=getattr(machine, where))
    assert rows(machine)["a"]["layer"] == where
    assert "From the tree." in machine.run("show", "a").out


def test_nothing_native_reaches_an_agent_of_a_tree(machine):
    machine.put(".claude/agents/a.md", agent("a"))
    machine.put(".claude/commands/go.md", "Go.\n")
    machine.put("CLAUDE.md", "Native context.\n")
    machine.agent("mine")
    shown = json.loads(machine.run("show", "mine", "--json").out)
    assert shown["commands"] == []
    assert "Native context." not in machine.run("show", "mine").out


def test_what_an_agent_of_a_tree_names_in_vain_is_found_in_place(machine):
    machine.put(".claude/skills/craft/SKILL.md", skill("craft"))
    machine.put(".claude/agents/helper.md", agent("helper"))
    machine.agent("mine", skills=["craft"], subagents=["helper"])
    shown = json.loads(machine.run("show", "mine", "--json").out)
    assert [one["layer"] for one in (*shown["skills"], *shown["subagents"])] == ["native .claude"] * 2
    assert not shown["notices"]


def test_native_layers_can_be_switched_off_and_chosen(machine):
    machine.put(".claude/agents/a.md", agent("a"))
    machine.put(".cursor/agents/b.md", agent("b"))
    machine.settings("native_layers: []\n")
    assert rows(machine) == {}
    assert machine.run("run", "a").code == 125
    machine.settings("native_layers: [cursor]\n")
    assert list(rows(machine)) == ["b"]


def test_chosen_layers_stand_below_the_projects_tree_and_above_the_homes(machine):
    machine.settings("native_layers: [claude]\n")
    machine.put(".claude/agents/a.md", agent("a"))
    machine.put(machine.home / ".claude/agents/h.md", agent("h"))
    machine.agent("a", under=machine.home)
    kinds = [layer["kind"] for layer in json.loads(machine.run("list", "--json").out)["layers"]]
    assert kinds == ["project", "native", "home", "native-home"]
    assert rows(machine)["a"]["layer"] == "native .claude"


def test_the_homes_own_directory_is_used_too(machine):
    machine.put(machine.home / ".claude/agents/h.md", agent("h"))
    assert rows(machine)["h"]["layer"] == "native ~/.claude"
    assert machine.run("run", "h", "--", "-p", "x").code == 0


def test_a_tool_limit_holds_in_place(machine):
    machine.put(".claude/agents/a.md", agent("a", tools="Read, Grep"))
    machine.put(".claude/skills/craft/SKILL.md", skill("craft"))
    ended = machine.run("run", "a", "--harness", "claude", "--", "-p", "x")
    assert ended.code == 0, ended.err
    assert ended.argv[ended.argv.index("--tools") + 1] == "Read,Grep"


def test_a_broken_native_file_stops_nothing_else(machine):
    machine.put(".claude/agents/good.md", agent("good"))
    machine.put(".claude/agents/bad.md", "---\nname: bad\n")
    machine.agent("mine")
    assert machine.run("validate").code == 0
    assert machine.run("run", "good", "--", "-p", "x").code == 0


def test_what_stands_beside_an_empty_tree_is_named_with_the_command_that_takes_it_over(machine):
    machine.put(".mcp.json", '{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}')
    machine.put(".cursor/rules/a.mdc", "---\nalwaysApply: true\n---\nx\n")
    machine.put(".claude-plugin/plugin.json", '{"name": "p"}')
    machine.put("CLAUDE.md", "x\n")
    words = (".mcp.json (2 servers)", ".cursor/rules (1 rule)", ".claude-plugin/plugin.json", "CLAUDE.md")
    for command in (("run",), ("run", "gone"), ("list",), ("validate",), ("doctor",), ("setup",)):
        ended = machine.run(*command)
        said = ended.out + ended.err
        assert all(word in said for word in words), (command, said)
        assert "outfitter import" in said, (command, said)


def test_a_bare_run_names_the_agents_that_are_used_in_place(machine):
    machine.put(".claude/agents/reviewer.md", agent("reviewer"))
    ended = machine.run("run")
    assert ended.code == 125
    assert "reviewer" in ended.err
