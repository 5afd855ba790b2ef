"""The real Claude Code through `outfitter run`: what arrives at the model, and what is left afterwards (spec/40)."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.real.machine import TOKEN

SERVER = Path(__file__).parent / "mcp_server.py"

BOTH = pytest.mark.parametrize("mode", [(), ("--isolated",)], ids=["inherit", "isolated"])
DIRECT = {"ENABLE_TOOL_SEARCH": "false"}
WRITING = ("--permission-mode", "acceptEdits", "--allowedTools", "Bash", "--", "go on")


def agent(real, body="You are marker-identity.", **front):
    real.models()
    return real.agent("a", body, **{"model": "loop/scripted-model", **front})


def launch(real, *words, env=None, **more):
    ended = real.run("run", "a", "--harness", "claude", *words, env={**DIRECT, **(env or {})}, **more)
    assert "Traceback" not in ended.err
    return ended


def first_turn(real):
    """The main conversation's first request: the one that offers tools."""
    return next(seen for seen in real.turns() if seen.body.get("tools"))


def tools(seen):
    return {tool["name"] for tool in seen.body["tools"]}


def text(value):
    return json.dumps(value, ensure_ascii=False)


def transcripts(real):
    return sorted((real.home / ".claude/projects").rglob("*.jsonl"))


@BOTH
def test_the_request_holds_what_is_composed_and_nothing_else(real, mode):
    for name in ("chosen", "stray"):
        real.skill(name, f"about-{name}")
        real.put(f".agents/agents/{name}-helper/agent.md", f"---\ndescription: helper-{name}\n---\n\nYou help.\n")
    real.put(".agents/agents.md", "marker-context\n")
    real.servers("docs", "web")
    agent(
        real,
        skills=["chosen"],
        subagents=["chosen-helper"],
        mcp=["docs"],
        thinking="low",
        tools={"allow": ["read", "bash", "mcp"], "deny": ["bash"]},
    )
    ended = launch(real, *mode, "--", "-p", "hi there")
    assert ended.code == 0, ended.err
    seen = first_turn(real)
    assert "marker-identity" in text(seen.body["system"])
    assert "marker-context" in text(seen.body["system"])
    assert tools(seen) == {"Read", "Skill", "Agent", "mcp__docs__probe_docs"}
    whole = text(seen.body)
    assert "about-chosen" in whole
    assert "about-stray" not in whole
    assert "helper-chosen" in whole
    assert "helper-stray" not in whole
    assert "hi there" in whole
    assert seen.body["model"] == "scripted-model"
    assert seen.body["output_config"]["effort"] == "low"


def test_a_server_starts_in_its_own_directory_with_its_own_variables(real):
    real.put("far/place/here.txt")
    real.put(".agents/mcp.json", json.dumps({"mcpServers": {"docs": {
        "command": "sh", "args": ["-c", 'test -f here.txt && exec "$PROGRAM" -I "$SCRIPT" "$NAME"'],
        "cwd": str(real.project / "far/place"),
        "env": {"PROGRAM": sys.executable, "SCRIPT": str(SERVER), "NAME": "probe_${SUFFIX:-none}"},
    }}}))  # fmt: skip
    agent(real, mcp=["docs"])
    assert launch(real, "--", "-p", "hi", env={"SUFFIX": "set"}).code == 0
    assert "mcp__docs__probe_set" in tools(first_turn(real))


@BOTH
def test_a_system_prompt_takes_the_place_of_the_programs_own(real, mode):
    real.put(".agents/system-prompt.md", "marker-system\n")
    agent(real)
    assert launch(real, *mode, "--", "-p", "hi").code == 0
    system = text(first_turn(real).body["system"])
    assert system.index("marker-system") < system.index("marker-identity")
    assert len(system) < 4000


