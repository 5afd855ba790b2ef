"""The real Codex through `outfitter run`: what arrives at the model, and what is left afterwards (spec/40).

Each element that the adapter supports beyond OFTR-006.6 is shown here to arrive.
"""

import contextlib
import json
import os
import signal
import sys
import termios

import pexpect
import pytest

from tests.real.machine import TOKEN

EXEC = ("exec", "--skip-git-repo-check")
RESUME = ("exec", "resume", "--skip-git-repo-check", "--last")


@pytest.fixture
def codex(real):
    """A machine whose CODEX_HOME exists, as Codex wants it."""
    (real.home / ".codex").mkdir()
    return real


def agent(real, body="You are marker-identity.", **front):
    real.models(api="openai-responses", headers={"X-Literal": "literal", "X-Named": "$NAMED"})
    return real.agent("a", body, **{"model": "loop/scripted-model", **front})


def launch(real, *words, options=(), env=None, **more):
    ended = real.run(
        "run", "a", "--harness", "codex", *options, "--", *words, env={"NAMED": "named", **(env or {})}, **more
    )
    assert "Traceback" not in ended.err
    return ended


def turn(real, *words, **more):
    """One run that must end well, and its first request."""
    real.forget()
    ended = launch(real, *(words or (*EXEC, "hi there")), **more)
    assert ended.code == 0, ended.err
    return real.turns()[0]


def text(value):
    return json.dumps(value, ensure_ascii=False)


def tools(seen):
    return {tool.get("name") or tool["type"] for tool in seen.body["tools"]}


def server_tools(seen):
    return {
        f"{space['name']}__{tool['name']}"
        for space in seen.body["tools"]
        if space["type"] == "namespace" and space["name"].startswith("mcp__")
        for tool in space["tools"]
    }


def developer(seen):
    """The texts of the developer messages, the program's own first."""
    return [part["text"] for item in seen.body["input"] if item.get("role") == "developer" for part in item["content"]]


def rollouts(real):
    return sorted((real.home / ".codex/sessions").rglob("*.jsonl"))


def test_the_request_holds_what_is_composed_and_nothing_else(codex):
    for name in ("chosen", "stray"):
        codex.skill(name, f"about-{name}")
    codex.put(codex.home / ".agents/skills/homely/SKILL.md", "---\nname: homely\ndescription: about-homely\n---\nx\n")
    codex.put(".agents/agents.md", "marker-context\n")
    codex.put(".agents/agents/helper/agent.md", "---\ndescription: about-helper\n---\n\nYou help.\n")
    codex.put(".agents/agents/other/agent.md", "---\ndescription: about-other\n---\n\nYou help.\n")
    codex.servers("docs", "web")
    agent(codex, skills=["chosen"], mcp=["docs"], subagents=["helper"], thinking="low")
    seen = turn(codex)
    whole = text(seen.body)
    for word in ("marker-identity", "marker-context", "about-chosen", "about-helper", "hi there"):
        assert word in whole
    for word in ("about-stray", "about-homely", "about-other", "probe_web"):
        assert word not in whole
    assert whole.count("about-chosen") == 1
    assert whole.index("marker-context") < whole.index("marker-identity")
    assert server_tools(seen) == {"mcp__docs__probe_docs"}
    assert seen.body["model"] == "scripted-model"
    assert seen.body["reasoning"]["effort"] == "low"


def test_006_9_5_provider_credential_and_headers_arrive(codex):
    agent(codex)
    seen = turn(codex)
    assert seen.path == "/v1/responses"
    assert seen.credentials == {"authorization": True}
    assert (seen.headers["x-literal"], seen.headers["x-named"]) == ("literal", "named")


def test_006_9_4_without_its_credential_the_program_is_not_started(codex):
    agent(codex)
    ended = launch(codex, *EXEC, "hi", env={"MODEL_TOKEN": None, "CODEX_API_KEY": TOKEN})
    assert ended.code == 125
    assert "MODEL_TOKEN" in ended.err
    assert codex.server.seen == []


