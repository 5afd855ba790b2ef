"""A launch from outside: identity, arguments, exit codes, bad input, and nothing left behind (spec/80, seed 001)."""

import json
import os

import pytest


def test_the_harness_sees_identity_arguments_and_working_directory(machine):
    machine.agent("a", "You are the one with marker-7731.")
    ended = machine.run("run", "a", "--", "--some-flag", "x y")
    assert ended.code == 0, ended.err
    assert ended.argv[-2:] == ["--some-flag", "x y"]
    assert "marker-7731" in json.dumps(ended.seen["texts"])
    assert ended.seen["cwd"] == str(machine.project)
    assert machine.run_directories() == []


@pytest.mark.parametrize("code", [0, 1, 37, 127, 255])
def test_the_harness_exit_code_is_ours(machine, code):
    machine.agent("a")
    assert machine.run("run", "a", script=[["exit", code]]).code == code


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ("default_agent: a\ndefault_agent: b\n", ["default_agent", "settings.yml:2"]),
        ("- a list\n", ["settings.yml"]),
        ("a: [1\n", ["settings.yml"]),
        ("a:\n\tb: 1\n", ["settings.yml", "tab"]),
        ("state_persistence: {cache/: no}\n", ["cache/", "no"]),
    ],
)
def test_broken_settings_are_one_clear_line_and_start_nothing(machine, settings, words):
    machine.agent("a")
    machine.settings(settings)
    ended = machine.run("run", "a")
    assert ended.code in (122, 125)
    assert ended.seen is None
    assert all(word in ended.err for word in words), ended.err
    assert "Traceback" not in ended.err
    assert machine.run_directories() == []


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda path: path.mkdir(), "agent.md is a directory, not a file; skipped"),
        (os.mkfifo, "agent.md is not a regular file; skipped"),
        (lambda path: path.symlink_to("agent.md"), "agent.md is a dangling symlink (agent.md); skipped"),
        (lambda path: path.symlink_to("/etc/passwd"), "agent.md points outside the repository (/etc/passwd); skipped"),
        (lambda _: None, "agents/odd has no agent.md"),
    ],
    ids=["folder", "fifo", "loop", "outside", "nothing"],
)
def test_what_stands_in_an_agents_place_and_is_none_is_said(machine, make, why):
    """spec/10, "Hostile and broken input": a diagnostic that names it."""
    machine.agent("a")
    place = machine.project / ".agents/agents/odd"
    place.mkdir()
    make(place / "agent.md")
    ended = machine.run("run", "odd")
    assert (ended.code, ended.seen) == (125, None)
    assert f"agent 'odd' not found: {place.parent.parent}/agents/odd" in ended.err
    assert why in ended.err


def test_a_missing_agent_names_the_nearest(machine):
    machine.agent("reviewer")
    ended = machine.run("run", "reviewr")
    assert ended.code == 125
    assert "reviewer" in ended.err


def test_an_empty_home_says_how_to_begin(machine):
    ended = machine.run()
    assert ended.code == 125
    assert "outfitter setup" in ended.err


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda path: path.unlink(), 127),
        (lambda path: path.chmod(0o644), 126),
        (lambda path: path.write_text("#!/no/such/interpreter\n"), 126),
        (lambda path: (path.unlink(), path.mkdir()), 126),
    ],
)
def test_a_harness_that_cannot_run_leaves_nothing(machine, make, code):
    machine.agent("a")
    make(machine.bin / "pi")
    ended = machine.run("run", "a", env={"PATH": str(machine.bin)})
    assert ended.code == code, ended.err
    assert machine.run_directories() == []
    assert not (machine.home / ".pi").exists()


@pytest.mark.parametrize("harness", ["pi", "claude", "codex"])
@pytest.mark.parametrize("block", [False, True], ids=["generic", "of-the-harness"])
def test_the_harness_is_looked_up_on_the_users_own_path_whatever_the_agent_gives_it(machine, harness, block):
    other = machine.top / "other"
    mine = {"environment": {"PATH": f"{other}:/usr/bin:/bin"}}
    machine.put(other / harness, "#!/bin/sh\ntouch $HOME/OTHER\n", 0o755)
    machine.agent("a", under=machine.home, controls={harness: mine} if block else mine)
    ended = machine.run("run", "a", "--harness", harness, "--", "-p", "hi")
    assert ended.code == 0, ended.err
    assert ended.seen["env"]["PATH"] == f"{other}:/usr/bin:/bin"
    assert not (machine.home / "OTHER").exists()
    (machine.bin / harness).unlink()
    again = machine.run("run", "a", "--harness", harness)
    assert (again.code, again.seen) == (127, None)


