"""A launcher that was killed between the second name of a durable file and its replacement (spec/50)."""

import os

import pytest

from outfitter.atomic import AtomicFile
from tests.bridge.bench import Bench

REPLACED = "debug/d1.txt"


def killed(bench, method, when=0):
    """Settle in a child process that ends before the `when`-th call of an `AtomicFile` method."""
    child = os.fork()
    if child == 0:
        calls = []
        real = getattr(AtomicFile, method)

        def end(*given, **named):
            calls.append(given)
            if len(calls) > when:
                os._exit(9)
            return real(*given, **named)

        setattr(AtomicFile, method, staticmethod(end) if method == "tidy" else end)
        try:
            bench.settle()
        finally:
            os._exit(8)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


@pytest.fixture
def replaced(tmp_path):
    bench = Bench(tmp_path)
    bench.put(bench.native / REPLACED, "old")
    bench.age().launch()
    bench.delete("debug")
    bench.write(REPLACED, "of the run")
    return bench


def test_recovery_ends_as_an_undisturbed_run_would(replaced):
    killed(replaced, "_rename")
    assert len(replaced.temporaries()) == 2
    for _ in range(2):
        killed(replaced, "_rename")
    assert replaced.settle().saved
    assert (replaced.native / REPLACED).read_text() == "of the run"
    assert (replaced.kept(), replaced.temporaries()) == ({}, [])


def test_a_recovery_that_is_killed_after_its_replacement_leaves_nothing_either(replaced):
    killed(replaced, "_rename")
    killed(replaced, "tidy", when=1)
    assert replaced.settle().saved
    assert (replaced.native / REPLACED).read_text() == "of the run"
    assert (replaced.kept(), replaced.temporaries()) == ({}, [])


def test_a_change_of_another_program_is_a_conflict_all_the_same(replaced):
    killed(replaced, "_rename")
    (replaced.native / REPLACED).write_text("of another program")
    replaced.settle()
    assert (replaced.native / REPLACED).read_text() == "of another program"
    assert list(replaced.kept()) == [b"of the run"]
    assert replaced.temporaries() == []
