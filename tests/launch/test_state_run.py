"""What becomes of what a harness writes, end to end (spec/50; spec/95 LNK, CRD, JSN, SES, CLS)."""

import json
import os
import subprocess
import sys

import pytest

ISO = ("run", "a", "--harness", "claude", "--isolated")
SCRATCH = [
    *(
        "todos/a.json",
        "shell-snapshots/s.sh",
        "file-history/u/h@v1",
        "paste-cache/p",
        "session-env/u/e",
        "sessions/12.json",
    ),
    *("backups/.claude.json.backup.1", ".last-cleanup", "history.jsonl", "debug/d.txt", "plans/p.md"),
]


def history(machine, name="s1.jsonl", text='{"n":1}\n'):
    return machine.put(machine.home / f".claude/projects/{machine.slug()}/{name}", text)


def no_leftovers(machine):
    assert machine.run_directories() == []
    assert list(machine.home.rglob(".outfitter-*")) == []


@pytest.mark.parametrize(
    ("ending", "code"), [(["exit", 0], 0), (["exit", 3], 3), (["die", "SIGSEGV"], 139), (["die", "SIGKILL"], 137)]
)
def test_transcripts_are_merged_however_the_harness_ended(machine, ending, code):
    """SES-17."""
    machine.agent()
    h = history(machine)
    script = [
        ["append", f"projects/{machine.slug()}/s1.jsonl", "more\n"],
        ["write", "projects/-x/e.jsonl", "e"],
        ending,
    ]
    ended = machine.run(*ISO, script=script)
    assert ended.code == code
    assert h.read_text() == '{"n":1}\nmore\n'
    assert (h.parent.parent / "-x/e.jsonl").read_text() == "e"
    assert "Traceback" not in ended.err
    no_leftovers(machine)


def test_a_harness_that_cannot_start_leaves_everything_as_it_was(machine):
    """SES-17 (c): the projection was made, the start failed."""
    machine.agent()
    h = history(machine)
    target = machine.bin / "claude"
    body = target.read_text()
    target.write_text("#!/nonexistent/interpreter\n" + body)
    ended = machine.run(*ISO)
    assert ended.code == 126
    assert h.read_text() == '{"n":1}\n'
    no_leftovers(machine)


def test_known_scratch_is_silent_even_under_unknown_error(machine):
    """CLS-02."""
    machine.agent()
    machine.settings("state_persistence: {unknown: error}\n")
    ended = machine.run(*ISO, script=[["write", path, "x"] for path in SCRATCH])
    assert (ended.code, ended.err) == (0, "")
    assert not (machine.home / ".claude/history.jsonl").exists()
    assert (machine.home / ".claude/debug/d.txt").exists()


@pytest.mark.parametrize(("end", "code"), [(7, 7), (0, 121)])
def test_whose_failure_it_was(machine, end, code):
    """CLS-09."""
    machine.agent()
    machine.settings("state_persistence: {mcp.json: error}\n")
    ended = machine.run("run", "a", script=[["write", "mcp.json", "{}"], ["exit", end]])
    assert ended.code == code
    assert "mcp.json" in ended.err


def test_credentials_and_account_come_back(machine):
    """CRD, JSN, 006.5.12 to 16."""
    machine.agent()
    login = machine.put(machine.home / ".claude/.credentials.json", '{"t":1}')
    state = machine.put(
        machine.home / ".claude.json",
        json.dumps(
            {
                "oauthAccount": {"id": 1},
                "big": 2**70,
                "projects": {str(machine.project): {"hasTrustDialogAccepted": True}},
            }
        ),
    )
    script = [["swap", ".credentials.json", '{"t":2}'], ["swap", ".claude.json", '{"oauthAccount":{"id":2},"junk":1}']]
    ended = machine.run(*ISO, script=script)
    assert (ended.code, ended.err) == (0, "")
    assert ended.seen["entries"][".credentials.json"]["mode"] == 0o600
    assert login.read_text() == '{"t":2}'
    assert login.stat().st_mode & 0o777 == 0o600
    assert json.loads(state.read_text())["oauthAccount"] == {"id": 2}
    assert str(2**70) in state.read_text()
    no_leftovers(machine)


def test_a_second_run_finds_what_the_first_installed(machine):
    """Plugin registries that the harness wrote through the link with paths inside the projection."""
    machine.agent()
    command = """python3 - <<'END'
import json, os
place = os.path.realpath('.') + '/plugins/marketplaces/m'
open('plugins/known_marketplaces.json', 'w').write(json.dumps({'m': {'installLocation': place}}))
END"""
    ended = machine.run(*ISO, script=[["run", command]])
    assert (ended.code, ended.err) == (0, "")
    registry = json.loads((machine.home / ".claude/plugins/known_marketplaces.json").read_text())
    assert registry == {"m": {"installLocation": str(machine.home / ".claude/plugins/marketplaces/m")}}


