"""What is said of a tree and of settings: each notice and finding of `validate`, `list`, `dump` and the launch (spec/10, spec/20)."""

import json

from inline_snapshot import snapshot

from tests.messages.speaking import told


def test_names_and_manifests(machine):
    machine.put(".agents/agents/loud/agent.md", "---\nname: other\nid: elsewhere\ndescripton: x\n---\nBody.\n")
    machine.put(".agents/agents/loud/AGENT.md", "---\n---\nAnother.\n")
    machine.put(".agents/agents/loud/hooks/h.sh", "")
    machine.put(".agents/agents/loud.md", "---\n---\nFlat.\n")
    machine.put(".agents/agents/said/agent.md", "---\nname: said\ndescription: Use: when asked\n---\nBody.\n")
    machine.put(".agents/agents/bare/agent.md", "No front matter.\n")
    machine.put(".agents/agents/late/agent.md", "\n---\nname: late\n---\nBody.\n")
    machine.put(".agents/agents/Upper_Case/agent.md", "---\n---\nBody.\n")
    machine.put(".agents/agents/upper_case/agent.md", "---\n---\nBody.\n")
    machine.put(".agents/agents/bad name!/agent.md", "---\n---\nBody.\n")
    machine.put(".agents/agents/json/agent.json", "{}")
    machine.put(".agents/agents/under/agent.md", "---\nmainAgent: false\n---\nBody.\n")
    machine.put(".agents/skills/flat.md", "x")
    machine.put(".agents/skills/twice/SKILL.md", "---\nname: once\n---\nx\n")
    machine.put(".agents/skills/twice/skill.md", "---\nname: twice\n---\nx\n")
    machine.put(".agents/skills/twice/scripts/run.sh", "#!/bin/sh\n")
    machine.put(".agents/workflows/w.yml", "")
    machine.put(".agents/agents.md", "one\n")
    machine.put(".agents/AGENTS.md", "two\n")
    machine.put(".agents/models.json", "{}")
    machine.put(".agents/mcp.json", '{"servers_": {}}')
    machine.settings("default_agent: nobody\n")
    assert told(machine, "validate", "--strict") == snapshot("""\
exit 1
error: /M/project/.agents/agents/upper_case: differs from 'Upper_Case' only in case: they are one file on other systems
  hint: rename one of the two
error: agent 'nobody' not found (default_agent in /M/project/.agents/settings.yml:1)
  hint: agents: Upper_Case, bare, late, loud, said, under, upper_case
warning: /M/project/.agents/agents/bad name! is no id; skipped
  hint: rename to bad-name
warning: /M/project/.agents/agents/Upper_Case: 'Upper_Case' is no portable id
  hint: rename to upper-case
warning: /M/project/.agents/agents/json/agent.json: is not read
  hint: write agents/json/agent.md
warning: /M/project/.agents/skills/flat.md: is a file, not a skill
  hint: move it to skills/flat/SKILL.md
warning: /M/project/.agents/skills/twice/SKILL.md:2:1: name: 'once' is not the folder's name; the skill is 'twice'
  hint: write name: twice
warning: /M/project/.agents/skills/twice/SKILL.md: no description; programs drop a skill without one
  hint: say when to use it
warning: /M/project/.agents/skills/twice/skill.md: stands beside SKILL.md, which counts
warning: /M/project/.agents/agents/bare/agent.md: no front matter; the id is taken from the folder
warning: /M/project/.agents/agents/late/agent.md: no front matter; the id is taken from the folder
warning: /M/project/.agents/agents/loud/agent.md: name: 'other' is not the id 'loud'; it is taken as the label
warning: /M/project/.agents/agents/loud/agent.md: descripton: unknown key 'descripton'
  hint: did you mean description?
warning: /M/project/.agents/models.json: has no `providers`; not used for models
warning: /M/project/.agents/mcp.json: no `mcpServers` in it; it brings no MCP server
  hint: write {"mcpServers": {"<id>": {…}}}
warning: /M/project/.agents/AGENTS.md is not used: agents.md beside it counts
warning: /M/project/.agents/agents/late/agent.md:2: front matter begins on the first line; what stands here counts as text, and sets nothing
  hint: remove what stands above it
warning: /M/project/.agents/agents/loud/agent.md:3: id: 'elsewhere' is not the folder's name; the agent is 'loud'
warning: /M/project/.agents/agents/loud/agent.md: agents/loud has both agent.md and AGENT.md; agent.md counts
warning: /M/project/.agents/agents/loud/agent.md: agents/loud.md is shadowed by the folder agents/loud
warning: /M/project/.agents/agents/said/agent.md:3: description is not valid YAML; it is taken as text
  hint: write description: "Use: when asked"
warning: /M/project/.agents/agents/under/agent.md: mainAgent: false; it is meant as a subagent
note: /M/project/.agents/agents/loud/hooks: hooks are reserved and not projected
note: /M/project/.agents: not projected: workflows/ (1 file)
note: /M/project/.agents/skills/twice/scripts/run.sh: has #! but no execute bit
--- stderr
outfitter: notice: 2 errors, 20 warnings, 3 notes
--- codes: agent-bare agent-json agent-key agent-name agent-twice composition context-twice entry-skipped front-matter-late id-case id-differs id-spelling models-shape near-yaml not-a-main-agent not-projected script-mode server-root skill-description skill-flat skill-name skill-twice validated
""")


