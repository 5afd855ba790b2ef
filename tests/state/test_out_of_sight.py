"""What cannot be looked at after the harness ended stops nothing else, and what was moved is not gone (docs/safety.md)."""

import errno
import json
import os
import shutil
import subprocess

import pytest
from attrs import evolve

from outfitter.host import Runs, Trees
from tests.effects import fake
from tests.machines.launching import SCENES, go, make
from tests.state.test_field_cases import open_machine, other_uid, run_as_nobody  # noqa: F401

CLAUDE = ("run", "a", "--harness", "claude", "--isolated")
LOGIN = '{"claudeAiOauth": {"accessToken": "%s", "refreshToken": "r"}}'
# A Claude Code that appends to a transcript, refreshes its login, does what it is told and exits 3.
HARNESS = """#!/bin/sh
case "$*" in *--help*) echo "--plugin-dir --mcp-config --system-prompt-file --append-system-prompt-file --settings"; exit;; esac
cd "$CLAUDE_CONFIG_DIR"
mkdir -p projects/-p
echo run > projects/-p/s.jsonl
echo '{"claudeAiOauth": {"accessToken": "new", "refreshToken": "s"}}' > new
mv new .credentials.json
%s
exit 3
"""


def refreshing(machine, act):
    machine.put(machine.bin / "claude", HARNESS % act, 0o755)
    machine.put(machine.home / ".claude/.credentials.json", LOGIN % "old", 0o600)
    machine.put(machine.home / ".claude/projects/-p/old.jsonl", "old\n")


def login(machine):
    return json.loads((machine.home / ".claude/.credentials.json").read_text())["claudeAiOauth"]["accessToken"]


@other_uid
@pytest.mark.parametrize(
    "act", ["chmod 000 $HOME/.claude/projects", "chmod 000 $HOME/.claude/projects/-p", "chmod 000 ."]
)
def test_a_directory_that_cannot_be_listed_stops_nothing_beside_it(open_machine, act):  # noqa: F811
    machine = open_machine
    refreshing(machine, act)
    code, err = run_as_nobody(machine, *CLAUDE)
    assert (code, login(machine)) == (3, "new"), err
    os.chmod(machine.home / ".claude/projects", 0o755)
    there = [
        *machine.kept().values(),
        *(path.read_bytes() for path in machine.home.glob(".claude/projects/-p/s.jsonl")),
    ]
    assert b"run\n" in there, err


@other_uid
@pytest.mark.parametrize("act", ["chmod 000 projects", "chmod -R 000 .", "chmod 000 ..", "chmod 000 .. ../lock"])
def test_what_cannot_be_read_in_a_run_directory_is_named_and_saved_after_doing_what_is_said(open_machine, act):  # noqa: F811
    machine = open_machine
    refreshing(machine, act)
    code, err = run_as_nobody(machine, *CLAUDE)
    assert code == 3, err
    for root in machine.run_directories():
        assert str(root) in err
        subprocess.run(["chmod", "-R", "u+rwX", root], check=True)
        code, err = run_as_nobody(machine, "recover")
        assert code == 0, err
    assert (login(machine), machine.run_directories()) == ("new", [])
    assert (machine.home / ".claude/projects/-p/s.jsonl").read_text() == "run\n"


@pytest.mark.parametrize("number", [errno.EIO, errno.EMFILE, errno.ESTALE])
@pytest.mark.parametrize("effect", ["scan", "look_again"])
def test_a_refused_look_changes_no_exit_code_and_loses_nothing(tmp_path, effect, number):
    scene = SCENES["claude"]
    place = make(tmp_path / "m", scene)
    calls = []

    def refusing(host):
        def refuse(*given):
            calls.append(effect)
            if effect == "look_again" or len(calls) == 2:
                raise OSError(number, os.strerror(number), given[0])
            return host.trees.scan(*given)

        return evolve(host, trees=fake(Trees, host.trees, **{effect: refuse}))

    report = go(place, scene, refusing)
    assert calls
    assert report.ended.code == 0
    go(place, scene, script=[])
    assert b'"new"' in (place.home / ".claude/.credentials.json").read_bytes()
    assert (place.home / f".claude/projects/{place.slug}/s4.jsonl").exists()
    assert place.leftovers() == []


@pytest.mark.parametrize("times", [1, 2])
def test_what_is_beside_a_projection_is_looked_for_twice_and_then_keeps_the_run(tmp_path, times):
    scene = SCENES["pi"]
    place = make(tmp_path / "m", scene)
    left = [errno.EIO] * times

    def refusing(host):
        def strays(root):
            if left:
                raise OSError(left.pop(), "Input/output error", root)
            return host.runs.strays(root)

        return evolve(host, runs=fake(Runs, host.runs, strays=strays))

    report = go(place, scene, refusing, script=[["write", "../beside", "mine"]])
    assert report.ended.code == 0
    codes = [notice.code for notice in report.settlement.notices]
    assert ("beside" if times == 1 else "not-looked-through") in codes
    assert b"mine" in [path.read_bytes() for path in place.tmp.glob("outfitter-*/beside")]


@pytest.mark.parametrize("what", ["$TMPDIR", "$(dirname $PWD)"], ids=["temporary root", "run directory"])
def test_a_run_directory_that_was_moved_is_named_and_saved_once_it_is_back(machine, what):
    machine.agent()
    machine.put(machine.home / ".claude/projects/-p/old.jsonl", "old\n")
    move = f"cd $CLAUDE_CONFIG_DIR; at={what}; cd /; mv $at $at.away"
    ended = machine.run(*CLAUDE, script=[["write", "projects/-p/s.jsonl", "run\n"], ["run", move]])
    assert ended.code == 0
    (away,) = [path for path in (machine.top, machine.top / "tmp") for path in path.glob("*.away")]
    assert "the run directory was moved while the harness ran: " in ended.err
    assert str(away) in ended.err
    (machine.top / "tmp").mkdir(exist_ok=True)
    machine.run("run", "a")
    for _ in range(2):
        ended = machine.run("recover")
        assert (ended.code, "its directory is not there" in ended.err) == (1, True), ended.err
    back = str(away).removesuffix(".away")
    shutil.rmtree(back, ignore_errors=True)
    os.rename(away, back)
    ended = machine.run("recover")
    assert ended.code == 0, ended.err
    assert (machine.home / ".claude/projects/-p/s.jsonl").read_text() == "run\n"
    assert not machine.run_directories()


def test_a_run_directory_that_was_removed_is_gone(machine):
    machine.agent()
    ended = machine.run(
        *CLAUDE, script=[["write", "projects/-p/s.jsonl", "run\n"], ["run", "cd /; rm -rf $TMPDIR/outfitter-a-*"]]
    )
    assert (ended.code, "is gone" in ended.err) == (0, True), ended.err
    assert machine.run("recover").out == "nothing to recover\n"
