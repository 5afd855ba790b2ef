"""The real Pi through `outfitter run`: what arrives at the model, and what is left afterwards (spec/40)."""

import json
import os
import signal
import sys
import termios

import pexpect
import pytest

from tests.real.machine import TOKEN

API = "openai-completions"


def agent(real, body="You are marker-identity.", api=API, **front):
    real.models(api=api, models=[{"id": "scripted-model", "reasoning": True}])
    return real.agent("a", body, **{"model": "loop/scripted-model", **front})


def launch(real, *words, env=None, options=(), **more):
    ended = real.run("run", "a", *options, "--", *words, env={"PI_OFFLINE": "1", **(env or {})}, **more)
    assert "Traceback" not in ended.err
    return ended


def first_turn(real):
    return real.turns()[0]


def tools(seen):
    return {tool.get("name") or tool["function"]["name"] for tool in seen.body.get("tools", ())}


def text(value):
    return json.dumps(value, ensure_ascii=False)


def transcripts(real):
    return sorted((real.home / ".pi/agent/sessions").rglob("*.jsonl"))


def ours(ended):
    """What Outfitter itself said."""
    return [line for line in ended.err.splitlines() if line.startswith("outfitter:")]


def test_the_request_holds_what_is_composed_and_nothing_else(real):
    for name in ("chosen", "stray"):
        real.skill(name, f"about-{name}")
    real.put(real.home / ".agents/skills/homely/SKILL.md", "---\nname: homely\ndescription: about-homely\n---\nx\n")
    real.put(".agents/agents/a/skills/private/SKILL.md", "---\nname: private\ndescription: about-private\n---\nx\n")
    real.put(".agents/agents.md", "marker-context\n")
    real.servers("docs", "web")
    agent(
        real,
        skills=["chosen", "private"],
        mcp=["docs"],
        thinking="low",
        tools={"allow": ["read", "bash", "mcp"], "deny": ["bash"]},
    )
    ended = launch(real, "-p", "--approve", "hi there")
    assert ended.code == 0, ended.err
    seen = first_turn(real)
    whole = text(seen.body)
    assert tools(seen) == {"read", "mcp__docs__probe_docs"}
    for word in ("marker-identity", "marker-context", "about-chosen", "about-private", "hi there"):
        assert word in whole
    for word in ("about-stray", "about-homely", "probe_web"):
        assert word not in whole
    assert whole.index("marker-context") < whole.index("marker-identity")
    assert seen.body["model"] == "scripted-model"
    assert seen.body["reasoning_effort"] == "low"
    assert seen.credentials == {"authorization": True}


@pytest.mark.parametrize("api", ["openai-completions", "openai-responses", "anthropic-messages"])
def test_006_9_3_each_dialect_of_the_registry_reaches_its_server(real, api):
    agent(real, api=api)
    ended = launch(real, "-p", "hi")
    assert ended.code == 0, ended.err
    assert ended.out.strip() == real.server.fixed
    assert list(first_turn(real).credentials.values()) == [True]


def test_006_9_3_a_provider_without_a_credential_gets_no_other_login(real):
    entry = {"baseUrl": f"{real.server.url}/v1", "api": API, "models": [{"id": "scripted-model"}]}
    real.put(".agents/models.json", json.dumps({"providers": {"openai": entry}}))
    real.agent("a", "x", model="openai/scripted-model")
    ended = launch(real, "-p", "hi", env={"OPENAI_API_KEY": TOKEN})
    assert ended.code == 0, ended.err
    assert list(first_turn(real).credentials.values()) == [False]


def test_006_3_18_a_system_prompt_takes_the_place_of_the_programs_own(real):
    real.put(".agents/system-prompt.md", "marker-system\n")
    agent(real)
    assert launch(real, "-p", "hi").code == 0
    whole = text(first_turn(real).body["messages"][0])
    assert whole.index("marker-system") < whole.index("marker-identity")
    assert len(whole) < 2000


def test_006_3_7_templates_and_commands_are_known_to_the_program(real):
    real.put(".agents/commands/tidy.md", "---\ndescription: tidies\n---\n\nmarker-tidy $1\n")
    real.put(".agents/agents/a/ask.md", "marker-template $1\n")
    agent(real, prompt_template={"file": "agents/a/ask.md"})
    assert launch(real, "-p", "/tidy up").code == 0
    assert launch(real, "-p", "/ask me").code == 0
    asked = [text(seen.body["messages"]) for seen in real.turns()]
    assert "marker-tidy up" in asked[0]
    assert "marker-template me" in asked[1]


