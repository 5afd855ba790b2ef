"""What is said after a harness ended, and by the commands that look at what it left (spec/50)."""

import os
import shutil
from types import SimpleNamespace
from typing import Any

import pytest
from inline_snapshot import snapshot

from outfitter.model.errors import Crashed, Interrupted
from outfitter.model.request import Notice
from outfitter.render import error_json, error_notices
from tests.messages.speaking import as_told, told, told_on_terminal

KILL_THE_LAUNCHER = ["run", "kill -9 $(awk '{print $4}' /proc/$PPID/stat)"]


@pytest.fixture
def project(machine):
    machine.agent("a")
    machine.settings("default_agent: a\n")
    return machine


def test_writes_by_their_strategies(project):
    project.settings(
        "default_agent: a\nstate_persistence: {settings.json: error, plugins/: warn, mcp.json: prompt, unknown: prompt}\n"
    )
    script = [["write", path, "{}"] for path in ("settings.json", "mcp.json", "odd.txt")]
    script += [["write", f"plugins/p{n}/x", "1"] for n in range(7)]
    assert told(project, "run", script=script) == snapshot("""\
exit 121
--- stderr
outfitter: notice: prompt skipped: non-interactive: mcp.json
outfitter: warning: mcp.json: 1 added, not kept
  hint: to keep what is written there: state_persistence: {mcp.json: symlink}
outfitter: warning: undeclared writes: 1 added, not kept: odd.txt; an undeclared write has no durable destination, so there is nothing to ask
  hint: to look at them: --retain-projection, then outfitter diff
outfitter: warning: plugins/: 7 added, not kept: plugins/p0/x, plugins/p1/x, plugins/p2/x, plugins/p3/x, plugins/p4/x and 2 more
  hint: to keep what is written there: state_persistence: {plugins/: symlink}
outfitter: error: settings.json: 1 added, not kept
outfitter: error: the run fails for 1 change that its settings forbid
--- codes: prompt-skipped state-declared-error state-declared-prompt state-declared-warn state-unknown-prompt state-violated
""")
    project.settings("default_agent: a\nstate_persistence: {unknown: error}\n")
    assert told(project, "run", script=[["write", "odd.txt", "x"], ["pipe", "pipe"]]) == snapshot("""\
exit 121
--- stderr
outfitter: error: undeclared writes: 2 added, not kept: odd.txt, pipe (fifo)
outfitter: error: the run fails for 2 changes that its settings forbid
--- codes: state-unknown-error state-violated
""")
    assert told(project, "run", script=[["write", "keybindings.json", "{}"]]) == snapshot("exit 0\n")


def test_a_change_that_is_asked_about(project):
    project.settings("default_agent: a\nstate_persistence: {mcp.json: prompt}\n")
    script = [["write", "mcp.json", "{}"]]
    question = "[persist/discard/always] "
    assert told_on_terminal(project, "run", script=script, answers=[(question, "\x04")]) == snapshot("""\
exit 0
mcp.json changed in this run: 1 added. Copy to /M/home/.pi/agent/mcp.json? [persist/discard/always]
outfitter: warning: mcp.json: end of input at the question: discarded
--- codes: prompt-discarded
""")
    assert told_on_terminal(
        project, "run", script=script, answers=[(question, "what\n"), (question, "p\n")]
    ) == snapshot("""\
exit 0
mcp.json changed in this run: 1 added. Copy to /M/home/.pi/agent/mcp.json? [persist/discard/always] what
please answer persist, discard or always (p, d or a)
mcp.json changed in this run: 1 added. Copy to /M/home/.pi/agent/mcp.json? [persist/discard/always] p
""")
    assert told_on_terminal(
        project, "run", script=[["write", "mcp.json", "[]"]], answers=[(question, "always\n")]
    ) == snapshot("""\
exit 0
mcp.json changed in this run: 1 modified. Copy to /M/home/.pi/agent/mcp.json? [persist/discard/always] always
outfitter: notice: /M/project/.agents/settings.local.yml now says mcp.json: symlink
--- codes: always-recorded
""")
    project.settings("state_persistence: &all {mcp.json: prompt}\ncustom_settings: *all\n", local=True)
    script = [["write", "mcp.json", "1"], ["write", "~/.pi/agent/mcp.json", "2"]]
    assert told_on_terminal(project, "run", script=script, answers=[(question, "a\n")]) == snapshot("""\
exit 0
mcp.json changed in this run: 1 modified. Copy to /M/home/.pi/agent/mcp.json? [persist/discard/always] a
outfitter: warning: mcp.json: saved this once, but the choice could not be recorded: /M/project/.agents/settings.local.yml: the file is written in a way that cannot be edited safely
outfitter: warning: persisted change not saved: mcp.json for /M/home/.pi/agent/mcp.json (changed on both sides); the durable file was left as before, this run's kept in /M/home/.local/state/outfitter/conflicts/<attempt>/<id>
  hint: outfitter conflicts list
outfitter: notice: kept until you take or drop it: 1 file, 1 byte in all
--- codes: always-not-recorded conflicts-kept persisted-change-conflict
""")


