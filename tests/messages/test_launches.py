"""What each harness's launch says before the harness starts (spec/40)."""

import json

from inline_snapshot import snapshot

from tests.messages.speaking import told

SERVERS = {
    "odd name!": {"command": "x"},
    "sse": {"url": "https://x.example/sse"},
    "limited": {"command": "x", "available_tools": ["a"]},
    "literal": {"command": "x", "env": {"TOKEN": "literal"}},
    "renamed": {"command": "x", "env": {"TOKEN": "${OTHER}"}},
    "unexpanded": {"command": "x", "args": ["${HOME}/y"]},
}


def loaded(machine, **front):
    machine.put(".agents/mcp.json", json.dumps({"mcpServers": SERVERS}))
    for name in ("notes", "own"):
        machine.put(f".agents/skills/{name}/SKILL.md", f"---\nname: {name}\ndescription: d\n---\nx\n")
    machine.agent(
        "a",
        **{
            "skills": ["notes", "own"],
            "mcp": list(SERVERS),
            "thinking": "vast",
            "tools": {"allow": ["read", "mcp__limited__a", "telepathy"], "deny": ["bash(rm:*)"]},
            "model": "sonnet[1m]",
            "controls": {"unheard": True, "session_directory": "s", "deepwork": {"jobs": ["gone"]}},
            **front,
        },
    )


def test_pi(machine):
    loaded(machine, extensions=["npm:pack@1"])
    machine.settings("state_persistence: {sessions/: discard}\nharness_defaults: {pi: {x: 1}}\n", under=machine.home)
    machine.put(".agents/agents/a/pi/skills/own/SKILL.md", "---\nname: own\ndescription: d\n---\nx\n")
    machine.put(".agents/agents/a/pi/auth.json", "{}")
    machine.put(".agents/agents/a/pi/settings.json", "no json")
    machine.put(machine.home / ".pi/agent/mcp.json", "no json")
    machine.put(machine.home / ".pi/agent/keybindings.json", "no json")
    machine.put(machine.home / ".pi/agent/settings.json", '{"packages": ["npm:pack@1"]}')
    machine.put("AGENTS.md", "Project words.\n")
    assert told(machine, "run", "a", "--isolated") == snapshot("""\
exit 0
--- stderr
outfitter: warning: /M/project/.agents/mcp.json:1: mcpServers.literal.env.TOKEN: holds a literal value that looks like a credential; write ${NAME} and set the variable
outfitter: warning: agent a: pi has nothing for controls.unheard
outfitter: warning: harness_defaults.pi is not projected: it would make every change of Pi's settings one-run
  hint: put it into Pi's own settings.json
outfitter: notice: pi: every run already has a configuration directory of its own
outfitter: warning: /M/project/.agents/agents/a/pi/auth.json: auth.json is a path where Pi keeps its state; an overlay cannot bring it
outfitter: notice: agent a: skill own is taken from the agent's pi/skills/
outfitter: warning: /M/project/.agents/agents/a/pi/settings.json: not a JSON object; left out
outfitter: notice: Pi package 'npm:pack@1' of your settings comes with the agent already; taken once
outfitter: warning: /M/home/.pi/agent/keybindings.json: not a JSON object; its key bindings are left out of this run
outfitter: warning: /M/home/.pi/agent/mcp.json: not a JSON object; its MCP servers are left out of this run
outfitter: warning: agent a: MCP server 'odd name!': pi takes only letters, digits, _ and - in a server's name; it is left out
outfitter: warning: agent a: MCP server 'sse': pi has no 'sse' transport; it is left out
outfitter: warning: agent a: MCP server 'limited': pi has no list of available_tools; all its tools are in reach
outfitter: warning: agent a: pi has no thinking level 'vast'; it is left out
outfitter: warning: agent a: server odd name! is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__<server> to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: server sse is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__<server> to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: server literal is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__<server> to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: server renamed is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__<server> to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: server unexpanded is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__<server> to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: pi cannot deny 'bash(rm:*)' alone; the whole tool is denied
outfitter: warning: controls.session_directory has no effect while state_persistence has sessions/: discard
outfitter: warning: agent a: DeepWork job 'gone' is in no layer's deepwork/jobs/
--- codes: control-unsupported defaults-unsupported isolated job-missing keybindings-unreadable mcp-omitted mcp-tools-unlimited mcp-unreadable overlay-refused overlay-unreadable package-doubled server-written session-directory-unused skill-overlaid thinking-unknown tool-pattern tools-exclude-server
""")
    assert told(machine, "run", "a", env={"PI_CODING_AGENT_SESSION_DIR": "/M"}) == snapshot("""\
exit 0
--- stderr
outfitter: warning: /M/project/.agents/mcp.json:1: mcpServers.literal.env.TOKEN: holds a literal value that looks like a credential; write ${NAME} and set the variable
outfitter: warning: agent a: pi has nothing for controls.unheard
outfitter: warning: harness_defaults.pi is not projected: it would make every change of Pi's settings one-run
  hint: put it into Pi's own settings.json
outfitter: warning: /M/project/.agents/agents/a/pi/auth.json: auth.json is a path where Pi keeps its state; an overlay cannot bring it
outfitter: notice: agent a: skill own is taken from the agent's pi/skills/
outfitter: warning: /M/project/.agents/agents/a/pi/settings.json: not a JSON object; left out
outfitter: notice: Pi package 'npm:pack@1' of your settings comes with the agent already; taken once
outfitter: warning: /M/home/.pi/agent/keybindings.json: not a JSON object; its key bindings are left out of this run
outfitter: warning: /M/home/.pi/agent/mcp.json: not a JSON object; its MCP servers are left out of this run
outfitter: warning: agent a: MCP server 'odd name!': pi takes only letters, digits, _ and - in a server's name; it is left out
outfitter: warning: agent a: MCP server 'sse': pi has no 'sse' transport; it is left out
outfitter: warning: agent a: MCP server 'limited': pi has no list of available_tools; all its tools are in reach
outfitter: warning: agent a: pi has no thinking level 'vast'; it is left out
outfitter: warning: agent a: server odd name! is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__<server> to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: server sse is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__<server> to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: server literal is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__<server> to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: server renamed is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__<server> to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: server unexpanded is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__<server> to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: pi cannot deny 'bash(rm:*)' alone; the whole tool is denied
outfitter: warning: state_persistence sessions/: discard has no effect: PI_CODING_AGENT_SESSION_DIR decides where Pi keeps its sessions
outfitter: warning: agent a: DeepWork job 'gone' is in no layer's deepwork/jobs/
--- codes: control-unsupported defaults-unsupported job-missing keybindings-unreadable mcp-omitted mcp-tools-unlimited mcp-unreadable overlay-refused overlay-unreadable package-doubled server-written skill-overlaid strategy-defeated thinking-unknown tool-pattern tools-exclude-server
""")