@pytest.mark.parametrize(
    ("limits", "left"),
    [
        ({"deny": ["Bash", "write"]}, {"read", "edit"}),
        ({"allow": ["view_file", "grep_search"]}, {"read", "grep"}),
        ({"allow": ["bash"], "deny": ["run_command"]}, set()),
        ([], set()),
        (["send_message"], set()),
        ({"deny": ["Bash(rm:*)"]}, {"read", "edit", "write"}),
    ],
)
def test_tool_limits_are_never_wider_than_written(real, limits, left):
    agent(real, tools=limits)
    assert launch(real, "-p", "hi").code == 0
    assert tools(first_turn(real)) == left


def direct_servers(real, *names):
    """Servers whose tools stand in the request itself."""
    path = real.servers(*names)
    entries = json.loads(path.read_text())["mcpServers"]
    path.write_text(
        json.dumps({"mcpServers": {name: {**entry, "exposure": "direct"} for name, entry in entries.items()}})
    )
    return {name: {**entry, "exposure": "direct"} for name, entry in entries.items()}


def test_denied_servers_and_tools_of_servers_are_gone(real):
    direct_servers(real, "docs", "web", "db")
    agent(real, mcp=["docs", "web", "db"], tools={"deny": ["mcp__web", "mcp__db__probe_db"]})
    assert launch(real, "-p", "hi").code == 0
    assert tools(first_turn(real)) == {"read", "bash", "edit", "write", "mcp__docs__probe_docs"}


def test_006_3_5_extensions_and_the_overlay_take_effect(real):
    source = 'export default (pi) => pi.registerTool({ name: "NAME", label: "NAME", description: "d", parameters: { type: "object", properties: {} }, execute: async () => ({ content: [] }) });\n'
    real.put(".agents/agents/a/ext.ts", source.replace("NAME", "from_file"))
    real.put(".agents/agents/a/pi/extensions/native.ts", source.replace("NAME", "from_overlay"))
    real.put(".agents/agents/a/pi/skills/native/SKILL.md", "---\nname: native\ndescription: about-native\n---\nx\n")
    agent(real, extensions=[{"file": "agents/a/ext.ts"}])
    ended = launch(real, "-p", "hi")
    assert ended.code == 0, ended.err
    assert {"from_file", "from_overlay"} <= tools(first_turn(real))
    assert "about-native" in text(first_turn(real).body)


def test_006_3_10_servers_of_the_overlay_and_of_the_user_stay_in_reach(real):
    entries = direct_servers(real, "docs", "web", "mine")
    real.put(".agents/mcp.json", json.dumps({"mcpServers": {"docs": entries["docs"]}}))
    real.put(".agents/agents/a/pi/.mcp.json", json.dumps({"mcpServers": {"web": entries["web"]}}))
    native = real.put(real.home / ".pi/agent/mcp.json", json.dumps({"mcpServers": {"mine": entries["mine"]}}))
    before = native.read_bytes()
    agent(real, mcp=["docs"])
    assert launch(real, "-p", "hi").code == 0
    assert {"mcp__docs__probe_docs", "mcp__web__probe_web", "mcp__mine__probe_mine"} <= tools(first_turn(real))
    assert native.read_bytes() == before


def test_006_7_1_a_doubled_package_is_loaded_once(real):
    package = real.put(
        real.home / "pack/index.ts",
        'export default (pi) => pi.on("before_agent_start", (e) => ({ systemPrompt: `${e.systemPrompt} marker-once` }));\n',
    )
    folder = package.parent
    real.put(folder / "package.json", json.dumps({"name": "pack", "pi": {"extensions": ["./index.ts"]}}))
    native = real.put(
        real.home / ".pi/agent/settings.json", json.dumps({"packages": [str(folder)], "hideThinkingBlock": True})
    )
    before = native.read_bytes()
    agent(real, extensions=[str(folder)])
    assert launch(real, "-p", "hi").code == 0
    assert text(first_turn(real).body).count("marker-once") == 1
    assert native.read_bytes() == before


def test_a_plain_run_is_quiet_and_unknown_error_passes(real):
    agent(real)
    real.settings("state_persistence: {unknown: error, pi: {models-store.json: error}}\n")
    real.server.script = (
        {"write": {"path": str(real.project / "made.txt"), "content": "hello"}},
        {"shell": "echo more >> made.txt"},
        {"text": "done"},
    )
    ended = launch(real, "-p", "go on", options=("--strict",))
    assert ended.code == 0, ended.err
    assert ended.out.strip() == "done"
    assert (real.project / "made.txt").read_text() == "hellomore\n"
    assert ours(ended) == []
    assert real.run_directories() == []