@BOTH
def test_a_subagent_runs_with_its_own_words_limits_and_skills(real, mode):
    real.skill("craft", "about-craft", "marker-craft")
    real.skill("own", "about-own", "marker-own")
    real.put(
        ".agents/agents/helper/agent.md",
        "---\ndescription: Helps\ntools: [read]\nskills: [craft, own]\nmodel: loop/other-model\n---\n\nmarker-helper\n",
    )
    agent(real, subagents=["helper"], skills=["craft"])
    real.models(models=[{"id": "scripted-model"}, {"id": "other-model"}])
    kind = "helper" if mode else "a:helper"
    call = {"tool": "Agent", "input": {"description": "d", "prompt": "do it", "subagent_type": kind}}
    real.server.script = (call, {"text": "end"})
    assert launch(real, *mode, "--", "-p", "hi").code == 0
    asked = [seen for seen in real.turns() if "marker-helper" in text(seen.body.get("system"))]
    assert asked
    assert tools(asked[0]) == {"Read"}
    assert "marker-craft" in text(asked[0].body)
    assert "marker-own" in text(asked[0].body)
    assert asked[0].body["model"] == "other-model"
    assert "about-own" not in text(first_turn(real).body)


@BOTH
def test_native_skills_of_the_tree_are_neither_doubled_nor_leaked(real, mode):
    for name in ("chosen", "stray"):
        real.skill(name, f"about-{name}")
    (real.project / ".claude").mkdir()
    (real.project / ".claude/skills").symlink_to("../.agents/skills")
    agent(real, skills=["chosen"])
    assert launch(real, *mode, "--", "-p", "hi").code == 0
    whole = text(first_turn(real).body)
    assert "about-stray" not in whole
    assert whole.count("about-chosen") == 1


@pytest.mark.parametrize("block", ["", "skills/: discard, agents/: discard, commands/: discard, plugins/: discard"])
def test_an_isolated_run_reaches_native_parts_unless_settings_say_otherwise(real, block):
    real.skill("chosen", "about-chosen")
    real.put(real.home / ".claude/skills/own/SKILL.md", "---\nname: own\ndescription: about-own\n---\n\nOwn.\n")
    real.put(real.home / ".claude/agents/mine.md", "---\nname: mine\ndescription: about-mine\n---\n\nMine.\n")
    real.put(real.home / ".claude/CLAUDE.md", "marker-memory")
    real.settings(f"state_persistence: {{claude: {{{block}}}}}\n" if block else "")
    agent(real, skills=["chosen"])
    assert launch(real, "--isolated", "--", "-p", "hi").code == 0
    whole = text(first_turn(real).body)
    assert "about-chosen" in whole
    assert ("about-own" in whole, "about-mine" in whole) == ((False, False) if block else (True, True))
    assert "marker-memory" not in whole


def test_a_servers_file_that_links_into_the_tree_leaks_no_server(real):
    real.servers("docs", "web")
    (real.project / ".mcp.json").symlink_to(".agents/mcp.json")
    agent(real, mcp=["docs"])
    assert launch(real, "--", "-p", "hi").code == 0
    assert {name for name in tools(first_turn(real)) if name.startswith("mcp__")} == {"mcp__docs__probe_docs"}


@BOTH
def test_a_plain_run_is_quiet_and_unknown_error_passes(real, mode):
    agent(real)
    real.settings("state_persistence: {claude: {unknown: error}}\n" if mode else "")
    real.server.script = (
        {"write": {"path": str(real.project / "made.txt"), "content": "hello"}},
        {"shell": "echo more >> made.txt"},
        {"text": "done"},
    )
    ended = launch(real, *mode, "--strict", "--", "-p", *WRITING)
    assert ended.code == 0, ended.err
    assert ended.out.strip() == "done"
    assert (real.project / "made.txt").read_text() == "hellomore\n"
    assert [line for line in ended.err.splitlines() if line.startswith("outfitter:")] == []
    assert real.run_directories() == []


