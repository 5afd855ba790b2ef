"""Starting, forwarding, waiting (spec/50 "Interruption"; spec/95 RUN)."""

import os
import signal
import subprocess
from pathlib import Path

import pytest


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGKILL", 137), ("SIGSEGV", 139)])
def test_run_05_a_death_by_signal_is_128_and_its_number(drive, name, code):
    ended, _, _ = drive.run(
        f"import resource; resource.setrlimit(resource.RLIMIT_CORE, (0, 0))\n"
        f"signal.signal(signal.SIGINT, signal.SIG_DFL); os.kill(os.getpid(), signal.{name}); nap()"
    )
    assert ended == code
    assert drive.report.read_text() == f"ChildExit(code={code}, signal={code - 128})"


@pytest.mark.parametrize("code", [0, 1, 127, 255])
def test_run_05_a_code_is_as_given(drive, code):
    assert drive.run(f"os._exit({code})")[0] == code


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_run_02_a_signal_to_the_launcher_alone_reaches_the_harness_once(drive, name):
    process = drive.start(f"on({name!r}); note('up'); nap(1.0); sys.exit(7)", env={"GRACE": "20"})
    drive.wait_seen("up")
    process.send_signal(getattr(signal, name))
    process.communicate(timeout=30)
    assert drive.lines() == ["up", name]
    assert process.returncode == 7


def test_each_term_is_passed_on(drive):
    process = drive.start("on('SIGTERM'); note('up'); nap(1.5)", env={"GRACE": "20"})
    drive.wait_seen("up")
    for count in (1, 2, 3):
        process.send_signal(signal.SIGTERM)
        drive.wait_for(lambda count=count: drive.lines().count("SIGTERM") == count)
    process.communicate(timeout=30)
    assert drive.lines().count("SIGTERM") == 3


def test_run_04_a_harness_that_ignores_term_is_killed(drive):
    process = drive.start("signal.signal(signal.SIGTERM, signal.SIG_IGN); note('up'); nap()")
    drive.wait_seen("up")
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 137
    assert "signal=9" in drive.report.read_text()


def test_the_grace_is_five_seconds():
    from outfitter.edges.process import GRACE_SECONDS

    assert GRACE_SECONDS == 5.0


def test_the_harness_starts_as_it_would_without_us(drive):
    program = """
note(signal.getsignal(signal.SIGPIPE) == signal.SIG_IGN)  # Python's own doing; the kernel's view follows
status = open("/proc/self/status").read().split()
note("mask=" + status[status.index("SigBlk:") + 1])
note(os.environ.get("SET")); note(os.environ.get("UNSET"))
note(os.getsid(0) == os.getsid(os.getppid()) and os.getpgrp() == os.getpgid(os.getppid()))
"""
    assert drive.run(program)[0] == 0
    assert drive.lines() == ["True", "mask=0000000000000000", "yes", "None", "True"]


@pytest.mark.parametrize("locale", [{}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}])
def test_pye_01_words_are_utf_8_whatever_the_locale(drive, locale):
    assert (
        drive.run("note(os.environb[b'SPELLED'] + b' ' + os.environb[b'GIVEN'])", env={"GIVEN": "é", **locale})[0] == 0
    )
    assert drive.seen.read_text() == str("ü é".encode()) + "\n"


def test_as_a_containers_first_process_it_takes_in_orphans_and_obeys(drive):
    if os.geteuid() != 0:
        pytest.skip("needs root, for a process namespace")
    program = """
import subprocess
assert os.getppid() == 1
subprocess.run(["sh", "-c", "sleep 0.2 &"])
nap(0.6)
states = []
for name in os.listdir("/proc"):
    if name.isdigit():
        try:
            states.append(open(f"/proc/{name}/stat").read().rsplit(")", 1)[1].split()[0])
        except OSError:
            continue
note("Z" in states); note("up")
on("SIGTERM", lambda: sys.exit(9)); note("ready"); nap()
"""
    words = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", *drive.words(program)]
    process = subprocess.Popen(words, env=drive.env(GRACE="20"), stdin=subprocess.DEVNULL)
    drive.wait_seen("ready")
    with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
        os.kill(int(file.read().split()[0]), signal.SIGTERM)
    assert process.wait(timeout=30) == 9
    assert drive.lines() == ["False", "up", "ready", "SIGTERM"]