@pytest.mark.parametrize("strategy", ["warn", "error", "prompt"])
def test_an_idle_run_changes_no_watched_file(real, strategy):
    """spec/50: what the program makes unasked is there before it starts."""
    agent(real)
    watched = ("settings.json", "trust.json", "mcp.json", "models.json", "keybindings.json", "plugins/")
    rows = [f"{path}: {strategy}" for path in watched]
    rows += ["auth.json: error", "unknown: error", "cache/: error", "npm/: error", "git/: error", "bin/: error"]
    real.settings("state_persistence: {" + ", ".join(rows) + "}\n")
    ended = launch(real, "-p", "hi", options=("--strict",))
    assert ended.code == 0, ended.err
    assert ours(ended) == []
    assert not (real.home / ".pi/agent/auth.json").exists()


def test_what_a_turn_writes_is_classified(real):
    agent(real)
    real.server.script = (
        {"shell": 'cd "$PI_CODING_AGENT_DIR"; echo x > odd.txt; mkdir -p plugins; echo y > plugins/p; '
                  'printf \'{"theme":"t"}\' > s.tmp; mv s.tmp settings.json; mkdir odd.lock auth.json.lock'},
        {"text": "done"},
    )  # fmt: skip
    ended = launch(real, "-p", "go on", options=("--retain-projection",))
    assert ended.code == 0, ended.err
    (root,) = real.run_directories()
    told = json.loads(real.run("diff", str(root), "--json").out)
    outcomes = {row["path"]: (row["change"], row["zone"], row["outcome"]) for row in told["changes"]}
    assert outcomes["odd.txt"] == ("added", "unknown", "warned")
    assert outcomes["settings.json"] == ("replaced-link", "declared", "adopted")
    assert not any(path.startswith("auth.json.lock") and row[2] == "warned" for path, row in outcomes.items())
    assert any(path.startswith("odd.lock") for path in outcomes)
    assert json.loads((real.home / ".pi/agent/settings.json").read_text()) == {"theme": "t"}
    assert (real.home / ".pi/agent/plugins/p").read_text() == "y\n"


def test_a_second_run_continues_the_first_ones_session_with_the_new_words(real):
    agent(real, "You are marker-first.")
    assert launch(real, "-p", "remember the heron").code == 0
    agent(real, "You are marker-second.")
    real.forget()
    assert launch(real, "--continue", "-p", "what bird?").code == 0
    whole = text(first_turn(real).body)
    assert "remember the heron" in whole
    assert "marker-second" in whole
    assert "marker-first" not in whole
    assert len(transcripts(real)) == 1


def test_006_3_19_a_native_session_is_continued_and_continues_ours(real):
    agent(real)
    assert launch(real, "-p", "remember the heron").code == 0
    native = {
        "providers": {"loop": json.loads((real.project / ".agents/models.json").read_text())["providers"]["loop"]}
    }
    real.put(real.home / ".pi/agent/models.json", json.dumps(native))
    real.forget()
    words = ("--provider", "loop", "--model", "scripted-model", "--continue", "-p", "natively?")
    ended = real.native("pi", *words, PI_OFFLINE="1")
    assert ended.returncode == 0, ended.stderr
    assert "remember the heron" in text(first_turn(real).body)
    real.forget()
    assert launch(real, "--continue", "-p", "again?").code == 0
    assert "natively?" in text(first_turn(real).body)


def test_006_3_19_a_working_directory_too_long_for_one_name(real):
    """The program itself cannot keep a session there."""
    agent(real)
    deep = real.project / "/".join(["d" * 60] * 5)
    deep.mkdir(parents=True)
    ended = launch(real, "-p", "remember the heron", cwd=deep)
    assert ended.code == 0, ended.err
    real.forget()
    assert launch(real, "--continue", "-p", "what bird?", cwd=deep).code == 0
    assert "remember the heron" in text(first_turn(real).body)


def test_sessions_can_be_thrown_away(real):
    agent(real)
    real.settings("state_persistence: {sessions/: discard}\n")
    ended = launch(real, "-p", "hi")
    assert ended.code == 0, ended.err
    assert transcripts(real) == []
    assert ours(ended) == []


def test_a_login_like_change_of_credentials_survives(real):
    agent(real)
    place = real.put(real.home / ".pi/agent/auth.json", '{"x": {"type": "api_key", "key": "old"}}', 0o600)
    fresh = '{"x": {"type": "api_key", "key": "new"}}'
    real.server.script = (
        {"shell": f"printf %s '{fresh}' > \"$PI_CODING_AGENT_DIR/auth.json\""},
        {"text": "done"},
    )
    assert launch(real, "-p", "go on").code == 0
    assert json.loads(place.read_text()) == json.loads(fresh)
    assert place.stat().st_mode & 0o777 == 0o600