def test_a_login_that_changed_on_both_sides(project):
    project.put(project.home / ".claude/.credentials.json", '{"claudeAiOauth": {"refreshToken": "0"}}', 0o600)
    project.put(project.home / ".claude.json", '{"oauthAccount": {"id": 0}}')
    project.put(project.home / f".claude/projects/{project.slug()}/s.jsonl", "{}\n")
    script = [
        ["write", ".credentials.json", '{"claudeAiOauth": {"refreshToken": "1"}}'],
        ["write", "~/.claude/.credentials.json", '{"claudeAiOauth": {"refreshToken": "2"}}'],
        ["write", ".claude.json", '{"oauthAccount": {"id": 1}}'],
        ["write", "~/.claude.json", '{"oauthAccount": {"id": 2}}'],
        ["append", f"projects/{project.slug()}/s.jsonl", "{}\n"],
        ["write", f"~/.claude/projects/{project.slug()}/s.jsonl", "other\n"],
        ["write", f"projects/{project.slug()}/t.jsonl", "{}"],
    ]
    words = ("run", "--harness", "claude", "--isolated")
    assert told(project, *words, script=script) == snapshot("""\
exit 0
--- stderr
outfitter: warning: account not saved: .claude.json for /M/home/.claude.json (oauthAccount changed on both sides); the durable file was left as before, this run's kept in /M/home/.local/state/outfitter/conflicts/<attempt>/<id>
  hint: outfitter conflicts list
outfitter: warning: credentials not saved: .credentials.json for /M/home/.claude/.credentials.json (changed on both sides); MCP authorisations from this run were not saved either; the durable file was left as before, this run's kept in /M/home/.local/state/outfitter/conflicts/<attempt>/<id>
  hint: outfitter conflicts list
outfitter: warning: session history not saved: projects/-M-project/s.jsonl (changed on both sides); the durable file was left as before, this run's kept in /M/home/.local/state/outfitter/conflicts/<attempt>/<id>
  hint: outfitter conflicts list
outfitter: notice: kept until you take or drop it: 3 files, 73 bytes in all
--- codes: account-conflict conflicts-kept credentials-conflict session-history-conflict
""")
    assert told(project, "conflicts") == snapshot("""\
exit 0
<id>       N s        27 B  <attempt>
    .claude.json: oauthAccount changed on both sides
<id>       N s        40 B  <attempt>
    .credentials.json: changed on both sides
<id>       N s         6 B  <attempt>
    projects/-M-project/s.jsonl: changed on both sides
3 kept, 73 B in all
""")
    assert told(project, "conflicts", "show", "zzzz") == snapshot("""\
exit 1
--- stderr
outfitter: error: cannot show: zzzz: no kept content has this id
  hint: outfitter conflicts list
--- codes: effect-failed
""")
    assert told(project, "conflicts", "drop", "--older-than", "1") == snapshot("""\
exit 0
0 dropped
""")
    project.put(project.home / f".claude/projects/{project.slug()}/long.jsonl", "{}\n{}\n")
    script = [
        ["remove", ".credentials.json"],
        ["pipe", ".credentials.json"],
        ["write", ".claude.json", "cut"],
        ["write", f"projects/{project.slug()}/long.jsonl", "{}\n"],
    ]
    assert told(project, *words, script=script) == snapshot("""\
exit 0
--- stderr
outfitter: warning: credentials not carried over: .credentials.json (fifo)
outfitter: warning: session history not saved: projects/-M-project/long.jsonl (came back cut, which is no news of a log); the durable file was left as before, this run's kept in /M/home/.local/state/outfitter/conflicts/<attempt>/<id>
  hint: outfitter conflicts list
outfitter: notice: kept until you take or drop it: 4 files, 76 bytes in all
--- codes: conflicts-kept credentials-odd session-history-cut
""")


