"""The requests of the real programs: an agent used in place, the same agent imported, and Claude Code's own `--agent`."""

import json
import re
import sys
from pathlib import Path

import pytest

from tests.real.machine import TOKEN

SERVER = Path(__file__).parent / "mcp_server.py"
DIRECT = {"ENABLE_TOOL_SEARCH": "false"}


def furnish(real):
    real.put(".claude/agents/free.md", "---\nname: free\ndescription: about-free\n---\n\nmarker-free\n")
    real.put(
        ".claude/agents/narrow.md",
        "---\nname: narrow\ndescription: about-narrow\ntools: Read, Grep\n---\n\nmarker-narrow\n",
    )
    real.put(".claude/skills/craft/SKILL.md", "---\nname: craft\ndescription: about-craft\n---\n\nCraft.\n")
    real.put(".claude/commands/ship.md", "---\ndescription: about-ship\n---\n\nShip.\n")
    real.put("CLAUDE.md", "marker-project\n")
    server = {"command": sys.executable, "args": ["-I", str(SERVER), "probe_docs"]}
    real.put(".mcp.json", json.dumps({"mcpServers": {"docs": server}}))


def asked(real):
    """The last request that offers tools, and then none are remembered."""
    seen = next(one for one in reversed(real.turns()) if one.body.get("tools"))
    real.forget()
    return seen.body


def names(body):
    return sorted(tool.get("name") or tool["function"]["name"] for tool in body["tools"])


def counts(body, *words):
    whole = json.dumps(body)
    return {word: whole.count(word) for word in words}


def roster(body):
    """The lines in which skills, commands and agents are offered."""
    lines = (line for message in body["messages"] for line in re.findall(r"^- (.*?)$", text(message), re.MULTILINE))
    return sorted(line for line in lines if "about-" in line)


def text(message):
    content = message["content"]
    parts = content if isinstance(content, list) else [{"text": content}]
    return "\n".join(part.get("text", "") for part in parts)


@pytest.mark.parametrize("agent", ["free", "narrow"])
def test_claude_is_asked_the_same_natively_in_place_and_after_an_import(real, agent):
    furnish(real)
    way = {"ANTHROPIC_BASE_URL": real.server.url, "ANTHROPIC_AUTH_TOKEN": TOKEN, **DIRECT}
    assert real.native("claude", "--agent", agent, "-p", "hi", **way).returncode == 0
    native = asked(real)
    words = ("run", agent, "--harness", "claude", "--", "-p", "hi")
    assert real.run(*words, env=way).code == 0
    placed = asked(real)
    assert real.run("import", "--yes").code == 0
    assert real.run(*words, env=way).code == 0
    imported = asked(real)
    for body in (native, placed, imported):
        assert names(body) == names(native)
        assert counts(body, f"marker-{agent}", "marker-project") == {f"marker-{agent}": 1, "marker-project": 1}
    assert roster(placed) == roster(native)
    # The one difference of an imported skill: it has the plugin's name before its own, and the program's own one is off.
    assert sorted(line.replace(f"{agent}:craft", "craft") for line in roster(imported)) == roster(native)
    # The other difference, which docs/coming-from.md names: `--agent` replaces the program's prompt, a run adds to it.
    assert len(json.dumps(native["system"])) < len(json.dumps(placed["system"]))


def test_claude_isolated_is_given_nothing_twice(real):
    furnish(real)
    way = {"ANTHROPIC_BASE_URL": real.server.url, "ANTHROPIC_AUTH_TOKEN": TOKEN, **DIRECT}
    for step in ((), ("import", "--yes")):
        assert not step or real.run(*step).code == 0
        assert real.run("run", "free", "--harness", "claude", "--isolated", "--", "-p", "hi", env=way).code == 0
        body = asked(real)
        assert [line for line in roster(body) if "about-craft" in line] == ["craft: about-craft"]
        assert [line for line in roster(body) if "about-ship" in line] == ["ship: about-ship"]
        assert names(body).count("mcp__docs__probe_docs") == 1


def test_pi_is_asked_the_same_in_place_and_after_an_import(real):
    furnish(real)
    real.models(api="openai-completions")
    model = ("--", "-p", "--provider", "loop", "--model", "scripted-model", "hi")
    real.put(real.home / ".pi/agent/models.json", (real.project / ".agents/models.json").read_text())
    (real.project / ".agents/models.json").unlink()
    (real.project / ".agents").rmdir()
    assert real.run("run", "free", "--harness", "pi", *model).code == 0
    placed = asked(real)
    assert real.run("import", "--yes").code == 0
    assert real.run("run", "free", "--harness", "pi", *model).code == 0
    imported = asked(real)
    assert names(placed) == names(imported)
    system = [
        json.dumps(body["messages"][0]).replace(".claude/skills", ".agents/skills") for body in (placed, imported)
    ]
    for words in system:
        assert words.count("marker-free") == words.count("about-craft") == words.count("marker-project") == 1


def test_codex_is_asked_the_same_in_place_and_after_an_import(real):
    real.put(
        ".codex/agents/planner.toml",
        'name = "planner"\ndescription = "Plans"\nmodel_reasoning_effort = "high"\ndeveloper_instructions = "marker-plan"\n',
    )
    real.put(".codex/skills/craft/SKILL.md", "---\nname: craft\ndescription: about-craft\n---\n\nCraft.\n")
    (real.home / ".codex").mkdir(exist_ok=True)
    provider = f'model_providers.loop={{name="Loop",base_url="{real.server.url}/v1",env_key="MODEL_TOKEN",wire_api="responses"}}'
    words = ("run", "planner", "--harness", "codex", "--", "exec", "--skip-git-repo-check", "-m", "scripted-model")
    words = (*words, "-c", 'model_provider="loop"', "-c", provider, "hi")
    assert real.run(*words).code == 0
    placed = asked(real)
    assert real.run("import", "--yes").code == 0
    assert real.run(*words).code == 0
    imported = asked(real)
    for body in (placed, imported):
        assert json.dumps(body["input"]).count("marker-plan") == json.dumps(body["input"]).count("about-craft") == 1
        assert body["reasoning"]["effort"] == "high"
    assert json.dumps(placed["tools"]) == json.dumps(imported["tools"])