def test_pipe_and_file_size_signals_are_default_and_hup_stays_ignored(drive):
    shell = 'grep SigIgn /proc/self/status > "$SEEN"'
    words = [*drive.words("")[:5], "/bin/sh", "-c", shell]
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        subprocess.run(words, cwd=os.getcwd(), env=drive.env(), stdin=subprocess.DEVNULL, check=True, timeout=30)
    finally:
        signal.signal(signal.SIGHUP, before)
    ignored = int(drive.lines()[1], 16) & 0x7FFFFFFF  # real-time signals are the C library's own affair
    assert ignored == 1 << (signal.SIGHUP - 1)


def test_a_blocked_mask_is_not_handed_on_and_does_not_deafen_us(drive):
    program = "status = open('/proc/self/status').read().split(); note(status[status.index('SigBlk:') + 1]); nap(20)"
    process = drive.start(program, preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM}))
    drive.wait_for(drive.lines)
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=30)
    assert drive.lines() == ["0" * 16]
    assert process.returncode == 143


def test_nohup_keeps_a_hang_up_from_both(drive):
    process = drive.start(
        "note('up'); nap(1.0); note('lived')", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    )
    drive.wait_seen("up")
    os.killpg(process.pid, signal.SIGHUP)
    process.communicate(timeout=30)
    assert drive.lines() == ["up", "lived"]
    assert process.returncode == 0


def test_the_lock_alone_is_inherited(drive):
    assert (
        drive.run("""
for number in range(3, 300):
    try:
        note(os.readlink(f"/proc/self/fd/{number}"))
    except OSError:
        continue
""")[0]
        == 0
    )
    assert drive.lines() == [str(drive.lock)]


def test_a_stream_that_the_harness_left_non_blocking_blocks_again(drive):
    reader, writer = os.pipe()
    process = drive.start("os.set_blocking(1, False)", stdout=writer)
    process.communicate(timeout=30)
    assert os.get_blocking(writer)
    os.close(reader)
    os.close(writer)


def test_descriptors_the_caller_hands_over_reach_the_harness(drive):
    reader, writer = os.pipe()
    os.write(writer, b"given")
    os.close(writer)
    drive.run(f"note(os.read({reader}, 9).decode())", pass_fds=(reader,))
    os.close(reader)
    assert drive.lines() == ["given"]


def test_run_11_a_grandchild_that_holds_the_output_is_not_waited_for(drive):
    process = drive.start("import subprocess; subprocess.Popen(['sleep', '20']); note('up')", stdout=subprocess.PIPE)
    assert process.wait(timeout=15) == 0
    process.stdout.close()
    process.stderr.close()
    os.killpg(process.pid, signal.SIGKILL)


def test_an_argument_with_a_nul_is_an_error_in_one_piece(drive):
    words = drive.words("")
    driver = str(Path(__file__).with_name("driver.py"))
    program = f"import sys; sys.argv[1:] = {words[3:]!r} + ['a\\0b']; exec(open({driver!r}).read())"
    done = subprocess.run(
        [words[0], "-c", program],
        env=drive.env(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 99
    assert "EffectFailed" in drive.report.read_text()
    assert "null" in drive.report.read_text()


def test_a_surviving_stopped_harness_is_not_resumed_where_nobody_could_continue_us(drive):
    process = drive.start("note(os.getpid()); nap(1.0); note('done')")
    drive.wait_for(drive.lines)
    child = int(drive.lines()[0])
    os.kill(child, signal.SIGSTOP)
    drive.wait_for(lambda: _state(child) == "T")
    assert _state(process.pid) in "SR"
    os.kill(child, signal.SIGCONT)
    process.communicate(timeout=30)
    assert process.returncode == 0


def _state(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0]