def test_what_cannot_even_be_kept(project):
    project.put(project.home / ".claude/.credentials.json", "{}", 0o600)
    script = [
        ["write", ".credentials.json", '{"claudeAiOauth": {"refreshToken": "1"}}'],
        ["run", "rm -r ~/.claude && echo x > ~/.claude; rm -rf ~/.local/state/outfitter/conflicts"],
        ["run", "echo x > ~/.local/state/outfitter/conflicts"],
    ]
    assert told(project, "run", "--harness", "claude", "--isolated", script=script) == snapshot("""\
exit 0
--- stderr
outfitter: warning: credentials not saved: .credentials.json for /M/home/.claude/.credentials.json (Not a directory; not kept either: Not a directory); MCP authorisations from this run were not saved either; still in /M/tmp/outfitter-a-claude-XXXXXXXX/projection
  hint: mend the place that it belongs to, or the directory for conflicts, then: outfitter recover
outfitter: warning: some of what this run wrote could not be saved; it stays in /M/tmp/outfitter-a-claude-XXXXXXXX
  hint: mend what stands in the way, then: outfitter recover; or take what you need from there, then: outfitter recover --forget <attempt>
--- codes: credentials-failed unsaved
""")
    assert told(project, "recover", "--list") == snapshot("""\
exit 0
<attempt>  unsaved: some of it could not be saved; recover tries again and says why
    a, claude: /M/tmp/outfitter-a-claude-XXXXXXXX
""")
    assert told(project, "recover") == snapshot("""\
exit 1
--- stderr
outfitter: warning: the run <attempt> (a, claude) could not be recovered whole: some of what it wrote could not be saved; it stays in /M/tmp/outfitter-a-claude-XXXXXXXX
  hint: mend what stands in the way, then: outfitter recover; or take what you need from there, then: outfitter recover --forget <attempt>
outfitter: warning: credentials not saved: .credentials.json for /M/home/.claude/.credentials.json (Not a directory; not kept either: Not a directory); MCP authorisations from this run were not saved either; still in /M/tmp/outfitter-a-claude-XXXXXXXX/projection
  hint: mend the place that it belongs to, or the directory for conflicts, then: outfitter recover
--- codes: credentials-failed unsaved
""")
    assert told(project, "doctor").partition("runs:")[2].partition("\nok")[0] == snapshot("""\
 1 unsaved
         - /M/tmp/outfitter-a-claude-XXXXXXXX
         hint: outfitter recover\
""")


def test_a_login_that_cannot_be_saved(project):
    project.put(project.home / ".claude/.credentials.json", "{}", 0o600)
    script = [
        ["write", ".credentials.json", '{"claudeAiOauth": {"refreshToken": "1"}}'],
        ["run", "rm -r ~/.claude && echo x > ~/.claude"],
    ]
    assert told(project, "run", "--harness", "claude", "--isolated", script=script) == snapshot("""\
exit 0
--- stderr
outfitter: warning: credentials not saved: .credentials.json for /M/home/.claude/.credentials.json (Not a directory); MCP authorisations from this run were not saved either; the durable file was left as before, this run's kept in /M/home/.local/state/outfitter/conflicts/<attempt>/<id>
  hint: outfitter conflicts list
outfitter: notice: kept until you take or drop it: 1 file, 40 bytes in all
--- codes: conflicts-kept credentials-failed
""")
    assert told(project, "recover", "--list") == snapshot("exit 0\n")
    assert told(project, "recover") == snapshot("""\
exit 0
nothing to recover
""")
    assert told(project, "doctor").partition("runs:")[2].partition("\n")[0] == snapshot(" none left over")


def test_a_linked_file_that_was_replaced(project):
    script = [["swap", "trust.json", "{}"], ["run", "rm -f ~/.pi/agent/trust.json; mkdir -p ~/.pi/agent/trust.json/x"]]
    assert told(project, "run", script=script) == snapshot("""\
exit 0
--- stderr
outfitter: warning: replaced link not saved: trust.json for /M/home/.pi/agent/trust.json (Is a directory); the durable file was left as before, this run's kept in /M/home/.local/state/outfitter/conflicts/<attempt>/<id>
  hint: outfitter conflicts list
outfitter: notice: kept until you take or drop it: 1 file, 2 bytes in all
--- codes: conflicts-kept replaced-link-failed
""")


