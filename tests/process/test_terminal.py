"""Through a real terminal: ^C, ^Z and fg under a real shell, modes, the question (spec/50; spec/95 CLS-07, RUN)."""

import os
import shlex
import signal
import subprocess
import termios
from tty import setraw

import pexpect
import pytest


@pytest.fixture
def shell(drive):
    """An interactive bash in a terminal of its own."""
    child = pexpect.spawn(
        "/bin/bash",
        ["--norc", "--noprofile", "-i"],
        env={**drive.env(), "PS1": "READY> ", "HISTFILE": ""},
        timeout=20,
        encoding="utf-8",
    )
    child.expect("READY> ")
    yield child
    child.close(force=True)


def command(drive, program):
    return shlex.join(drive.words(program))


def start(drive, shell, program, before=""):
    script = drive.top / "job.sh"
    script.write_text(f"cd {shlex.quote(os.getcwd())}\n{before}\nexec {command(drive, program)}\n")
    shell.sendline(f"bash {shlex.quote(str(script))}; echo code=$?.")


def state(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def test_an_interrupt_key_reaches_the_harness_once(drive, shell):
    start(drive, shell, "on('SIGINT'); note('up'); nap(1.5); sys.exit(5)")
    drive.wait_seen("up")
    shell.sendintr()
    shell.expect("code=5\\.")
    assert drive.lines() == ["up", "SIGINT"]


def test_a_harness_that_dies_of_the_interrupt_key_gives_130(drive, shell):
    start(drive, shell, "signal.signal(signal.SIGINT, signal.SIG_DFL); note('up'); nap()")
    drive.wait_seen("up")
    shell.sendintr()
    shell.expect("code=130\\.|\\^C")
    drive.wait_for(drive.report.exists)
    assert drive.report.read_text() == "ChildExit(code=130, signal=2)"


def test_the_stop_key_and_fg(drive, shell):
    start(drive, shell, "note('up'); note(os.getpid()); line = sys.stdin.readline(); note(line.strip()); sys.exit(6)")
    drive.wait_for(lambda: len(drive.lines()) == 2)
    child = int(drive.lines()[1])
    shell.sendcontrol("z")
    shell.expect("Stopped")
    assert state(child) == "T"
    shell.sendline("fg")
    drive.wait_for(lambda: state(child) == "S")
    shell.sendline("typed")
    drive.wait_seen("typed")
    shell.expect("READY> ")


def test_a_harness_that_stops_itself_gives_the_shell_back(drive, shell):
    program = "note('up'); os.kill(os.getpid(), signal.SIGSTOP); note('again'); nap(0.2); sys.exit(6)"
    start(drive, shell, program)
    shell.expect("Stopped")
    assert drive.lines() == ["up"]
    shell.sendline("fg")
    drive.wait_seen("again")
    drive.wait_for(drive.report.exists)
    assert drive.report.read_text() == "ChildExit(code=6, signal=0)"


def test_a_harness_that_puts_its_terminal_right_first_is_waited_for(drive, shell):
    program = """
def stop(*_):
    note("tidying"); nap(0.3); note("tidied")
    signal.signal(signal.SIGTSTP, signal.SIG_DFL); os.kill(os.getpid(), signal.SIGTSTP)
signal.signal(signal.SIGTSTP, stop)
note("up"); nap(1.5)
"""
    start(drive, shell, program)
    drive.wait_seen("up")
    shell.sendcontrol("z")
    shell.expect("Stopped")
    assert drive.lines() == ["up", "tidying", "tidied"]
    shell.sendline("fg")
    drive.wait_for(drive.report.exists)
    assert "code=0" in drive.report.read_text()


def test_a_signal_to_the_launcher_of_a_background_job_is_passed_on(drive, shell):
    script = drive.top / "job.sh"
    script.write_text(
        f"cd {shlex.quote(os.getcwd())}\nexec {command(drive, 'on(chr(83)+chr(73)+chr(71)+chr(73)+chr(78)+chr(84)); note(1); nap(1.5)')}\n"
    )
    shell.sendline(f"bash {shlex.quote(str(script))} &")
    drive.wait_seen("1")
    shell.sendline("kill -INT %1")
    drive.wait_for(drive.report.exists)
    assert drive.lines() == ["1", "SIGINT"] or drive.lines() == ["1", "SIGINT", "SIGINT"]


def test_modes_are_restored_after_a_death_by_signal_only(drive, shell):
    raw = "import tty; tty.setraw(0); note('raw'); os.kill(os.getpid(), signal.SIGKILL)"
    shell.sendline("stty -a > before.txt".replace("before.txt", shlex.quote(str(drive.top / "before"))))
    shell.expect("READY> ")
    start(drive, shell, raw)
    shell.expect("code=137\\.")
    shell.sendline("stty -a > " + shlex.quote(str(drive.top / "after")))
    shell.expect("READY> ")
    drive.wait_for(lambda: (drive.top / "after").exists() and (drive.top / "after").read_text().endswith("\n"))
    assert (drive.top / "after").read_text() == (drive.top / "before").read_text()


def in_terminal(drive, program, answers, env):
    """Run the driver as a session of its own on a terminal; what it showed, and its code."""
    child = pexpect.spawn(
        drive.words(program)[0],
        drive.words(program)[1:],
        env={**drive.env(), **env},
        cwd=os.getcwd(),
        timeout=20,
        encoding="utf-8",
    )
    for expected, answer in answers:
        child.expect(expected)
        child.send(answer)
    child.expect(pexpect.EOF)
    child.close()
    return child.before, child.exitstatus


QUESTION = r"keep it\? \[persist/discard/always\] "


@pytest.mark.parametrize(
    ("typed", "answer"),
    [("persist\n", "persist"), ("p\n", "persist"), ("A\n", "always"), ("disc\n", "discard"), ("d\n", "discard")],
)
def test_the_question_takes_words_and_first_letters(drive, typed, answer):
    shown, code = in_terminal(drive, "pass", [(QUESTION, typed)], {"ASK": "1"})
    assert f"notice: {answer}" in shown
    assert code == 0


def test_garbage_is_asked_again_and_then_discarded(drive):
    shown, _ = in_terminal(drive, "pass", [(QUESTION, "yes\n"), (QUESTION, "\n"), (QUESTION, "x\n")], {"ASK": "1"})
    assert "notice: discard no answer after 3 questions" in shown


def test_garbage_and_then_an_answer(drive):
    shown, _ = in_terminal(drive, "pass", [(QUESTION, "yes\n"), (QUESTION, "p\n")], {"ASK": "1"})
    assert "notice: persist" in shown


@pytest.mark.parametrize(("typed", "remark"), [("\x04", "end of input"), ("\x03", "interrupted")])
def test_end_of_input_and_an_interrupt_discard_and_say_so(drive, typed, remark):
    shown, code = in_terminal(drive, "pass", [(QUESTION, typed)], {"ASK": "1"})
    assert "notice: discard" in shown
    assert remark in shown
    assert code == 0


def test_the_question_works_on_a_terminal_that_the_harness_left_raw(drive):
    raw = "import tty; tty.setraw(0); os.set_blocking(0, False)"
    shown, _ = in_terminal(drive, raw, [(QUESTION, "x\x7fpersist\r")], {"ASK": "1"})
    assert "notice: persist" in shown


def test_nobody_is_asked_after_the_launcher_was_told_to_end(drive):
    child = pexpect.spawn(
        drive.words("")[0],
        drive.words("note('up'); nap()")[1:],
        env={**drive.env(), "ASK": "1"},
        cwd=os.getcwd(),
        timeout=20,
        encoding="utf-8",
    )
    drive.wait_seen("up")
    child.kill(signal.SIGTERM)
    child.expect("discard not asked")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 143


def test_a_closed_terminal_ends_the_harness_and_saves(drive):
    child = pexpect.spawn(
        drive.words("")[0],
        drive.words("on('SIGHUP', lambda: sys.exit(3)); note('up'); nap()")[1:],
        env=drive.env(),
        cwd=os.getcwd(),
        timeout=20,
    )
    drive.wait_seen("up")
    child.close(force=False)
    drive.wait_for(drive.report.exists)
    assert drive.report.read_text() == "ChildExit(code=3, signal=0)"
    assert drive.log() == "notice: all is saved\n"


def test_a_progress_bar_comes_late_and_goes(drive):
    program = """
import os, sys, time
from outfitter.edges.console import console
from outfitter.edges.environment import ambient
from outfitter.edges.terminal import RunLog, UserTerminal
speak = UserTerminal(console(os.environ, progress=sys.argv[1] == 'yes'), ambient(os.environ), RunLog('/nowhere'))
step = speak.progress('copying')
step(1, 4); time.sleep(0.6); step(2, 4); step(4, 4)
print('end')
"""

    def shown(wants, **options):
        words = [drive.words("")[0], "-c", program, wants]
        child = pexpect.spawn(
            words[0],
            words[1:],
            env={**drive.env(), "TERM": "xterm", **options},
            cwd=os.getcwd(),
            timeout=20,
            encoding="utf-8",
        )
        child.expect(pexpect.EOF)
        child.close()
        return child.before

    assert "copying [############            ] 2/4\r\x1b[Kend" in shown("yes")
    assert "1/4" not in shown("yes")
    assert shown("no") == shown("yes", TERM="dumb") == "end\r\n"
    words = [drive.words("")[0], "-c", program, "yes"]
    assert subprocess.run(words, env=drive.env(), capture_output=True, timeout=30, check=True).stderr == b""


def test_modes_round_trip():
    from outfitter.edges import tty

    leader, follower = os.openpty()
    try:
        setraw(follower)
        before = termios.tcgetattr(follower)
        with tty.line_mode(follower):
            wanted = termios.ICANON | termios.ECHO | termios.ISIG
            assert termios.tcgetattr(follower)[3] & wanted == wanted
        assert termios.tcgetattr(follower) == before
    finally:
        os.close(leader)
        os.close(follower)


def test_only_what_the_terminal_did_not_send_is_forwarded(drive):
    program = """
import os, signal
from outfitter.edges.process import _forwards
def child(**more):
    return os.posix_spawn("/bin/sleep", ["sleep", "5"], {}, **more)
beside, apart = child(), child(setpgroup=0)
for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGTERM, signal.SIGHUP):
    print(number.name, _forwards(number, beside), _forwards(number, apart))
for pid in (beside, apart):
    os.kill(pid, 9); os.waitpid(pid, 0)
"""
    words = [drive.words("")[0], "-c", program]
    child = pexpect.spawn(words[0], words[1:], env=drive.env(), cwd=os.getcwd(), timeout=20, encoding="utf-8")
    child.expect(pexpect.EOF)
    child.close()
    keys = ["SIGINT False True", "SIGQUIT False True", "SIGTSTP False True"]
    assert child.before.split("\r\n") == [*keys, "SIGTERM True True", "SIGHUP True True", ""]
    alone = subprocess.run(words, env=drive.env(), capture_output=True, timeout=30, check=True, start_new_session=True)
    assert alone.stdout.decode().count("True True") == 5
