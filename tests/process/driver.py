"""A launcher of one program, in a process of its own: what the process edge does, without the rest of a launch.

argv: LOCK REPORT PROGRAM [ARGUMENT]... The lock file is opened and inherited. REPORT receives `ended CODE SIGNAL`. The exit code
is the child's. SAVE=<seconds> stays in the saving phase that long before it ends; READY names a file that marks that phase.
"""

import os
import sys
import time

from outfitter.edges import process, tty
from outfitter.edges.console import console
from outfitter.edges.environment import ambient
from outfitter.edges.signals import SIGNALS
from outfitter.edges.terminal import RunLog, UserTerminal
from outfitter.model.projection import LaunchPlan
from outfitter.model.request import Notice
from outfitter.railway import fold


class Lock:
    def __init__(self, descriptor):
        self.descriptor = descriptor


def main():
    lock, report, program, *arguments = sys.argv[1:]
    process.GRACE_SECONDS = float(os.environ.get("GRACE", "0.3"))
    tty.fill_closed_streams()
    here = ambient(os.environ)
    log = RunLog(here.state_root)
    log.run_id = "driven"
    speak = UserTerminal(console(os.environ), here, log)
    SIGNALS.install()
    plan = LaunchPlan(program, tuple(arguments), {"SET": "yes", "SPELLED": "ü"}, ("UNSET",))
    held = Lock(os.open(lock, os.O_RDWR))
    outcome = process.Harnesses(os.environ).run(plan, held, lambda: None)
    assert not os.get_inheritable(held.descriptor)
    ended = fold(outcome, lambda done: done, lambda error: error)
    speak.saving()
    if "ASK" in os.environ:
        speak.say(Notice("notice", "answered", " ".join(speak.ask("keep it?"))))
    if "SAVE" in os.environ:
        open(os.environ["READY"], "w").close()
        limit = time.monotonic() + float(os.environ["SAVE"])
        while time.monotonic() < limit:
            time.sleep(0.01)
    speak.say(Notice("notice", "saved", "all is saved"))
    with open(report, "w") as file:
        file.write(repr(ended))
    return getattr(ended, "code", 99)


sys.exit(main())
