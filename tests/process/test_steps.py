"""The stage runner: names, times, crashes, and signals that come before the harness."""

from typing import NamedTuple

import pytest
from returns.io import IOFailure, IOSuccess
from returns.result import Failure, Success

from outfitter.edges.signals import Signals
from outfitter.edges.stage_runner import StageRunner
from outfitter.model.errors import Interrupted, UsageError
from outfitter.model.request import Notice
from outfitter.railway import Terminated, fold, perform


def counter():
    count = 0

    def clock():
        nonlocal count
        count += 1
        return count

    return clock


def opened(effect):
    return fold(perform(effect), lambda value: value, lambda error: error)


def pure_stage(value):
    return Success(value + 1)


def effect_stage(value):
    return IOSuccess(value)


def bad_stage():
    return Failure(UsageError("no"))


def crashing_stage():
    raise ValueError("a bug")


def test_stages_are_named_timed_and_lifted():
    step = StageRunner(counter(), signals=Signals())
    assert opened(step(pure_stage, 1)) == 2
    assert opened(step(effect_stage, value=3)) == 3
    assert opened(step(bad_stage)) == UsageError("no")
    assert [tuple(note) for note in step.notes()] == [
        ("pure stage", "ok", 1, 2),
        ("effect stage", "ok", 3, 4),
        ("bad stage", "usage-error", 5, 6),
    ]


def test_a_bug_carries_the_name_of_its_stage():
    step = StageRunner(counter(), signals=Signals())
    with pytest.raises(ValueError, match="a bug") as caught:
        step(crashing_stage)
    assert vars(caught.value)["outfitter_stage"] == "crashing stage"
    assert step.notes()[0].status == "crashed"


def test_a_signal_before_the_start_ends_the_launch_at_the_next_stage():
    signals = Signals()
    step = StageRunner(counter(), signals=signals)
    signals._arrive(15, None)
    assert opened(step(pure_stage, 1)) == Interrupted(15)
    assert step.notes()[0].status == "interrupted"


def test_a_signal_after_the_start_stops_no_stage():
    signals = Signals()
    step = StageRunner(counter(), signals=signals)
    with signals.running():
        signals._arrive(15, None)
    assert opened(step(pure_stage, 1)) == 2
    signals.saving()
    signals._arrive(15, None)
    assert opened(step(pure_stage, 1)) == 2


def test_a_stage_may_stop_itself_between_two_files():
    def long_stage():
        raise Terminated(2)

    step = StageRunner(counter(), signals=Signals())
    assert opened(step(long_stage)) == Interrupted(2)


def test_recovering_another_run_leaves_the_launch_stoppable():
    told: list[str] = []
    signals = Signals()
    signals.reset(told.append)
    signals.saving()
    signals._arrive(15, None)
    assert len(told) == 1
    signals.saved()
    assert signals.stop() == 15


def test_an_effect_failure_is_noted_by_its_kind():
    step = StageRunner(counter(), signals=Signals())
    step(lambda: IOFailure(UsageError("no")))
    assert step.notes()[0].status == "usage-error"


def test_what_came_while_the_harness_ran_is_not_the_first_signal_of_the_saving():
    told: list[str] = []
    signals = Signals()
    signals.reset(told.append)
    with signals.running():
        signals._arrive(2, None)
    signals.saving()
    assert told == []
    signals._arrive(2, None)
    assert len(told) == 1


def test_what_came_between_the_end_and_the_saving_is():
    told: list[str] = []
    signals = Signals()
    signals.reset(told.append)
    with signals.running():
        pass
    signals._arrive(2, None)
    signals.saving()
    assert len(told) == 1


def test_a_value_says_what_it_has_to_say_at_once_and_an_error_says_nothing():
    class Told(NamedTuple):
        to_say: tuple[Notice, ...]

    said = []
    step = StageRunner(counter(), said.append, Signals())
    notice = Notice("notice", "n", "told")

    def fine():
        return Success(Told((notice,)))

    def failing():
        return Failure(UsageError("no"))

    step(fine)
    step(failing)
    assert said == [notice]
