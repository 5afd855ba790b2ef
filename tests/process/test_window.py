"""A change of the terminal's size reaches the harness, which shares the launcher's group and terminal (spec/50)."""

import sys

import pexpect

WATCH = "trap 'stty size < /dev/tty > $HOME/size.new; mv $HOME/size.new $HOME/size' WINCH; touch $HOME/ready; while [ ! -e $HOME/size ]; do sleep 0.1; done"


def test_a_change_of_the_window_reaches_the_harness(machine):
    machine.agent("a")
    child = pexpect.spawn(
        sys.executable,
        ["-m", "outfitter", "run", "a"],
        cwd=str(machine.project),
        env=machine.env([["run", WATCH]]),
        encoding="utf-8",
        timeout=30,
        dimensions=(24, 80),
    )
    machine.wait_for(machine.home / "ready")
    child.setwinsize(50, 120)
    machine.wait_for(machine.home / "size")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
    assert (machine.home / "size").read_text().split() == ["50", "120"]
