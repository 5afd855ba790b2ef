"""What a killed launcher left, finished by the next one or by `outfitter recover`, end to end (spec/50; OFTR-006.5)."""

import fcntl
import json
import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from outfitter.model.outcome import Change, Settlement
from outfitter.recovery import _summary

UNTIL_KILLED = "i=0; while [ ! -e $HOME/killed ] && [ $i -lt 1200 ]; do sleep 0.05; i=$((i+1)); done"


def killed(machine, *steps, words=("run", "a", "--harness", "claude", "--isolated")):
    """A launch whose launcher is killed once its harness has written; the harness ends by itself a little later."""
    machine.agent()
    script = [*steps, ["write", "~/ready", "1"], ["run", UNTIL_KILLED]]
    process = machine.start(*words, script=script)
    machine.wait_for(machine.home / "ready", 60)
    process.send_signal(signal.SIGKILL)
    process.wait()
    machine.put(machine.home / "killed")
    process.communicate()
    (root,) = machine.run_directories()
    wait_for_the_end(root)
    (machine.home / "ready").unlink()
    (machine.home / "killed").unlink()
    return root


def wait_for_the_end(root):
    """Until nobody holds the run's lock: the harness is gone."""
    end = time.monotonic() + 20
    with open(root / "lock") as lock:
        while time.monotonic() < end:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(0.02)
            else:
                return
    raise AssertionError("the harness lives on")


def history(machine, text='{"n":1}\n', name="s1.jsonl"):
    return machine.put(machine.home / f".claude/projects/{machine.slug()}/{name}", text, 0o600)


def journal(machine):
    (path,) = (machine.home / ".local/state/outfitter/runs").glob("*.json")
    return path


def edit(path, **more):
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}))


def test_the_next_launch_saves_what_a_killed_one_left_and_says_so_in_one_line(machine):
    session = history(machine)
    killed(machine, ["append", f"projects/{machine.slug()}/s1.jsonl", "k\n"])
    ended = machine.run("run", "a")
    assert ended.code == 0
    assert session.read_text() == '{"n":1}\nk\n'
    assert not machine.run_directories()
    assert not list((machine.home / ".local/state/outfitter/runs").glob("*.json"))
    lines = [line for line in ended.err.splitlines() if "recovered" in line]
    assert len(lines) == 1
    assert f"projects/{machine.slug()}/s1.jsonl" in lines[0]
    assert "recovered" not in machine.run("run", "a").err


def test_a_dry_run_recovers_nothing(machine):
    history(machine)
    root = killed(machine, ["append", f"projects/{machine.slug()}/s1.jsonl", "k\n"])
    machine.run("run", "a", "--dry-run")
    assert root.exists()


def test_a_replaced_link_of_pi_is_adopted_by_recovery(machine):
    durable = machine.put(machine.home / ".pi/agent/settings.json", "{}", 0o600)
    killed(machine, ["swap", "settings.json", '{"theme":"x"}'], words=("run", "a"))
    ended = machine.run("recover")
    assert ended.code == 0
    assert "settings.json" in ended.err
    assert durable.read_text() == '{"theme":"x"}'
    assert not machine.run_directories()
    assert machine.run("recover").out == "nothing to recover\n"


def test_a_run_whose_harness_lives_on_is_left_alone_and_listed(machine):
    session = history(machine)
    machine.agent()
    process = machine.start(
        "run", "a", "--harness", "claude", "--isolated",
        script=[["append", f"projects/{machine.slug()}/s1.jsonl", "k\n"], ["write", "~/ready", "1"], ["wait", 30]],
        start_new_session=True,
    )  # fmt: skip
    try:
        machine.wait_for(machine.home / "ready")
        process.kill()
        process.wait()
        listed = json.loads(machine.run("recover", "--list", "--json").out)
        assert [one["condition"] for one in listed["runs"]] == ["live"]
        assert "holds its lock" in machine.run("recover", "--list").out
        assert machine.run("recover").out == "nothing to recover\n"
        assert machine.run("run", "a").code == 0
        assert session.read_text() == '{"n":1}\n'
        assert len(machine.run_directories()) == 1
    finally:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    wait_for_the_end(*machine.run_directories())
    assert machine.run("recover").code == 0
    assert session.read_text() == '{"n":1}\nk\n'
    assert not machine.run_directories()


def test_what_changed_on_both_sides_is_kept_and_named(machine):
    session = history(machine)
    killed(machine, ["append", f"projects/{machine.slug()}/s1.jsonl", "mine\n"])
    session.write_text('{"n":1}\ntheirs\n')
    ended = machine.run("recover")
    assert session.read_text() == '{"n":1}\ntheirs\n'
    assert any(content == b'{"n":1}\nmine\n' for content in machine.kept().values())
    assert "conflict" in ended.err
    assert not machine.run_directories()


