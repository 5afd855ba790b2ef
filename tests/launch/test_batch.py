"""A batch that is killed, interrupted or started from an odd place (seed 004, spec/70)."""

import fcntl
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

WAIT = [["run", 'echo began >> "$HOME/began"; sleep 60']]
# From the stand-in's shell: the stand-in's parent is the launcher, whose parent is the batch.
KILL_BOTH = "l=$(awk '{print $4}' /proc/$PPID/stat); b=$(awk '{print $4}' /proc/$l/stat); kill -9 $b $l; sleep 60"
COUNT = [["run", 'read n; echo "$n" >> "$HOME/did"']]


def tasks(machine, count=3):
    machine.agent("a")
    for number in range(count):
        machine.put(f"tasks/t{number}.md", f"{number}\n")
    return ("batch", "tasks", "--agent", "a", "--out", str(machine.top / "results"), "--json")


def rows(text):
    return [(row["outcome"], row["reason"]) for row in json.loads(text)["inputs"]]


def test_what_an_interrupt_ended_is_run_again(machine):
    words = tasks(machine)
    process = machine.start(*words, script=WAIT)
    machine.wait_for(machine.home / "began")
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert rows(out) == [("skipped", "interrupted"), ("skipped", "not reached"), ("skipped", "not reached")]
    (kept,) = (machine.top / "results/quarantine").iterdir()
    assert json.loads((kept / "reason.json").read_text())["why"] == "the batch was interrupted"
    again = machine.run(*words, script=COUNT)
    assert (again.code, json.loads(again.out)["counts"]["succeeded"]) == (0, 3)


def test_a_killed_batch_keeps_its_root_until_its_last_attempt_has_ended(machine):
    words = tasks(machine)
    gate = 'read n; echo "$n" >> "$HOME/did"; while ! [ -e "$HOME/go" ]; do sleep 0.05; done'
    process = machine.start(*words, script=[["run", gate]])
    machine.wait_for(machine.home / "did")
    process.kill()
    process.wait()
    refused = machine.run(*words, script=COUNT)
    assert (refused.code, "in use" in refused.err, refused.seen) == (1, True, None)
    (machine.home / "go").touch()
    end = time.monotonic() + 30
    while (again := machine.run(*words, script=COUNT)).code:
        assert time.monotonic() < end, again.err
    assert json.loads(again.out)["counts"]["succeeded"] == 3
    assert sorted((machine.home / "did").read_text().split()) == ["0", "1", "2"]


def test_what_hangs_on_after_a_killed_batch_is_named_and_ends_as_is_said(machine):
    words = tasks(machine, 1)
    process = machine.start(*words, script=WAIT)
    machine.wait_for(machine.home / "began")
    live = machine.run(*words[:-1])
    assert (live.code, f"{process.pid} (outfitter batch)" in live.err) == (1, True), live.err
    assert "kill" not in live.err
    process.kill()
    process.wait()
    refused = machine.run(*words[:-1])
    (group,) = re.findall(r"or: kill -- -(\d+)$", refused.err, re.MULTILINE)
    assert f"process group {group} (outfitter run)" in refused.err
    assert int(group) != process.pid
    os.killpg(int(group), signal.SIGTERM)
    end = time.monotonic() + 30
    while (again := machine.run(*words, script=COUNT)).code and "in use" in again.err:
        assert time.monotonic() < end, again.err
    assert rows(again.out) == [("failed", "signal 15")]
    assert not machine.run_directories()


def test_the_harness_of_a_killed_launcher_of_a_killed_batch_is_named(machine):
    words = tasks(machine, 1)
    process = machine.start(*words, script=[["run", KILL_BOTH]])
    assert process.wait(60) == -signal.SIGKILL
    refused = machine.run(*words[:-1])
    (group,) = re.findall(r"or: kill -- -(\d+)$", refused.err, re.MULTILINE)
    assert f"process group {group} (outfitter run)" in refused.err
    os.killpg(int(group), signal.SIGKILL)
    end = time.monotonic() + 30
    while (again := machine.run(*words, script=COUNT)).code and "in use" in again.err:
        assert time.monotonic() < end, again.err
    assert rows(again.out) == [("succeeded", "")], "its pair was never written: it runs again"


def test_a_recorded_process_that_has_ended_is_not_named(machine):
    """A record of a process that ended, of another machine, or that is not one, leaves the general message."""
    words = tasks(machine, 1)
    ended = subprocess.Popen(["true"], start_new_session=True)
    ended.wait()
    output = machine.put(machine.top / "results/output/key.pid", f"{ended.pid} {platform.node()}\n").parent
    (output / "other.pid").write_text(f"{os.getpid()} another-host\n")
    (output / "torn.pid").write_text("12")
    marker = machine.put(machine.top / "results/batch.json", "{}")
    with open(marker) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        refused = machine.run(*words[:-1])
    assert "by another batch, or by an attempt that a killed batch left running" in refused.err
    assert "or: kill" not in refused.err


def test_a_finished_batch_leaves_no_process_recorded(machine):
    words = tasks(machine)
    assert machine.run(*words, script=COUNT).code == 0
    assert list((machine.top / "results").rglob("*.pid")) == []


