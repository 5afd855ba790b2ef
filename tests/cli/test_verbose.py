"""`--verbose` says something of use with every command: where it looked, what it read, what it left out and why (spec/80)."""

import re

import pytest

from outfitter.cli.commands import COMMANDS

# The words that make each command do its work on the machine below.
WORDS = {
    "diff": ("diff",),
    "recover": ("recover",),
    "conflicts": ("conflicts", "list"),
    "list": ("list",),
    "show": ("show", "a"),
    "validate": ("validate",),
    "dump": ("dump", "--out", "made"),
    "settings": ("settings",),
    "schema": ("schema", "settings"),
    "sync": ("sync",),
    "sources": ("sources",),
    "setup": ("setup", "--yes", "--agent", "second"),
    "import": ("import", "claude", "--dry-run"),
    "trust": ("trust", "--show"),
    "fingerprint": ("fingerprint", ".agents", "--no-cache"),
    "evidence": ("evidence", "verify", "out"),
    "batch": ("batch", "in.txt", "--agent", "a", "--out", "results"),
    "report": ("report", "out"),
    "doctor": ("doctor",),
    "demo": ("demo", "--harness", "stand-in"),
    "completion": ("completion", "bash"),
    "cache": ("cache", "dir"),
}
# What is said of each beyond the places and the time that are said of all.
OWN = {
    "diff": "record: ",
    "conflicts": "kept contents: ",
    "list": "layer: project ",
    "show": "read agents/a/agent.md",
    "validate": "skipped: ",
    "dump": "layer: home ",
    "settings": "settings.local.yml: not there",
    "schema": "settings.json",
    "sync": "settings.yml: project, 1 key",
    "sources": "settings.yml: project, 1 key",
    "fingerprint": "files read, no cache asked",
    "evidence": "run_trace.json: read",
    "report": "read as the evidence of a run",
    "doctor": "settings.yml: project, 1 key",
    "cache": "settings.yml: project, 1 key",
}


@pytest.fixture
def furnished(machine):
    machine.agent("a")
    machine.settings("default_agent: a\n")
    (machine.project / ".agents/skills").mkdir()
    (machine.project / ".agents/skills/gone").symlink_to("nowhere")
    machine.put("in.txt", "one\n")
    machine.put(".claude/commands/go.md", "Go.\n")
    assert machine.run("run", "--retain-projection", "--out", "out").code == 0
    return machine


# These have nothing of their own to tell.
SILENT = {"trust", "recover", "setup", "import", "batch", "demo", "completion"}


def details(err):
    """The lines that are neither a diagnostic nor its hint."""
    return [line for line in err.splitlines() if re.match(r"outfitter: (?!error|warning|notice)", line)]


def test_every_command_is_here():
    assert set(WORDS) == set(COMMANDS) - {"run"} == set(OWN) | SILENT


@pytest.mark.parametrize("name", WORDS)
def test_every_command_says_where_it_looked_and_how_it_ended(furnished, name):
    ended = furnished.run("--verbose", *WORDS[name])
    said = details(ended.err)
    for place in (furnished.project, furnished.home, furnished.tmp):
        assert any(line.endswith(str(place)) for line in said), ended.err
    assert re.fullmatch(rf"outfitter: {name}: exit {ended.code} after \d+\.\d ms", said[-1])
    if name in OWN:
        assert any(OWN[name] in line for line in said), ended.err
    assert len(set(said)) == len(said)
    assert "Traceback" not in ended.err


@pytest.mark.parametrize("name", ["list", "show", "settings", "schema", "sources", "diff", "conflicts", "fingerprint"])
def test_it_adds_to_the_diagnostics_and_nothing_to_the_data(furnished, name):
    loud, plain = furnished.run("--verbose", *WORDS[name]), furnished.run(*WORDS[name])
    assert (loud.code, loud.out) == (plain.code, plain.out)
    assert details(plain.err) == []


def test_it_says_which_settings_are_not_there_and_what_is_skipped(furnished):
    said = furnished.run("--verbose", "list", "skills").err
    assert f"outfitter: settings: {furnished.home}/.agents/settings.yml: not there" in said
    assert f"skipped: {furnished.project}/.agents/skills/gone (nowhere): a dangling symlink" in said


def test_a_command_that_fails_tells_its_time_all_the_same(furnished):
    ended = furnished.run("--verbose", "show", "nobody")
    assert details(ended.err)[-1].startswith("outfitter: show: exit 1 after ")
    wrong = furnished.run("--verbose", "show", "--nosuch")
    assert (wrong.code, details(wrong.err)[-1].split(" after ")[0]) == (2, "outfitter: show: stopped")