@pytest.mark.parametrize("damage", ["missing", "noise", "swapped"])
def test_without_its_baseline_a_run_is_kept_said_once_and_tried_again_on_request(machine, damage):
    session = history(machine)
    root = killed(machine, ["append", f"projects/{machine.slug()}/s1.jsonl", "k\n"])
    baseline = (root / "baseline").read_bytes()
    if damage == "missing":
        (root / "baseline").unlink()
    elif damage == "noise":
        (root / "baseline").write_bytes(b"noise")
    else:
        edit(journal(machine), baseline_digest="00" * 32)
    ended = machine.run("run", "a")
    assert ended.code == 0
    assert str(root) in ended.err
    assert str(root) not in machine.run("run", "a").err
    assert root.exists()
    assert json.loads(journal(machine).read_text())["phase"] == "unsaved"
    again = machine.run("recover", "--json")
    assert again.code == 1
    assert [one["ending"] for one in json.loads(again.out)["recovered"]] == ["unsaved"]
    (root / "baseline").write_bytes(baseline)
    if damage != "swapped":
        assert machine.run("recover").code == 0
        assert session.read_text() == '{"n":1}\nk\n'
        assert not machine.run_directories()


def test_recovery_believes_the_journal_and_not_the_run_directory(machine):
    """`run.json` lies where what harnesses run can write; a forged one changes nothing."""
    session = history(machine)
    root = killed(machine, ["append", f"projects/{machine.slug()}/s1.jsonl", "k\n"])
    copy = json.loads((root / "run.json").read_text())
    for bridge in copy["bridges"]:
        bridge["durable"] = str(machine.home / "elsewhere")
    (root / "run.json").write_text(json.dumps(copy))
    assert machine.run("recover").code == 0
    assert session.read_text() == '{"n":1}\nk\n'
    assert not (machine.home / "elsewhere").exists()


def test_a_run_directory_without_a_journal_is_left_by_launches_in_silence_and_named_by_recover(machine):
    history(machine)
    root = killed(machine, ["append", f"projects/{machine.slug()}/s1.jsonl", "k\n"])
    journal(machine).unlink()
    ended = machine.run("run", "a")
    assert ended.code == 0
    assert root.exists()
    assert str(root) not in ended.err
    ended = machine.run("recover")
    assert (ended.code, str(root) in ended.err) == (1, True), ended.err


def test_an_unreadable_journal_is_told_and_left(machine):
    runs = machine.home / ".local/state/outfitter/runs"
    machine.put(runs / "noise.json", "{")
    machine.agent()
    assert machine.run("run", "a").err == ""
    ended = machine.run("recover")
    assert ended.code == 1
    assert "noise" in ended.out
    assert "cannot be read" in ended.out
    assert (runs / "noise.json").exists()


@pytest.mark.parametrize("phase", ["preparing", "settled"])
def test_a_run_with_nothing_to_save_is_removed_in_silence(machine, phase):
    session = history(machine)
    killed(machine, ["append", f"projects/{machine.slug()}/s1.jsonl", "k\n"])
    edit(journal(machine), phase=phase)
    ended = machine.run("run", "a")
    assert ended.code == 0
    assert "recovered" not in ended.err
    assert not machine.run_directories()
    assert session.read_text() == '{"n":1}\n'


def test_recovery_never_changes_an_exit_code(machine):
    history(machine)
    root = killed(machine, ["append", f"projects/{machine.slug()}/s1.jsonl", "k\n"])
    (root / "baseline").unlink()
    assert machine.run("run", "a", "--strict", script=[["exit", 7]]).code == 7
    assert machine.run("run", "a", "--strict").code == 0


def test_a_retained_run_whose_launcher_was_killed_stays_for_diff(machine):
    session = history(machine)
    words = ("run", "a", "--harness", "claude", "--isolated", "--retain-projection")
    root = killed(machine, ["append", f"projects/{machine.slug()}/s1.jsonl", "k\n"], words=words)
    ended = machine.run("recover")
    assert ended.code == 0
    assert str(root) in ended.err
    assert session.read_text() == '{"n":1}\nk\n'
    changes = json.loads(machine.run("diff", str(root), "--json").out)["changes"]
    assert [(one["path"], one["outcome"]) for one in changes] == [(f"projects/{machine.slug()}/s1.jsonl", "bridged")]