def test_identity_is_added_to_the_programs_own_words_or_replaces_them(codex):
    agent(codex)
    added = developer(turn(codex))
    assert "Codex" in added[0]
    assert "marker-identity" in added[1]
    codex.put(".agents/system-prompt.md", "marker-system\n")
    replaced = developer(turn(codex))
    assert replaced[0].strip() == "marker-system"
    assert "marker-identity" in replaced[1]


def test_a_second_run_continues_the_first_ones_session(codex):
    """A new system prompt arrives; the developer instructions stay the first ones, as the notice says."""
    codex.put(".agents/system-prompt.md", "marker-system-1\n")
    agent(codex, "You are marker-first.")
    turn(codex, *EXEC, "remember the heron")
    codex.put(".agents/system-prompt.md", "marker-system-2\n")
    agent(codex, "You are marker-second.")
    codex.forget()
    ended = launch(codex, *RESUME, "what bird?")
    assert ended.code == 0, ended.err
    whole = text(codex.turns()[0].body)
    assert "remember the heron" in whole
    assert "marker-system-2" in whole
    assert "marker-first" in whole
    assert "keeps the developer instructions" in ended.err
    assert len(rollouts(codex)) == 1


# The program ends with its leader, whether or not the helper has asked by then.
WITH_HELPER = (
    {"tool": "spawn_agent", "input": {"agent_type": "helper", "message": "do it"}},
    {"shell": "sleep 3"},
    {"text": "end"},
)


def test_a_subagent_runs_with_its_own_words_model_and_effort(codex):
    codex.put(
        ".agents/agents/helper/agent.md",
        "---\ndescription: helps\nmodel: loop/scripted-model\nthinking: minimal\n---\n\nmarker-helper\n",
    )
    agent(codex, subagents=["helper"], thinking="high")
    codex.server.script = WITH_HELPER
    turn(codex, *EXEC, "go on")
    codex.until(lambda: any("marker-helper" in text(seen.body) for seen in codex.turns()), what="the subagent's turn")
    asked = next(seen for seen in codex.turns() if "marker-helper" in text(seen.body))
    assert asked.body["reasoning"]["effort"] == "minimal"
    assert asked.credentials == {"authorization": True}


def test_skills_are_switched_off_by_agent_and_the_users_own_switches_stay(codex):
    for name in ("shared", "leaders", "users"):
        codex.skill(name, f"about-{name}")
    off = codex.project / ".agents/skills/users/SKILL.md"
    codex.put(codex.home / ".codex/config.toml", f'[[skills.config]]\npath = "{off}"\nenabled = false\n')
    codex.skill("stray", "about-stray")
    codex.put(".agents/agents/helper/agent.md", "---\ndescription: helps\nskills: [shared]\n---\n\nmarker-helper\n")
    agent(codex, subagents=["helper"], skills=["shared", "leaders", "users"])
    codex.server.script = WITH_HELPER
    leader = text(turn(codex, *EXEC, "go on").body)
    assert [f"about-{name}" in leader for name in ("shared", "leaders", "users", "stray")] == [True, True, False, False]
    codex.until(lambda: any("marker-helper" in text(seen.body) for seen in codex.turns()), what="the subagent's turn")
    helper = text(next(seen.body for seen in codex.turns() if "marker-helper" in text(seen.body)))
    assert [f"about-{name}" in helper for name in ("shared", "leaders", "stray")] == [True, False, False]


@pytest.mark.parametrize(
    ("limits", "gone"),
    [({"deny": ["bash"]}, {"exec_command", "write_stdin"}), ({"deny": ["web_search"]}, {"web_search"})],
)
def test_tools_of_its_own_that_can_be_switched_off(codex, limits, gone):
    agent(codex)
    assert gone <= tools(turn(codex))
    agent(codex, tools=limits)
    assert not gone & tools(turn(codex, options=("--strict",)))


