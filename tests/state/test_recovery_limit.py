"""A launch spends five seconds on killed ones; the rest is kept, named, and left to `outfitter recover` (spec/50)."""

import json
import time
from contextlib import nullcontext

import pytest
from attrs import evolve

from outfitter.cli import run
from outfitter.edges.console import Console
from outfitter.edges.environment import ambient
from outfitter.edges.real import real_host
from outfitter.edges.time_limit import limited
from outfitter.host import Durable, Trees
from outfitter.railway import TimeIsUp, perform
from outfitter.recovery import recover
from tests.effects import fake
from tests.state.test_recovery import history, journal, killed


def host_of(machine):
    here = evolve(ambient(machine.env()), cwd=str(machine.project))
    return here, real_host(here, Console(False, False, quiet=True))


def slow(*_):
    time.sleep(30)


def test_a_run_that_takes_longer_is_kept_named_and_finished_by_recover(machine):
    session = history(machine)
    root = killed(machine, ["append", f"projects/{machine.slug()}/s1.jsonl", "k\n"])
    here, host = host_of(machine)
    slow_host = evolve(host, trees=fake(Trees, host.trees, scan=slow))
    begun = time.monotonic()
    (late,) = perform(recover(slow_host, here, limited=lambda one: limited(one, 0.3))).unwrap()
    assert time.monotonic() - begun < 10
    assert (late.ending, session.read_text()) == ("unsaved", '{"n":1}\n')
    assert late.notices[0].message.endswith(f"it takes longer than a launch may wait; it stays in {root}")
    assert "outfitter recover" in late.notices[0].hint
    assert json.loads(journal(machine).read_text())["phase"] == "unsaved"
    # The next launch does not wait for it again, and no sweep takes it.
    assert "recovered" not in machine.run("run", "a").err
    assert root.exists()
    assert machine.run("recover").code == 0
    assert session.read_text() == '{"n":1}\nk\n'
    assert not machine.run_directories()


def test_once_the_time_is_over_each_other_run_is_named_at_once(machine):
    root = killed(machine, ["write", f"projects/{machine.slug()}/new.jsonl", "k\n"])
    here, host = host_of(machine)
    (late,) = perform(recover(host, here, limited=lambda one: limited(one, 0.0))).unwrap()
    assert (late.ending, str(root) in late.notices[0].message) == ("unsaved", True)
    assert perform(recover(host, here, unsaved=True, limited=nullcontext)).unwrap()[0].ending == "saved"


def test_a_write_that_has_begun_is_finished(machine):
    _, host = host_of(machine)

    def write(*_):
        time.sleep(0.3)

    with limited(evolve(host, durable=fake(Durable, host.durable, write=write)), 0.1) as one:
        assert one.durable.write("/x", b"", None, None) is None
        with pytest.raises(TimeIsUp):
            one.durable.write("/x", b"", None, None)
        # Locks are given back, and temporaries removed, at any time.
        one.durable.tidy(str(machine.home / "x"))
        assert one.durable.flush() is None


def test_a_launch_has_the_limit(machine):
    assert run.RECOVERY_SECONDS == 5.0
    _, host = host_of(machine)
    slow_host = evolve(host, trees=fake(Trees, host.trees, scan=lambda *_: None))
    with run._limited(slow_host) as one:
        assert one.trees is not slow_host.trees
        assert one.trees.scan("/", (), 0, False) is None
