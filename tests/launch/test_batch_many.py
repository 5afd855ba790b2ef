"""Two hundred inputs of every kind, the batch killed in the middle, and a second run that does only what is missing (seed 004)."""

import json
import os
import time

import pytest

from outfitter.evidence.files import read_pair

pytestmark = pytest.mark.slow
INPUTS = 200
ACT = 'read n; echo "$n" >> "$HOME/did"; case "$n" in 7|8) kill -9 $PPID;; 150) sleep 300;; esac'


def test_the_counts_add_up_and_nothing_is_run_twice(machine):
    machine.agent("a")
    for number in range(INPUTS - 2):
        machine.put(f"tasks/t{number:03d}.md", f"{number}\n")
    os.mkfifo(machine.project / "tasks/unreadable")
    machine.put("tasks/zero", b"a\0b")
    words = ("batch", "tasks", "tasks/gone", "tasks/t000.md", "--agent", "a", "--out", str(machine.top / "results"))
    words = (*words, "--jobs", "3", "--timeout", "20", "--json")
    process = machine.start(*words, script=[["run", ACT]])
    did = machine.home / "did"
    machine.wait_for(did)
    end = time.monotonic() + 60
    while len(did.read_text().split()) < 30:
        assert time.monotonic() < end
        time.sleep(0.05)
    process.kill()
    process.wait()
    while not (ended := machine.run(*words, script=[["run", ACT]], timeout=300)).out:
        assert "in use" in ended.err
        assert time.monotonic() < end
    result = json.loads(ended.out)
    assert result["counts"] == {"selected": 202, "succeeded": 195, "failed": 5, "skipped": 1, "missing": 1}
    assert result["complete"]
    assert result["reconciled"]
    assert sorted(map(int, did.read_text().split())) == list(range(INPUTS - 2))
    attempts = machine.top / "results/attempts"
    assert all(not read_pair(str(path)).mismatches for path in attempts.iterdir())
    again = json.loads(machine.run(*words, script=[["exit", 9]]).out)
    assert again["counts"] == result["counts"]
    assert not any(row["ran"] for row in again["inputs"])
