"""Evidence and batches from outside (seed 004, spec/70)."""

import json
import os
import signal
import stat

import pytest


def pair(root):
    return json.loads((root / "trace/run_trace.json").read_text()), json.loads(
        (root / "result/final_result.json").read_text()
    )


def test_a_run_leaves_a_pair_that_verifies_and_a_second_attempt_is_refused(machine):
    machine.agent("a")
    out = machine.top / "ev"
    assert machine.run("run", "a", "--out", str(out), script=[["write", "odd", "1"]]).code == 0
    trace, result = pair(out)
    assert (result["verdict"], result["trace_path"]) == ("pass", "trace/run_trace.json")
    assert [change["path"] for change in trace["changes"]] == ["odd"]
    names = [stage["name"] for stage in trace["stages"]]
    assert (
        names.index("load layers")
        < names.index("compose")
        < names.index("project")
        < names.index("run")
        < names.index("bridge")
    )
    assert machine.run("evidence", "verify", str(out)).code == 0
    assert machine.run("evidence", "replay", str(out)).code == 0
    refused = machine.run("run", "a", "--out", str(out))
    assert (refused.code, refused.seen) == (125, None)
    assert "not empty" in refused.err
    assert all(stat.S_IMODE(path.stat().st_mode) in (0o700, 0o600) for path in [out, *out.rglob("*")])


@pytest.mark.parametrize(
    ("script", "reason", "code"),
    [([["exit", 3]], "exit 3", 3), ([["die", "SIGKILL"]], "signal 9", 137)],
)
def test_a_harness_that_ran_and_failed_leaves_a_pair_with_veto(machine, script, reason, code):
    machine.agent("a")
    out = machine.top / "ev"
    assert machine.run("run", "a", "--out", str(out), script=script).code == code
    _, result = pair(out)
    assert (result["verdict"], result["termination_reason"]) == ("veto", reason)
    assert machine.run("evidence", "verify", str(out)).code == 0


def test_a_broken_policy_is_a_veto(machine):
    machine.agent("a")
    machine.settings("state_persistence: {unknown: error}\n")
    out = machine.top / "ev"
    assert machine.run("run", "a", "--out", str(out), script=[["write", "odd", "1"]]).code == 121
    assert pair(out)[1]["termination_reason"] == "state-violated"


@pytest.mark.parametrize("words", [("--dry-run",), ("--harness", "codex", "--isolated")])
def test_what_never_started_is_a_lone_veto(machine, words):
    machine.agent("a")
    out = machine.top / "ev"
    machine.run("run", "a", *words, "--out", str(out))
    result = json.loads((out / "result/final_result.json").read_text())
    assert (result["verdict"], result["trace_path"]) == ("veto", None)
    assert not (out / "trace").exists()
    ended = machine.run("evidence", "verify", str(out))
    assert (ended.code, "missing" in ended.out) == (1, True)
    shown = machine.run("report", str(out))
    assert (shown.code, "veto" in shown.out, "no trace" in shown.out) == (0, True, True)
    assert machine.run("report", str(out), "--html", "page.html").code == 0


def test_publishing_binds_and_quarantines(machine):
    machine.agent("a")
    task = machine.put("task.md", "do it")
    for name in ("one", "two"):
        machine.run("run", "a", "--out", str(machine.top / name))
    bad = machine.top / "two/result/final_result.json"
    bad.write_text(bad.read_text().replace('"pass"', '"veto"'))
    before = bad.read_bytes()
    kept = machine.top / "kept"
    words = [
        "evidence",
        "publish",
        str(machine.top / "one"),
        str(machine.top / "two"),
        "--to",
        str(kept),
        "--task",
        "T1",
        "--json",
    ]
    ended = machine.run(*words, "--input", str(task), "--config", str(task))
    assert ended.code == 1
    good, failed = json.loads(ended.out)["attempts"]
    manifest = json.loads((kept / good["attempt"] / "manifest.json").read_text())
    assert (manifest["task"], manifest["bounded"], manifest["verdict"]) == ("T1", False, "pass")
    assert failed["quarantined"]
    assert not (machine.top / "two").exists()
    assert (kept / "quarantine" / failed["attempt"] / "result/final_result.json").read_bytes() == before
    assert machine.run("evidence", "prune", str(kept), "--older-than", "0", "--dry-run").out.count("would remove") == 1
    assert machine.run("evidence", "prune", str(kept), "--older-than", "0").code == 0
    assert [path.name for path in kept.iterdir()] == ["quarantine"]
    assert machine.run("evidence", "prune", str(kept), failed["attempt"]).code == 0
    assert list((kept / "quarantine").iterdir()) == []


