"""The real programs under a real shell on a terminal: stopped, continued, interrupted; and the demo with each (spec/50, spec/80)."""

import json
import shlex
import subprocess
import sys
import termios
from contextlib import contextmanager

import pexpect
import pytest


def state(shell):
    """The states of the shell's job, the launcher's first: processes of one group, so that no probe is among them."""
    found = []
    for pid in _children(shell.pid):
        seen = [_stat(process) for process in (pid, *_children(pid))]
        found += [status for status, _, group in (words[:3] for words in seen if words) if group == seen[0][2]]
    return found


def _stat(pid):
    """State, parent, group and more; nothing of a process that is gone."""
    return _read(f"/proc/{pid}/stat").rpartition(")")[2].split()


def _children(pid):
    return _read(f"/proc/{pid}/task/{pid}/children").split()


def _read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


def has_screen(shell):
    """The harness runs and reads keys itself: it took the terminal out of line mode."""
    return len(state(shell)) == 2 and not termios.tcgetattr(shell.child_fd)[3] & termios.ICANON


@contextmanager
def in_shell(real, *words):
    """An interactive shell that runs `outfitter run a`; where the block fails, what was on the screen is shown."""
    env = real.env(PI_OFFLINE="1", PS1="READY> ", HISTFILE="", ANTHROPIC_AUTH_TOKEN="made-up")
    env["ANTHROPIC_BASE_URL"] = real.server.url
    shell = pexpect.spawn(
        "/bin/bash", ["--norc", "--noprofile", "-i"], env=env, cwd=str(real.project), timeout=60, encoding="utf-8", dimensions=(30, 100)
    )  # fmt: skip
    shell.expect("READY> ")
    shell.sendline(shlex.join([sys.executable, "-m", "outfitter", "run", "a", *words]))
    try:
        yield shell
    except BaseException:
        subprocess.run(["ps", "-o", "pid,pgid,tpgid,stat,wchan:20,args", "--forest", "-s", str(shell.pid)], check=False)
        print("job:", state(shell), "screen:", repr(shell.before))
        raise
    finally:
        shell.close(force=True)


@pytest.mark.parametrize("harness", ["pi", "claude"])
def test_stopped_continued_and_left(real, harness):
    real.agent("a")
    isolated = ["--isolated"] if harness == "claude" else []
    with in_shell(real, "--harness", harness, *isolated) as shell:
        real.until(lambda: _drained(shell) and has_screen(shell), what="the screen")
        real.until(lambda: _press(shell, "z") == ["T", "T"], what="the stop")
        shell.sendline("fg")
        real.until(lambda: _drained(shell) and "T" not in state(shell) and has_screen(shell), what="going on")
        real.until(lambda: _press(shell, "c") == [], what="the end")
        shell.sendline("stty -a; echo done")
        shell.expect(" icanon")
        shell.expect(" echo ")
    assert real.run_directories() == []


def _press(shell, key):
    """Send a key, unless it was heard; programs read none before their screen stands."""
    before = state(shell)
    if before and not (key == "z" and "T" in before):
        shell.sendcontrol(key)
        shell.expect(pexpect.TIMEOUT, timeout=0.4)
    return state(shell)


def _drained(shell):
    """Take what the screen shows, or the program would wait for somebody to read it."""
    return shell.expect([pexpect.TIMEOUT], timeout=0.1) == 0


@pytest.mark.parametrize("harness", ["pi", "claude", "codex"])
def test_the_demo_plays_with_a_real_harness(real, harness):
    done = real.run("demo", "--harness", harness, "--json")
    document = json.loads(done.out)
    assert done.code == 0, document
    assert document["wrong"] == []
    assert document["harness"]["program"] == str(real.programs.bin / harness)
    assert list(real.tmp.glob("outfitter-*")) == []


def test_doctor_knows_every_option_of_the_pinned_programs(real):
    checks = {check["name"]: check for check in json.loads(real.run("doctor", "--json").out)["checks"]}
    for harness in ("pi", "claude", "codex"):
        assert checks[f"harness {harness}"]["verdict"] == "ok", checks[f"harness {harness}"]
        assert str(real.programs.versions[harness]) in checks[f"harness {harness}"]["message"]
