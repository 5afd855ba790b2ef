"""A run that stays because something of it could not be saved: each time `recover` says which, why and what to do, and that works."""

import json
import os
import re
import subprocess

import pytest

from tests.state.test_field_cases import open_machine, run_as_nobody  # noqa: F401

CLAUDE = ("run", "a", "--harness", "claude", "--isolated")


def run_of(machine):
    (path,) = (machine.home / ".local/state/outfitter/runs").glob("*.json")
    assert json.loads(path.read_text())["phase"] == "unsaved"
    return path.stem


def over(machine):
    return not machine.run_directories() and not list((machine.home / ".local/state/outfitter/runs").glob("*.json"))


@pytest.mark.parametrize(
    ("words", "path", "script"),
    [
        (CLAUDE, ".credentials.json", [["remove", ".credentials.json"], ["write", ".credentials.json/inner", "x"]]),
        (CLAUDE, ".claude.json", [["remove", ".claude.json"], ["write", ".claude.json/inner", "x"]]),
        (
            ("run", "a"),
            "settings.json",
            [["remove", "settings.json"], ["write", "store/x", "1"], ["link", "settings.json", "store/x"]],
        ),
    ],
    ids=["credentials", "account", "link"],
)
def test_what_can_be_copied_by_no_rule_is_named_until_it_is_taken_from_there(machine, words, path, script):
    machine.agent()
    machine.put(machine.home / ".claude/.credentials.json", '{"claudeAiOauth": {"refreshToken": "1"}}', 0o600)
    machine.put(machine.home / ".claude.json", '{"oauthAccount": {"id": 1}}', 0o600)
    ended = machine.run(*words, script=script)
    (root,) = machine.run_directories()
    run = run_of(machine)
    hint = f"move what you need out of {root}/projection/{path}, and remove it there, then: outfitter recover\n"
    assert (ended.code, hint in ended.err, f"recover --forget {run}" in ended.err) == (0, True, True), ended.err
    for _ in range(2):
        again = machine.run("recover")
        assert (again.code, hint in again.err, f"the run {run} (a, " in again.err) == (1, True, True), again.err
    assert machine.run("run", "a").err == "", "a launch says no more of it"
    place = root / "projection" / path
    os.rename(place, machine.top / "taken")
    ended = machine.run("recover")
    assert (ended.code, f"the run {run}" in ended.err, over(machine)) == (0, True, True), ended.err


def test_what_cannot_be_read_is_saved_after_doing_what_is_said(open_machine):  # noqa: F811
    machine = open_machine
    machine.put(
        machine.bin / "pi",
        '#!/bin/sh\necho \'{"a":1}\' > "$PI_CODING_AGENT_DIR/new"\nchmod 0 "$PI_CODING_AGENT_DIR/new"\n'
        'mv "$PI_CODING_AGENT_DIR/new" "$PI_CODING_AGENT_DIR/settings.json"\n',
        0o755,
    )
    code, err = run_as_nobody(machine, "run", "a")
    (root,) = machine.run_directories()
    run = run_of(machine)
    command = f"chmod -R u+rwX {root}/projection"
    assert (code, f"  hint: {command}, then: outfitter recover\n" in err) == (0, True), err
    for _ in range(2):
        code, err = run_as_nobody(machine, "recover")
        assert (code, command in err, f"the run {run} (a, pi)" in err) == (1, True, True), err
    subprocess.run(command, shell=True, check=True)
    code, err = run_as_nobody(machine, "recover")
    assert (code, over(machine)) == (0, True), err
    assert (machine.home / ".pi/agent/settings.json").read_text() == '{"a":1}\n'


def test_what_holds_nothing_keeps_no_run(machine):
    machine.agent()
    machine.put(machine.home / ".claude/.credentials.json", '{"claudeAiOauth": {"refreshToken": "1"}}', 0o600)
    ended = machine.run(*CLAUDE, script=[["remove", ".credentials.json"], ["pipe", ".credentials.json"]])
    assert (ended.code, "fifo" in ended.err, over(machine)) == (0, True, True)


def test_one_that_nothing_can_mend_is_looked_after_by_hand(machine):
    machine.agent()
    kill = "rm ../baseline; kill -9 $(awk '{print $4}' /proc/$PPID/stat)"
    machine.run("run", "a", script=[["write", "odd", "1"], ["run", kill]])
    (root,) = machine.run_directories()
    for _ in range(2):
        ended = machine.run("recover")
        assert (ended.code, f"{root}/baseline: " in ended.err) == (1, True), ended.err
    (run,) = set(re.findall(r"outfitter recover --forget (\S+)$", ended.err, re.MULTILINE))
    ended = machine.run("recover", "--forget", run)
    assert (ended.code, "younger than a week" in ended.out, root.exists()) == (0, True, True)
    assert machine.run("recover").out == "nothing to recover\n"