def batch(machine, *words, script=(), **more):
    ended = machine.run(
        "batch", *words, "--agent", "a", "--out", str(machine.top / "results"), "--json", script=script, **more
    )
    return ended, json.loads(ended.out) if ended.out.startswith("{") else None


def test_a_batch_with_every_kind_of_input_adds_up_and_resumes(machine):
    machine.agent("a")
    tasks = machine.project / "tasks"
    for number in range(12):
        machine.put(tasks / f"t{number:02d}.md", f"task {number}\n")
    machine.put(tasks / "zero", b"a\0b")
    os.mkfifo(tasks / "pipe")
    # The stand-in decides by what it is given on its standard input.
    act = 'read word number; case "$number" in 3) kill -9 $PPID;; 5) sleep 300;; esac; echo said $number'
    words = (str(tasks), str(tasks / "gone.md"), str(tasks / "t01.md"), "--jobs", "2", "--timeout", "15")
    ended, result = batch(machine, *words, script=[["run", act]], timeout=200)
    assert ended.code == 1, ended.err
    assert result["counts"] == {"selected": 16, "succeeded": 10, "failed": 4, "skipped": 1, "missing": 1}
    rows = {os.path.basename(row["input"]): row for row in result["inputs"] if row["outcome"] != "skipped"}
    assert rows["t03.md"]["exit_code"] == 137
    assert "timed out" in rows["t05.md"]["reason"]
    assert machine.run("evidence", "verify", str(machine.top / "results" / rows["t00.md"]["attempt"])).code == 0
    _, again = batch(machine, *words, script=[["exit", 9]])
    assert again["counts"] == result["counts"]
    assert not any(row["ran"] for row in again["inputs"])
    torn = machine.top / "results" / rows["t00.md"]["attempt"] / "result/final_result.json"
    torn.unlink()
    _, third = batch(machine, *words)
    assert [os.path.basename(row["input"]) for row in third["inputs"] if row["ran"]] == ["t00.md"]
    assert len(list((machine.top / "results/quarantine").iterdir())) == 1


def test_an_interrupted_batch_says_what_it_did_not_reach(machine):
    machine.agent("a")
    for number in range(6):
        machine.put(f"tasks/t{number}.md", f"task {number}\n")
    words = ["batch", "tasks", "--agent", "a", "--out", str(machine.top / "results"), "--json"]
    process = machine.start(*words, script=[["write", "~/ready", "1"], ["wait", 60]])
    machine.wait_for(machine.home / "ready")
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    result = json.loads(out)
    assert not result["complete"]
    assert result["counts"]["skipped"] >= 4
    assert sum(result["counts"].values()) == 2 * result["counts"]["selected"]


def test_a_root_of_another_batch_is_refused(machine):
    machine.agent("a")
    machine.agent("b")
    task = machine.put("t.md", "x")
    batch(machine, str(task))
    ended = machine.run("batch", str(task), "--agent", "b", "--out", str(machine.top / "results"))
    assert (ended.code, "another batch" in ended.err) == (1, True)


def test_reports(machine):
    machine.agent("a")
    out = machine.top / "ev"
    machine.run("run", "a", "--out", str(out), script=[["write", "odd", "1"]])
    assert "odd" in machine.run("report", str(out)).out
    assert machine.run("report", str(out), "--html", "page.html").code == 0
    assert "<!doctype html>" in (machine.project / "page.html").read_text()
    ended = machine.run("report", str(machine.top / "nothing"))
    assert (ended.code, "Traceback" in ended.err) == (1, False)
