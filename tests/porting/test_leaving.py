"""`outfitter dump --as`: what Claude Code and Codex read natively, so that a team can leave again."""

import json
import tomllib

from tests.porting.shapes import skill


def furnish(machine):
    machine.put(".agents/agents.md", "Use tabs.\n")
    machine.put(".agents/skills/craft/SKILL.md", skill("craft"))
    machine.put(".agents/commands/ship.md", "Ship.\n")
    machine.put(
        ".agents/mcp.json",
        json.dumps(
            {"mcpServers": {"docs": {"url": "https://d.example/mcp", "headers": {"Authorization": "Bearer ${DOCS}"}}}}
        ),
    )
    machine.agent(
        "reviewer", "You review.", description="Reviews", tools=["read", "grep"], model="sonnet", skills=["craft"]
    )
    machine.put(
        ".agents/agents/reviewer/mcp.json", '{"mcpServers": {"own": {"command": "x", "env": {"A": "${A}", "B": "b"}}}}'
    )


def test_as_claude(machine):
    furnish(machine)
    assert machine.run("dump", "--as", "claude", "--out", "out").code == 0
    out = machine.project / "out"
    text = (out / ".claude/agents/reviewer.md").read_text()
    assert "name: reviewer\ndescription: Reviews\ntools: [Read, Grep]\nmodel: sonnet\n" in text
    assert "own" in text
    assert text.endswith("You review.\n")
    assert (out / ".claude/skills/craft/SKILL.md").read_text() == skill("craft")
    assert (out / ".claude/commands/ship.md").read_text() == "Ship.\n"
    assert (out / "CLAUDE.md").read_text() == "Use tabs.\n"
    assert list(json.loads((out / ".mcp.json").read_text())["mcpServers"]) == ["docs"]


def test_as_codex(machine):
    furnish(machine)
    ended = machine.run("dump", "--as", "codex", "--out", "out")
    assert ended.code == 0
    out = machine.project / "out"
    made = tomllib.loads((out / ".codex/agents/reviewer.toml").read_text())
    assert made["name"] == "reviewer"
    assert made["sandbox_mode"] == "read-only"
    assert made["developer_instructions"].strip() == "You review."
    assert made["mcp_servers"]["own"] == {"command": "x", "env": {"B": "b"}, "env_vars": ["A"]}
    servers = tomllib.loads((out / ".codex/config.toml").read_text())["mcp_servers"]
    assert servers == {"docs": {"url": "https://d.example/mcp", "bearer_token_env_var": "DOCS"}}
    assert (out / "AGENTS.md").read_text() == "Use tabs.\n"
    assert "commands: codex reads nothing like it; 1 file is left out" in ended.err


def test_there_and_back(machine):
    furnish(machine)
    machine.run("dump", "--as", "claude", "--out", "out")
    assert machine.run("import", "claude", "--from", "out", "--to", "back", "--yes").code == 0
    made = (machine.project / "back/agents/reviewer/agent.md").read_text()
    assert "tools: [Read, Grep]" in made
    assert made.endswith("You review.\n")
    assert (machine.project / "back/agents.md").read_text() == "Use tabs.\n"


def test_dumping_again_replaces_the_earlier_dump(machine):
    furnish(machine)
    for _ in range(2):
        assert machine.run("dump", "--as", "claude", "--out", "out").code == 0