def test_the_sweep_leaves_what_could_not_be_saved(machine):
    history(machine)
    root = killed(machine, ["append", f"projects/{machine.slug()}/s1.jsonl", "k\n"])
    (root / "baseline").unlink()
    machine.run("run", "a")
    then = time.time() - 9 * 86_400
    for folder, folders, files in os.walk(root, topdown=False):
        for name in folders + files:
            os.utime(Path(folder, name), (then, then), follow_symlinks=False)
    os.utime(root, (then, then))
    machine.run("run", "a")
    assert root.exists()


def test_what_could_be_saved_nowhere_stays_until_recover_is_asked(machine):
    """Both sides changed, and `conflicts/` cannot be made: the run directory is the only copy."""
    machine.agent()
    session = history(machine)
    machine.put(machine.home / ".local/state/outfitter/conflicts", "in the way")
    slug = f"projects/{machine.slug()}"
    script = [
        ["append", f"{slug}/s1.jsonl", "mine\n"],
        ["append", f"~/.claude/{slug}/s1.jsonl", "theirs\n"],
        ["exit", 4],
    ]
    ended = machine.run("run", "a", "--harness", "claude", "--isolated", script=script)
    (root,) = machine.run_directories()
    assert ended.code == 4
    assert str(root) in ended.err
    assert "outfitter recover" in ended.err
    assert machine.run("run", "a").code == 0
    assert root.exists(), "no launch tries again by itself"
    assert "unsaved" in machine.run("recover", "--list").out
    assert machine.run("recover").code == 1
    assert root.exists()
    (machine.home / ".local/state/outfitter/conflicts").unlink()
    assert machine.run("recover").code == 0
    assert not root.exists()
    assert b'{"n":1}\nmine\n' in machine.kept().values()
    assert session.read_text() == '{"n":1}\ntheirs\n'


def test_a_run_whose_directory_is_gone_for_good_can_be_forgotten(machine):
    root = killed(machine, ["write", "sessions/x", "1"], words=("run", "a"))
    shutil.rmtree(root)
    (run,) = json.loads(machine.run("recover", "--list", "--json").out)["runs"]
    assert run["condition"] == "gone"
    assert machine.run("recover", "--forget", "nothing").code == 2
    ended = machine.run("recover", "--forget", run["run"])
    assert (ended.code, ended.out) == (0, f"forgot {run['run']}\n"), ended.err
    assert json.loads(machine.run("recover", "--list", "--json").out)["runs"] == []


def test_forgetting_leaves_the_run_directory_as_it_is(machine):
    root = killed(machine, ["write", "odd", "1"], words=("run", "a"))
    (run,) = json.loads(machine.run("recover", "--list", "--json").out)["runs"]
    ended = machine.run("recover", "--forget", run["run"], "--json")
    assert json.loads(ended.out) == {"schema_version": 1, "forgotten": run["run"], "root": str(root)}
    assert (root / "projection/odd").read_text() == "1"


def restarted(machine, **more):
    """As after a restart that gave the temporary root's file system another device number."""
    edit(journal(machine), device=json.loads(journal(machine).read_text())["device"] + 1, **more)


@pytest.mark.parametrize("command", [("run", "a"), ("recover",)])
def test_another_device_number_after_a_restart_hinders_no_recovery(machine, command):
    session = history(machine)
    killed(machine, ["append", f"projects/{machine.slug()}/s1.jsonl", "k\n"])
    restarted(machine)
    ended = machine.run(*command)
    assert (ended.code, "recovered" in ended.err) == (0, True)
    assert session.read_text() == '{"n":1}\nk\n'
    assert not machine.run_directories()


@pytest.mark.parametrize("phase", ["preparing", "settled", "unsaved"])
def test_in_any_phase(machine, phase):
    session = history(machine)
    killed(machine, ["append", f"projects/{machine.slug()}/s1.jsonl", "k\n"])
    restarted(machine, phase=phase)
    assert machine.run("recover").code == 0
    assert session.read_text() == '{"n":1}\n' + ("k\n" if phase == "unsaved" else "")
    assert not machine.run_directories()
    assert not list((machine.home / ".local/state/outfitter/runs").glob("*.json"))


def test_a_retained_run_is_still_shown_after_a_restart(machine):
    machine.agent()
    assert machine.run("run", "a", "--retain-projection", script=[["write", "odd", "1"]]).code == 0
    restarted(machine)
    assert "odd" in machine.run("diff").out