def test_loadouts(machine):
    front = {
        "skills": ["gone", "dup", "hidden", "notes"],
        "subagents": ["nobody", "off", "bare"],
        "mcp": ["gone", "closed", "broken", "twofold", "machine"],
        "extensions": ["npm:thing"],
        "tools": {"allow": ["read", "a b"], "sometimes": ["x"]},
        "permissions": {"bash": "ask"},
        "append_system_prompt": [{"repo_file": "gone.md"}],
    }
    machine.agent("a", **front)
    machine.put(".agents/agents/off/agent.md", "---\nname: off\nenabled: false\n---\nBody.\n")
    machine.put(".agents/agents/bare/agent.md", "---\nname: bare\n---\nBody.\n")
    machine.put(".agents/agents/a/pi/link.json", "")
    (machine.project / ".agents/agents/a/pi/link.json").unlink()
    (machine.project / ".agents/agents/a/pi/link.json").symlink_to("/etc/hostname")
    for name in ("one/dup", "two/dup"):
        machine.put(f".agents/skills/{name}/SKILL.md", "---\nname: dup\ndescription: d\n---\nx\n")
    machine.put(".agents/skills/hidden/SKILL.md", "---\nname: hidden\nenabled: false\ndescription: d\n---\nx\n")
    machine.put(
        ".agents/skills/notes/SKILL.md",
        "---\nname: notes\nreferences: [{repo_file: docs/gone.md}]\n---\nx\n",
    )
    servers = {
        "closed": {"command": "x", "enabled": False},
        "broken": {"command": 3},
        "twofold": {"command": "x", "url": "https://x.example"},
        "machine": {"command": "/opt/nowhere/bin/tool"},
    }
    machine.put(".agents/mcp.json", json.dumps({"mcpServers": servers}))
    machine.put(".agents/mcp_config.json", json.dumps({"mcpServers": [{"command": "x"}]}))
    assert told(machine, "validate") == snapshot("""\
exit 1
error: /M/project/.agents/mcp.json:1: MCP server 'broken' has command that is no text; it is left out
error: /M/project/.agents/agents/a/agent.md:4: subagents: agent 'nobody' not found
  hint: outfitter list agents shows them
error: /M/project/.agents/agents/a/agent.md:3: skills.0: skill 'gone' is found in no layer
  hint: outfitter list skills shows them
error: /M/project/.agents/agents/a/agent.md:3: skills.1: 'dup' may be skills/one/dup or skills/two/dup; skills/one/dup is taken
  hint: write the longer name
error: /M/project/.agents/agents/a/agent.md:5: mcp.0: MCP server 'gone' is found in no layer
warning: /M/project/.agents/skills/notes/SKILL.md: no description; programs drop a skill without one
  hint: say when to use it
warning: /M/project/.agents/mcp.json: mcp_config.json stands beside it; both are read, and mcp.json wins by server id
  hint: keep one of the two
warning: /M/project/.agents/mcp_config.json:1: a server in a list needs a `name`
warning: /M/project/.agents/mcp.json:1: mcpServers.twofold.url: is left out: command is used
warning: /M/project/.agents/agents/a/agent.md:7: tools.sometimes: is neither allow nor deny and not applied
warning: /M/project/.agents/agents/a/agent.md:7: tools.allow: 'a b' is no tool name (a blank, or '-' in front); left out
warning: /M/project/.agents/agents/a/agent.md:8: permissions.bash: limit is not understood and not applied
warning: /M/project/.agents/skills/notes/SKILL.md:3: references.0.repo_file: 'docs/gone.md' is not in the project; left out
warning: /M/project/.agents/skills/notes/SKILL.md: no description; programs drop a skill without one
warning: /M/project/.agents/agents/a/agent.md:9: append_system_prompt.0.repo_file: 'gone.md' is not in the project; left out
warning: /M/project/.agents/agents/a/pi/link.json is a link; overlays do not follow links; left out
warning: /opt/nowhere/bin/tool of MCP server 'machine' does not exist here
note: /M/project/.agents/agents/a/agent.md: extensions: npm:thing names no version or commit
note: subagent 'off' is switched off (/M/project/.agents/agents/off/agent.md)
note: skill 'hidden' is switched off (/M/project/.agents/skills/hidden/SKILL.md)
note: MCP server 'closed' is switched off
note: agent a: pi cannot project subagents
note: agent a: codex cannot project tools
--- stderr
outfitter: notice: 5 errors, 12 warnings, 6 notes
--- codes: extension-unpinned limit-not-understood overlay-skipped repo-file-missing server-files server-invalid server-missing server-nameless server-off server-path server-written skill-ambiguous skill-description skill-missing skill-off subagent-missing subagent-off tool-name unsupported validated
""")
    assert told(machine, "run", "a", "--dry-run", "--strict") == snapshot("""\
exit 122
--- stderr
outfitter: error: refused by --strict: /M/project/.agents/agents/a/agent.md:7: tools.sometimes: is neither allow nor deny and not applied
outfitter: error: refused by --strict: /M/project/.agents/agents/a/agent.md:7: tools.allow: 'a b' is no tool name (a blank, or '-' in front); left out
outfitter: error: refused by --strict: /M/project/.agents/agents/a/agent.md:8: permissions.bash: limit is not understood and not applied
outfitter: error: refused by --strict: /M/project/.agents/agents/a/agent.md:4: subagents: agent 'nobody' not found
  hint: outfitter list agents shows them
outfitter: error: refused by --strict: /M/project/.agents/agents/a/agent.md:3: skills.0: skill 'gone' is found in no layer
  hint: outfitter list skills shows them
outfitter: error: refused by --strict: /M/project/.agents/agents/a/agent.md:3: skills.1: 'dup' may be skills/one/dup or skills/two/dup; skills/one/dup is taken
  hint: write the longer name
outfitter: error: refused by --strict: /M/project/.agents/skills/notes/SKILL.md:3: references.0.repo_file: 'docs/gone.md' is not in the project; left out
outfitter: error: refused by --strict: /M/project/.agents/skills/notes/SKILL.md: no description; programs drop a skill without one
outfitter: error: refused by --strict: /M/project/.agents/agents/a/agent.md:9: append_system_prompt.0.repo_file: 'gone.md' is not in the project; left out
outfitter: error: refused by --strict: /M/project/.agents/agents/a/pi/link.json is a link; overlays do not follow links; left out
outfitter: error: refused by --strict: /M/project/.agents/agents/a/agent.md:5: mcp.0: MCP server 'gone' is found in no layer
outfitter: error: refused by --strict: /M/project/.agents/mcp.json:1: MCP server 'broken' has command that is no text; it is left out
outfitter: error: refused by --strict: /M/project/.agents/mcp.json:1: mcpServers.twofold.url: is left out: command is used
outfitter: error: refused by --strict: /opt/nowhere/bin/tool of MCP server 'machine' does not exist here
outfitter: error: refused by --strict: /M/project/.agents/mcp.json: mcp_config.json stands beside it; both are read, and mcp.json wins by server id
  hint: keep one of the two
outfitter: error: refused by --strict: /M/project/.agents/mcp_config.json:1: a server in a list needs a `name`
outfitter: error: refused by --strict: agent a: server twofold is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__<server> to tools.allow (or mcp, for every selected server)
outfitter: error: refused by --strict: agent a: server machine is selected, but tools.allow names none of its tools; they are denied
  hint: add mcp__<server> to tools.allow (or mcp, for every selected server)
outfitter: error: refused by --strict: subagents: pi cannot be given this; it is left out
--- codes: policy-refused
""")