def test_what_a_turn_writes_is_classified(real):
    agent(real)
    real.server.script = (
        {"shell": 'echo x > "$CLAUDE_CONFIG_DIR/odd.txt"; mkdir -p "$CLAUDE_CONFIG_DIR/skills/new"; '
                  'echo "# new" > "$CLAUDE_CONFIG_DIR/skills/new/SKILL.md"'},
        {"text": "done"},
    )  # fmt: skip
    ended = launch(real, "--isolated", "--retain-projection", "--", "-p", *WRITING)
    assert ended.code == 0, ended.err
    assert "odd.txt" in ended.err
    (root,) = real.run_directories()
    told = json.loads(real.run("diff", str(root), "--json").out)
    outcomes = {row["path"]: (row["zone"], row["strategy"], row["outcome"]) for row in told["changes"]}
    assert outcomes.pop("odd.txt") == ("unknown", "warn", "warned")
    assert {row for path, row in outcomes.items() if path.startswith("projects/")} == {
        ("declared", "symlink", "bridged")
    }
    assert outcomes[".claude.json"][2] in ("bridged", "discarded")
    assert all(row[2] in ("bridged", "discarded", "durable", "adopted") for row in outcomes.values()), outcomes
    assert (real.home / ".claude/skills/new/SKILL.md").read_text() == "# new\n"


@BOTH
def test_a_second_run_continues_the_first_ones_session_with_the_new_words(real, mode):
    agent(real, "You are marker-first.")
    assert launch(real, *mode, "--", "-p", "remember the heron").code == 0
    agent(real, "You are marker-second.")
    real.forget()
    assert launch(real, *mode, "--", "--continue", "-p", "what bird?").code == 0
    seen = first_turn(real)
    assert "remember the heron" in text(seen.body["messages"])
    assert "marker-second" in text(seen.body["system"])
    assert "marker-first" not in text(seen.body["system"])
    assert transcripts(real)


def test_inherit_and_isolated_share_one_history(real):
    agent(real)
    assert launch(real, "--isolated", "--", "-p", "remember the heron").code == 0
    real.forget()
    assert launch(real, "--", "--continue", "-p", "what bird?").code == 0
    assert "remember the heron" in text(first_turn(real).body["messages"])


LOGIN = {"claudeAiOauth": {"accessToken": "at-1", "refreshToken": "rt-1", "expiresAt": 9999999999999,
                           "scopes": ["user:inference"], "subscriptionType": "max"}}  # fmt: skip


def log_in(real, **more):
    return real.put(real.home / ".claude/.credentials.json", json.dumps({**LOGIN, **more}), 0o600)


def test_006_5_14_a_changed_login_survives(real):
    agent(real)
    place = log_in(real)
    fresh = json.dumps(LOGIN).replace("-1", "-2")
    real.server.script = (
        {"shell": f"printf %s '{fresh}' > \"$CLAUDE_CONFIG_DIR/.credentials.json\""},
        {"text": "done"},
    )
    assert launch(real, "--isolated", "--", "-p", *WRITING).code == 0
    assert json.loads(place.read_text()) == json.loads(fresh)
    assert place.stat().st_mode & 0o777 == 0o600


def test_006_5_16_an_mcp_authorization_that_the_program_writes_itself_survives(real):
    agent(real)
    place = log_in(real)
    words = (
        "mcp",
        "add",
        "-s",
        "user",
        "-t",
        "http",
        "--client-id",
        "c",
        "--client-secret",
        "far",
        "http://127.0.0.1:9/mcp",
    )
    ended = launch(real, "--isolated", "--", *words, env={"MCP_CLIENT_SECRET": "made-up"})
    assert ended.code == 0, ended.err
    written = json.loads(place.read_text())
    assert written["claudeAiOauth"] == LOGIN["claudeAiOauth"]
    assert set(written) > set(LOGIN)


