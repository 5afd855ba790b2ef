"""Real launchers killed at random moments, and many of them at once (spec/50; spec/95 SES-19)."""

import fcntl
import random
import signal
import time

import pytest

FILES = 2000
ROUNDS = 50
SESSION = "".join(f'{{"line":{number}}}\n' for number in range(20))
CLAUDE = ("run", "a", "--harness", "claude", "--isolated")


def sessions(machine):
    return machine.home / f".claude/projects/{machine.slug()}"


def leftovers(machine):
    runs = machine.home / ".local/state/outfitter/runs"
    return [
        *machine.run_directories(),
        *runs.glob("*.json"),
        *machine.home.rglob(".outfitter-*.tmp"),
        *machine.home.rglob("*.lock"),
    ]


def free(root):
    """Whether nobody holds the lock of a run directory."""
    with open(root / "lock") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def saved_whole(machine, generation):
    """Each session holds all of one generation: the one before the run, or the one that the run wrote. How many the latter."""
    place = sessions(machine)
    new = 0
    for number in range(FILES):
        lines = (place / f"s{number:05d}.jsonl").read_text()
        assert lines in (SESSION + "x\n" * (generation - 1), SESSION + "x\n" * generation), number
        new += lines.endswith("x\n" * generation)
    return new


def append_everywhere(machine):
    """The harness's work: one line more in every transcript."""
    return [["run", f"for f in projects/{machine.slug()}/*.jsonl; do echo x >> $f; done"], ["write", "~/ready", "1"]]


def killed_somewhere(process, most):
    time.sleep(random.uniform(0.0, most))
    process.send_signal(signal.SIGKILL)
    process.communicate()


@pytest.mark.slow
def test_fifty_kills_in_bridges_of_two_thousand_files(machine, record_property, capsys):
    machine.agent()
    for number in range(FILES):
        machine.put(sessions(machine) / f"s{number:05d}.jsonl", SESSION, 0o600)
    generation, kills, begun = 0, 0, time.monotonic()
    saved: list[int] = []
    while kills < ROUNDS:
        generation += 1
        process = machine.start(*CLAUDE, script=append_everywhere(machine))
        machine.wait_for(machine.home / "ready", 60)
        (machine.home / "ready").unlink()
        killed_somewhere(process, 0.6)
        kills += 1
        saved.append(saved_whole(machine, generation))
        while machine.run_directories() and kills < ROUNDS:
            (root,) = machine.run_directories()
            while (root / "lock").exists() and not free(root):
                time.sleep(0.02)
            killed_somewhere(machine.start("recover"), 1.2)
            kills += 1
            saved.append(saved_whole(machine, generation))
        assert machine.run("recover").code == 0
        assert saved_whole(machine, generation) == FILES
        assert not leftovers(machine)
    took = time.monotonic() - begun
    record_property("kills", kills)
    halfway = sum(0 < new < FILES for new in saved)
    assert halfway >= 5, "kills must hit bridges in the middle"
    with capsys.disabled():
        print(
            "\n" + f"{kills} kills, {halfway} of them halfway, over {generation} runs of {FILES} files in {took:.0f} s",
            end=" ",
        )


def test_ses_19_eight_launchers_on_one_project(machine):
    machine.agent()
    shared = machine.put(sessions(machine) / "shared.jsonl", "one\n", 0o600)
    slug = f"projects/{machine.slug()}"
    started = []
    for number in range(8):
        script = [
            ["write", f"~/up-{number}", "1"],
            ["run", "i=0; while [ ! -e $HOME/go ] && [ $i -lt 600 ]; do sleep 0.05; i=$((i+1)); done"],
            ["write", f"{slug}/own-{number}.jsonl", f"mine {number}\n"],
        ]
        if number < 2:
            script.append(["append", f"{slug}/shared.jsonl", f"from {number}\n"])
        started.append(machine.start(*CLAUDE, script=script))
    for number, process in enumerate(started):
        while not (machine.home / f"up-{number}").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
    (machine.home / "go").touch()
    ended = [process.communicate(timeout=120) for process in started]
    assert [process.returncode for process in started] == [0] * 8, ended
    assert not any(b"Traceback" in err for _, err in ended)
    for number in range(8):
        assert (sessions(machine) / f"own-{number}.jsonl").read_text() == f"mine {number}\n"
    lines = shared.read_text()
    assert lines in ("one\nfrom 0\n", "one\nfrom 1\n")
    told = [err.decode() for _, err in ended if b"shared.jsonl" in err]
    assert len(told) == 1
    loser = "one\nfrom 1\n" if lines.endswith("0\n") else "one\nfrom 0\n"
    assert loser.encode() in machine.kept().values()
    assert not leftovers(machine)


def test_eight_starts_recover_one_killed_run_once(machine):
    machine.agent()
    session = machine.put(sessions(machine) / "s.jsonl", "one\n", 0o600)
    slug = f"projects/{machine.slug()}"
    process = machine.start(
        *CLAUDE, script=[["append", f"{slug}/s.jsonl", "two\n"], ["write", "~/ready", "1"], ["wait", 1]]
    )
    machine.wait_for(machine.home / "ready")
    process.send_signal(signal.SIGKILL)
    process.communicate()
    for root in machine.run_directories():
        while (root / "lock").exists() and not free(root):
            time.sleep(0.02)
    starts = [machine.start("run", "a") for _ in range(8)]
    ended = [start.communicate(timeout=120) for start in starts]
    assert [start.returncode for start in starts] == [0] * 8, ended
    assert session.read_text() == "one\ntwo\n"
    assert sum(b"recovered" in err for _, err in ended) <= 1
    assert machine.run("recover").code == 0
    assert not leftovers(machine)