@pytest.mark.parametrize(
    ("act", "why"),
    [
        (lambda root, _: (root / "lock").write_text(""), "its lock file is not its own"),
        (lambda root, _: (root / "lock").write_text("outfitter run 2\n"), "its lock file is not its own"),
        (lambda root, _: (root / "lock").unlink(), "its lock file is gone"),
        (lambda root, _: os.chown(root / "lock", 65534, 65534), "its lock file is not its own"),
        (
            lambda _, path: edit(path, inode=json.loads(path.read_text())["inode"] + 1),
            "its path holds another directory",
        ),
        (
            lambda root, _: (shutil.move(root, f"{root}.x"), root.symlink_to(f"{root}.x")),
            "its path is not a directory any more",
        ),
    ],
    ids=["empty lock", "another marker", "no lock", "another's lock", "inode", "link"],
)
def test_what_only_resembles_it_after_a_restart_is_left_and_named_each_time(machine, act, why):
    session = history(machine)
    root = killed(machine, ["append", f"projects/{machine.slug()}/s1.jsonl", "k\n"])
    restarted(machine)
    act(root, journal(machine))
    assert machine.run("run", "a").err == ""
    run = journal(machine).stem
    for _ in range(2):
        ended = machine.run("recover")
        assert (ended.code, ended.err.count(f"{root}: {why}")) == (1, 1), ended.err
        assert f"outfitter recover --forget {run}" in ended.err
    assert why in machine.run("recover", "--list").out
    assert (root / f"projection/projects/{machine.slug()}/s1.jsonl").read_text() == '{"n":1}\nk\n'
    assert session.read_text() == '{"n":1}\n'
    assert machine.run("recover", "--forget", run).code == 0
    assert machine.run("recover").out == "nothing to recover\n"
    assert root.exists()


@pytest.mark.parametrize("restart", [True, False])
def test_a_run_that_lost_its_lock_is_recovered_by_doing_what_is_said(machine, restart):
    session = history(machine)
    root = killed(machine, ["append", f"projects/{machine.slug()}/s1.jsonl", "k\n"])
    (root / "lock").unlink()
    if restart:
        restarted(machine)
    said = machine.run("recover").err
    command = said.partition("runs any more: ")[2].partition("; outfitter recover;")[0]
    assert os.system(command) == 0
    assert machine.run("recover").code == 0
    assert session.read_text() == '{"n":1}\nk\n'
    assert not machine.run_directories()


def test_the_baseline_shows_whose_run_it_is_after_a_restart(machine):
    session = history(machine)
    root = killed(machine, ["append", f"projects/{machine.slug()}/s1.jsonl", "k\n"])
    restarted(machine, baseline_digest="00" * 32)
    assert machine.run("recover").code == 1
    assert root.exists()
    assert session.read_text() == '{"n":1}\n'


@pytest.mark.parametrize("phase", ["preparing", "started", "settled"])
def test_the_evidence_that_a_killed_run_was_to_leave_is_said_to_be_missing(machine, phase):
    out = machine.top / "out"
    killed(machine, ["write", "odd", "1"], words=("run", "a", "--out", "../out"))
    edit(journal(machine), phase=phase)
    run = journal(machine).stem
    ended = machine.run("run", "a", "--out", str(machine.top / "other"))
    assert ended.code == 0
    assert ended.err.count(f"the killed run {run} (a, pi) left no evidence in {out}: ") == 1
    assert not out.exists()
    assert "no evidence" not in machine.run("run", "a").err


def test_a_run_that_wrote_its_evidence_and_could_not_save_is_not_said_to_lack_it(machine):
    machine.agent()
    ended = machine.run("run", "a", "--out", str(machine.top / "out"), script=[["write", "../x", "1"]])
    assert ended.code == 0
    assert machine.run("evidence", "verify", str(machine.top / "out")).code == 0
    ended = machine.run("recover")
    assert (ended.code, "no evidence" in ended.err) == (1, False)


def test_a_journal_without_a_place_for_evidence_is_read_all_the_same(machine):
    """Journals of versions that did not note it."""
    killed(machine, ["write", "odd", "1"], words=("run", "a"))
    value = json.loads(journal(machine).read_text())
    del value["out"]
    journal(machine).write_text(json.dumps(value))
    assert machine.run("recover").code == 0
    assert not machine.run_directories()


def test_the_closing_line_counts_files_and_not_the_directories_that_hold_them():
    changes = [
        Change(path, "added", "declared", "debug/", "symlink", outcome)
        for path, outcome in (
            ("debug", "conflict"),
            ("debug/d1.txt", "conflict"),
            ("skills", "adopted"),
            ("skills/x", "adopted"),
        )
    ]
    assert _summary(Settlement(tuple(changes))) == "saved skills/x; 1 in conflict, kept: outfitter conflicts"