def test_a_plugin_installed_in_an_isolated_run_is_there_in_the_next_and_natively(real):
    agent(real)
    market = real.top / "market"
    real.put(market / ".claude-plugin/marketplace.json", json.dumps({
        "name": "shop", "owner": {"name": "o"}, "plugins": [{"name": "tool", "source": "./tool", "description": "d"}],
    }))  # fmt: skip
    real.put(
        market / "tool/.claude-plugin/plugin.json", json.dumps({"name": "tool", "version": "1.0.0", "description": "d"})
    )
    real.put(market / "tool/skills/kit/SKILL.md", "---\nname: kit\ndescription: about-kit\n---\n\nKit.\n")
    for words in (("plugin", "marketplace", "add", str(market)), ("plugin", "install", "tool@shop")):
        ended = launch(real, "--isolated", "--", *words)
        assert ended.code == 0, ended.out + ended.err
    for registry in (real.home / ".claude/plugins").glob("*.json"):
        assert str(real.tmp) not in registry.read_text(), registry
    for mode in (("--isolated",), ()):
        real.forget()
        assert launch(real, *mode, "--", "-p", "hi").code == 0
        assert "about-kit" in text(first_turn(real).body)


def test_a_native_session_beside_it_is_not_harmed(real):
    agent(real)
    place = log_in(real)
    before = place.read_bytes()
    gate = real.top / "gate"
    real.server.script = (
        {"shell": f"touch '{gate}.ready'; while ! test -e '{gate}'; do sleep 0.1; done"},
        {"text": "late"},
    )
    process = real.start("run", "a", "--harness", "claude", "--isolated", "--", "-p", *WRITING, env=DIRECT)
    try:
        real.until(lambda: gate.with_suffix(".ready").exists(), what="the run's turn")
        ours = {"ANTHROPIC_BASE_URL": real.server.url, "ANTHROPIC_AUTH_TOKEN": TOKEN}
        real.server.script = ()
        native = real.native("claude", "-p", "a native word", **ours)
        assert native.returncode == 0, native.stderr
        state = (real.home / ".claude.json").read_bytes()
    finally:
        gate.touch()
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    both = [path.read_text() for path in transcripts(real)]
    assert sum("a native word" in one for one in both) == 1
    assert sum("go on" in one for one in both) == 1
    assert json.loads((real.home / ".claude.json").read_bytes()) == json.loads(state)
    assert place.read_bytes() == before
    assert not [line for line in err.splitlines() if line.startswith(b"outfitter:")]


def test_a_launcher_killed_outright_loses_no_word_of_the_session(real):
    agent(real)
    gate = real.top / "gate"
    real.server.script = (
        {"shell": f"touch '{gate}.ready'; while ! test -e '{gate}'; do sleep 0.1; done"},
        {"text": "late"},
    )
    process = real.start("run", "a", "--harness", "claude", "--isolated", "--", "-p", *WRITING, env=DIRECT)
    try:
        real.until(lambda: gate.with_suffix(".ready").exists(), what="the run's turn")
        process.kill()
        process.wait(timeout=60)
        assert transcripts(real) == []
    finally:
        gate.touch()
        process.communicate(timeout=60)
    real.until(lambda: real.run("recover").code == 0 and real.run_directories() == [], what="the recovery")
    (path,) = transcripts(real)
    assert "go on" in path.read_text()
    assert "late" in path.read_text()
    real.forget()
    assert launch(real, "--", "--continue", "-p", "and now?").code == 0
    assert "go on" in text(first_turn(real).body["messages"])


@BOTH
def test_006_9_4_a_gateway_never_gets_another_login(real, mode):
    agent(real)
    log_in(real)
    trusted(real, primaryApiKey="stored-secret", customApiKeyResponses={"approved": ["stored-secret"]})
    real.put(real.home / ".claude/settings.json", json.dumps({
        "apiKeyHelper": "echo helper-secret",
        "env": {"ANTHROPIC_API_KEY": "settings-secret", "ANTHROPIC_AUTH_TOKEN": "settings-token",
                "ANTHROPIC_CUSTOM_HEADERS": "X-Secret: of-the-user"},
    }))  # fmt: skip
    env = {"ANTHROPIC_API_KEY": "env-secret", "CLAUDE_CODE_OAUTH_TOKEN": "oauth-secret", "ANTHROPIC_AUTH_TOKEN": "env-token",
           "ANTHROPIC_CUSTOM_HEADERS": "X-Secret: of-the-environment"}  # fmt: skip
    ended = launch(real, *mode, "--", "-p", "hi", env=env)
    assert ended.code == 0, ended.err
    assert real.turns()
    for seen in real.server.seen:
        assert all(seen.credentials.values()), seen
        assert "x-secret" not in seen.headers


