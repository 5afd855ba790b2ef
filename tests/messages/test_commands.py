"""Every command's success, finding, usage error and failure, as a user sees it (spec/80)."""

import json
import re

import pytest
from inline_snapshot import snapshot

from tests.messages.speaking import told
from tests.sync.test_sync import Catalog


@pytest.fixture
def furnished(machine):
    machine.agent("reviewer", "Review.", description="Reviews changes", skills=["notes"])
    machine.put(".agents/skills/notes/SKILL.md", "---\nname: notes\ndescription: Takes notes\n---\nTake notes.\n")
    machine.settings("default_agent: reviewer\n")
    return machine


def test_a_home_with_nothing_in_it(machine):
    assert told(machine) == snapshot("""\
exit 125
--- stderr
outfitter: error: no agent was named: there is no agent in /M/project/.agents, /M/home/.agents
  hint: `outfitter setup` writes a first one
--- codes: composition-failed
""")
    assert told(machine, "list") == snapshot("""\
exit 0
--- stderr
outfitter: notice: there is no agent in /M/project/.agents, /M/home/.agents
  hint: `outfitter setup` writes a first one
--- codes: no-agents
""")
    assert told(machine, "sources") == snapshot("""\
exit 0
1  project         absent    /M/project/.agents
2  home            absent    /M/home/.agents
""")
    assert told(machine, "sync") == snapshot("""\
exit 0
no sources: nothing to fetch
""")
    assert told(machine, "diff") == snapshot("""\
exit 1
--- stderr
outfitter: error: cannot diff: there is no retained run
  hint: outfitter run --retain-projection keeps one and prints its path
--- codes: effect-failed
""")
    assert told(machine, "conflicts") == snapshot("""\
exit 0
nothing is kept
""")
    assert told(machine, "recover") == snapshot("""\
exit 0
nothing to recover
""")
    assert told(machine, "cache", "dir") == snapshot("""\
exit 0
/M/home/.agents/cache
""")
    assert told(machine, "validate") == snapshot("""\
exit 0
note: no agent was named: there is no agent in /M/project/.agents, /M/home/.agents
  hint: `outfitter setup` writes a first one
--- stderr
outfitter: notice: 0 errors, 0 warnings, 1 note
--- codes: no-agents validated
""")


def test_the_working_directory_is_the_home(machine):
    assert told(machine, cwd=machine.home) == snapshot("""\
exit 125
--- stderr
outfitter: error: no agent was named: there is no agent in /M/home/.agents
  hint: `outfitter setup` writes a first one
--- codes: composition-failed
""")