def test_the_settings_choose_the_harness(machine):
    machine.settings("default_harness: claude\n")
    ended = machine.run(*tasks(machine, 1))
    assert (ended.code, json.loads(ended.out)["harness"]) == (0, "claude")
    machine.settings("default_harness: cluade\n")
    ended = machine.run("batch", "tasks", "--agent", "a", "--out", str(machine.top / "other"))
    assert (ended.code, "cluade" in ended.err) == (1, True)
    assert not (machine.top / "other").exists()


def test_modules_in_the_working_directory_are_never_imported(machine):
    words = tasks(machine, 1)
    for name in ("outfitter/__init__.py", "json.py", "signal.py"):
        machine.put(name, "raise SystemExit('shadowed')\n")
    command = [sys.executable, "-P", "-m", "outfitter", *words]
    ended = subprocess.run(
        command, cwd=machine.project, env=machine.env(), capture_output=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stdout


def test_a_selection_of_nothing_is_no_success(machine):
    words = tasks(machine, 0)
    machine.put("tasks/.hidden", "x")
    ended = machine.run(*words)
    assert (ended.code, "select inputs" in ended.err, ended.out) == (1, True, "")


def test_an_attempt_that_never_started_says_why_in_words(machine):
    """The agent goes while the batch runs: what was checked at the start holds no more."""
    words = tasks(machine, 2)
    ended = machine.run(*words, script=[["run", f"rm -r '{machine.project}/.agents'"]])
    assert rows(ended.out) == [("succeeded", ""), ("failed", "composition-failed (125)")]


@pytest.mark.parametrize(
    ("settings", "agent", "harness", "said"),
    [
        ("", "nobody", "pi", "agent 'nobody' not found"),
        ("state_persistence: {nosuch: warn}\n", "a", "pi", "nosuch"),
        ("", "a", "codex", "codex"),
    ],
    ids=["agent", "settings", "harness"],
)
def test_what_would_stop_every_attempt_is_said_once_before_any_begins(machine, settings, agent, harness, said):
    words = tasks(machine)
    machine.settings(settings)
    (machine.bin / "codex").unlink()
    words = (*words[:3], agent, *words[4:6], "--harness", harness)
    alone = machine.run("run", agent, "--harness", harness)
    assert alone.code >= 122
    ended = machine.run(*words, script=COUNT)
    assert (ended.code, ended.out, ended.seen) == (1, "", None)
    assert ended.err == alone.err
    assert said in ended.err
    assert not (machine.top / "results").exists(), "the root is free for the batch that was meant"
    machine.settings("")
    assert machine.run(*words[:3], "a", *words[4:6], script=COUNT).code == 0


def test_a_root_that_was_there_stays_and_is_free_again(machine):
    words = tasks(machine, 1)
    (machine.top / "results").mkdir(mode=0o750)
    assert machine.run(*words[:3], "nobody", *words[4:]).code == 1
    assert list((machine.top / "results").iterdir()) == []
    assert (machine.top / "results").stat().st_mode & 0o777 == 0o750
    assert machine.run(*words, script=COUNT).code == 0


def test_a_batch_with_nothing_left_to_run_asks_for_no_agent(machine):
    words = tasks(machine, 1)
    assert machine.run(*words, script=COUNT).code == 0
    shutil.rmtree(machine.project / ".agents")
    again = machine.run(*words)
    assert (again.code, json.loads(again.out)["counts"]["succeeded"]) == (0, 1)


def test_of_batches_that_begin_at_once_one_has_the_root(machine):
    words = tasks(machine, 1)
    gate = [["run", 'echo x >> "$HOME/did"; while ! [ -e "$HOME/go" ]; do sleep 0.05; done']]
    started = [machine.start(*words, script=gate) for _ in range(4)]
    machine.wait_for(machine.home / "did")
    end = time.monotonic() + 30
    while sum(process.poll() is None for process in started) > 1:
        assert time.monotonic() < end, "more than one batch works in the root"
        time.sleep(0.05)
    (machine.home / "go").touch()
    ended = [(process.communicate(timeout=60)[1].decode(), process.returncode) for process in started]
    assert sorted(code for _, code in ended) == [0, 1, 1, 1]
    assert all("in use" in err for err, code in ended if code)
    assert (machine.home / "did").read_text() == "x\n"


def test_why_an_attempt_was_ended_is_said_again_when_the_batch_is_resumed(machine):
    words = (*tasks(machine, 1), "--timeout", "1")
    for _ in range(2):
        ended = machine.run(*words, script=[["run", "sleep 60"]])
        (row,) = json.loads(ended.out)["inputs"]
        assert (row["outcome"], row["reason"], row["exit_code"]) == ("failed", "timed out after 1 s", 143)
        (machine.top / "results/batch_result.json").unlink()
    (pair,) = (machine.top / "results/attempts").iterdir()
    shutil.rmtree(pair)
    for _ in range(2):
        ended = machine.run(*words, script=[["exit", 3]])
        assert rows(ended.out) == [("failed", "exit 3")], "the reason of an attempt that counts no more is gone"