def test_a_plugin_registry_that_cannot_be_written(project):
    script = [["folder", "plugins/installed_plugins.json"], ["write", "plugins/x", "1"]]
    assert told(project, "run", "--harness", "claude", "--isolated", script=script) == snapshot("""\
exit 0
--- stderr
outfitter: warning: plugin registry not saved: plugins/installed_plugins.json (not a regular file)
--- codes: plugin-registry-failed
""")


def test_a_projection_that_went_away(project):
    assert told(project, "run", script=[["run", 'rm -rf "$PI_CODING_AGENT_DIR"']]) == snapshot("""\
exit 0
--- stderr
outfitter: warning: /M/tmp/outfitter-a-pi-XXXXXXXX/projection is gone: what the harness wrote there is lost; durable state is as it was
outfitter: warning: generated files: 1 deleted, not kept: outfitter/prompts/00-body.md
  hint: to look at them: --retain-projection, then outfitter diff
--- codes: projection-gone state-generated-warn
""")


def test_a_killed_launcher_that_was_to_leave_evidence(project):
    project.run("run", "--out", "out", script=[KILL_THE_LAUNCHER])
    assert told(project, "recover") == snapshot("""\
exit 0
--- stderr
outfitter: notice: recovered the killed run <attempt> (a, pi): nothing was left to save
outfitter: notice: the killed run <attempt> (a, pi) left no evidence in /M/project/out: its launcher was killed before it could write it
--- codes: no-evidence recovered
""")


def test_a_run_directory_that_is_not_as_it_was_made(project):
    project.run("run", script=[KILL_THE_LAUNCHER])
    (root,) = project.run_directories()
    (root / "lock").unlink()
    assert told(project, "recover") == snapshot("""\
exit 1
--- stderr
outfitter: warning: the run <attempt> (a, pi) is not touched: /M/tmp/outfitter-a-pi-XXXXXXXX: its lock file is gone
  hint: if nothing of it runs any more: echo 'outfitter run 1' > /M/tmp/outfitter-a-pi-XXXXXXXX/lock; outfitter recover; or: outfitter recover --forget <attempt>
--- codes: untouched
""")
    shutil.rmtree(root)
    root.write_text("")
    assert told(project, "recover") == snapshot("""\
exit 1
--- stderr
outfitter: warning: the run <attempt> (a, pi) is not touched: /M/tmp/outfitter-a-pi-XXXXXXXX: it is no directory any more
  hint: look after what is there, then: outfitter recover --forget <attempt>
--- codes: untouched
""")
    assert told(project, "recover", "--list") == snapshot("""\
exit 0
<attempt>  not touched: its run directory is not as it made it (it is no directory any more)
    a, pi: /M/tmp/outfitter-a-pi-XXXXXXXX
""")


