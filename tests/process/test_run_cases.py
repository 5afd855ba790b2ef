"""Whole launches: signals, exit codes, terminals, nested runs (spec/95 RUN, CLS-07, PYE-01; spec/50)."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time

import pexpect
import pytest

NATIVE = {"pi": ".pi/agent", "claude": ".claude"}


@pytest.fixture
def ready(machine):
    """A machine with one agent."""
    machine.agent("a")
    return machine


def started(machine, *words, script=(), wait=True, **more):
    process = machine.start("run", "a", *words, script=script, start_new_session=True, **more)
    if wait:
        machine.wait_for(machine.top / f"record-{machine._count}.json")
    return process


def native(machine, path, harness="pi"):
    return machine.home / NATIVE[harness] / path


def ended(process):
    out, err = process.communicate(timeout=60)
    return process.returncode, (out or b"").decode(), (err or b"").decode()


COUNTING = """
import os, signal, sys, time
seen = open(os.path.join(os.environ["HOME"], "signals"), "a", buffering=1)
for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"):
    signal.signal(getattr(signal, name), lambda n, _: print(signal.Signals(n).name, file=seen))
open(os.path.join(os.environ["PI_CODING_AGENT_DIR"], "settings.json"), "w").write('{"saved": 1}')
print("up", file=seen)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    time.sleep(0.01)
sys.exit(3)
"""


def counting(machine, seconds="1.2"):
    """Pi, replaced by a program that counts signals for some seconds, saves a setting, and exits 3."""
    body = f"#!/bin/sh\nexec {shlex.join([sys.executable, '-I', '-c', COUNTING, seconds])}\n"
    machine.put(machine.bin / "pi", body, 0o755)
    return machine.home / "signals"


def lines(path):
    return path.read_text().split() if path.exists() else []


def wait_lines(path, count, seconds=20):
    end = time.monotonic() + seconds
    while len(lines(path)) < count:
        assert time.monotonic() < end, f"only {lines(path)}"
        time.sleep(0.01)


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_run_02_one_signal_to_the_launcher_is_one_for_the_harness(ready, name):
    seen = counting(ready)
    process = started(ready, wait=False)
    wait_lines(seen, 1)
    process.send_signal(getattr(signal, name))
    code, _, err = ended(process)
    assert lines(seen) == ["up", name]
    assert code == 3, err
    assert json.loads(native(ready, "settings.json").read_text()) == {"saved": 1}
    assert ready.run_directories() == []


def test_run_04_a_harness_that_ignores_term_is_killed_and_settled(ready):
    process = started(
        ready, script=[["ignore", "SIGTERM"], ["swap", "trust.json", '{"a": 1}'], ["write", "up", ""], ["wait", 60]]
    )
    ready.wait_for(_projection(ready) / "up")
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    code, _, err = ended(process)
    assert code == 137, err
    assert time.monotonic() - begun >= 5
    assert native(ready, "trust.json").read_text() == '{"a": 1}'
    assert ready.run_directories() == []


def _projection(machine):
    end = time.monotonic() + 20
    while not machine.run_directories():
        assert time.monotonic() < end
        time.sleep(0.01)
    return machine.run_directories()[0] / "projection"


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGKILL", 137), ("SIGSEGV", 139)])
def test_run_05_deaths_by_signal(ready, name, code):
    done = ready.run("run", "a", script=[["swap", "trust.json", '{"a": 1}'], ["run", "ulimit -c 0"], ["die", name]])
    assert done.code == code
    assert native(ready, "trust.json").read_text() == '{"a": 1}'


@pytest.mark.parametrize("code", [0, 1, 127, 255])
def test_run_05_codes(ready, code):
    assert ready.run("run", "a", script=[["exit", code]]).code == code


@pytest.mark.parametrize(
    ("make", "code", "named"),
    [
        (lambda pi: pi.unlink(), 127, "npm install"),
        (lambda pi: pi.chmod(0o644), 126, "not executable"),
        (lambda pi: pi.write_text("#!/no/such/node\n"), 126, "/no/such/node"),
        (lambda pi: (pi.unlink(), pi.mkdir()), 126, "directory"),
        (lambda pi: pi.write_bytes(b"\x7fELF junk"), 126, "xec format error"),
        (lambda pi: pi.write_text("no first line\n"), 126, "#!"),
    ],
    ids=["missing", "no-bit", "interpreter", "directory", "not-a-program", "no-shebang"],
)
def test_run_10_what_cannot_be_started(ready, make, code, named):
    ready.put(native(ready, "settings.json"), '{"mine": 1}')
    make(ready.bin / "pi")
    done = ready.run("run", "a", env={"PATH": str(ready.bin)})
    assert done.code == code, done
    assert named in done.err
    assert "Traceback" not in done.err
    assert ready.run_directories() == []
    assert native(ready, "settings.json").read_text() == '{"mine": 1}'
    assert (
        not list((ready.home / ".local/state/outfitter/runs").glob("*")) if (ready.home / ".local").exists() else True
    )


def test_run_11_a_grandchild_goes_on_and_nobody_waits(ready):
    writer = 'while :; do echo x >> "$PI_CODING_AGENT_DIR/late" || exit; sleep 0.05; done'
    process = started(ready, script=[["run", f"(sh -c {shlex.quote(writer)} 2>/dev/null) &"], ["exit", 0]])
    assert process.wait(timeout=30) == 0
    for directory in ready.run_directories():
        assert not (directory / "projection").exists() or os.listdir(directory / "projection") in ([], ["late"])
    os.killpg(process.pid, signal.SIGKILL)
    _, _, err = ended(process)
    assert "Traceback" not in err


def nested(machine, harness, script=()):
    """A launch inside a launch: the outer harness runs `outfitter` again, with the environment that it was given."""
    words = shlex.join(
        [sys.executable, "-m", "outfitter", "run", "a", "--harness", harness, *ISOLATED.get(harness, ())]
    )
    inner = machine.put(machine.top / "inner.json", json.dumps(list(script)))
    record = machine.top / "inner-record.json"
    return [["run", f"cd {machine.project} && STANDIN_SCRIPT={inner} STANDIN_RECORD={record} {words}"]], record


ISOLATED = {"claude": ("--isolated",)}


@pytest.mark.parametrize(("harness", "file"), [("pi", "trust.json"), ("claude", "settings.json")])
def test_run_12_a_nested_launch_looks_through_the_outer_projection(ready, harness, file):
    script, record = nested(ready, harness, [["swap", file, '{"inner": 1}']])
    env = {"PYTHONPATH": os.getcwd()}
    done = ready.run("run", "a", "--harness", harness, *ISOLATED.get(harness, ()), script=script, env=env)
    assert done.code == 0, done.err
    inner = json.loads(record.read_text())
    assert inner["root"] != done.seen["root"]
    assert native(ready, file, harness).read_text() == '{"inner": 1}'
    assert ready.run_directories() == []


@pytest.mark.parametrize(
    ("harness", "variable", "file"),
    [("pi", "PI_CODING_AGENT_DIR", "trust.json"), ("claude", "CLAUDE_CONFIG_DIR", "settings.json")],
)
def test_run_12_a_directory_of_the_users_own_is_the_native_one(ready, harness, variable, file):
    place = ready.home / "moved"
    place.mkdir()
    done = ready.run(
        "run",
        "a",
        "--harness",
        harness,
        *ISOLATED.get(harness, ()),
        script=[["write", file, '{"moved": 1}']],
        env={variable: str(place)},
    )
    assert done.code == 0, done.err
    assert (place / file).read_text() == '{"moved": 1}'
    assert not native(ready, file, harness).exists()


@pytest.mark.parametrize("given", [None, "mine"])
@pytest.mark.parametrize(("harness", "variable"), [("claude", "CLAUDE_CONFIG_DIR"), ("codex", "CODEX_HOME")])
def test_run_13_an_inherited_run_leaves_the_variable_alone(ready, harness, variable, given):
    place = None
    if given:
        place = str(ready.home / given)
        os.mkdir(place)
    done = ready.run("run", "a", "--harness", harness, env={variable: place})
    assert done.code == 0, done.err
    assert done.seen["env"].get(variable) == place
    assert not place or os.listdir(place) == []


def test_a_signal_before_the_start_removes_what_was_built(ready):
    sessions = native(ready, f"projects/{ready.slug()}", "claude")
    for number in range(3000):
        ready.put(sessions / f"{number:05}.jsonl", "{}\n")
    process = started(ready, "--harness", "claude", "--isolated", wait=False)
    _projection(ready)
    process.send_signal(signal.SIGTERM)
    code, _, err = ended(process)
    assert code == 143, err
    assert ready.run_directories() == []
    assert not (ready.top / f"record-{ready._count}.json").exists()
    assert len(list(sessions.iterdir())) == 3000


def test_a_second_signal_while_saving_leaves_the_run_to_recover(ready):
    transcript, lock = f"projects/{ready.slug()}/s.jsonl", ready.home / ".claude.json.lock"
    ready.put(ready.home / ".claude.json", '{"oauthAccount": {"id": 1}}')
    lock.mkdir()
    process = started(
        ready, "--harness", "claude", "--isolated",
        script=[["write", transcript, "{}\n"], ["swap", ".claude.json", '{"oauthAccount": {"id": 2}}'], ["run", f"echo $PPID > {ready.top}/pid"]],
    )  # fmt: skip
    ready.wait_for(ready.top / "pid")
    while os.path.exists(f"/proc/{(ready.top / 'pid').read_text().strip() or 'self'}"):
        time.sleep(0.01)
    time.sleep(0.5)
    process.send_signal(signal.SIGTERM)
    assert b"saving what this run wrote" in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    code, _, err = ended(process)
    assert code == 143
    assert "outfitter recover" in err
    assert len(ready.run_directories()) == 1
    lock.rmdir()
    assert ready.run("recover").code == 0
    assert native(ready, transcript, "claude").read_text() == "{}\n"
    assert json.loads((ready.home / ".claude.json").read_text()) == {"oauthAccount": {"id": 2}}
    assert ready.run_directories() == []


def test_nohup_outlives_a_hang_up(ready):
    seen = counting(ready)
    process = started(ready, wait=False, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    wait_lines(seen, 1)
    process.send_signal(signal.SIGHUP)
    code, _, _ = ended(process)
    assert code == 3
    assert lines(seen) == ["up"]


def test_settling_goes_on_with_the_output_gone_and_its_words_are_kept(ready):
    process = started(ready, script=[["write", "notes", "x"], ["swap", "trust.json", '{"a": 1}'], ["wait", 0.5]])
    process.stdout.close()
    process.stderr.close()
    assert process.wait(timeout=60) == 0
    assert native(ready, "trust.json").read_text() == '{"a": 1}'
    logs = list((ready.home / ".local/state/outfitter/runs").glob("*.log"))
    assert len(logs) == 1
    assert "notes" in logs[0].read_text()
    assert ready.run_directories() == []


def test_standard_streams_that_are_closed(ready):
    words = shlex.join([sys.executable, "-m", "outfitter", "run", "a"])
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec {words} <&- >&- 2>&-"],
        cwd=ready.project,
        env=ready.env([["write", "trust.json", '{"a": 1}']]),
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert native(ready, "trust.json").read_text() == '{"a": 1}'


def spawn(machine, *words, script=(), **env):
    return pexpect.spawn(
        sys.executable,
        ["-m", "outfitter", "run", "a", *words],
        cwd=str(machine.project),
        env=machine.env(script, NO_COLOR="1", **env),
        timeout=30,
        encoding="utf-8",
    )


PROMPTING = "state_persistence: {mcp.json: prompt}\n"
WRITES = [["write", "mcp.json", '{"mcpServers": {}}']]


def test_a_prompt_on_a_terminal(ready):
    ready.settings(PROMPTING)
    child = spawn(ready, script=WRITES)
    child.expect(r"\[persist/discard/always\] ")
    child.sendline("persist")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert json.loads(native(ready, "mcp.json").read_text()) == {"mcpServers": {}}


@pytest.mark.parametrize("redirect", ["> out.txt", "< /dev/null", "<&-"])
def test_cls_07_no_prompt_unless_both_ends_are_terminals(ready, redirect):
    ready.settings(PROMPTING)
    words = shlex.join([sys.executable, "-m", "outfitter", "run", "a"])
    child = pexpect.spawn(
        "/bin/sh",
        ["-c", f"exec {words} {redirect}"],
        cwd=str(ready.project),
        env=ready.env(WRITES, NO_COLOR="1"),
        timeout=30,
        encoding="utf-8",
    )
    child.expect(pexpect.EOF)
    child.close()
    assert "prompt skipped: non-interactive" in child.before
    assert "[persist" not in child.before
    assert child.exitstatus == 0


def test_the_interrupt_key_reaches_the_harness_once_and_all_is_settled(ready):
    seen = counting(ready)
    child = spawn(ready)
    wait_lines(seen, 1)
    child.sendintr()
    child.expect(pexpect.EOF)
    child.close()
    assert lines(seen) == ["up", "SIGINT"]
    assert child.exitstatus == 3
    assert ready.run_directories() == []


def test_a_closed_terminal_is_a_hang_up_and_all_is_settled(ready):
    child = spawn(ready, script=[["swap", "trust.json", '{"a": 1}'], ["write", "up", ""], ["wait", 60]])
    ready.wait_for(_projection(ready) / "up")
    child.close(force=False)
    end = time.monotonic() + 30
    while ready.run_directories():
        assert time.monotonic() < end
        time.sleep(0.05)
    assert native(ready, "trust.json").read_text() == '{"a": 1}'


ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii", "LANG": None}


def test_pye_01_an_ascii_locale(machine):
    machine.project = machine.top / "prój — x"
    (machine.project / ".git").mkdir(parents=True)
    machine.agent("a", body="Grüße — überall.")
    machine.settings("# a comment — with a dash\ndefault_agent: a\nnonsense_é: 1\n")
    done = machine.run("run", script=[["write", "nötes", "ä"]], env=ASCII)
    assert done.code == 0, done.err
    assert done.seen["cwd"].encode("utf-8", "surrogateescape").decode() == str(machine.project)
    assert "n\\xf6tes" in done.err or "n\\udcc3\\udcb6tes" in done.err
    assert done.err.isascii()
    assert any("Grüße" in text for text in done.seen["texts"].values()) or "Gr" in json.dumps(done.seen["texts"])


@pytest.mark.parametrize(
    "blocked",
    [{signal.SIGCHLD}, {signal.SIGTSTP, signal.SIGCONT}, signal.valid_signals()],
    ids=["chld", "stops", "all"],
)
def test_an_inherited_mask_hangs_no_launch_and_stops_at_the_launcher(ready, blocked):
    """A parent that waits for children with signals blocked hands its mask on."""
    body = "import signal, sys; sys.exit(7 if not signal.pthread_sigmask(signal.SIG_BLOCK, ()) else 9)"
    ready.put(ready.bin / "pi", f"#!/bin/sh\nexec {shlex.join([sys.executable, '-I', '-c', body])}\n", 0o755)
    process = ready.start("run", "a", preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, blocked))
    code, _, err = ended(process)
    assert (code, err) == (7, "")


def test_the_end_of_a_harness_is_seen_without_a_signal_that_says_so(ready, monkeypatch):
    from outfitter.edges.signals import LOOK_SECONDS, Signals

    signals = Signals()
    with signals.running():
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
        try:
            before = time.monotonic()
            signals.wait(None)
            assert time.monotonic() - before < 10 * LOOK_SECONDS
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
