"""What a process that outlived the harness makes again at the path of a removed run directory (spec/95, RUN-11)."""

import fcntl
import json
import os
import shutil
from pathlib import Path

import pytest
from attrs import evolve

from outfitter.run.layout import removed_log
from outfitter.run.leftovers import LeftoverDirectory, clear, leftover_directories
from outfitter.run.removal import note_removed
from tests.state.standing import as_nobody, opened, plan, prepared, stand

# Waits until the launcher has removed the run directory, then makes something there again.
BACK = (
    "(while [ -e {root} ]; do sleep 0.02; done; mkdir -p {root}/projection/sessions; {more}; touch ~/back)"
    " >/dev/null 2>&1 </dev/null &"
)


@pytest.fixture
def here(tmp_path):
    return stand(tmp_path)


def outlived(machine, more="true"):
    machine.agent()
    command = BACK.format(root='"$(dirname "$PI_CODING_AGENT_DIR")"', more=more.replace("@", '"$PI_CODING_AGENT_DIR"'))
    ended = machine.run("run", "a", script=[["run", command]])
    assert (ended.code, ended.err) == (0, "")
    machine.wait_for(machine.home / "back")
    (root,) = machine.run_directories()
    return root


def test_one_that_holds_nothing_is_named_and_removed_by_recover(machine):
    root = outlived(machine)
    assert machine.run("run", "a").err == "", "a launch does not speak of it"
    assert str(root) in machine.run("doctor").out
    listed = json.loads(machine.run("recover", "--list", "--json").out)
    assert listed["remnants"] == [{"root": str(root), "entries": 0, "proven": True}]
    ended = machine.run("recover")
    assert (ended.code, str(root) in ended.err) == (0, True)
    assert not root.exists()
    assert machine.run("recover").out == "nothing to recover\n"


@pytest.mark.parametrize("more", ["echo 1 > @/late.jsonl", "mkfifo @/pipe", "ln -s / @/link", "mkdir @/a; touch @/a/b"])
def test_one_that_holds_something_is_named_each_time_and_kept(machine, more):
    root = outlived(machine, more)
    for _ in range(2):
        ended = machine.run("recover")
        assert (ended.code, f"{root}: made by a process" in ended.err, "holds 1 file" in ended.err) == (1, True, True)
        assert f"rm -r {root}" in ended.err
    assert (root / "projection/sessions").is_dir()
    (one,) = json.loads(machine.run("recover", "--json").out)["remnants"]
    assert one == {"root": str(root), "entries": 1, "removed": False}


def test_one_of_which_nothing_is_known_is_listed_and_never_touched(machine):
    root = outlived(machine)
    (machine.home / ".local/state/outfitter/removed").unlink()
    assert machine.run("recover").out == "nothing to recover\n"
    assert root.exists()
    assert "carries no marker" in machine.run("recover", "--list").out
    assert str(root) in machine.run("doctor").out


def removed(here):
    record = opened(here, prepared(here, plan())).record
    assert here.runs.remove(record.root, record.device, record.inode) == ()
    here.runs.forget(record.run_id)
    return record


def test_directories_that_only_begin_alike_are_no_remnants(here):
    for name in (
        "outfitter-a-pi-short",
        "outfitter-notes",
        "outfitter-a-pi-abcdefgh.bak",
        "my-outfitter-a-pi-abcdefgh",
    ):
        (here.tmp / name).mkdir()
    (here.tmp / "outfitter-a-pi-bcdefghj").write_text("")
    (here.tmp / "outfitter-a-pi-cdefghjk").symlink_to("/")
    assert leftover_directories(here.ambient) == ()


def test_what_has_a_marker_or_a_journal_is_no_remnant(here):
    live = opened(here, prepared(here, plan())).record
    journalled = opened(here, prepared(here, plan())).record
    os.unlink(journalled.root + "/lock")
    Path(journalled.root, "x").touch()
    assert leftover_directories(here.ambient) == ()
    here.runs.forget(journalled.run_id)
    assert [one.root for one in leftover_directories(here.ambient)] == [journalled.root]
    assert Path(live.root, "lock").exists()