def test_pi_with_its_own_settings_broken(machine):
    provider = {"api": "openai-completions", "baseUrl": "http://127.0.0.1:1/v1", "models": [{"id": "m"}]}
    machine.put(".agents/models.json", json.dumps({"providers": {"x": provider}}))
    machine.agent("a", model="x/m", extensions=["npm:pack@1"])
    machine.put(machine.home / ".pi/agent/settings.json", "no json")
    machine.put(machine.home / ".pi/agent/models.json", "no json")
    machine.put(machine.home / ".pi/agent/auth.json", '{"x": {"type": "api_key", "key": "k"}}')
    assert told(machine, "run", "a") == snapshot("""\
exit 0
--- stderr
outfitter: notice: /M/home/.pi/agent/settings.json: cannot be read safely; Pi gets it as it is
outfitter: warning: /M/home/.pi/agent/models.json: cannot be read; its providers are left out of this run
outfitter: warning: /M/home/.pi/agent/auth.json: Pi has a login stored for provider 'x' and sends that to http://127.0.0.1:PORT/v1
  hint: pi auth logout x, or give the provider another id
--- codes: login-preferred models-unreadable settings-unreadable
""")


def test_pi_in_a_place_with_a_colon(machine):
    there = machine.top / "with:colon"
    machine.put(there / ".git/HEAD", "")
    machine.put(there / ".agents/agents/a/agent.md", "---\nname: a\n---\nx\n")
    machine.put(there / ".agents/agents/a/deepwork/jobs/j/job.yml", "x: 1\n")
    assert told(machine, "run", "a", cwd=there) == snapshot("""\
exit 0
--- stderr
outfitter: warning: /M/with:colon/.agents/agents/a/deepwork/jobs: a path with a colon cannot be passed in DEEPWORK_ADDITIONAL_JOBS_FOLDERS; left out
--- codes: job-path
""")


