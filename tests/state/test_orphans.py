"""A run without a journal: its directory says itself that it may hold unsaved content, and stays (docs/safety.md, promise 4)."""

import json
import os
import shutil
import time

import pytest

from tests.state.test_recovery import wait_for_the_end

CLAUDE = ("run", "a", "--harness", "claude", "--isolated")
ONLY = "projects/-other/o.jsonl"


def without_state(machine):
    """A state directory that no journal can be written to: a file is in its place."""
    shutil.rmtree(machine.home / ".local", ignore_errors=True)
    machine.put(machine.home / ".local/state", "")


def with_state(machine):
    os.unlink(machine.home / ".local/state")


def age(root):
    old = time.time() - 9 * 86400
    for path in [*root.rglob("*"), root]:
        os.utime(path, (old, old), follow_symlinks=False)


@pytest.fixture
def orphan(machine):
    """(machine, run directory, run id) of a run that could save one transcript nowhere and write no journal."""
    machine.agent()
    machine.put(machine.home / f".claude/{ONLY}", "durable\n")
    without_state(machine)
    ended = machine.run(*CLAUDE, script=[["write", ONLY, "only copy\n"]])
    (root,) = machine.run_directories()
    run = json.loads((root / "run.json").read_text())["run_id"]
    assert ended.code == 0
    assert f"it stays in {root}\n" in ended.err
    assert f"then: outfitter recover --adopt {run}; or take what you need" in ended.err, ended.err
    return machine, root, run


def test_the_sweep_spares_it_for_ever(orphan):
    machine, root, _ = orphan
    for _ in range(2):
        age(root)
        assert machine.run("run", "a").code == 0
        assert (root / "projection" / ONLY).read_text() == "only copy\n"


def test_recover_names_it_and_so_do_the_list_and_doctor(orphan):
    machine, root, run = orphan
    for _ in range(2):
        ended = machine.run("recover")
        assert (ended.code, str(root) in ended.err, f"recover --forget {run}" in ended.err) == (1, True, True), (
            ended.err
        )
    assert f"{run}  not touched: its run directory may hold unsaved files" in machine.run("recover", "--list").out
    listed = json.loads(machine.run("recover", "--list", "--json").out)["runs"]
    assert [(one["run"], one["condition"], one["root"]) for one in listed] == [(run, "orphan", str(root))]
    doctor = machine.run("doctor").out
    assert "runs: 1 without a journal\n" in doctor
    assert str(root) in doctor


def test_forgotten_it_is_left_to_the_sweep(orphan):
    machine, root, run = orphan
    assert machine.run("recover", "--forget", run).code == 0
    assert machine.run("recover").out == "nothing to recover\n"
    assert root.exists()
    age(root)
    machine.run("run", "a")
    assert not root.exists()


def test_adopted_it_is_recovered_as_any_other(orphan):
    machine, root, run = orphan
    refused = machine.run("recover", "--adopt", run)
    assert (refused.code, "its journal cannot be written" in refused.err) == (1, True), refused.err
    with_state(machine)
    ended = machine.run("recover", "--adopt", run)
    assert ended.code == 0, ended.err
    assert b"only copy\n" in machine.kept().values()
    assert not root.exists()
    assert machine.run("recover", "--adopt", run).code == 2


def test_it_is_not_believed_unasked(orphan):
    machine, root, _ = orphan
    with_state(machine)
    (root / "projection/projects/-p").mkdir()
    (root / "projection/projects/-p/forged.jsonl").write_text("x")
    machine.run("run", "a")
    assert machine.run("recover").code == 1
    assert not (machine.home / ".claude/projects/-p").exists()


def test_a_killed_run_whose_journal_was_removed_meanwhile_stays(machine):
    machine.agent()
    kill = "rm -rf ~/.local/state; kill -9 $(awk '{print $4}' /proc/$PPID/stat)"
    machine.run(*CLAUDE, script=[["write", ONLY, "mine\n"], ["run", kill]])
    (root,) = machine.run_directories()
    wait_for_the_end(root)
    age(root)
    machine.run("run", "a")
    run = json.loads((root / "run.json").read_text())["run_id"]
    assert machine.run("recover").code == 1
    assert machine.run("recover", "--adopt", run).code == 0
    assert (machine.home / f".claude/{ONLY}").read_text() == "mine\n"


def test_without_a_copy_of_its_journal_it_stays_too_and_is_known_by_its_name(orphan):
    machine, root, _ = orphan
    (root / "run.json").write_text("{}")
    age(root)
    machine.run("run", "a")
    ended = machine.run("recover")
    assert (ended.code, f"recover --forget {root.name}" in ended.err) == (1, True), ended.err
    assert machine.run("recover", "--adopt", root.name).code == 1
    assert machine.run("recover", "--forget", root.name).code == 0
    assert machine.run("recover").code == 0