def test_settings(machine):
    machine.agent("a")
    machine.settings("isolation: isolated\ncolour: red\nworkflows: {}\n")
    machine.put(".agents/settings.yaml", "default_agent: a\n")
    assert told(machine, "list") == snapshot("""\
exit 0
agents
  a  [project]
--- stderr
outfitter: warning: /M/project/.agents/settings.yaml is not read: settings are read from settings.yml
  hint: rename it
outfitter: notice: settings of another tool, not used here: workflows (/M/project/.agents/settings.yml:3)
outfitter: warning: /M/project/.agents/settings.yml:1: isolation counts from the home settings only; it is ignored here
  hint: set it in ~/.agents/settings.yml if you want it
outfitter: warning: /M/project/.agents/settings.yml:2: unknown key 'colour'
  hint: known keys: agent_defaults, cache_directory, custom_settings, default_agent, default_harness, harness_defaults, isolation, remote_settings, sources, state_persistence, trusted_hosts
--- codes: setting-foreign setting-ignored setting-unknown settings-misnamed
""")


def test_sources(machine):
    for name in ("one", "two"):
        machine.put(machine.top / name / "skills/same/SKILL.md", "---\nname: same\ndescription: d\n---\nx\n")
        machine.put(machine.top / name / "settings.yml", "default_agent: a\n")
    machine.settings('sources: [{"uri": "file:///c"}]\n', under=machine.home)
    machine.put(machine.top / "whole/.agents/agents.md", "x")
    entries = [
        {"path": str(machine.top / "whole")},
        {"path": str(machine.top / "one")},
        {"path": str(machine.top / "two")},
        {"uri": "file:///d", "ref": "v1"},
        {"uri": "file:///d", "ref": "v2"},
    ]
    machine.settings(f"sources: {json.dumps(entries)}\n")
    assert told(machine, "validate") == snapshot("""\
exit 0
warning: 2 sources were never fetched and are left out: file:///d@v1, file:///d@v2
  hint: outfitter sync
warning: source file:///d is declared at v1 and v2; v1 wins
warning: /M/project/.agents/settings.yml: its sources replace those of /M/home/.agents/settings.yml and drop file:///c
  hint: a list replaces the lower one whole; repeat the entry
warning: skill 'same' is in /M/one and /M/two; /M/one wins
warning: /M/whole: this source is no tree: nothing in it is read
  hint: name /M/whole/.agents
note: /M/one/settings.yml: a source's settings take no effect
note: /M/two/settings.yml: a source's settings take no effect
note: no agent was named: `.agents` has 1 skill and no agent
  hint: `outfitter setup` writes one, `outfitter list skills` shows them
--- stderr
outfitter: notice: 0 errors, 5 warnings, 3 notes
--- codes: no-agents settings-of-source slug-rivals source-dropped source-empty source-refs source-unsynced validated
""")