def test_what_is_found_beside_the_projection(project):
    script = [["write", "trust.json.new", "1"], ["run", 'mv "$PI_CODING_AGENT_DIR" "$PI_CODING_AGENT_DIR.old"']]
    assert told(project, "run", script=script) == snapshot("""\
exit 0
--- stderr
outfitter: warning: the projection was moved or replaced while the harness ran: not saved, still in /M/tmp/outfitter-a-pi-XXXXXXXX/projection.old (1 file)
  hint: move it back to /M/tmp/outfitter-a-pi-XXXXXXXX/projection, or take it from there, then: outfitter recover
outfitter: warning: generated files: 1 deleted, not kept: outfitter/prompts/00-body.md
  hint: to look at them: --retain-projection, then outfitter diff
outfitter: warning: some of what this run wrote could not be saved; it stays in /M/tmp/outfitter-a-pi-XXXXXXXX
  hint: mend what stands in the way, then: outfitter recover; or take what you need from there, then: outfitter recover --forget <attempt>
--- codes: beside state-generated-warn unsaved
""")
    assert told(project, "recover") == snapshot("""\
exit 1
--- stderr
outfitter: warning: the run <attempt> (a, pi) could not be recovered whole: some of what it wrote could not be saved; it stays in /M/tmp/outfitter-a-pi-XXXXXXXX
  hint: mend what stands in the way, then: outfitter recover; or take what you need from there, then: outfitter recover --forget <attempt>
outfitter: warning: the projection was moved or replaced while the harness ran: not saved, still in /M/tmp/outfitter-a-pi-XXXXXXXX/projection.old (1 file)
  hint: move it back to /M/tmp/outfitter-a-pi-XXXXXXXX/projection, or take it from there, then: outfitter recover
outfitter: warning: generated files: 1 deleted, not kept: outfitter/prompts/00-body.md
  hint: to look at them: --retain-projection, then outfitter diff
--- codes: beside state-generated-warn unsaved
""")
    for left in project.run_directories():
        shutil.rmtree(left / "projection.old")
    assert told(project, "recover") == snapshot("""\
exit 0
--- stderr
outfitter: notice: recovered the run <attempt> (a, pi): nothing was left to save
outfitter: warning: /M/tmp/outfitter-a-pi-XXXXXXXX/projection is gone: what the harness wrote there is lost; durable state is as it was
outfitter: warning: generated files: 1 deleted, not kept: outfitter/prompts/00-body.md
  hint: to look at them: --retain-projection, then outfitter diff
--- codes: projection-gone recovered state-generated-warn
""")
    assert told(project, "run", script=[["write", "../notes.txt", "1"], ["write", "../more/x", "1"]]) == snapshot("""\
exit 0
--- stderr
outfitter: warning: written beside the projection: not saved, still in /M/tmp/outfitter-a-pi-XXXXXXXX/more (1 file), /M/tmp/outfitter-a-pi-XXXXXXXX/notes.txt
  hint: take it from there, then: outfitter recover
outfitter: warning: some of what this run wrote could not be saved; it stays in /M/tmp/outfitter-a-pi-XXXXXXXX
  hint: mend what stands in the way, then: outfitter recover; or take what you need from there, then: outfitter recover --forget <attempt>
--- codes: beside unsaved
""")


def test_a_killed_launcher(project):
    script = [["swap", "trust.json", '{"x": 1}'], ["write", "odd.txt", "x"], KILL_THE_LAUNCHER]
    project.run("run", script=script)
    assert told(project, "recover", "--list") == snapshot("""\
exit 0
<attempt>  started: its launcher was killed; recover saves what it wrote
    a, pi: /M/tmp/outfitter-a-pi-XXXXXXXX
""")
    assert told(project, "run") == snapshot("""\
exit 0
--- stderr
outfitter: notice: recovered the killed run <attempt> (a, pi): saved trust.json
outfitter: warning: undeclared writes: 1 added, not kept: odd.txt
  hint: to look at them: --retain-projection, then outfitter diff
--- codes: recovered state-unknown-warn
""")


def come_back(project, late):
    """A run whose harness left a process that makes its directory again once it is removed."""
    root = '"$(dirname "$PI_CODING_AGENT_DIR")"'
    back = f"while [ -e {root} ]; do sleep 0.02; done; mkdir -p {root}/projection/x; touch {root}/{late} ~/back"
    project.run("run", script=[["run", f"({back}) >/dev/null 2>&1 </dev/null &"]])
    project.wait_for(project.home / "back")
    (project.home / "back").unlink()


def test_what_comes_back_after_the_run(project):
    come_back(project, "late.txt")
    assert told(project, "recover", "--list") == snapshot("""\
exit 0
no run  made by a process that outlived its run; recover removes it if it holds nothing
    /M/tmp/outfitter-a-pi-XXXXXXXX
""")
    assert told(project, "recover") == snapshot("""\
exit 1
--- stderr
outfitter: warning: /M/tmp/outfitter-a-pi-XXXXXXXX: made by a process that outlived its run, and holds 1 file
  hint: end that process if it still runs, take from there what you need, then: rm -r /M/tmp/outfitter-a-pi-XXXXXXXX
--- codes: remnant
""")
    assert told(project, "doctor").partition("remnants:")[2].partition("\nok")[0] == snapshot("""\
 1 directory is named as a run's is, without its marker or a journal
         - /M/tmp/outfitter-a-pi-XXXXXXXX
         hint: outfitter recover --list\
""")
    (root,) = project.run_directories()
    (root / "late.txt").unlink()
    assert told(project, "recover") == snapshot("""\
exit 0
--- stderr
outfitter: notice: /M/tmp/outfitter-a-pi-XXXXXXXX: removed: empty, made by a process that outlived its run
--- codes: remnant-removed
""")