def test_tool_lists_by_server(codex):
    codex.servers("docs", "web", "db")
    agent(codex, mcp=["docs", "web", "db"], tools={"deny": ["mcp__docs__probe_docs", "mcp__web"]})
    assert server_tools(turn(codex)) == {"mcp__db__probe_db"}
    agent(codex, mcp=["docs", "web", "db"], tools={"allow": ["mcp__docs__other", "mcp__db"]})
    assert server_tools(turn(codex)) == {"mcp__db__probe_db"}
    path = codex.project / ".agents/mcp.json"
    entries = json.loads(path.read_text())
    entries["mcpServers"]["docs"]["available_tools"] = ["nosuch"]
    path.write_text(json.dumps(entries))
    agent(codex, mcp=["docs", "web"])
    assert server_tools(turn(codex)) == {"mcp__web__probe_web"}


def test_an_mcp_call_in_exec_needs_the_approval_mode_that_the_warning_names(codex):
    codex.servers("docs")
    agent(codex, mcp=["docs"])
    script = ({"tool": "mcp__docs__probe_docs", "input": {}}, {"text": "end"})
    codex.server.script = script
    ended = launch(codex, *EXEC, "go on")
    assert "default_tools_approval_mode" in ended.err
    assert "probe_docs answered" not in text([seen.body for seen in codex.turns()])
    path = codex.project / ".agents/mcp.json"
    entries = json.loads(path.read_text())
    entries["mcpServers"]["docs"]["default_tools_approval_mode"] = "approve"
    path.write_text(json.dumps(entries))
    codex.forget()
    ended = launch(codex, *EXEC, "go on")
    assert "default_tools_approval_mode" not in ended.err
    assert "probe_docs answered" in text([seen.body for seen in codex.turns()])


def test_006_6_3_a_servers_environment_arrives_without_standing_in_the_arguments(codex):
    report = "import os, sys; open(sys.argv[1], 'w').write(repr({k: os.environ.get(k) for k in ('SECRET', 'LIT')}))"
    out = codex.top / "seen"
    entry = {
        "command": sys.executable,
        "args": ["-I", "-c", report, str(out)],
        "env": {"SECRET": "${SECRET}", "LIT": "v"},
    }
    codex.put(".agents/mcp.json", json.dumps({"mcpServers": {"s": entry}}))
    agent(codex, mcp=["s"])
    turn(codex, env={"SECRET": "hidden"})
    codex.until(out.exists, what="the server's start")
    assert out.read_text() == "{'SECRET': 'hidden', 'LIT': 'v'}"
    told = codex.run("run", "a", "--harness", "codex", "--dry-run", env={"SECRET": "hidden", "NAMED": "named"})
    assert "hidden" not in told.out + told.err


def test_skills_that_cannot_be_reached_are_fatal_under_strict(codex):
    codex.put(".agents/agents/a/skills/private/SKILL.md", "---\nname: private\ndescription: about-private\n---\nx\n")
    agent(codex, skills=["private"])
    seen = turn(codex)
    assert "about-private" not in text(seen.body)
    ended = launch(codex, *EXEC, "hi", options=("--strict",))
    assert ended.code == 122
    assert "private" in ended.err


def test_a_plain_run_is_quiet(codex):
    agent(codex)
    codex.server.script = ({"shell": f"echo hello > '{codex.project}/made.txt'"}, {"text": "done"})
    ended = launch(
        codex,
        "exec",
        "--skip-git-repo-check",
        "--dangerously-bypass-approvals-and-sandbox",
        "go on",
        options=("--strict",),
    )
    assert ended.code == 0, ended.err
    assert ended.out.strip() == "done"
    assert (codex.project / "made.txt").read_text() == "hello\n"
    assert [line for line in ended.err.splitlines() if line.startswith("outfitter: warning")] == []
    assert codex.run_directories() == []


