"""The end of a run directory: removed, kept on purpose, kept because something is unsaved, or left to recovery (spec/50)."""

import errno
import os
from pathlib import Path

import pytest
from attrs import evolve
from returns.result import Failure, Success

from outfitter.host import Runs
from outfitter.model.errors import Crashed, EffectFailed, HarnessUnavailable, Interrupted
from outfitter.model.outcome import Change, ChildExit, Settlement
from outfitter.model.projection import Settled
from outfitter.railway import Terminated, fold, perform
from outfitter.run.record import decode
from stages.cleanup import cleanup
from tests.effects import fake
from tests.state.standing import built, plan, prepared, stand

CHANGE = Change("odd", "added", "unknown", "", "warn", "warned", None, 1)


@pytest.fixture
def here(tmp_path):
    return stand(tmp_path)


def a_run(here, phase="started", **asked):
    ready = prepared(here, plan(), **asked)
    occupied, _ = built(here, ready)
    if phase != "preparing":
        occupied = occupied._replace(record=evolve(occupied.record, phase=phase))
        here.runs.journal(occupied.record)
    return ready, occupied


def clean(here, ready, occupied, outcome, runs=None):
    return fold(
        perform(cleanup(runs or here.runs, ready, occupied, outcome)), lambda report: report, lambda error: error
    )


def settled(occupied, saved=True):
    record = evolve(occupied.record, changes=(CHANGE,))
    return Success(Settled(record, ChildExit(0), Settlement((CHANGE,), (), saved)))


def journals(here):
    return {path.stem: decode(path.read_bytes()).unwrap() for path in here.journals.iterdir()}


def test_a_settled_run_leaves_nothing(here):
    ready, occupied = a_run(here)
    report = clean(here, ready, occupied, settled(occupied))
    assert not os.path.exists(occupied.record.root)
    assert not list(here.journals.iterdir())
    assert (report.ended, report.record.changes, report.notices) == (ChildExit(0), (CHANGE,), ())
    with pytest.raises(OSError):
        os.fstat(occupied.token.descriptor)


def test_a_retained_run_stays_with_its_outcomes_and_says_where(here):
    ready, occupied = a_run(here, retain=True)
    report = clean(here, ready, occupied, settled(occupied))
    kept = journals(here)[occupied.record.run_id]
    assert (kept.phase, kept.changes) == ("retained", (CHANGE,))
    assert decode((Path(kept.root) / "run.json").read_bytes()).unwrap() == kept
    (notice,) = report.notices
    assert notice.level == "notice"
    assert occupied.record.root in notice.message
    assert list(here.runs.stale()) == []


@pytest.mark.parametrize("retain", [True, False])
def test_what_could_not_be_saved_stays_and_is_named(here, retain):
    ready, occupied = a_run(here, retain=retain)
    report = clean(here, ready, occupied, settled(occupied, saved=False))
    assert journals(here)[occupied.record.run_id].phase == "unsaved"
    (notice,) = report.notices
    assert notice.level == "warning"
    assert occupied.record.root in notice.message
    assert "outfitter recover" in notice.hint


@pytest.mark.parametrize(
    "error",
    [EffectFailed("make the projection", "/x", "No space left on device"), Crashed(ValueError("bug")), Interrupted(15)],
)
def test_a_launch_that_failed_before_its_harness_started_leaves_nothing(here, error):
    ready, occupied = a_run(here, "preparing")
    report = clean(here, ready, occupied, Failure(error))
    assert report.ended == error
    assert not report.notices
    assert not os.path.exists(occupied.record.root)
    assert not list(here.journals.iterdir())


def test_a_harness_that_could_not_be_started_leaves_nothing(here):
    ready, occupied = a_run(here)
    error = HarnessUnavailable("pi", "/bin/pi", "bad interpreter")
    outcome = Success(Settled(evolve(occupied.record, changes=()), error, Settlement()))
    assert clean(here, ready, occupied, outcome).ended == error
    assert not os.path.exists(occupied.record.root)


@pytest.mark.parametrize("error", [Crashed(ValueError("bug in the bridge")), Interrupted(2)])
def test_a_run_that_could_not_be_settled_is_left_to_recovery(here, error):
    ready, occupied = a_run(here)
    report = clean(here, ready, occupied, Failure(error))
    assert report.ended == error
    assert journals(here)[occupied.record.run_id].phase == "started"
    assert os.path.isdir(occupied.record.projection)
    assert occupied.record.root in report.notices[0].message
    assert len(list(here.runs.stale())) == 1


def test_a_removal_that_fails_is_said_and_tried_again(here):
    ready, occupied = a_run(here)

    def refuse(root, device, inode):
        raise OSError(errno.EIO, "Input/output error", root)

    report = clean(here, ready, occupied, settled(occupied), fake(Runs, here.runs, remove=refuse))
    (notice,) = report.notices
    assert notice.level == "warning"
    assert "Input/output error" in notice.message
    assert report.ended == ChildExit(0)
    assert journals(here)[occupied.record.run_id].phase == "settled"
    assert len(list(here.runs.stale())) == 1


def test_nothing_that_fails_in_cleaning_up_is_raised(here):
    def refuse(*_):
        raise OSError(errno.EROFS, "Read-only file system", "/x")

    for broken in ("journal", "forget", "close", "remove"):
        ready, occupied = a_run(here)
        report = clean(here, ready, occupied, settled(occupied), fake(Runs, here.runs, **{broken: refuse}))
        assert report.ended == ChildExit(0), broken


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), Terminated(15), ValueError("bug")])
def test_an_interrupt_while_cleaning_up_leaves_the_rest_to_recovery(here, stop):
    ready, occupied = a_run(here)

    def interrupt(*_):
        raise stop

    report = clean(here, ready, occupied, settled(occupied), fake(Runs, here.runs, remove=interrupt))
    ended = {KeyboardInterrupt: Interrupted(2), Terminated: Interrupted(15)}.get(type(stop), ChildExit(0))
    assert report.ended == ended
    assert occupied.record.root in report.notices[0].message
    assert journals(here)[occupied.record.run_id].phase == "settled"


def test_a_directory_that_vanished_is_no_trouble(here):
    import shutil

    ready, occupied = a_run(here)
    shutil.rmtree(occupied.record.root)
    report = clean(here, ready, occupied, settled(occupied))
    assert not report.notices
    assert not list(here.journals.iterdir())