def test_durable_places_that_cannot_be_read(project):
    project.put(project.home / ".claude/.credentials.json/x", "")
    os.mkfifo(project.put(project.home / f".claude/projects/{project.slug()}/s.jsonl", "{}\n").parent / "pipe")
    assert told(project, "run", "--harness", "claude", "--isolated") == snapshot("""\
exit 0
--- stderr
outfitter: warning: /M/home/.claude/.credentials.json: not a regular file: .credentials.json starts without it
outfitter: notice: not copied, for they are no regular files: pipe
--- codes: not-seeded special-not-seeded
""")
    loop = project.home / ".pi/agent/settings.json"
    loop.parent.mkdir(parents=True)
    loop.symlink_to(loop)
    assert told(project, "run") == snapshot("""\
exit 125
--- stderr
outfitter: error: cannot link settings.json to its durable place: /M/home/.pi/agent/settings.json: Too many levels of symbolic links
  hint: mend it, or let the run go on without it: state_persistence: {settings.json: warn}
--- codes: effect-failed
""")
    project.settings("default_agent: a\nstate_persistence: {settings.json: warn}\n")
    assert told(project, "run") == snapshot("""\
exit 0
--- stderr
outfitter: warning: /M/home/.pi/agent/settings.json: Too many levels of symbolic links: settings.json starts without it
--- codes: not-copied
""")


def test_no_place_for_a_journal(project):
    project.put(project.top / "file", "")
    assert told(project, "run", env={"XDG_STATE_HOME": str(project.top / "file")}) == snapshot("""\
exit 0
--- stderr
outfitter: notice: /M/file/outfitter/runs: Not a directory: this run could not be recovered if it were killed
--- codes: no-journal
""")


def test_no_place_for_a_run(project):
    assert told(project, "run", env={"TMPDIR": str(project.top / "nowhere")}) == snapshot("""\
exit 125
--- stderr
outfitter: error: cannot make the run directory: /M/nowhere: the temporary directory does not exist (TMPDIR)
--- codes: effect-failed
""")


def test_a_demo_that_fails(machine):
    for name in ("claude", "codex"):
        machine.put(machine.bin / name, "#!/nowhere\n", 0o755)
    assert told(machine, "demo", "--harness", "codex") == snapshot("""\
exit 1
--- stderr
outfitter: error: /M/bin/codex: needs the interpreter /nowhere, which is missing or not executable
  hint: mend it, or install it with `npm install -g @openai/codex`
--- codes: harness-unavailable
""")
    machine.put(machine.bin / "pi", '#!/bin/sh\n[ "$1" = --version ] && echo 1.0 && exit 0\nexit 3\n', 0o755)
    assert told(machine, "demo", "--harness", "pi") == snapshot("""\
exit 1
A throw-away machine   /M/tmp/outfitter-demo-XXXXXXXX
The model              http://127.0.0.1:PORT, scripted, on this machine
The harness            pi 1.0 (/M/bin/pi)

$ outfitter run guide --harness pi --retain-projection -- -p 'Show me one write of each kind.'
  outfitter: notice: projection retained: /M/tmp/outfitter-demo-XXXXXXXX/tmp/outfitter-guide-pi-XXXXXXXX

$ outfitter diff --all
  no changes


Nothing of your own home was read or written, and nothing left this machine.
--- stderr
outfitter: error: outfitter run ended with 3
outfitter: error: the model was never asked
--- codes: demo
""")
    machine.put(machine.bin / "pi", "#!/bin/sh\nexit 3\n", 0o755)
    assert told(machine, "demo") == snapshot("""\
exit 0
A throw-away machine   /M/tmp/outfitter-demo-XXXXXXXX
The model              http://127.0.0.1:PORT, scripted, on this machine
The harness            a STAND-IN, no real harness: none of pi, claude, codex runs here

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
--- stderr
outfitter: notice: /M/bin/pi `--version` failed: no answer
outfitter: notice: /M/bin/claude needs the interpreter /nowhere, which is missing or not executable
outfitter: notice: /M/bin/codex needs the interpreter /nowhere, which is missing or not executable
--- codes: passed-over
""")
    assert told(machine, "demo", "--harness", "pi") == snapshot("""\
exit 1
--- stderr
outfitter: error: /M/bin/pi: `--version` failed: no answer
  hint: repair or reinstall it
--- codes: harness-unavailable
""")


