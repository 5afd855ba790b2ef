"""Driving a launcher of one program (driver.py) with signals, closed descriptors and terminals."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


class Drive:
    """Starts the driver on a program given as Python text, with a clean environment and a home of its own."""

    def __init__(self, top):
        self.top = top
        self.lock = top / "lock"
        self.lock.touch()
        self.report = top / "report"
        self.seen = top / "seen"
        self.ready = top / "ready"
        (top / "home").mkdir()

    def env(self, **more):
        base = {
            "HOME": str(self.top / "home"),
            "PATH": "/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "NO_COLOR": "1",
            "PYTHONPATH": str(ROOT),
        }
        return {
            **base,
            "TMPDIR": str(self.top),
            "READY": str(self.ready),
            "SEEN": str(self.seen),
            "UNSET": "no",
            **more,
        }

    def words(self, program):
        return [
            sys.executable,
            "-m",
            "tests.process.driver",
            str(self.lock),
            str(self.report),
            sys.executable,
            "-c",
            PRELUDE + program,
        ]

    def start(self, program, env=None, **more):
        options = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "start_new_session": True,
            **more,
        }
        return subprocess.Popen(self.words(program), cwd=ROOT, env=self.env(**(env or {})), **options)

    def run(self, program, **more):
        process = self.start(program, **more)
        out, err = process.communicate(timeout=30)
        return process.returncode, (out or b"").decode(), (err or b"").decode()

    def lines(self):
        return self.seen.read_text().split() if self.seen.exists() else []

    def wait_for(self, wanted, seconds=20):
        end = time.monotonic() + seconds
        while not wanted():
            assert time.monotonic() < end, "it did not happen"
            time.sleep(0.01)

    def wait_seen(self, word):
        self.wait_for(lambda: word in self.lines())

    def log(self):
        path = self.top / "home/.local/state/outfitter/runs/driven.log"
        return path.read_text() if path.exists() else ""


# What every driven program has at hand: `note(word)` appends a word to the file that the test watches.
PRELUDE = """
import os, signal, sys, time
def note(word):
    with open(os.environ["SEEN"], "a") as file:
        file.write(str(word) + "\\n")
def on(name, action=None):
    signal.signal(getattr(signal, name), lambda *_: (note(name), action() if action else None))
def nap(seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.01)
"""


@pytest.fixture
def drive(tmp_path):
    return Drive(tmp_path)


def descriptors():
    return sorted(int(name) for name in os.listdir("/proc/self/fd"))