def test_claude_isolated(machine):
    loaded(machine, subagents=["under"])
    machine.put(
        ".agents/agents/under/agent.md", "---\nname: under\ndescription: d\ntools: {deny: ['bash(rm:*)']}\n---\nx\n"
    )
    machine.settings("state_persistence: {projects/: discard}\n")
    machine.put(machine.home / ".claude.json", "no json")
    machine.put("CLAUDE.md", "Project words.\n")
    assert told(machine, "run", "a", "--harness", "claude", "--isolated") == snapshot("""\
exit 0
--- stderr
outfitter: warning: /M/project/.agents/mcp.json:1: mcpServers.literal.env.TOKEN: holds a literal value that looks like a credential; write ${NAME} and set the variable
outfitter: warning: agent a: claude has nothing for controls.unheard
outfitter: warning: agent a: claude has nothing for controls.deepwork
outfitter: warning: agent a: controls.session_directory has no effect while state_persistence has projects/: discard
outfitter: warning: server limited: claude does not apply available_tools; all its tools are available
  hint: deny the others by name: tools: {deny: [mcp__server__tool]}
outfitter: warning: agent under: a subagent cannot deny 'bash(rm:*)' alone; the whole tool is denied
outfitter: notice: /M/home/.claude.json is no JSON object; this run starts without its account, onboarding and trust, and will not touch it
outfitter: warning: agent a: claude has no tool 'telepathy'; it is left out
outfitter: warning: agent a: server odd_name_ is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__odd_name_ to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: server sse is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__sse to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: claude cannot allow single tools of server limited; all of them are denied
  hint: allow mcp__limited as a whole, or name the unwanted tools under tools.deny
outfitter: warning: agent a: server literal is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__literal to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: server renamed is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__renamed to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: server unexpanded is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__unexpanded to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: claude knows no thinking level 'vast'; it is left out
  hint: known: low, medium, high, xhigh, max
--- codes: claude-state-unusable control-unsupported server-limit server-written session-directory-unused thinking-unknown tool-pattern tool-unknown tools-exclude-server tools-single-mcp
""")


def test_claude_inherited(machine):
    loaded(machine)
    machine.settings("state_persistence: {projects/: discard, unknown: error}\n")
    assert told(machine, "run", "a", "--harness", "claude", "--", "--system-prompt", "x") == snapshot("""\
exit 0
--- stderr
outfitter: warning: /M/project/.agents/mcp.json:1: mcpServers.literal.env.TOKEN: holds a literal value that looks like a credential; write ${NAME} and set the variable
outfitter: warning: agent a: claude has nothing for controls.unheard
outfitter: warning: agent a: claude has nothing for controls.deepwork
outfitter: warning: agent a: claude has nothing for controls.session_directory
outfitter: warning: an inherited claude run writes the user's own files, so state_persistence cannot hold projects/: discard, unknown: error
  hint: only --isolated enforces them
outfitter: warning: server limited: claude does not apply available_tools; all its tools are available
  hint: deny the others by name: tools: {deny: [mcp__server__tool]}
outfitter: warning: agent a: claude has no tool 'telepathy'; it is left out
outfitter: warning: agent a: server odd_name_ is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__odd_name_ to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: server sse is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__sse to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: claude cannot allow single tools of server limited; all of them are denied
  hint: allow mcp__limited as a whole, or name the unwanted tools under tools.deny
outfitter: warning: agent a: server literal is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__literal to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: server renamed is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__renamed to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: server unexpanded is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__unexpanded to tools.allow (or mcp, for every selected server)
outfitter: notice: agent a: tools.allow names tools of servers, so those of your own configuration's servers stay in reach
  hint: --isolated leaves them out
outfitter: warning: agent a: claude knows no thinking level 'vast'; it is left out
  hint: known: low, medium, high, xhigh, max
--- codes: control-unsupported server-limit server-written state-not-enforced thinking-unknown tool-unknown tools-exclude-server tools-own-servers tools-single-mcp
""")


def test_claude_too_old_to_inherit(machine):
    machine.agent("a")
    machine.put(
        machine.bin / "claude", '#!/bin/sh\n[ "$1" = --help ] && echo "--mcp-config --settings"\nexit 0\n', 0o755
    )
    assert told(machine, "run", "a", "--harness", "claude") == snapshot("""\
exit 0
--- stderr
outfitter: warning: /M/bin/claude does not know --plugin-dir, which an inherited run needs; this run is isolated instead
  hint: update Claude Code, or ask for --isolated to say that this is meant
--- codes: claude-isolated-fallback
""")