def test_a_signal_and_a_bug():
    bug = KeyError("name")
    assert [
        tuple(row) for error in (Interrupted(15), Crashed(bug, "compose")) for row in error_notices(error)
    ] == snapshot(
        [
            ("error", "interrupted", "ended by signal 15", ""),
            (
                "error",
                "crashed",
                "internal error in stage 'compose': 'name'",
                "OUTFITTER_DEBUG=1 shows the trace back; please report it",
            ),
        ]
    )
    assert [error_json(Interrupted(2)), error_json(Crashed(bug))] == snapshot(
        [
            {"schema_version": 1, "kind": "interrupted", "message": "ended by signal 2", "hint": "", "exit": 130},
            {
                "schema_version": 1,
                "kind": "crashed",
                "message": "internal error: 'name'",
                "hint": "OUTFITTER_DEBUG=1 shows the trace back; please report it",
                "exit": 125,
            },
        ]
    )


def test_what_no_command_can_be_brought_to_say(machine):
    """Each made by the function that says it."""
    from outfitter.adapters.claude.plan import _keychain
    from outfitter.cli.fingerprint import _tell
    from outfitter.cli.sync import _waiting
    from outfitter.model.outcome import Identity, Row
    from outfitter.run import materialize, removal
    from stages import bridge, cleanup

    heard: list[Notice] = []
    listening: Any = SimpleNamespace(console=SimpleNamespace(say=heard.append))
    row = Row(b"x", "u", b"", 0, 0, Identity(0, 0, 0, 0), b"", "EACCES")
    _tell(listening, row)
    _tell(listening, row._replace(tag="f", note="unstable"))
    _waiting(listening, "github:example/agents")
    host: Any = SimpleNamespace(durable=SimpleNamespace(flush=lambda: "/M/home: Input/output error"))
    heard += bridge._flushed(host)
    heard.append(cleanup._left("/M/tmp/outfitter-a-pi-XXXXXXXX", "the harness is still running"))

    def failing() -> Any:
        raise OSError(28, "No space left on device", "/M/state/run.json")

    heard += cleanup._tell(failing, Any)
    made = materialize.Made([], [], [], [])
    unreadable: Any = SimpleNamespace(look=lambda _: failing())
    materialize._note_durable(unreadable, "/M/home/.pi/agent/auth.json", "auth.json", made)
    heard += made.notices
    here: Any = SimpleNamespace(ambient=SimpleNamespace(env={}, platform="darwin"))
    facts: Any = SimpleNamespace(listings={}, native="/M/home/.claude")
    heard += _keychain(here, facts)
    heard += removal.remove_new(str(machine.put(machine.tmp / "outfitter-a-pi-XXXXXXXX/file", "").parent))
    assert as_told(machine, heard) == snapshot("""\
--- stderr
outfitter: warning: x: not read (EACCES); the fingerprint is incomplete
outfitter: warning: x: it changed while it was read
outfitter: notice: github:example/agents: another sync is fetching it; waiting
outfitter: warning: saved, but it might not outlive a power cut: /M/home: Input/output error
outfitter: warning: the harness is still running: /M/tmp/outfitter-a-pi-XXXXXXXX stays
  hint: outfitter recover
outfitter: warning: the run was not put away in full: /M/state/run.json: No space left on device
outfitter: warning: /M/home/.pi/agent/auth.json: No space left on device: its changes cannot be told
outfitter: notice: Claude Code keeps its login in the macOS Keychain, out of an isolated run's reach
  hint: claude setup-token makes a token: export it as CLAUDE_CODE_OAUTH_TOKEN
outfitter: warning: could not remove outfitter-a-pi-XXXXXXXX: Directory not empty
--- codes: claude-login-keychain cleanup-failed durable-unreadable left-to-recovery not-flushed not-removed sync-waits unreadable unstable
""")


def test_a_directory_variable_left_over_from_a_run(project):
    over = str(project.tmp / "outfitter-a-pi-abcdefgh/projection")
    assert told(project, "run", env={"PI_CODING_AGENT_DIR": over}) == snapshot("""\
exit 0
--- stderr
outfitter: notice: PI_CODING_AGENT_DIR names the projection of a run that is over (/M/tmp/outfitter-a-pi-XXXXXXXX/projection); /M/home/.pi/agent is taken for your own directory
  hint: unset PI_CODING_AGENT_DIR
--- codes: projection-over
""")
