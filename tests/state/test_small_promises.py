"""Small things that a run says or keeps to itself (docs/safety.md)."""

import json
import os
import stat

import pytest

from outfitter.edges.console import LONGEST_WARNING, Console
from outfitter.model.request import Notice

CLAUDE = ("run", "a", "--harness", "claude", "--isolated")


@pytest.mark.parametrize("place", ["tmp", "home/.local/state/outfitter", "home/.local/state/outfitter/runs"])
def test_a_directory_in_which_any_user_can_remove_our_files_is_named(machine, place):
    machine.agent()
    folder = machine.top / place
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o777)
    ended = machine.run("run", "a")
    assert (ended.code, ended.err.count("any user can remove")) == (0, 1)
    assert f"{folder}: any user can remove or replace files in it (mode 777)" in ended.err
    folder.chmod(0o1777)
    assert machine.run("run", "a").err == ""


@pytest.mark.parametrize("harness", ["pi", "claude", "codex"])
def test_a_model_name_that_begins_with_a_dash_never_reaches_the_harness(machine, harness):
    machine.agent(model="--dangerous")
    ended = machine.run("run", "a", "--harness", harness)
    assert "--dangerous" not in ended.argv
    assert "begins with a dash" in ended.err
    assert machine.run("run", "a", "--harness", harness, "--strict").code != 0


@pytest.mark.parametrize(("place", "told"), [("../elsewhere", 1), ("~/.claude/mine", 0), ("~/Public", 1)])
def test_transcripts_outside_the_native_directory_are_named(machine, place, told):
    machine.agent(controls={"session_directory": place})
    ended = machine.run(*CLAUDE)
    assert (ended.code, ended.err.count("transcripts are kept in")) == (0, told), ended.err


def test_a_token_in_the_query_of_an_address_is_never_printed(machine):
    machine.settings('sources: [{uri: "https://127.0.0.1:1/x?token=hush"}]\n')
    for words in (("sync",), ("sync", "--json"), ("sources",), ("list",), ("doctor",)):
        ended = machine.run(*words)
        assert "hush" not in ended.out + ended.err, words


def test_what_is_kept_of_a_probe_is_private_under_any_umask(machine):
    machine.agent()
    before = os.umask(0)
    try:
        machine.run("run", "a", "--harness", "claude")
    finally:
        os.umask(before)
    kept = [path for path in (machine.home / ".agents/cache/probes").iterdir() if path.is_file()]
    assert kept
    assert {stat.S_IMODE(path.stat().st_mode) for path in kept} == {0o600}


@pytest.mark.parametrize("text", ["x" * 5000, "\n" * 700, "é\x1b" * 400])
def test_a_warning_is_one_line_of_five_hundred_characters_that_keeps_its_end(capsys, text):
    Console(False, False).say(Notice("warning", "c", f"begin {text} it stays in /tmp/x"))
    line = capsys.readouterr().err
    assert (line.count("\n"), len(line) <= LONGEST_WARNING + 1) == (1, True)
    assert line.startswith("outfitter: warning: begin ")
    assert line.endswith(" it stays in /tmp/x\n")
    assert json.dumps(line)