def test_words_that_do_not_fit(machine):
    assert told(machine, "lst") == snapshot("""\
exit 2
--- stderr
outfitter: error: 'lst' is no command
  hint: outfitter list, or outfitter run lst to launch that agent
--- codes: usage-error
""")
    assert told(machine, "reviewer") == snapshot("""\
exit 2
--- stderr
outfitter: error: 'reviewer' is no command
  hint: outfitter recover, or outfitter run reviewer to launch that agent
--- codes: usage-error
""")
    assert told(machine, "--color", "blue", "list") == snapshot("""\
exit 2
--- stderr
outfitter: error: --color blue: wants one of auto, always, never
--- codes: usage-error
""")
    assert told(machine, "--version", "--all") == snapshot("""\
exit 2
--- stderr
outfitter: error: --version takes --json alone, not --all
--- codes: usage-error
""")
    assert told(machine, "help", "lst") == snapshot("""\
exit 2
--- stderr
outfitter: error: 'lst' is no command
  hint: did you mean list?
--- codes: usage-error
""")
    assert told(machine, "run", "--harness") == snapshot("""\
exit 2
--- stderr
outfitter: error: --harness needs a value
  hint: outfitter run --help
--- codes: usage-error
""")
    assert told(machine, "run", "--out", "a", "--out", "b") == snapshot("""\
exit 2
--- stderr
outfitter: error: --out is given twice
--- codes: usage-error
""")
    assert told(machine, "run", "--harness", "claud") == snapshot("""\
exit 2
--- stderr
outfitter: error: unknown harness 'claud'
  hint: did you mean claude?
--- codes: usage-error
""")
    assert told(machine, "run", "--harness", "codex", "--isolated") == snapshot("""\
exit 2
--- stderr
outfitter: error: --isolated does not go with codex
  hint: Codex always runs over the user's own CODEX_HOME
--- codes: usage-error
""")
    assert told(machine, "run", "--append-prompt", "gone.md", "x") == snapshot("""\
exit 125
--- stderr
outfitter: error: agent 'x' not found: there is no agent in /M/project/.agents, /M/home/.agents
  hint: `outfitter setup` writes a first one
--- codes: composition-failed
""")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (
            ("diff", "--al"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter diff: unrecognized arguments: --al
  hint: did you mean --all?
--- codes: usage-error
"""),
        ),
        (
            ("recover", "x"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter recover: unrecognized arguments: x
  hint: outfitter recover --help
--- codes: usage-error
"""),
        ),
        (
            ("conflicts", "drop"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: drop needs an ID or --older-than DAYS, one of them
  hint: outfitter conflicts list
--- codes: usage-error
"""),
        ),
        (
            ("conflicts", "drop", "--older-than", "soon"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter conflicts drop: argument --older-than: 'soon' is not a number of days, 0 or more
  hint: outfitter conflicts drop --help
--- codes: usage-error
"""),
        ),
        (
            ("list", "agent"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter list: KIND: 'agent' is none of agents, skills, knowledge, commands
  hint: did you mean agents?
--- codes: usage-error
"""),
        ),
        (
            ("show", "a", "b"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter show: unrecognized arguments: b
  hint: outfitter show --help
--- codes: usage-error
"""),
        ),
        (
            ("validate", "--stric"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter validate: unrecognized arguments: --stric
  hint: did you mean --strict?
--- codes: usage-error
"""),
        ),
        (
            ("dump", "--agent"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter dump: argument --agent: expected one argument
  hint: outfitter dump --help
--- codes: usage-error
"""),
        ),
        (
            ("settings", "a", "b"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter settings: unrecognized arguments: b
  hint: outfitter settings --help
--- codes: usage-error
"""),
        ),
        (
            ("schema",),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter schema: the following arguments are required: NAME
  hint: outfitter schema --help
--- codes: usage-error
"""),
        ),
        (
            ("sync", "now"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter sync: unrecognized arguments: now
  hint: outfitter sync --help
--- codes: usage-error
"""),
        ),
        (
            ("sources", "now"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter sources: unrecognized arguments: now
  hint: outfitter sources --help
--- codes: usage-error
"""),
        ),
        (
            ("setup", "--from", "codex"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter setup: --from: 'codex' is none of starter, claude, pi
  hint: outfitter setup --help
--- codes: usage-error
"""),
        ),
        (
            ("fingerprint", "a", "b"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter fingerprint: unrecognized arguments: b
  hint: outfitter fingerprint --help
--- codes: usage-error
"""),
        ),
        (
            ("evidence",),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter evidence: the following arguments are required: ACTION
  hint: outfitter evidence --help
--- codes: usage-error
"""),
        ),
        (
            ("evidence", "prune", "kept", "--keep", "-1"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter evidence prune: argument --keep: '-1' is not a whole number, 0 or more
  hint: outfitter evidence prune --help
--- codes: usage-error
"""),
        ),
        (
            ("batch", "tasks"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter batch: the following arguments are required: --agent, --out
  hint: outfitter batch --help
--- codes: usage-error
"""),
        ),
        (
            ("batch", "tasks", "--agent", "a", "--out", "o", "--jobs", "0"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter batch: argument --jobs: '0' is not a whole number, 1 or more
  hint: outfitter batch --help
--- codes: usage-error
"""),
        ),
        (
            ("report",),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter report: the following arguments are required: ROOT
  hint: outfitter report --help
--- codes: usage-error
"""),
        ),
        (
            ("doctor", "pi"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter doctor: unrecognized arguments: pi
  hint: outfitter doctor --help
--- codes: usage-error
"""),
        ),
        (
            ("demo", "--harness", "vim"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter demo: --harness: 'vim' is none of pi, claude, codex, stand-in
  hint: outfitter demo --help
--- codes: usage-error
"""),
        ),
        (
            ("completion", "tcsh"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter completion: SHELL: 'tcsh' is none of bash, zsh, fish
  hint: outfitter completion --help
--- codes: usage-error
"""),
        ),
        (
            ("cache",),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter cache: the following arguments are required: ACTION
  hint: outfitter cache --help
--- codes: usage-error
"""),
        ),
        (
            ("cache", "prune", "--days", "nan"),
            snapshot("""\
exit 2
--- stderr
outfitter: error: outfitter cache prune: argument --days: 'nan' is not a number of days, 0 or more
  hint: outfitter cache prune --help
--- codes: usage-error
"""),
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_usage_errors(machine, words, expected):
    assert told(machine, *words) == expected


def test_an_error_is_one_object_with_json(machine):
    assert told(machine, "lst", "--json") == snapshot("""\
exit 2
--- stderr
{"schema_version": 1, "kind": "usage-error", "message": "'lst' is no command", "hint": "outfitter list, or outfitter run lst to launch that agent", "exit": 2}
--- codes: usage-error
""")
    assert told(machine, "show", "gone", "--json") == snapshot("""\
exit 1
--- stderr
{"schema_version": 1, "kind": "composition-failed", "message": "agent 'gone' not found: there is no agent in /M/project/.agents, /M/home/.agents", "hint": "`outfitter setup` writes a first one", "exit": 1}
--- codes: composition-failed
""")
    assert told(machine, "diff", "gone", "--json") == snapshot("""\
exit 1
--- stderr
{"schema_version": 1, "kind": "effect-failed", "message": "cannot diff: gone: not a run directory of Outfitter, nor its projection", "hint": "outfitter run --retain-projection keeps one and prints its path", "exit": 1}
--- codes: effect-failed
""")
    assert told(machine, "run", "gone", "--dry-run", "--json") == snapshot("""\
exit 125
--- stderr
{"schema_version": 1, "kind": "composition-failed", "message": "agent 'gone' not found: there is no agent in /M/project/.agents, /M/home/.agents", "hint": "`outfitter setup` writes a first one", "exit": 125}
--- codes: composition-failed
""")
    machine.settings("default_harness: [\n")
    assert told(machine, "list", "--json") == snapshot("""\
exit 1
--- stderr
{"schema_version": 1, "kind": "settings-invalid", "message": "/M/project/.agents/settings.yml:2:1: is not valid YAML: did not find expected node content while parsing a flow node", "hint": "", "exit": 1}
--- codes: settings-invalid
""")
    machine.settings("state_persistence: {nothing.json: symlink}\n")
    machine.agent("a")
    assert told(machine, "run", "a", "--dry-run", "--json") == snapshot("""\
exit 122
--- stderr
{"schema_version": 1, "kind": "policy-refused", "message": "/M/project/.agents/settings.yml:1:21: state_persistence.nothing.json: is no path that pi declares", "hint": "no declared path is near it; pi declares auth.json, settings.json, keybindings.json, mcp.json, models.json, trust.json, plugins/, cache/, sessions/, npm/, git/, tmp/, utilities/, bin/, unknown (allowed: symlink, discard, warn, error, prompt, each path some of them)", "exit": 122}
--- codes: policy-refused
""")
    assert told(machine, "run", "a", "--dry-run", "--json", env={"PATH": "/nowhere"}) == snapshot("""\
exit 127
--- stderr
{"schema_version": 1, "kind": "harness-unavailable", "message": "pi: is not installed: not found on PATH", "hint": "install it with `npm install -g @earendil-works/pi-coding-agent`", "exit": 127}
--- codes: harness-unavailable
""")


def test_reading_a_tree(furnished):
    assert told(furnished, "list") == snapshot("""\
exit 0
agents
  reviewer  [project] (default) Reviews changes

skills
  notes  [project] Takes notes
""")
    assert told(furnished, "list", "agents") == snapshot("""\
exit 0
  reviewer  [project] (default) Reviews changes
""")
    assert told(furnished, "list", "--agent", "gone") == snapshot("""\
exit 1
--- stderr
outfitter: error: agent 'gone' not found
  hint: outfitter list agents shows them
--- codes: composition-failed
""")
    assert told(furnished, "show") == snapshot("""\
exit 0
agent      reviewer
about      Reviews changes
line       reviewer
digest     <digest>
model      - (the harness's own default)
thinking   -
tools      all
skills:
  notes  [project] /M/project/.agents/skills/notes
identity:
--- body of reviewer  [project] /M/project/.agents/agents/reviewer/agent.md
Review.
""")
    assert told(furnished, "show", "revewer") == snapshot("""\
exit 1
--- stderr
outfitter: error: agent 'revewer' not found
  hint: did you mean reviewer?
--- codes: composition-failed
""")
    assert told(furnished, "validate") == snapshot("""\
exit 0
--- stderr
outfitter: notice: nothing to report
--- codes: validated
""")
    assert told(furnished, "dump", "--out", "made") == snapshot("""\
exit 0
4 files in /M/project/made
""")
    assert told(furnished, "dump", "--out", ".") == snapshot("""\
exit 1
--- stderr
outfitter: error: cannot write the dump: /M/project: holds .agents/agents/reviewer/agent.md, which no dump wrote; name an empty directory
--- codes: effect-failed
""")
    assert told(furnished, "dump", "--agent", "gone") == snapshot("""\
exit 1
--- stderr
outfitter: error: agent 'gone' not found
  hint: agents: reviewer
--- codes: composition-failed
""")
    assert told(furnished, "settings", "--origin") == snapshot("""\
exit 0
/M/project/.agents/settings.yml:1	default_agent=reviewer
default	default_harness=pi
default	isolation=inherit
default	cache_directory=~/.agents/cache
""")
    assert told(furnished, "settings", "nothing") == snapshot("""\
exit 1
--- stderr
outfitter: error: cannot show the setting: nothing: is not set
  hint: outfitter settings shows what is set
--- codes: effect-failed
""")
    assert told(furnished, "sources") == snapshot("""\
exit 0
1  project         ok    /M/project/.agents
2  home            ok    /M/home/.agents
""")
    assert told(furnished, "fingerprint", "gone") == snapshot("""\
exit 1
--- stderr
outfitter: error: cannot fingerprint: gone: No such file or directory
--- codes: effect-failed
""")
    assert told(furnished, "fingerprint", ".agents") == snapshot("""\
exit 0
<digest>  .agents
""")
    assert told(furnished, "--version") == snapshot("""\
exit 0
outfitter 0.1.0
""")


def test_a_launch_and_what_follows_it(furnished):
    script = [["write", "settings.json", "{}"], ["write", "odd.txt", "x"], ["say", "done"]]
    assert told(furnished, "run", script=[["say", "done"]]) == snapshot("""\
exit 0
done
""")
    assert told(furnished, "run", "--retain-projection", "--out", "out", script=script) == snapshot("""\
exit 0
done
--- stderr
outfitter: warning: undeclared writes: 1 added, not kept: odd.txt
outfitter: notice: projection retained: /M/tmp/outfitter-reviewer-pi-XXXXXXXX
--- codes: retained state-unknown-warn
""")
    assert told(furnished, "diff") == snapshot("""\
exit 0
undeclared (warn)
  added         warned     odd.txt  (1 B)
1 change: 1 added | 1 warned
""")
    assert told(furnished, "diff", "--all") == snapshot("""\
exit 0
undeclared (warn)
  added         warned     odd.txt  (1 B)
1 change: 1 added | 1 warned
""")
    assert told(furnished, "report", "out") == snapshot("""\
exit 0
verdict    pass (exit 0)
settled    every change was settled by its strategy
warned     odd.txt (added, unknown)
""")
    assert told(furnished, "evidence", "verify", "out") == snapshot("""\
exit 0
/M/project/out: trace and result belong together; verdict pass
""")
    assert told(furnished, "evidence", "publish", "out", "--to", "kept", "--task", "t") == snapshot("""\
exit 0
published    /M/project/kept/<attempt> (bounded: no input and configuration given)
""")
    assert told(furnished, "evidence", "prune", "kept", "--older-than", "30") == snapshot("""\
exit 0
nothing to remove
""")
    assert told(furnished, "evidence", "verify", "gone") == snapshot("""\
exit 1
missing        trace.trace/run_trace.json: not found
missing        result.result/final_result.json: not found
""")
    assert told(furnished, "evidence", "replay", "gone", "--json") == snapshot("""\
exit 1
{
  "schema_version": 1,
  "root": "/M/project/gone",
  "result": null,
  "compared": false,
  "mismatches": [
    {
      "kind": "missing",
      "file": "trace",
      "field": "trace/run_trace.json",
      "message": "not found"
    }
  ]
}
""")
    assert told(furnished, "report", "gone") == snapshot("""\
exit 1
--- stderr
outfitter: error: cannot report on: /M/project/gone: trace: not found
  hint: outfitter evidence verify says more
--- codes: effect-failed
""")
    assert told(furnished, "run", "--out", "out") == snapshot("""\
exit 125
--- stderr
outfitter: error: cannot use the output root: /M/project/out: is not empty
  hint: give each attempt its own --out: an absent or empty directory
--- codes: effect-failed
""")
    assert told(furnished, "run", "--strict", script=script) == snapshot("""\
exit 121
done
--- stderr
outfitter: warning: undeclared writes: 1 added, not kept: odd.txt
  hint: to look at them: --retain-projection, then outfitter diff
outfitter: error: the run fails for 1 change that its settings forbid
--- codes: state-unknown-warn state-violated
""")
    assert told(furnished, "--quiet", "run", "--retain-projection") == snapshot("""\
exit 0
--- codes: retained
""")
    assert told(furnished, "run", script=[["exit", 7]]) == snapshot("exit 7\n")
    assert told(furnished, "run", script=[["die", "SIGKILL"]]) == snapshot("exit 137\n")


def test_a_dry_run(furnished):
    assert told(furnished, "run", "--dry-run", "--harness", "claude", "--isolated") == snapshot("""\
exit 0
agent      reviewer (reviewer)
harness    claude
plan       <digest>

layers:
  project  /M/project/.agents
  home     /M/home/.agents

identity:
  body     /M/project/.agents/agents/reviewer/agent.md, 8 bytes

skills:
  notes

strategies:
  settings.json      symlink  default
  agents/            symlink  default
  skills/            symlink  default
  commands/          symlink  default
  plugins/           symlink  default
  projects/          symlink  default
  debug/             symlink  default
  unknown            warn     default

command:
  /M/bin/claude --append-system-prompt-file /M/tmp/outfitter-reviewer-claude-XXXXXXXX/projection/append-system-prompt.md --mcp-config /M/tmp/outfitter-reviewer-claude-XXXXXXXX/projection/mcp.json --strict-mcp-config

sets:
  CLAUDE_CONFIG_DIR

generates:
  append-system-prompt.md
  mcp.json
  skills/notes/SKILL.md

links:
  settings.json -> /M/home/.claude/settings.json
  agents/ -> /M/home/.claude/agents/
  skills/ -> /M/home/.claude/skills/
  commands/ -> /M/home/.claude/commands/
  plugins/ -> /M/home/.claude/plugins/
  projects/ -> /M/home/.claude/projects/
  debug/ -> /M/home/.claude/debug/

seeds:
  .credentials.json from /M/home/.claude/.credentials.json
  projects/-M-project/ from /M/home/.claude/projects/-M-project/

merges back:
  .credentials.json (credentials) to /M/home/.claude/.credentials.json
  .claude.json (member) to /M/home/.claude.json
  projects/ (sessions) to /M/home/.claude/projects
  plugins/ (rewrite) to /M/home/.claude/plugins
""")


def test_a_verbose_run(furnished):
    assert told(furnished, "--verbose", "run", "--harness", "claude", script=[["say", "between"]]) == snapshot("""\
exit 0
between
--- stderr
outfitter: layer: project /M/project/.agents
outfitter: layer: home /M/home/.agents
outfitter: agent: reviewer (/M/project/.agents/settings.yml:1) in layer project, /M/project/.agents/agents/reviewer/agent.md
outfitter: harness: claude (command line), /M/bin/claude
outfitter: isolation: inherit (default)
outfitter: state: 1 of 1 path at the default
outfitter: stage: load layers N ms
outfitter: stage: merge settings N ms
outfitter: stage: choose harness N ms
outfitter: stage: compose N ms
outfitter: stage: survey N ms
outfitter: stage: resolve strategies N ms
outfitter: stage: plan projection N ms
outfitter: stage: reject warnings N ms
outfitter: stage: open run N ms
outfitter: stage: project N ms
outfitter: stage: fingerprint N ms
outfitter: stage: run N ms
outfitter: stage: fingerprint again N ms
outfitter: stage: diff N ms
outfitter: stage: bridge N ms
outfitter: stage: cleanup N ms
""")


def test_a_harness_that_is_not_there(furnished):
    furnished.put(furnished.bin / "codex", "#!/nowhere\n", 0o755)
    (furnished.bin / "claude").chmod(0o644)
    (furnished.bin / "pi").unlink()
    assert told(furnished, "run") == snapshot("""\
exit 127
--- stderr
outfitter: error: pi: is not installed: not found on PATH
  hint: install it with `npm install -g @earendil-works/pi-coding-agent`
--- codes: harness-unavailable
""")
    assert told(furnished, "run", "--harness", "claude") == snapshot("""\
exit 126
--- stderr
outfitter: error: /M/bin/claude: is not executable
  hint: mend it, or install it with `npm install -g @anthropic-ai/claude-code`
--- codes: harness-unavailable
""")
    assert told(furnished, "run", "--harness", "codex") == snapshot("""\
exit 126
--- stderr
outfitter: error: /M/bin/codex: needs the interpreter /nowhere, which is missing or not executable
  hint: mend it, or install it with `npm install -g @openai/codex`
--- codes: harness-unavailable
""")


def test_files_that_cannot_be_read(furnished):
    furnished.settings("default_agent: reviewer\ndefault_agent: other\n")
    assert told(furnished, "run") == snapshot("""\
exit 125
--- stderr
outfitter: error: /M/project/.agents/settings.yml:2:1: default_agent: duplicate key (first on line 1)
  hint: keep one of the two
--- codes: settings-invalid
""")
    furnished.settings("sources: yes\nisolation: maybe\n")
    assert told(furnished, "run", "reviewer") == snapshot("""\
exit 125
--- stderr
outfitter: error: /M/project/.agents/settings.yml:1:1: sources: must be a list, not text
outfitter: error: /M/project/.agents/settings.yml:2:1: isolation: must be one of inherit, isolated, not 'maybe'
--- codes: settings-invalid
""")
    furnished.settings("default_agent:\t x: {\n")
    assert told(furnished, "validate") == snapshot("""\
exit 1
error: /M/project/.agents/settings.yml:1:18: is not valid YAML: mapping values are not allowed in this context
  hint: quote a value that holds ': '
--- stderr
outfitter: notice: 1 error, 0 warnings, 0 notes
--- codes: settings validated
""")
    furnished.settings("")
    furnished.put(".agents/mcp.json", '{"mcpServers": }')
    assert told(furnished, "run", "reviewer") == snapshot("""\
exit 125
--- stderr
outfitter: error: /M/project/.agents/mcp.json:1:16: is not valid JSON: a value is expected, not '}'
--- codes: composition-failed
""")
    furnished.put(".agents/mcp.json", "")
    furnished.put(".agents/agents/child/agent.md", "---\ninherits: parent\n---\n")
    assert told(furnished, "run", "child") == snapshot("""\
exit 125
--- stderr
outfitter: error: /M/project/.agents/agents/child/agent.md:2:1: inherits: parent 'parent' does not exist (child → parent)
--- codes: composition-failed
""")
    furnished.put(".agents/agents/asks/agent.md", "---\nsystem_prompt: {file: gone.md}\nskills: 3\n---\n")
    assert told(furnished, "run", "asks") == snapshot("""\
exit 125
--- stderr
outfitter: error: /M/project/.agents/agents/asks/agent.md:2:17: system_prompt.file: 'gone.md' does not exist in this layer
--- codes: composition-failed
""")


def test_settings_that_a_harness_refuses(furnished):
    furnished.settings("state_persistence:\n  auth.json: discard\n  plugin/: warn\n  mcp.json: sometimes\n")
    assert told(furnished, "run", "reviewer") == snapshot("""\
exit 122
--- stderr
outfitter: error: /M/project/.agents/settings.yml:2:3: state_persistence.auth.json: auth.json does not allow discard
  hint: allowed for auth.json: symlink, error, prompt
outfitter: error: /M/project/.agents/settings.yml:3:3: state_persistence.plugin/: is no path that pi declares
  hint: nearest declared path: plugins/ (allowed: symlink, discard, warn, error, prompt)
outfitter: error: /M/project/.agents/settings.yml:4:3: state_persistence.mcp.json: 'sometimes' is no strategy
  hint: allowed for mcp.json: symlink, warn, error, prompt
--- codes: policy-refused
""")
    assert told(furnished, "validate") == snapshot("""\
exit 1
error: /M/project/.agents/settings.yml:2:3: state_persistence.auth.json: auth.json does not allow discard
  hint: allowed for auth.json: symlink, error, prompt
error: /M/project/.agents/settings.yml:3:3: state_persistence.plugin/: is no path that pi declares
  hint: nearest declared path: plugins/ (allowed: symlink, discard, warn, error, prompt)
error: /M/project/.agents/settings.yml:4:3: state_persistence.mcp.json: 'sometimes' is no strategy
  hint: allowed for mcp.json: symlink, warn, error, prompt
error: /M/project/.agents/settings.yml:3:3: state_persistence.plugin/: is no path that claude declares
  hint: nearest declared path: plugins/ (allowed: symlink, discard, warn, error, prompt)
error: /M/project/.agents/settings.yml:4:3: state_persistence.mcp.json: 'sometimes' is no strategy
  hint: strategies: symlink, discard, warn, error, prompt
error: /M/project/.agents/settings.yml:3:3: state_persistence.plugin/: is no path that codex declares
  hint: nearest declared path: plugins/ (allowed: symlink, discard, warn, error, prompt)
--- stderr
outfitter: notice: 6 errors, 0 warnings, 0 notes
--- codes: state validated
""")
    furnished.settings("colour: red\n")
    assert told(furnished, "run", "reviewer", "--strict") == snapshot("""\
exit 122
--- stderr
outfitter: error: refused by --strict: /M/project/.agents/settings.yml:1: unknown key 'colour'
  hint: known keys: agent_defaults, cache_directory, custom_settings, default_agent, default_harness, harness_defaults, isolation, remote_settings, sources, state_persistence, trusted_hosts
--- codes: policy-refused
""")


def test_a_batch(furnished):
    furnished.put("tasks/a.md", "one")
    assert told(furnished, "batch", "tasks", "gone", "--agent", "reviewer", "--out", "results") == snapshot("""\
exit 1
2 selected: 1 succeeded, 0 failed, 0 skipped, 1 missing
/M/project/results/batch_result.json
--- stderr
outfitter: warning: 1 input not run: /M/project/gone (no such file)
outfitter: notice: succeeded: /M/project/tasks/a.md
--- codes: batch-input batch-not-run
""")
    assert told(furnished, "batch", "tasks", "--agent", "other", "--out", "results") == snapshot("""\
exit 1
--- stderr
outfitter: error: cannot use the batch root: /M/project/results: is the root of another batch (agent reviewer, harness pi)
  hint: give the batch its own root
--- codes: effect-failed
""")
    assert told(furnished, "report", "results") == snapshot("""\
exit 0
2 selected
succeeded  /M/project/tasks/a.md
missing    /M/project/gone  no such file
""")


def test_a_batch_on_a_cluster_that_is_not_there(furnished):
    pytest.importorskip("distributed")
    furnished.put("tasks/a.md", "one")
    words = ("batch", "tasks", "--agent", "reviewer", "--out", "r2", "--executor", "dask", "--scheduler", "x")
    assert told(furnished, *words) == snapshot("""\
exit 1
--- stderr
outfitter: error: cannot use the cluster: x: cannot connect to the scheduler at x: missing port number in address 'x'
--- codes: effect-failed
""")


def test_a_prompt_file_that_is_not_there(furnished):
    assert told(furnished, "run", "--append-prompt", "gone.md") == snapshot("""\
exit 125
--- stderr
outfitter: error: /M/project/gone.md: --append-prompt: no such file
--- codes: composition-failed
""")


def test_setup(machine):
    assert told(machine, "setup") == snapshot("""\
exit 1
writes  /M/home/.agents/agents/helper/agent.md (182 bytes)
writes  /M/home/.agents/settings.yml (42 bytes)
nothing written; --yes writes it
""")
    assert told(machine, "setup", "--yes") == snapshot("""\
exit 0
writes  /M/home/.agents/agents/helper/agent.md (182 bytes)
writes  /M/home/.agents/settings.yml (42 bytes)
next: outfitter show helper, then outfitter run helper
""")
    assert told(machine, "setup", "--yes") == snapshot("""\
exit 0
/M/home/.agents already has all of this
agents/helper/agent.md exists; it is not changed
next: outfitter show helper, then outfitter run helper
""")
    assert told(machine, "setup", "--agent", "My Agent", "--yes") == snapshot("""\
exit 2
--- stderr
outfitter: error: 'My Agent' cannot be an agent's id
  hint: my-agent can
--- codes: usage-error
""")
    assert told(machine, "setup", "example/agents#v1", "--agent", "reviewer", "--yes", "--project") == snapshot("""\
exit 0
writes  /M/project/.agents/settings.yml (99 bytes)
next: outfitter sync, then outfitter list
""")
    machine.settings("default_agent: [\n", under=machine.home)
    assert told(machine, "setup", "--yes") == snapshot("""\
exit 1
--- stderr
outfitter: error: cannot read the settings: /M/home/.agents/settings.yml:2: is not valid YAML: did not find expected node content while parsing a flow node
  hint: mend the file, then run setup again
--- codes: effect-failed
""")


def test_sources_and_sync(machine):
    machine.agent("shared", under=machine.top / "local", body="x")
    entries = [{"path": str(machine.top / "local/.agents")}, {"uri": "file:///nowhere/at/all"}, {"path": "missing"}]
    machine.settings(f"sources: {json.dumps(entries)}\n")
    assert told(machine, "sources") == snapshot("""\
exit 1
1  project         ok    /M/project/.agents
2  home            ok    /M/home/.agents
3  source          ok    /M/local/.agents
4  source          never synchronized (outfitter sync)  file:///nowhere/at/all
5  source          missing    missing
""")
    assert told(machine, "sync") == snapshot("""\
exit 1
skipped    /M/local/.agents  a local path is read as it stands
failed     file:///nowhere/at/all  '/nowhere/at/all' does not appear to be a git repository
skipped    missing  a local path is read as it stands
""")
    assert told(machine, "list") == snapshot("""\
exit 0
agents
  shared  [/M/local/.agents]
--- stderr
outfitter: warning: 1 source was never fetched and is left out: file:///nowhere/at/all
  hint: outfitter sync
--- codes: source-unsynced
""")
    assert told(machine, "run", "elsewhere") == snapshot("""\
exit 125
--- stderr
outfitter: error: agent 'elsewhere' not found
  hint: outfitter sync (1 source was never fetched and is left out: file:///nowhere/at/all)
--- codes: composition-failed
""")
    machine.settings('remote_settings: [{"uri": "file:///nowhere", "path": "settings.yml"}]\n')
    assert told(machine, "run", "shared") == snapshot("""\
exit 125
--- stderr
outfitter: error: /M/project/.agents/settings.yml:1:1: remote_settings: file:///nowhere#settings.yml was never fetched
  hint: outfitter sync
--- codes: settings-invalid
""")


def test_sync_with_a_catalog(machine, tmp_path):
    catalog = Catalog(tmp_path / "catalog")
    entries = [
        {"uri": catalog.uri, "path": ".agents"},
        {"uri": catalog.uri.replace("file://", "file://user:secret@"), "path": "gone"},
    ]
    machine.settings(f"sources: {json.dumps(entries)}\n")

    def plain(*words):
        return re.sub(r"\b[0-9a-f]{12}\b", "<id>", told(machine, *words)).replace(str(tmp_path), "/T")

    assert plain("sync") == snapshot("""\
exit 1
updated    file:///T/catalog#.agents  nothing -> <id>
failed     file:///T/catalog#gone  has no directory gone
""")
    assert plain("sync") == snapshot("""\
exit 1
unchanged  file:///T/catalog#.agents  <id>
failed     file:///T/catalog#gone  has no directory gone
""")
    catalog.agent("shared", "Two.")
    assert plain("sync") == snapshot("""\
exit 1
updated    file:///T/catalog#.agents  <id> -> <id>
failed     file:///T/catalog#gone  has no directory gone
""")
    assert plain("sources") == snapshot("""\
exit 1
1  project         ok    /M/project/.agents
2  home            ok    /M/home/.agents
3  source          ok    file:///T/catalog#.agents  default @ <id>
4  source          never synchronized (outfitter sync)  file:///T/catalog#gone
""")
    catalog.git("rm", "-rq", ".agents")
    catalog.put("other.txt", "x")
    assert plain("sync") == snapshot("""\
exit 1
failed     file:///T/catalog#.agents  has no directory .agents; <id> stays in use
failed     file:///T/catalog#gone  has no directory gone
""")


def test_the_doctor(furnished):
    assert told(furnished, "doctor") == snapshot("""\
exit 0
ok       machine: Outfitter 0.1.0, Python 3.x, System machine
ok       home: /M/home
ok       temporary directory: /M/tmp: writable, with links, locks and programs
ok       state directory: /M/home/.local/state/outfitter (does not exist yet)
ok       settings: /M/project/.agents/settings.yml
ok       cache: /M/home/.agents/cache (does not exist yet), 0 bytes
ok       trees: /M/project/.agents
warning  harness pi: 9.9.9 (stand-in) (/M/bin/pi), 2 of 12 options that Outfitter may use
         - --system-prompt is missing: identity
         - --append-system-prompt is missing: identity
         - --no-skills is missing: skills
         - --skill is missing: skills
         - --extension is missing: extensions
         - --prompt-template is missing: commands and prompt templates
         - --provider is missing: models
         - --thinking is missing: thinking levels
         - --exclude-tools is missing: tool limits
         - --no-tools is missing: tool limits
         hint: update it: npm install -g @earendil-works/pi-coding-agent
info     native pi: /M/home/.pi/agent does not exist yet; a launch creates it
warning  harness claude: 9.9.9 (stand-in) (/M/bin/claude), 10 of 11 options that Outfitter may use
         - --system-prompt-snapshot is missing: a changed identity in a continued session
         hint: update it: npm install -g @anthropic-ai/claude-code
info     native claude: /M/home/.claude does not exist yet; a launch creates it
warning  harness codex: 9.9.9 (stand-in) (/M/bin/codex), 1 of 2 options that Outfitter may use
         - --config is missing: servers, models, identity
         hint: update it: npm install -g @openai/codex
info     native codex: /M/home/.codex does not exist yet; a launch creates it
ok       runs: none left over
ok       git: /usr/bin/git
ok       launch: reviewer on pi would start
         hint: outfitter --dry-run shows the plan
""")


def test_the_demo(machine):
    assert told(machine, "demo", "--harness", "stand-in") == snapshot("""\
exit 0
A throw-away machine   /M/tmp/outfitter-demo-XXXXXXXX
The model              http://127.0.0.1:PORT, scripted, on this machine
The harness            a STAND-IN, no real harness: as asked for

$ outfitter run guide --harness pi --retain-projection -- -p 'Show me one write of each kind.'
  Done: one write of each kind. Outfitter will now say what became of them.
  outfitter: warning: mcp.json: 1 added, not kept
    hint: to keep what is written there: state_persistence: {mcp.json: symlink}
  outfitter: warning: undeclared writes: 1 added, not kept: notes.txt
  outfitter: notice: projection retained: /M/tmp/outfitter-demo-XXXXXXXX/tmp/outfitter-guide-pi-XXXXXXXX

$ outfitter diff --all
  cache/ (discard)
    added         discarded  cache/thumbnail  (3 B)
  mcp.json (warn)
    added         warned     mcp.json  (19 B)
  settings.json (symlink)
    modified      durable    settings.json  (2 B → 3 B)
  trust.json (symlink)
    replaced-link adopted    trust.json  (2 B → 3 B)
  undeclared (warn)
    added         warned     notes.txt  (7 B)
  5 changes: 3 added, 1 modified, 1 replaced-link | 1 adopted, 1 discarded, 1 durable, 2 warned

What became of each write
  settings.json      durable    a declared path that is a link: the write went straight through to the native file
  trust.json         adopted    a link that was replaced by a new file: the content was carried to the native file
  cache/thumbnail    discarded  `cache/: discard` in the settings: gone, and not worth a word
  mcp.json           warned     `mcp.json: warn` in the settings: not kept, and said so
  notes.txt          warned     no state path of the harness at all: never kept in silence
  the session        durable    kept in ~/.pi/agent/sessions/--M-tmp-outfitter-demo-XXXXXXXX-project--/stand-in.jsonl

Nothing of your own home was read or written, and nothing left this machine.
""")


def test_the_cache(furnished):
    told(furnished, "list")
    assert told(furnished, "cache", "prune") == snapshot("""\
exit 0
removed 0 files, N bytes, from /M/home/.agents/cache
""")
    assert told(furnished, "cache", "clean", "--sources") == snapshot("""\
exit 0
removed 1 file, N bytes, from /M/home/.agents/cache
""")


def test_help(machine):
    assert told(machine, "--help") == snapshot("""\
exit 0
outfitter launches agent CLIs from plain .agents trees, and answers for what
they wrote.

usage: outfitter [--quiet] [--verbose] [--color auto|always|never]
                 [--no-progress] [COMMAND] ...

common:
  run          launch an agent (the command that needs no name)
  diff         what a retained run wrote, who owns it, and what became of it
  list         agents, skills, knowledge and commands of the tree
  validate     check the tree and the settings
  setup        a first agent, step by step
  import       make a tree of what another tool reads here

more:
  recover      finish what a killed launcher left
  conflicts    see, take or drop what could not be saved
  show         one agent, composed, with the source of each part
  dump         write the effective tree, or one agent's closure
  settings     the merged settings, with --origin where each came from
  schema       JSON Schemas for editors
  sync         fetch remote catalogs and settings
  sources      where layers come from, and their state
  fingerprint  one digest of a directory's names, kinds and bytes
  evidence     verify, replay, publish or prune the evidence of runs
  batch        run an agent once for each input
  report       one page of a run or a batch
  doctor       what is installed, and what would stop a launch
  demo         a whole launch on this machine, no account needed
  completion   shell completion for bash, zsh or fish
  cache        Outfitter's own cache: dir, prune, clean

examples:
  outfitter demo
      a whole launch on this machine, no account needed
  outfitter run reviewer
      launch the agent `reviewer` in the default harness
  outfitter run reviewer --harness claude -p 'fix the bug'
      what Outfitter does not know goes to the harness
  outfitter diff
      what the newest retained run wrote, and what became of it

outfitter COMMAND --help tells more, outfitter --version [--json] the versions.

exit codes of run:
  the harness's own, or 128 + signal
      it ran, and ended so; a code of its own other than 0 wins over 121
  2
      usage
  121
      the harness exited 0, and an `error` strategy (or a warning under
      --strict) failed the run
  122
      refused before launch: a strategy or state path that is not allowed, or
      what --strict made fatal
  125
      the launcher failed: settings or tree unreadable, agent not found, no
      projection, an output root in use
  126, 127
      the harness cannot be executed; is not installed
""")
    assert told(machine, "help", "diff") == snapshot("""\
exit 0
usage: outfitter diff [-h] [--all] [--content] [--exit-code] [--json] [PATH]

Show what a retained run wrote, grouped by whose it is. Changes nothing.

columns: what changed | what was done about it | path (sizes); before a run is
settled the second says what would be done
  added, modified, deleted   mode: the execute bit
  kind                       a file became a directory, and so on
  replaced-link              what the harness wrote stands in place of our link
  relinked                   the link leads elsewhere now
  durable, adopted           written through a link; a replaced link, copied
  bridged, persisted         merged back by its own rule; copied as you said
  discarded                  thrown away
  warned, failed             told, by warn or error
  conflict                   not saved, kept: outfitter conflicts
  unreadable                 could not be read

positional arguments:
  PATH         a run directory or its projection; else the newest retained

options:
  -h, --help   show this help message and exit
  --all        one line a change, however many are alike
  --content    unified diffs of text files up to 256 KiB
  --exit-code  1 if a change is not settled in silence
  --json       one JSON document instead of lines

examples:
  outfitter run --retain-projection && outfitter diff
  outfitter diff /tmp/outfitter-a-pi-XXXXXXXX --content
  outfitter diff --exit-code --json

exit codes: 0 done, 1 findings or failure, 2 usage
""")
