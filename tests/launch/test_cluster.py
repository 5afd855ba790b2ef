"""`batch --executor dask`: a real scheduler and two workers on loopback, one of which is killed in the middle (spec/70)."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
pytestmark = pytest.mark.slow
INPUTS = 8


def started(command, env, pattern):
    """A process, and what the first line that matches says of it."""
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        found = re.search(pattern, line)
        if found:
            return process, found.group(1)
    raise AssertionError(f"{command} ended without saying {pattern}")


@pytest.fixture
def cluster(machine):
    env = machine.env() | {"DASK_DISTRIBUTED__ADMIN__TICK__LIMIT": "60s"}
    dask = [sys.executable, "-W", "ignore", "-m", "dask.__main__"]
    scheduler, address = started(
        [*dask, "scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"], env, r"Scheduler at:\s+(tcp\S+)"
    )
    workers = []
    for number in range(2):
        folder = machine.top / f"worker-{number}"
        command = [
            *dask,
            "worker",
            address,
            "--no-nanny",
            "--nthreads",
            "1",
            "--no-dashboard",
            "--local-directory",
            str(folder),
        ]
        workers.append(started(command, env, r"Registered to:\s+(\S+)")[0])
    yield address, workers
    for process in (*workers, scheduler):
        process.kill()
        process.communicate()


def test_the_outcomes_are_the_same_whatever_worker_dies(machine, cluster):
    address, workers = cluster
    machine.agent("a")
    for number in range(INPUTS):
        machine.put(f"tasks/t{number}.md", f"{number}\n")
    act = 'read n; touch "$HOME/began-$n"; sleep 1; [ "$n" != 6 ] || exit 1; echo "$n" >> "$HOME/did"'
    words = [
        "batch",
        "tasks",
        "--agent",
        "a",
        "--out",
        str(machine.top / "results"),
        "--executor",
        "dask",
        "--scheduler",
        address,
        "--json",
    ]
    process = machine.start(*words, script=[["run", act]])
    end = time.monotonic() + 60
    while len(list(machine.home.glob("began-*"))) < 2:
        assert time.monotonic() < end, "the workers began nothing"
        time.sleep(0.05)
    workers[0].kill()
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    result = json.loads(out)
    assert result["counts"] == {"selected": INPUTS, "succeeded": INPUTS, "failed": 0, "skipped": 0, "missing": 0}
    for row in result["inputs"]:
        assert machine.run("evidence", "verify", str(machine.top / "results" / row["attempt"])).code == 0
    assert result["reconciled"]


def test_no_scheduler_is_one_clear_line(machine):
    machine.agent("a")
    task = machine.put("t.md", "x")
    words = [
        "batch",
        str(task),
        "--agent",
        "a",
        "--out",
        str(machine.top / "r"),
        "--executor",
        "dask",
        "--scheduler",
        "tcp://127.0.0.1:1",
    ]
    ended = machine.run(*words, timeout=90)
    assert ended.code == 1
    assert "127.0.0.1:1" in ended.err
    assert "Traceback" not in ended.err


def test_without_the_extra_it_says_how_to_get_it(machine, monkeypatch, tmp_path):
    (tmp_path / "hidden/distributed").mkdir(parents=True)
    (tmp_path / "hidden/distributed/__init__.py").write_text("raise ImportError('hidden')\n")
    machine.agent("a")
    task = machine.put("t.md", "x")
    env = {"PYTHONPATH": os.pathsep.join([str(tmp_path / "hidden")])}
    ended = machine.run(
        "batch", str(task), "--agent", "a", "--out", str(machine.top / "r"), "--executor", "dask", env=env
    )
    assert ended.code == 1
    assert "outfitter[cluster]" in ended.err


def test_an_interrupt_ends_what_runs_on_the_workers_and_resuming_does_the_rest(machine, cluster):
    address, _ = cluster
    machine.agent("a")
    for number in range(6):
        machine.put(f"tasks/t{number}.md", f"{number}\n")
    words = ["batch", "tasks", "--agent", "a", "--out", str(machine.top / "results")]
    words += ["--executor", "dask", "--scheduler", address, "--json"]
    act = 'read n; echo $$ > "$HOME/began-$n"; sleep 300'
    process = machine.start(*words, script=[["run", act]])
    end = time.monotonic() + 60
    while len(list(machine.home.glob("began-*"))) < 2:
        assert time.monotonic() < end, "the workers began nothing"
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    result = json.loads(out)
    assert result["counts"] == {"selected": 6, "succeeded": 0, "failed": 0, "skipped": 6, "missing": 0}
    assert sorted({row["reason"] for row in result["inputs"]}) == ["interrupted", "not reached"]
    assert machine.run_directories() == []
    ended = machine.run(*words, timeout=120)
    assert json.loads(ended.out)["counts"]["succeeded"] == 6, ended.err


def test_an_agent_that_the_workers_do_not_know_is_said_once(machine, cluster):
    address, _ = cluster
    machine.agent()
    for number in range(3):
        machine.put(f"tasks/t{number}.md", "x")
    words = ["batch", "tasks", "--agent", "nobody", "--out", str(machine.top / "results"), "--json"]
    ended = machine.run(*words, "--executor", "dask", "--scheduler", address, timeout=90)
    assert (ended.code, ended.out, ended.seen) == (1, "", None), ended.err
    told = json.loads(ended.err.splitlines()[-1])
    assert told["message"].startswith("cannot run the agent on the cluster: agent 'nobody' not found")
    assert not (machine.top / "results").exists()