def test_a_native_session_beside_it_is_not_harmed(real):
    agent(real)
    real.put(real.home / ".pi/agent/models.json", (real.project / ".agents/models.json").read_text())
    place = real.put(real.home / ".pi/agent/auth.json", '{"x": {"type": "api_key", "key": "old"}}', 0o600)
    before = place.read_bytes()
    gate = real.top / "gate"
    real.server.script = (
        {"shell": f"touch '{gate}.ready'; while ! test -e '{gate}'; do sleep 0.1; done"},
        {"text": "late"},
    )
    process = real.start("run", "a", "--", "-p", "go on", env={"PI_OFFLINE": "1"})
    try:
        real.until(lambda: gate.with_suffix(".ready").exists(), what="the run's turn")
        real.server.script = ()
        words = ("--provider", "loop", "--model", "scripted-model", "-p", "a native word")
        native = real.native("pi", *words, PI_OFFLINE="1")
        assert native.returncode == 0, native.stderr
    finally:
        gate.touch()
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert err == b""
    both = [path.read_text() for path in transcripts(real)]
    assert sum("a native word" in one for one in both) == 1
    assert sum("go on" in one for one in both) == 1
    assert place.read_bytes() == before


def interactive(real, *words):
    """The program in a terminal of its own."""
    real.put(real.home / ".pi/agent/trust.json", json.dumps({str(real.project): True}))
    return pexpect.spawn(
        sys.executable,
        ["-m", "outfitter", "run", "a", "--", *words],
        cwd=str(real.project),
        env=real.env(PI_OFFLINE="1"),
        dimensions=(40, 120),
        timeout=60,
    )


def submit(child, line, shows=None):
    """Type a line and press Enter, with `shows` until it answers: Enter may take an offered completion first."""
    child.send(line)
    child.expect_exact(line)
    child.send("\r")
    presses = 6 if shows else 0
    while presses and child.expect([shows, pexpect.TIMEOUT], timeout=5):
        presses -= 1
        child.send("\r")
    assert presses or not shows, f"{line}: {shows!r} was not shown"


def test_006_8_an_interactive_launch_plans_builds_and_quits(real):
    """006.8.4 to 7 and 006.4.4: Shift+Tab, what plan mode takes away and blocks, `/outfitter` without a turn; then exit code and terminal."""
    agent(real, skills=["chosen"])
    real.skill("chosen", "about-chosen")
    real.settings("state_persistence: {unknown: error}\n")
    made = real.project / "made.txt"
    child = interactive(real)
    try:
        before = termios.tcgetattr(child.child_fd)
        child.expect("scripted-model")
        submit(child, "/outfitter", "agent a, build mode")
        child.expect("next launch")
        submit(child, "/outfitter use other", "agent other takes effect at the next launch")
        submit(child, "/outfitter agents", "cannot be run from this session")
        assert real.turns() == ()
        child.send("\x1b[Z")
        child.expect("plan mode")
        real.server.script = ({"tool": "bash", "input": {"command": f"touch '{made}'"}}, {"text": "planned"})
        submit(child, "look around")
        real.until(real.turns, what="the turn in plan mode")
        assert tools(real.turns()[0]) == {"read", "grep", "find", "ls"}
        assert "Plan mode is on" in text(real.turns()[0].body)
        child.expect("scripted model on your own machine")
        assert not made.exists()
        child.send("\x1b[Z")
        child.expect("build mode")
        real.forget()
        real.server.script = ({"tool": "bash", "input": {"command": f"touch '{made}'"}}, {"text": "built it"})
        submit(child, "now do it")
        child.expect("built it")
        assert made.exists()
        assert tools(real.turns()[0]) == {"read", "bash", "edit", "write"}
        assert "Plan mode is on" not in text(real.turns()[0].body)
        submit(child, "/quit")
        child.expect(pexpect.EOF)
        child.wait()
        assert (child.exitstatus, child.signalstatus) == (0, None)
        assert termios.tcgetattr(child.child_fd)[:4] == before[:4]
    finally:
        child.close(force=True)
    assert real.run_directories() == []
    assert any("now do it" in path.read_text() for path in transcripts(real))


def test_an_interactive_launch_that_is_terminated_leaves_the_terminal_as_it_was(real):
    agent(real)
    child = interactive(real)
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
    assert real.run_directories() == []