def test_a_directory_that_a_launch_is_just_making_is_no_remnant(here):
    record = removed(here)
    os.mkdir(record.root)
    held = os.open(record.root, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    assert leftover_directories(here.ambient) == ()
    os.close(held)
    assert [one.root for one in leftover_directories(here.ambient)] == [record.root]


def test_nothing_that_comes_into_it_meanwhile_is_removed(here):
    record = removed(here)
    os.makedirs(record.root + "/a/b")
    (remnant,) = leftover_directories(here.ambient)
    assert remnant == LeftoverDirectory(record.root, True, 0)
    Path(record.root, "a/late").write_text("1")
    assert not clear(remnant)
    assert Path(record.root, "a/late").read_text() == "1"


def test_a_link_that_takes_its_place_is_not_followed(here, tmp_path):
    record = removed(here)
    os.makedirs(record.root + "/a")
    (remnant,) = leftover_directories(here.ambient)
    (tmp_path / "mine/empty").mkdir(parents=True)
    shutil.rmtree(record.root)
    os.symlink(tmp_path / "mine", record.root)
    assert not clear(remnant)
    assert (tmp_path / "mine/empty").is_dir()


def test_it_is_found_where_the_temporary_root_was_then(here, tmp_path):
    record = removed(here)
    os.mkdir(record.root)
    elsewhere = evolve(here.ambient, temp_root=str(tmp_path / "work"))
    assert [one.root for one in leftover_directories(elsewhere)] == [record.root]


def test_one_that_cannot_be_looked_through_is_kept():
    def job(top):
        here = stand(top)
        record = removed(here)
        os.makedirs(record.root + "/shut/in")
        os.chmod(record.root + "/shut", 0)
        (remnant,) = leftover_directories(here.ambient)
        return remnant.entries, clear(remnant), os.path.exists(record.root)

    assert as_nobody(job) == (-1, False, True)


def test_noise_in_the_log_proves_nothing(here, tmp_path):
    (tmp_path / "precious").mkdir()
    log = Path(removed_log(here.ambient))
    log.parent.mkdir(parents=True)
    log.write_bytes(b"\xff\0outfitter-a-pi-abcdefgh\0" + os.fsencode(tmp_path / "precious") + b"\0/tmp/outfitter-a")
    assert leftover_directories(here.ambient) == ()
    log.unlink()
    log.mkdir()
    removed(here)
    assert leftover_directories(here.ambient) == ()


def test_the_log_stays_small_and_keeps_the_newest(here):
    log = Path(removed_log(here.ambient))
    log.parent.mkdir(parents=True)
    for number in range(5000):
        note_removed(str(log), f"/tmp/outfitter-a-pi-{number:08d}")
    lines = log.read_bytes().split(b"\0")
    assert log.stat().st_size < 140_000
    assert lines[-2:] == [b"/tmp/outfitter-a-pi-00004999", b""]
    assert all(len(line) == len(lines[0]) for line in lines[:-1])


def test_a_settled_run_that_lost_its_lock_to_a_removal_cut_short_is_finished_later(here):
    """Something wrote between the lock's removal and the directory's: the journal stays, and its run directory is known by it."""
    occupied = opened(here, prepared(here, plan()))
    here.runs.journal(evolve(occupied.record, phase="settled"))
    here.runs.close(occupied.token)
    os.unlink(occupied.record.root + "/lock")
    os.makedirs(occupied.record.root + "/projection/late")
    assert [found.condition for found in here.runs.journals()] == ["dead"]
    ((record, token),) = here.runs.stale()
    assert here.runs.remove(record.root, record.device, record.inode) == ()
    here.runs.close(token)
    assert not os.path.exists(record.root)


def test_that_run_is_left_alone_while_its_launcher_holds_the_directory(here):
    occupied = opened(here, prepared(here, plan()))
    record = evolve(occupied.record, phase="settled")
    assert here.runs.claim(record) is None
    Path(record.root, "x").touch()
    started = evolve(record, phase="started")
    os.unlink(record.root + "/lock")
    assert here.runs.claim(started) is None, "only of a run that is over nothing can be lost"