@pytest.mark.parametrize("entry", ["", ".", "bin", "./bin", "node_modules/.bin"])
def test_a_relative_folder_of_the_path_is_not_searched_for_the_harness(machine, entry):
    machine.agent("a")
    for folder in (".", "bin", "node_modules/.bin"):
        machine.put(f"{folder}/pi", "#!/bin/sh\ntouch $HOME/OURS\n", 0o755)
    ended = machine.run("run", "a", env={"PATH": f"{entry}:{machine.bin}:/usr/bin:/bin"})
    assert ended.code == 0, ended.err
    alone = machine.run("run", "a", env={"PATH": f"{entry}:/usr/bin:/bin"})
    assert (alone.code, alone.seen) == (127, None)
    assert not (machine.home / "OURS").exists()


def test_a_durable_path_of_the_wrong_kind_is_named_and_untouched(machine):
    machine.agent("a")
    machine.put(machine.home / ".pi/agent/trust.json/inside", "x")
    ended = machine.run("run", "a")
    assert ended.code == 125
    assert "trust.json" in ended.err
    assert "state_persistence" in ended.err
    assert (machine.home / ".pi/agent/trust.json/inside").read_text() == "x"
    assert machine.run_directories() == []


def test_special_files_in_the_projection_do_not_hang(machine):
    machine.agent("a")
    ended = machine.run("run", "a", script=[["pipe", "p"], ["link", "loop", "loop"], ["link", "out", "/"]], timeout=30)
    assert ended.code == 0, ended.err
    assert "p" in ended.err
    assert machine.run_directories() == []


def test_45000_unknown_files_are_a_few_lines_and_little_memory(machine):
    machine.agent("a")
    code, said, memory = machine.measure("run", "a", script=[["fill", "junk", 45_000, 1]])
    assert code == 0, said
    assert len(said.splitlines()) < 40
    assert memory < 200 * 1024
    assert machine.run_directories() == []


def test_no_trace_back_without_debug_and_one_with_it(machine):
    machine.agent("a")
    machine.put(machine.bin / "pi", "not a program", 0o755)
    for debug in ("0", "1"):
        ended = machine.run("run", "a", env={"OUTFITTER_DEBUG": debug, "PATH": str(machine.bin)})
        assert ended.code == 126, ended.err
        assert "Traceback" not in ended.err


def test_a_dry_run_starts_and_writes_nothing(machine):
    machine.agent("a", "marker-1")
    before = sorted(path for path in machine.top.rglob("*") if ".agents/cache" not in str(path))
    ended = machine.run("run", "a", "--dry-run", "--json")
    assert (ended.code, ended.seen) == (0, None), ended.err
    plan = json.loads(ended.out)
    assert plan["agent"] == "a"
    assert "PI_CODING_AGENT_DIR" in plan["environment"]["sets"]
    after = sorted(
        path for path in machine.top.rglob("*") if ".agents/cache" not in str(path) and "script-" not in path.name
    )
    assert after == before


def test_json_puts_one_error_object_on_stderr(machine):
    ended = machine.run("run", "nobody", "--dry-run", "--json")
    error = json.loads(ended.err)
    assert (error["exit"], error["kind"], ended.out) == (125, "composition-failed", "")


def test_an_ascii_locale_is_no_obstacle(machine):
    project = machine.top / "proj-é"
    project.mkdir()
    machine.agent("a", "You — are A.", under=project)
    machine.settings("custom_settings: {note: 'an — em dash'}\n", under=project)
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii", "LANG": None}
    ended = machine.run("run", "a", script=[["write", "odd-é", "1"]], cwd=project, env=env)
    assert ended.code == 0, ended.err
    assert "odd-" in ended.err
    assert os.fsencode(ended.err).isascii()
