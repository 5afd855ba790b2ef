"""Where words go and how: streams, colour, progress, quiet, verbose, JSON, a bug (spec/80, "Output")."""

import json
import os
import re
import subprocess
import sys

import pexpect
import pytest

ESCAPE = "\x1b["


@pytest.fixture
def furnished(machine):
    machine.agent("a")
    machine.settings("default_agent: a\ncolour: red\n")
    return machine


# The bar comes at once: a copy of half a second would be a large one.
AT_ONCE = """
import sys
import outfitter.edges.terminal as terminal
from outfitter.__main__ import entry
terminal.BAR_AFTER_SECONDS = terminal.BAR_EVERY_SECONDS = -1
entry()
"""


def on_terminal(machine, *words, script=(), program=("-m", "outfitter"), **env):
    child = pexpect.spawn(
        sys.executable,
        [*program, *words],
        cwd=str(machine.project),
        env=machine.env(script, **{"TERM": "xterm-256color", **env}),
        encoding="utf-8",
        timeout=40,
        dimensions=(30, 80),
    )
    child.expect(pexpect.EOF)
    child.close()
    return child.before


@pytest.mark.parametrize(
    ("words", "env", "painted"),
    [
        (("list",), {}, True),
        (("list",), {"NO_COLOR": "1"}, False),
        (("list",), {"NO_COLOR": ""}, True),
        (("list",), {"TERM": "dumb"}, False),
        (("list",), {"TERM": "dumb", "FORCE_COLOR": "1"}, True),
        (("list",), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color", "never", "list"), {"FORCE_COLOR": "1"}, False),
        (("--color", "always", "list"), {"NO_COLOR": "1"}, True),
        (("list", "--json"), {}, False),
        (("--color", "always", "list", "--json"), {}, False),
        (("doctor",), {}, True),
        (("doctor", "--json"), {}, False),
    ],
    ids=str,
)
def test_colour_on_a_terminal(furnished, words, env, painted):
    assert (ESCAPE in on_terminal(furnished, *words, **env)) is painted


@pytest.mark.parametrize(("env", "painted"), [({}, False), ({"FORCE_COLOR": "1"}, True)])
def test_colour_without_a_terminal(furnished, env, painted):
    ended = furnished.run("list", env=env)
    assert (ESCAPE in ended.err) is painted


def test_data_goes_to_stdout_and_what_is_said_to_stderr(furnished):
    ended = furnished.run("list")
    assert "warning" not in ended.out
    assert ended.err.startswith("outfitter: warning: ")
    assert all(line.startswith(("outfitter: ", "  hint: ")) for line in ended.err.splitlines())


def test_quiet_drops_notices_and_nothing_graver(furnished):
    furnished.settings("default_agent: a\nworkflows: {}\ncolour: red\n")
    loud, quiet = furnished.run("list"), furnished.run("--quiet", "list")
    assert (loud.out, "notice:" in loud.err, "warning:" in loud.err) == (quiet.out, True, True)
    assert ("notice:" in quiet.err, "warning:" in quiet.err) == (False, True)


def test_verbose_speaks_before_and_after_the_harness_never_between(furnished):
    """Both streams in one file show the order."""
    both = furnished.top / "both"
    with both.open("wb") as file:
        furnished.start("--verbose", "run", script=[["say", "BEGIN"], ["say", "END"]], stdout=file, stderr=file).wait(
            60
        )
    lines = both.read_text().splitlines()
    begin = lines.index("BEGIN")
    assert lines[begin + 1] == "END"
    assert any(line.startswith("outfitter: agent: a (") for line in lines[:begin])
    assert not any(line.startswith("outfitter: stage:") for line in lines[:begin])
    stages = [re.sub(r" +[0-9.]+ ms$", "", line.split("stage: ")[1]) for line in lines if "stage: " in line]
    assert stages[:3] == ["read settings", "merge settings", "load layers"]
    assert {"merge settings", "gather facts", "compose", "project", "run", "diff", "bridge", "cleanup"} <= set(stages)


def test_verbose_names_the_layer_of_every_decision(furnished):
    furnished.settings("default_harness: claude\nstate_persistence: {projects/: discard}\n", local=True)
    said = furnished.run("--verbose", "run", "a", "--isolated").err
    local = furnished.project / ".agents/settings.local.yml"
    assert f"outfitter: harness: claude ({local}:1), " in said
    assert "outfitter: agent: a (command line) in layer project, " in said
    assert f"outfitter: state: projects/ discard ({local}:2)" in said
    assert "outfitter: isolation: isolated (command line)" in said


def test_progress_on_a_terminal_alone(furnished):
    """A long copy draws a bar; never where colour or progress is not wanted."""
    history = furnished.home / f".claude/projects/{furnished.slug()}"
    for number in range(300):
        furnished.put(history / f"s{number}.jsonl", "{}\n" * 200)
    words = ("run", "--harness", "claude", "--isolated")
    at_once = {"program": ("-c", AT_ONCE)}
    assert "/300" in on_terminal(furnished, *words, **at_once)
    for env, flags in (({"NO_COLOR": "1"}, ()), ({}, ("--no-progress",)), ({}, ("--quiet",)), ({"TERM": "dumb"}, ())):
        assert "/300" not in on_terminal(furnished, *flags, *words, **at_once, **env)


def test_a_bug_is_one_line_and_shows_its_trace_when_asked(furnished):
    """A module that cannot be loaded stands for any bug."""
    broken = furnished.put(furnished.top / "broken/shtab.py", "raise KeyError('inside')\n").parent
    plain = furnished.run("completion", "bash", env={"PYTHONPATH": str(broken)})
    assert (plain.code, plain.out) == (1, "")
    assert plain.err.splitlines() == [
        "outfitter: error: internal error in stage 'completion': 'inside'",
        "  hint: OUTFITTER_DEBUG=1 shows the traceback; please report it",
    ]
    shown = furnished.run("completion", "bash", env={"PYTHONPATH": str(broken), "OUTFITTER_DEBUG": "1"})
    assert "Traceback (most recent call last)" in shown.err
    told = furnished.run("completion", "bash", "--json", env={"PYTHONPATH": str(broken)})
    assert (json.loads(told.err)["kind"], json.loads(told.err)["exit"], told.out) == ("crashed", 1, "")


def test_a_reader_who_leaves_ends_a_command_in_silence(furnished):
    for number in range(3000):
        furnished.agent(f"agent-{number}", under=furnished.home)
    read, write = os.pipe()
    process = furnished.start("list", stdout=write)
    os.close(write)
    os.read(read, 10)
    os.close(read)
    err = process.communicate(timeout=60)[1]
    assert b"Traceback" not in err
    assert b"Broken pipe" not in err
    assert process.returncode in (0, 1)


def test_the_package_runs_as_a_module_and_in_isolated_mode(machine):
    for options in (("-m", "outfitter"), ("-I", "-m", "outfitter")):
        ended = subprocess.run(
            [sys.executable, *options, "--version"],
            env=machine.env(),
            capture_output=True,
            check=True,
            cwd=machine.project,
        )
        assert ended.stdout.startswith(b"outfitter ")


@pytest.mark.parametrize(
    ("words", "code"),
    [(("list",), 1), (("schema", "agent"), 1), (("--help",), 1), (("run", "--dry-run"), 125), (("run", "--help"), 125)],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_data_that_cannot_be_written_is_a_failure(furnished, words, code):
    with open("/dev/full", "wb") as full:
        process = furnished.start(*words, stdout=full)
        err = process.communicate(timeout=60)[1].decode()
    assert process.returncode == code
    assert "outfitter: error: cannot write: standard output: No space left on device" in err
    assert "Traceback" not in err


def test_a_launch_does_not_fail_for_what_the_harness_could_not_write(furnished):
    with open("/dev/full", "wb") as full:
        process = furnished.start("run", "a", stdout=full)
        err = process.communicate(timeout=60)[1].decode()
    assert (process.returncode, "cannot write" in err) == (0, False)


def test_a_diagnostic_quotes_no_more_than_a_few_lines(furnished):
    furnished.settings(f"default_agent: {'x' * 1_000_000}\n")
    ended = furnished.run("run")
    assert ended.code == 125
    assert len(ended.err) < 10_000
    assert "characters)" in ended.err


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("list", "skils"), "did you mean skills?"),
        (("conflicts", "aply", "x"), "did you mean apply?"),
        (("validate", "--stric"), "did you mean --strict?"),
        (("cache", "prune", "--dayz=3"), "did you mean --days?"),
        (("demo", "--harness", "clade"), "did you mean claude?"),
        (("list", "zzz"), "outfitter list --help"),
        (("validate", "--zzzzzz"), "outfitter validate --help"),
        (("show", "a", "b"), "outfitter show --help"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_slip_of_the_pen_is_answered_with_the_word_that_was_meant(furnished, words, hint):
    ended = furnished.run(*words)
    assert (ended.code, ended.out) == (2, "")
    error, said = ended.err.splitlines()
    assert error.startswith(f"outfitter: error: outfitter {words[0]}")
    assert said == f"  hint: {hint}"
