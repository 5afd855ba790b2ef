"""The question of the `prompt` strategy, asked through a real terminal (spec/50, seed 001; spec/95 CLS-07)."""

import os
import pty
import select
import subprocess
import time

import pytest


class Asked:
    """A launch whose stdin and stdout are one pseudo-terminal; stderr goes there, too."""

    def __init__(self, machine, script, settings="state_persistence: {mcp.json: prompt}\n", **streams):
        machine.agent()
        machine.settings(settings)
        self.machine = machine
        self.master, slave = pty.openpty()
        given = {"stdin": slave, "stdout": slave, "stderr": slave, **streams}
        self.process = machine.start(
            "run", "a", script=script, start_new_session=True, preexec_fn=_controlling, **given
        )
        os.close(slave)
        self.seen = ""

    def expect(self, text, seconds=30):
        end = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < end, self.seen
            if not self._more(0.1):
                assert text in self.seen, self.seen

    def say(self, text):
        os.write(self.master, text.encode())

    def end(self, seconds=30):
        end = time.monotonic() + seconds
        while self.process.poll() is None or select.select([self.master], [], [], 0)[0]:
            assert time.monotonic() < end, self.seen
            if not self._more(0.1) and self.process.poll() is not None:
                break
        self.process.wait()
        if self.process.stdout:
            self.seen += self.process.stdout.read().decode()
        os.close(self.master)
        return self.process.returncode

    def _more(self, seconds):
        if not select.select([self.master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.master, 65536)
        except OSError:
            return False
        self.seen += data.decode(errors="replace")
        return bool(data)


def _controlling():
    import fcntl
    import termios

    fcntl.ioctl(2, termios.TIOCSCTTY, 0)


WRITE = [["write", "mcp.json", '{"new": 1}']]


def native(machine):
    return machine.home / ".pi/agent/mcp.json"


@pytest.mark.parametrize(
    ("answer", "durable"), [("persist\n", True), ("p\n", True), ("discard\n", False), ("what?\npersist\n", True)]
)
def test_an_answer(machine, answer, durable):
    asked = Asked(machine, WRITE)
    asked.expect("[persist/discard/always]")
    asked.say(answer)
    assert asked.end() == 0
    assert native(machine).exists() == durable
    assert machine.run_directories() == []


def test_always_is_recorded_and_wins_at_the_next_launch(machine):
    asked = Asked(machine, WRITE, settings="# ours\nstate_persistence:\n  mcp.json: prompt  # ask\n")
    asked.expect("[persist/discard/always]")
    asked.say("always\n")
    assert asked.end() == 0
    local = machine.project / ".agents/settings.local.yml"
    assert "mcp.json: symlink" in local.read_text()
    assert str(local) in asked.seen.replace("\r\n", "")
    assert (
        machine.project / ".agents/settings.yml"
    ).read_text() == "# ours\nstate_persistence:\n  mcp.json: prompt  # ask\n"
    ended = machine.run("run", "a", script=[["write", "mcp.json", '{"later": 2}']])
    assert (ended.code, ended.err) == (0, "")
    assert native(machine).read_text() == '{"later": 2}'


@pytest.mark.parametrize("keys", ["\x04", "\x03"])
def test_end_of_input_and_interrupt_discard_and_say_so(machine, keys):
    asked = Asked(machine, WRITE)
    asked.expect("[persist/discard/always]")
    time.sleep(0.2)
    asked.say(keys)
    assert asked.end() == 0
    assert not native(machine).exists()
    assert "discarded" in asked.seen
    assert machine.run_directories() == []


def test_nothing_but_garbage_discards(machine):
    asked = Asked(machine, WRITE)
    for _ in range(3):
        asked.expect("[persist/discard/always]")
        asked.seen = ""
        asked.say("\x1b[Aqq\n")
    assert asked.end() == 0
    assert not native(machine).exists()
    assert "discarded" in asked.seen


def test_the_harness_s_own_failure_is_asked_about_too(machine):
    asked = Asked(machine, [*WRITE, ["exit", 5]])
    asked.expect("[persist/discard/always]")
    asked.say("persist\n")
    assert asked.end() == 5
    assert native(machine).exists()


@pytest.mark.parametrize("stream", ["stdin", "stdout"])
def test_both_ends_must_be_terminals(machine, stream):
    """CLS-07."""
    asked = Asked(machine, WRITE, **{stream: subprocess.DEVNULL})
    assert asked.end() == 0
    assert "prompt skipped: non-interactive" in asked.seen
    assert "[persist" not in asked.seen
    assert not native(machine).exists()