def test_006_9_4_without_its_credential_the_program_is_not_started(real):
    agent(real)
    ended = launch(real, "--", "-p", "hi", env={"MODEL_TOKEN": None, "ANTHROPIC_API_KEY": "env-secret"})
    assert ended.code == 125
    assert "MODEL_TOKEN" in ended.err
    assert real.server.seen == []


def test_a_pass_through_settings_and_prompt_are_folded_in(real):
    agent(real)
    real.put("more.md", "marker-more")
    words = (
        "--append-system-prompt-file",
        "more.md",
        "--settings",
        '{"env": {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}}',
    )
    assert launch(real, "--", *words, "-p", "hi").code == 0
    system = text(first_turn(real).body["system"])
    assert "marker-identity" in system
    assert "marker-more" in system


def trusted(real, **more):
    """A home that has been through the first questions."""
    state = {"hasCompletedOnboarding": True, "projects": {str(real.project): {"hasTrustDialogAccepted": True}}, **more}
    real.put(real.home / ".claude.json", json.dumps(state), 0o600)


@BOTH
def test_an_interactive_launch_starts_answers_and_quits(real, mode):
    agent(real)
    trusted(real)
    real.settings("state_persistence: {claude: {unknown: error}}\n" if mode else "")
    real.server.script = (
        {"write": {"path": str(real.project / "made.txt"), "content": "x"}},
        {"shell": "cat made.txt"},
    )
    screen = real.terminal("run", "a", "--harness", "claude", *mode, "--strict", "--", *WRITING[:4], **DIRECT)
    try:
        screen.see("shift+tab to cycle")
        screen.type("hello from a terminal")
        screen.see("❯ hello from a terminal")
        screen.type("\r")
        screen.see("scripted model on your own machine")
        screen.type("/exit")
        screen.see("Exit the CLI")
        assert (real.project / "made.txt").read_text() == "x"
        screen.type("\r")
        assert screen.end() == 0
    finally:
        screen.close()
    assert "marker-identity" in text(first_turn(real).body["system"])
    assert any("hello from a terminal" in path.read_text() for path in transcripts(real))
    assert real.run_directories() == []


def test_an_interactive_launch_that_is_terminated_leaves_the_terminal_as_it_was(real):
    agent(real)
    trusted(real)
    screen = real.terminal("run", "a", "--harness", "claude", "--isolated", **DIRECT)
    try:
        screen.see("shift+tab to cycle")
        os.kill(screen.child.pid, signal.SIGTERM)
        assert screen.end() in (143, 0)
    finally:
        screen.close()
    assert real.run_directories() == []


def test_an_older_program_is_run_isolated_and_says_why(real):
    """006.5.22 on a program whose help does not know the flag: a script that asks the real one, and leaves the flag out."""
    agent(real)
    folder = real.top / "old"
    real.put(
        folder / "claude",
        f'#!/bin/sh\nif [ "$1" = --help ]; then "{real.programs.bin}/claude" --help | sed s/--plugin-dir/--plug/g; else exec "{real.programs.bin}/claude" "$@"; fi\n',
        0o755,
    )
    ended = launch(real, "--", "-p", "hi", env={"PATH": f"{folder}:{real.path}"})
    assert ended.code == 0, ended.err
    assert "--plugin-dir" in ended.err
    assert "marker-identity" in text(first_turn(real).body["system"])
    assert real.run_directories() == []