def test_what_it_writes_is_the_users_own(codex):
    """Codex runs over the user's CODEX_HOME; nothing of it is declared, seeded or copied back."""
    agent(codex)
    turn(codex, *EXEC, "remember", options=("--retain-projection",))
    (root,) = codex.run_directories()
    assert json.loads(codex.run("diff", str(root), "--json").out)["changes"] == []
    assert len(rollouts(codex)) == 1


def test_a_native_session_beside_it_is_not_harmed(codex):
    agent(codex)
    gate = codex.top / "gate"
    codex.server.script = (
        {"shell": f"touch '{gate}.ready'; while ! test -e '{gate}'; do sleep 0.1; done"},
        {"text": "late"},
    )
    free = "--dangerously-bypass-approvals-and-sandbox"
    process = codex.start("run", "a", "--harness", "codex", "--", *EXEC, free, "go on", env={"NAMED": "n"})
    try:
        codex.until(lambda: gate.with_suffix(".ready").exists(), what="the run's turn")
        codex.server.script = ()
        provider = f'model_providers.loop={{name="l",base_url="{codex.server.url}/v1",env_key="MODEL_TOKEN",wire_api="responses"}}'
        words = ("-c", 'model_provider="loop"', "-c", provider, "-m", "scripted-model", *EXEC, "a native word")
        native = codex.native("codex", *words)
        assert native.returncode == 0, native.stderr
    finally:
        gate.touch()
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    both = [path.read_text() for path in rollouts(codex)]
    assert sum("a native word" in one for one in both) == 1
    assert sum("go on" in one for one in both) == 1


def interactive(real):
    """The program in a terminal of its own, in a project it trusts, without its background service."""
    real.put(
        real.home / ".codex/config.toml",
        f'[features]\ndaemon_auto_start = false\n[projects."{real.project}"]\ntrust_level = "trusted"\n',
    )
    return pexpect.spawn(
        sys.executable,
        ["-m", "outfitter", "run", "a", "--harness", "codex"],
        cwd=str(real.project),
        env=real.env(NAMED="named"),
        dimensions=(40, 120),
        timeout=60,
    )


TYPED = "from a terminal"


def test_an_interactive_launch_starts_answers_and_quits(codex):
    agent(codex)
    child = interactive(codex)
    try:
        before = termios.tcgetattr(child.child_fd)
        child.expect("scripted-model")
        child.send("hello from a terminal")
        codex.until(lambda: _pressed(child, codex), what="the turn")
        codex.until(lambda: _answered(child, codex), what="the answer")
        child.send("\x03")
        child.send("\x03")
        child.expect(pexpect.EOF)
        child.wait()
        assert child.signalstatus is None
        assert child.exitstatus in (0, 130), child.before
        assert termios.tcgetattr(child.child_fd)[:4] == before[:4]
    finally:
        child.close(force=True)
    assert any(TYPED in path.read_text() for path in rollouts(codex))
    assert codex.run_directories() == []


def _pressed(child, real):
    """Press Enter until the words are sent: the program drops keys while it draws its first screen, perhaps the first letter."""
    if any(TYPED in text(seen.body) for seen in real.turns()):
        return True
    child.send("\r")
    return False


def _answered(child, real):
    """Whether the answer is in the transcript; meanwhile the program's drawing is read, so that it never waits for us."""
    with contextlib.suppress(pexpect.TIMEOUT):
        child.read_nonblocking(100_000, timeout=0.2)
    return any(real.server.fixed in path.read_text() for path in rollouts(real))


def test_an_interactive_launch_that_is_terminated_leaves_the_terminal_as_it_was(codex):
    agent(codex)
    child = interactive(codex)
    try:
        before = termios.tcgetattr(child.child_fd)
        child.expect("scripted-model")
        os.kill(child.pid, signal.SIGTERM)
        child.expect(pexpect.EOF)
        child.wait()
        assert child.exitstatus in (143, 0)
        assert termios.tcgetattr(child.child_fd)[:4] == before[:4]
    finally:
        child.close(force=True)
    assert codex.run_directories() == []