def test_the_links_and_the_seed_vanish_while_it_runs(machine):
    """CLN-09."""
    machine.agent()
    h = history(machine)
    settings = machine.put(machine.home / ".claude/settings.json", "{}")
    login = machine.put(machine.home / ".claude/.credentials.json", '{"t":1}')
    for script, said in (
        ([["remove", "settings.json"], ["remove", ".credentials.json"]], ""),
        ([["run", 'rm -rf "$CLAUDE_CONFIG_DIR"']], "is gone"),
    ):
        ended = machine.run(*ISO, script=script)
        assert ended.code == 0
        assert said in ended.err
        assert "Traceback" not in ended.err
        assert (h.read_text(), settings.read_text(), login.read_text()) == ('{"n":1}\n', "{}", '{"t":1}')
        assert machine.run_directories() == []


@pytest.mark.slow
def test_forty_five_thousand_unknown_files_are_few_lines_and_little_memory(machine):
    machine.agent()
    script = [["fill", f"junk/{i}", 500, 0] for i in range(90)]
    code, err, usage = machine.measure("run", "a", script=script)
    assert code == 0
    assert len(err.splitlines()) < 40
    assert b"45000 added" in err
    assert usage < 200 * 1024
    assert machine.run_directories() == []


def test_state_that_cannot_be_saved_never_changes_the_exit_code(machine):
    """006.5.19, and the projection is kept where nothing else could be."""
    machine.agent()
    history(machine)
    (machine.home / ".claude/projects" / machine.slug() / "x").mkdir()
    place = f"projects/{machine.slug()}/x"
    script = [["run", f"rm -rf {place}"], ["write", place, "mine"], ["exit", 4]]
    ended = machine.run(*ISO, "--strict", script=script)
    assert ended.code == 4
    assert f"projects/{machine.slug()}/x" in ended.err
    assert b"mine" in machine.kept().values()
    no_leftovers(machine)


def test_a_directory_variable_of_the_user_is_the_native_directory(machine):
    """RUN-12 (b) and reading 006.5.12: `.claude.json` lies inside it."""
    machine.agent()
    own = machine.home / "own-claude"
    machine.put(own / f"projects/{machine.slug()}/s1.jsonl", "1\n")
    machine.put(own / ".claude.json", '{"oauthAccount": {"id": 1}}')
    script = [
        ["append", f"projects/{machine.slug()}/s1.jsonl", "2\n"],
        ["swap", ".claude.json", '{"oauthAccount": {"id": 2}}'],
    ]
    ended = machine.run(*ISO, script=script, env={"CLAUDE_CONFIG_DIR": str(own)})
    assert (ended.code, ended.err) == (0, "")
    assert (own / f"projects/{machine.slug()}/s1.jsonl").read_text() == "1\n2\n"
    assert json.loads((own / ".claude.json").read_text()) == {"oauthAccount": {"id": 2}}
    assert not (machine.home / ".claude").exists()
    assert not (machine.home / ".claude.json").exists()


def test_an_inherited_run_bridges_nothing(machine):
    """006.5.21."""
    machine.agent()
    h = history(machine)
    login = machine.put(machine.home / ".claude/.credentials.json", '{"t":1}')
    script = [["write", ".credentials.json", '{"t":2}'], ["write", f"projects/{machine.slug()}/s1.jsonl", "x"]]
    ended = machine.run("run", "a", "--harness", "claude", script=script)
    assert ended.code == 0
    assert (h.read_text(), login.read_text()) == ('{"n":1}\n', '{"t":1}')
    assert "undeclared writes" in ended.err


@pytest.mark.slow
def test_a_transcript_under_a_small_address_space(machine):
    """SES-14: 64 MiB of transcript, launcher limited to 400 MiB of addresses."""
    machine.agent()
    h = history(machine, text="x" * (1 << 20))
    command = f"for i in $(seq 64); do cat {h} ; done >> projects/{machine.slug()}/s1.jsonl"
    wrapper = "import resource, sys, os; resource.setrlimit(resource.RLIMIT_AS, (400 << 20,) * 2); os.execv(sys.executable, [sys.executable, '-m', 'outfitter', *sys.argv[1:]])"
    ended = subprocess.run(
        [sys.executable, "-c", wrapper, *ISO],
        cwd=machine.project,
        env=machine.env([["run", command]], PYTHONPATH=os.getcwd()),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert h.stat().st_size == 65 << 20
