"""What a harness leaves in its run directory outside the projection is found and kept, wherever it is (docs/safety.md, promise 4)."""

import json
import os
import shutil

import pytest

from tests.state.test_runs import age

CLAUDE = ("run", "a", "--harness", "claude", "--isolated")
MOVE = 'mv "$CLAUDE_CONFIG_DIR" "$CLAUDE_CONFIG_DIR{}"'


@pytest.fixture
def ready(machine):
    machine.agent()
    machine.put(machine.home / f".claude/projects/{machine.slug()}/s.jsonl", "a\n", 0o600)
    return machine


def session(machine, root):
    return root / f"projects/{machine.slug()}/s.jsonl"


def phase(machine):
    (path,) = (machine.home / ".local/state/outfitter/runs").glob("*.json")
    return json.loads(path.read_text())["phase"]


@pytest.mark.parametrize(
    ("act", "place"),
    [
        (MOVE.format(".old"), "projection.old"),
        (MOVE.format("/../.hidden"), ".hidden"),
        (MOVE.format(".old") + '; mkdir "$CLAUDE_CONFIG_DIR"', "projection.old"),
        (MOVE.format(".old") + '; mkdir "$CLAUDE_CONFIG_DIR"; echo 1 > "$CLAUDE_CONFIG_DIR/x"', "projection.old"),
        (MOVE.format(".old") + '; ln -s projection.old "$CLAUDE_CONFIG_DIR"', "projection.old"),
        (MOVE.format(".old") + '; echo 1 > "$CLAUDE_CONFIG_DIR"', "projection.old"),
        ('cd "$CLAUDE_CONFIG_DIR/.."; mkdir -p b/c; mv projection b/c/p', "b"),
    ],
)
def test_a_projection_that_was_moved_is_found_and_the_run_stays_until_it_is_looked_after(ready, act, place):
    wrote = ["append", f"projects/{ready.slug()}/s.jsonl", "mine\n"]
    ended = ready.run(*CLAUDE, script=[wrote, ["run", act], ["exit", 5]])
    (root,) = ready.run_directories()
    assert (ended.code, phase(ready)) == (5, "unsaved")
    assert ended.err.count(f"still in {root}/{place}") == 1
    assert "is gone" not in ended.err
    assert "outfitter recover" in ended.err
    assert session(ready, ready.home / ".claude").read_text() == "a\n"
    again = ready.run("recover")
    assert (again.code, str(root / place) in again.err) == (1, True), "said again each time"
    assert [path.read_text() for path in root.rglob("s.jsonl")] == ["a\nmine\n"]
    shutil.rmtree(root / place)
    assert ready.run("recover").code == 0
    assert not ready.run_directories()


def test_one_that_is_moved_back_is_saved_as_after_any_run(ready):
    wrote = ["append", f"projects/{ready.slug()}/s.jsonl", "mine\n"]
    ready.run(*CLAUDE, script=[wrote, ["run", MOVE.format(".old")]])
    (root,) = ready.run_directories()
    os.rename(root / "projection.old", root / "projection")
    assert ready.run("recover").code == 0
    assert session(ready, ready.home / ".claude").read_text() == "a\nmine\n"
    assert not ready.run_directories()


def test_one_that_was_moved_as_it_was_holds_nothing(ready):
    ended = ready.run(*CLAUDE, script=[["run", MOVE.format(".old")]])
    assert (ended.code, "is gone" in ended.err) == (0, True)
    assert not ready.run_directories()


@pytest.mark.parametrize("words", [CLAUDE, ("run", "a")], ids=["claude", "pi"])
def test_a_file_beside_the_projection_is_found(ready, words):
    ended = ready.run(*words, script=[["write", "../notes/n.txt", "1"], ["write", "../top.txt", "22"]])
    (root,) = ready.run_directories()
    assert (ended.code, phase(ready)) == (0, "unsaved")
    assert f"written beside the projection: not saved, still in {root}/notes (1 file), {root}/top.txt" in ended.err
    assert (root / "notes/n.txt").read_text() == "1"
    assert (root / "top.txt").read_text() == "22"


@pytest.mark.parametrize(
    "script",
    [
        [["folder", "../projection.lock"]],
        [["pipe", "../pipe"], ["link", "../link", "/etc/passwd"], ["write", "../empty/file", ""]],
        [["write", "../run.json", "forged"], ["write", "../baseline", "forged"], ["write", "../.run.x.tmp", "cut"]],
    ],
    ids=["lock directory", "nothing in them", "names of ours"],
)
def test_what_holds_nothing_and_what_is_ours_keeps_no_run(ready, script):
    ended = ready.run("run", "a", script=script)
    assert (ended.code, ended.err) == (0, "")
    assert not ready.run_directories()


def test_a_killed_run_keeps_it_too(ready):
    act = MOVE.format(".2") + "; kill -9 $(awk '{print $4}' /proc/$PPID/stat)"
    ready.run(*CLAUDE, script=[["append", f"projects/{ready.slug()}/s.jsonl", "mine\n"], ["run", act]])
    (root,) = ready.run_directories()
    ended = ready.run("recover")
    assert (ended.code, f"{root}/projection.2" in ended.err) == (1, True)
    assert session(ready, root / "projection.2").read_text() == "a\nmine\n"


def test_a_retained_run_says_it_and_no_sweep_takes_it(ready):
    ended = ready.run("run", "a", "--retain-projection", script=[["write", "../n.txt", "1"]])
    (root,) = ready.run_directories()
    assert f"{root}/n.txt" in ended.err
    assert phase(ready) == "unsaved"
    age(root)
    ready.run("run", "a")
    assert (root / "n.txt").read_text() == "1"