def test_codex(machine):
    loaded(machine, subagents=["under"])
    machine.put(".agents/agents/under/agent.md", "---\nname: under\ndescription: d\ntools: {allow: [read]}\n---\nx\n")
    machine.put(machine.home / ".codex/config.toml", '[mcp_servers.literal]\ncommand = "y"\n')
    machine.put("AGENTS.md", "Project words.\n")
    assert told(machine, "run", "a", "--harness", "codex", "--", "exec", "resume", "hi") == snapshot("""\
exit 0
--- stderr
outfitter: warning: /M/project/.agents/mcp.json:1: mcpServers.literal.env.TOKEN: holds a literal value that looks like a credential; write ${NAME} and set the variable
outfitter: warning: agent a: codex has nothing for controls.unheard
outfitter: warning: agent a: codex has nothing for controls.session_directory
outfitter: warning: agent a: codex has nothing for controls.deepwork
outfitter: warning: codex exec refuses every MCP call that would need an approval; servers: odd name!, sse, limited, literal, renamed, unexpanded
  hint: give the server "default_tools_approval_mode": "approve" in mcp.json if its calls may run unasked
outfitter: warning: agent a: codex has no thinking level 'vast'; it is left out
outfitter: notice: a resumed Codex session keeps the developer instructions it began with; a changed agent needs a new session
outfitter: warning: subagent under: codex cannot keep its tool limits, and would give it every tool; it is left out
outfitter: warning: codex has no strict MCP isolation: the agent's MCP servers are additive to those of the user's own configuration
outfitter: warning: MCP server 'odd name!': codex key paths cannot express its name; it is left out
outfitter: warning: agent a: server odd name! is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__<server> to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: server sse is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__<server> to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: server literal is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__<server> to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: server renamed is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__<server> to tools.allow (or mcp, for every selected server)
outfitter: warning: agent a: server unexpanded is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__<server> to tools.allow (or mcp, for every selected server)
outfitter: warning: tools: codex cannot be given this; it is left out
--- codes: control-unsupported mcp-additive mcp-approval mcp-omitted resume-identity server-written subagent-omitted thinking-unknown tools-exclude-server unsupported-element
""")


def test_codex_with_every_tool(machine):
    loaded(machine, tools={}, model="gpt-5", controls={})
    machine.put(machine.home / ".codex/config.toml", '[mcp_servers.literal]\ncommand = "y"\n')
    machine.put(".agents/agents.md", "Project words.\n")
    machine.put("AGENTS.md", "Project words.\n")
    assert told(machine, "run", "a", "--harness", "codex") == snapshot("""\
exit 0
--- stderr
outfitter: warning: /M/project/.agents/mcp.json:1: mcpServers.literal.env.TOKEN: holds a literal value that looks like a credential; write ${NAME} and set the variable
outfitter: notice: Codex reads /M/project/AGENTS.md by itself; it is not passed a second time
outfitter: warning: agent a: codex has no thinking level 'vast'; it is left out
outfitter: warning: codex has no strict MCP isolation: the agent's MCP servers are additive to those of the user's own configuration
outfitter: warning: MCP server 'odd name!': codex key paths cannot express its name; it is left out
outfitter: warning: MCP server sse: codex has no 'sse' transport; it is left out
outfitter: warning: MCP server literal: the literal values of env (TOKEN) show in the process's arguments
  hint: write ${NAME} and export NAME instead
outfitter: warning: MCP server literal: codex merges it with the one of that name in your config.toml, key by key
outfitter: warning: MCP server renamed: codex cannot take env.TOKEN from a variable in this form; it is left out
  hint: only ${NAME} under the key NAME, or as a whole header value, can be passed
outfitter: warning: MCP server unexpanded: codex does not expand ${HOME} there; it is passed as written
--- codes: context-native mcp-additive mcp-exposed mcp-merged mcp-omitted mcp-reference mcp-unexpanded server-written thinking-unknown
""")


def test_codex_and_skills_that_it_reads_where_they_lie(machine):
    machine.put(
        ".agents/skills/notes/SKILL.md", "---\nname: notes\ndescription: d\nreferences: [{file: more.md}]\n---\nx\n"
    )
    machine.put(".agents/more.md", "More.\n")
    machine.put(".agents/skills/odd\udcff/SKILL.md", "---\ndescription: d\n---\nx\n")
    machine.put(".agents/agents/under/agent.md", "---\nname: under\ndescription: d\nskills: [own]\n---\nx\n")
    machine.put(".agents/agents/under/skills/own/SKILL.md", "---\nname: own\ndescription: d\n---\nx\n")
    machine.put(".agents/commands/cut.md", b"\xff\xfe")
    machine.agent("a", skills=["notes"], subagents=["under"])
    assert told(machine, "run", "a", "--harness", "codex") == snapshot("""\
exit 0
--- stderr
outfitter: warning: /M/project/.agents/skills/odd\udcff is no id; skipped
  hint: rename to odd
outfitter: warning: /M/project/.agents/commands/cut.md is UTF-16 (byte-order mark at offset 0); only UTF-8 is read; left out
outfitter: warning: subagent under: codex can give it none but its leader's skills; not own
outfitter: warning: skill notes: codex reads it where it lies, without the added references/more.md
outfitter: notice: codex has no strict MCP isolation: the agent's MCP servers are additive to those of the user's own configuration
--- codes: command-unreadable entry-skipped mcp-additive skill-extras subagent-skills
""")