def test_a_tree_that_is_a_file(machine):
    machine.put(".agents", "../shared")
    assert told(machine, "list") == snapshot("""\
exit 0
--- stderr
outfitter: warning: /M/project/.agents is a file, not a directory; this looks like a link that git could not create (core.symlinks); it is not used
outfitter: notice: there is no agent in /M/project/.agents, /M/home/.agents
  hint: `outfitter setup` writes a first one
--- codes: no-agents tree-unusable
""")


def test_models_and_credentials(machine):
    provider = {
        "api": "openai-completions",
        "baseUrl": "https://x.example/v1",
        "apiKey": "$X_KEY",
        "models": [{"id": "m"}],
    }
    machine.put(".agents/models.json", json.dumps({"providers": {"x": provider}}))
    machine.put(".agents/mcp.json", json.dumps({"mcpServers": {"s": {"command": "x", "env": {"TOKEN": "literal"}}}}))
    machine.agent("a", model="x/m", mcp=["s"])
    assert told(machine, "show", "a") == snapshot("""\
exit 0
agent      a
line       a
digest     <digest>
model      x/m (openai-completions at https://x.example/v1, $X_KEY)  [project]
thinking   -
tools      all
servers:
  s (stdio)  [project]
identity:
--- body of a  [project] /M/project/.agents/agents/a/agent.md
You are A.
--- stderr
outfitter: warning: /M/project/.agents/mcp.json:1: mcpServers.s.env.TOKEN: holds a literal value that looks like a credential; write ${NAME} and set the variable
outfitter: warning: /M/project/.agents/models.json: provider 'x' sends $X_KEY to x.example
  hint: if it may have it, add x.example to trusted_hosts in ~/.agents/settings.yml
--- codes: model-host server-written
""")
    assert told(machine, "dump", "--agent", "a", "--out", "made") == snapshot("""\
exit 0
4 files in /M/project/made
--- stderr
outfitter: warning: mcp.json: s.env.TOKEN: the literal credential is left out; set the variable that stands there now
--- codes: dump-credential
""")
    assert told(machine, "run", "a") == snapshot("""\
exit 125
--- stderr
outfitter: error: agent a: model 'x/m' needs the environment variable X_KEY, which is unset or empty
  hint: export X_KEY=… before the launch
--- codes: composition-failed
""")
    machine.agent("b", model="x/n")
    assert told(machine, "run", "b") == snapshot("""\
exit 125
--- stderr
outfitter: error: agent b: model 'x/n': provider 'x' has no model 'n'
  hint: its models: m
--- codes: composition-failed
""")


def test_fingerprints(machine):
    machine.put("tree/plain", "x")
    (machine.project / "tree").joinpath("odd\udcff").write_text("x")
    assert told(machine, "fingerprint", "--list", "tree") == snapshot("""\
exit 0
<digest>  odd�
<digest>  plain
--- stderr
outfitter: warning: odd\udcff: b3sum --check refuses this name
--- codes: not-utf8
""")