def test_codex_in_a_place_that_no_override_can_name(machine):
    there = machine.top / "odd\udcff"
    machine.put(there / ".git/HEAD", "")
    machine.put(there / ".agents/agents/a/agent.md", "---\nname: a\n---\nx\n")
    machine.put(there / ".agents/skills/notes/SKILL.md", "---\nname: notes\ndescription: d\n---\nx\n")
    assert told(machine, "run", "a", "--harness", "codex", cwd=there) == snapshot("""\
exit 0
--- stderr
outfitter: warning: 1 skill of this tree is visible to codex although the agent does not select it
  hint: an override cannot hold a path that is no Unicode text
outfitter: notice: codex has no strict MCP isolation: the agent's MCP servers are additive to those of the user's own configuration
--- codes: mcp-additive skills-visible
""")


def test_words_that_the_harness_reads_by_itself(machine):
    machine.agent("a", system_prompt={"file": "system.md"})
    machine.put(".agents/system.md", "System.\n")
    machine.put(".agents/agents.md", "Project words.\n")
    machine.put("AGENTS.md", "Project words.\n")
    machine.put("CLAUDE.md", "Project words.\n")
    assert told(machine, "run", "a") == snapshot("""\
exit 0
--- stderr
outfitter: notice: Pi reads /M/project/AGENTS.md by itself; it is not passed a second time
--- codes: context-native
""")
    assert told(machine, "run", "a", "--harness", "claude", "--", "--system-prompt-file", "x") == snapshot("""\
exit 0
--- stderr
outfitter: warning: agent a: there is a pass-through system prompt, which takes the place of the composed one
--- codes: system-prompt-replaced
""")


def test_codex_elsewhere(machine):
    machine.put(machine.top / "catalog/skills/far/SKILL.md", "---\nname: far\ndescription: d\n---\nx\n")
    machine.settings(f"sources: [{{path: {machine.top}/catalog}}]\nharness_defaults: {{codex: {{'a b.c': 1}}}}\n")
    machine.settings("harness_defaults: {codex: {'a\"b': 1}}\n", under=machine.home)
    machine.agent("a", skills=["far"], plugins=["p"])
    assert told(
        machine, "run", "a", "--harness", "codex", env={"CODEX_HOME": str(machine.top / "nowhere")}
    ) == snapshot("""\
exit 0
--- stderr
outfitter: warning: /M/project/.agents/settings.yml:2: harness_defaults counts from the home settings only; it is ignored here
  hint: set it in ~/.agents/settings.yml if you want it
outfitter: notice: CODEX_HOME is /M/nowhere, which is missing or empty; Codex stops where it does not exist
  hint: unset CODEX_HOME, or make the directory
outfitter: warning: skills: codex reads those in the home's and the project's skills/ alone; left out: far
outfitter: notice: codex has no strict MCP isolation: the agent's MCP servers are additive to those of the user's own configuration
outfitter: warning: harness_defaults.codex: codex cannot be given it: 'a"b' cannot stand in the path of an override; left out
outfitter: warning: plugins: codex cannot be given this; it is left out
--- codes: codex-home codex-unwritable mcp-additive setting-ignored unsupported-element
""")


def test_a_model_that_a_harness_cannot_reach(machine):
    provider = {"api": "google-generative-ai", "baseUrl": "http://127.0.0.1:1/v1", "models": [{"id": "m"}]}
    machine.put(".agents/models.json", json.dumps({"providers": {"x": provider}}))
    machine.agent("a", model="x/m")
    assert told(machine, "run", "a", "--harness", "claude", "--isolated") == snapshot("""\
exit 0
--- stderr
outfitter: warning: agent a: model x/m: claude does not speak 'google-generative-ai' of provider 'x'; it is left out
--- codes: model-omitted
""")
    assert told(machine, "run", "a", "--harness", "codex") == snapshot("""\
exit 0
--- stderr
outfitter: notice: codex has no strict MCP isolation: the agent's MCP servers are additive to those of the user's own configuration
outfitter: warning: agent a: model x/m: codex does not speak 'google-generative-ai' of provider 'x'; it is left out
--- codes: mcp-additive model-omitted
""")
