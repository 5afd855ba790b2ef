"""Run directories: named, made, locked, journalled, found again, swept (spec/50; spec/95 CLN-06, 07, 08, 13)."""

import fcntl
import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest
from attrs import evolve

from outfitter.host import OpenRun
from outfitter.model.errors import EffectFailed
from outfitter.run.layout import MARKER, WEEK_NS
from outfitter.run.record import decode
from outfitter.run.runs import runs
from tests.state.standing import as_nobody, opened, plan, prepared, stand


@pytest.fixture
def here(tmp_path):
    return stand(tmp_path)


def an_open_run(here, **more):
    occupied = opened(here, prepared(here, plan(), **more))
    assert isinstance(occupied, OpenRun), occupied
    return occupied


def let_go(here, occupied):
    """As when the launcher is killed: the lock is free, nothing else was done."""
    here.runs.close(occupied.token)
    return occupied.record


def age(top, seconds=8 * 86_400):
    then = time.time() - seconds
    for folder, folders, files in os.walk(top, topdown=False):
        for name in folders + files:
            os.utime(os.path.join(folder, name), (then, then), follow_symlinks=False)
    os.utime(top, (then, then))


def test_a_name_says_whose_it_is_and_cannot_be_guessed(here):
    run_id, root = here.runs.name("../é b/very-long-agent-name", "claude")
    name = os.path.basename(root)
    assert os.path.dirname(root) == here.ambient.temp_root
    agent, harness, token = name.removeprefix("outfitter-").rsplit("-", 2)
    assert (agent, harness, len(token)) == ("..---b-very-", "claude", 8)
    assert run_id.endswith("-" + token)
    assert len({here.runs.name("a", "pi")[0] for _ in range(200)}) == 200
    assert not os.path.exists(root)


def test_a_run_directory_is_private_marked_and_locked(here):
    occupied = an_open_run(here)
    root = Path(occupied.record.root)
    at = root.stat()
    assert (stat.S_IMODE(at.st_mode), at.st_dev, at.st_ino) == (0o700, occupied.record.device, occupied.record.inode)
    lock = root / "lock"
    assert lock.read_bytes() == MARKER == b"outfitter run 1\n"
    assert os.get_inheritable(occupied.token.descriptor)
    with open(lock) as other, pytest.raises(BlockingIOError):
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert [path.name for path in root.iterdir()] == ["lock"]


def test_even_under_an_odd_umask(here):
    before = os.umask(0o777)
    try:
        occupied = an_open_run(here)
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(occupied.record.root).st_mode) == 0o700


def test_the_journal_is_private_whole_and_copied(here):
    occupied = an_open_run(here)
    (journal,) = here.journals.iterdir()
    assert journal.name == occupied.record.run_id + ".json"
    assert stat.S_IMODE(journal.stat().st_mode) == 0o600
    assert stat.S_IMODE(here.journals.stat().st_mode) == 0o700
    assert decode(journal.read_bytes()).unwrap() == occupied.record
    based = evolve(occupied.record, baseline_digest="00")
    assert not here.runs.journal(based)
    copy = Path(based.root) / "run.json"
    assert journal.read_bytes() == copy.read_bytes()
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    inode = journal.stat().st_ino
    assert not here.runs.journal(evolve(occupied.record, phase="started"))
    assert journal.stat().st_ino != inode
    here.runs.forget(occupied.record.run_id)
    here.runs.forget(occupied.record.run_id)
    assert not list(here.journals.iterdir())


def test_a_state_directory_that_is_a_file_is_a_notice_and_the_launch_goes_on(here):
    (here.home / ".local").write_text("")
    occupied = an_open_run(here)
    (notice,) = here.runs.journal(occupied.record)
    assert (notice.level, notice.code) == ("notice", "no-journal")
    here.runs.forget(occupied.record.run_id)


def test_the_copy_is_never_written_into_what_took_the_directorys_place(here, tmp_path):
    record = an_open_run(here).record
    other = tmp_path / "other"
    other.mkdir()
    os.rename(record.root, record.root + ".moved")
    os.symlink(other, record.root)
    here.runs.journal(evolve(record, baseline_digest="00"))
    os.unlink(record.root)
    os.mkdir(record.root)
    here.runs.journal(evolve(record, baseline_digest="00"))
    assert not list(other.iterdir())
    assert not os.listdir(record.root)


@pytest.mark.parametrize("what", ["missing", "file"])
def test_cln_06_a_temporary_root_that_is_none_is_named(tmp_path, what):
    here = stand(tmp_path)
    (tmp_path / "file").write_text("")
    here = stand(tmp_path, temp_root=str(tmp_path / what))
    error = opened(here, prepared(here, plan()))
    assert isinstance(error, EffectFailed)
    assert error.path == str(tmp_path / what)
    assert "TMPDIR" in error.reason
    assert not list(here.journals.iterdir())


def test_cln_06_home_as_temporary_root_works_and_only_marked_directories_are_swept(tmp_path):
    here = stand(tmp_path, temp_root=str(tmp_path / "home"))
    for name in ("outfitter-notes", "outfitter-a-pi-abcdefgh"):
        (here.home / name).mkdir()
        (here.home / name / "mine.txt").write_text("1")
        age(here.home / name)
    record = let_go(here, an_open_run(here))
    here.runs.forget(record.run_id)
    age(record.root)
    here.runs.sweep(time.time_ns())
    assert not os.path.exists(record.root)
    assert (here.home / "outfitter-notes/mine.txt").exists()
    assert (here.home / "outfitter-a-pi-abcdefgh/mine.txt").exists()


@pytest.mark.other_uid
def test_cln_06_a_temporary_root_that_cannot_be_written_is_named():
    def job(top):
        here = stand(top)
        here.tmp.chmod(0o555)
        error = opened(here, prepared(here, plan()))
        return error.path == str(here.tmp), error.reason, list(here.journals.iterdir())

    named, reason, left = as_nobody(job)
    assert named
    assert "TMPDIR" in reason
    assert not left


def test_cln_08_a_planted_name_is_refused(here, tmp_path):
    ready = prepared(here, plan())
    os.symlink(tmp_path, ready.site.root)
    error = opened(here, ready)
    assert isinstance(error, EffectFailed)
    assert error.path == ready.site.root
    assert "lock" not in os.listdir(tmp_path)


def test_a_live_run_is_never_claimed(here):
    occupied = an_open_run(here)
    assert here.runs.claim(occupied.record) is None
    assert list(here.runs.stale()) == []
    assert [found.condition for found in here.runs.journals()] == ["live"]


def test_a_harness_that_inherited_the_lock_keeps_the_run_alive(here):
    occupied = an_open_run(here)
    child = subprocess.Popen(["sleep", "60"], pass_fds=[occupied.token.descriptor], stdin=subprocess.DEVNULL)
    try:
        record = let_go(here, occupied)
        assert here.runs.claim(record) is None
    finally:
        child.kill()
        child.wait()
    assert here.runs.claim(record) is not None


def test_a_dead_run_is_claimed_once(here):
    record = let_go(here, an_open_run(here))
    assert [found.condition for found in here.runs.journals()] == ["dead"]
    ((found, token),) = list(here.runs.stale())
    assert found == record
    assert not os.get_inheritable(token.descriptor)
    assert list(runs(here.ambient).stale()) == []
    here.runs.close(token)


@pytest.mark.parametrize("phase", ["unsaved", "retained"])
def test_what_was_given_up_or_kept_is_not_tried_by_itself(here, phase):
    record = let_go(here, an_open_run(here))
    here.runs.journal(evolve(record, phase=phase))
    assert list(here.runs.stale()) == []
    token = here.runs.claim(record)
    assert token is not None
    here.runs.close(token)


def test_a_directory_that_took_the_place_is_not_claimed(here):
    record = let_go(here, an_open_run(here))
    os.rename(record.root, record.root + ".moved")
    os.mkdir(record.root)
    assert here.runs.claim(record) is None
    assert [found.condition for found in here.runs.journals()] == ["other"]
    os.rmdir(record.root)
    os.symlink(record.root + ".moved", record.root)
    assert here.runs.claim(record) is None
    os.unlink(record.root)
    assert [found.condition for found in here.runs.journals()] == ["gone"]
    assert list(here.runs.stale()) == []
    assert not list(here.journals.iterdir()), "the journal of a directory that is gone is forgotten"


def test_a_journal_of_another_machine_with_the_same_home_is_kept_for_a_week(here):
    """Its temporary root has the same path, and is another file system: what is gone here may live there."""
    record = let_go(here, an_open_run(here))
    here.runs.remove(record.root, record.device, record.inode)
    elsewhere = evolve(record, device=record.device + 1)
    here.runs.journal(elsewhere)
    assert list(here.runs.stale()) == []
    assert [found.condition for found in here.runs.journals()] == ["gone"]
    here.runs.journal(evolve(elsewhere, started_ns=record.started_ns - WEEK_NS - 1))
    assert list(here.runs.stale()) == []
    assert here.runs.journals() == ()


def test_a_lock_that_was_deleted_or_replaced_makes_a_run_untouchable(here):
    occupied = an_open_run(here)
    (Path(occupied.record.root) / "projection").mkdir()
    (Path(occupied.record.root) / "lock").unlink()
    assert here.runs.claim(occupied.record) is None
    (Path(occupied.record.root) / "lock").symlink_to("projection")
    assert here.runs.claim(occupied.record) is None


def test_journals_that_cannot_be_read_are_left_and_told(here):
    an_open_run(here)
    (here.journals / "noise.json").write_bytes(b"\xff{")
    os.mkfifo(here.journals / "pipe.json")
    (here.journals / "link.json").symlink_to("/etc/passwd")
    (here.journals / "folder.json").mkdir()
    (journal,) = [path for path in here.journals.iterdir() if path.name.startswith("2")]
    (here.journals / "copied.json").write_bytes(journal.read_bytes())
    conditions = {found.run_id: found.condition for found in here.runs.journals()}
    assert {conditions[name] for name in ("noise", "pipe", "link", "folder", "copied")} == {"unreadable"}
    assert list(here.runs.stale()) == []
    assert len(list(here.journals.iterdir())) == 6


def test_a_launcher_killed_before_the_directory_was_whole_leaves_nothing(here):
    ready = prepared(here, plan())
    intent = opened(here, ready)
    record = evolve(let_go(here, intent), device=0, inode=0)
    os.unlink(f"{record.root}/lock")
    here.runs.journal(record)
    for made in ((), (".lock.new",)):
        for name in made:
            Path(record.root, name).touch()
        token = here.runs.claim(record)
        assert token is not None, made
        here.runs.close(token)
    Path(record.root, "something").touch()
    assert here.runs.claim(record) is None


def test_a_lock_that_appears_while_recovery_looks_makes_the_run_live(here, monkeypatch):
    """Recovery found the directory empty; by the time it holds it, the launcher has got as far as its lock."""
    record = evolve(let_go(here, an_open_run(here)), device=0, inode=0)
    os.unlink(record.root + "/lock")
    real = fcntl.flock

    def late(descriptor, how):
        real(descriptor, how)
        Path(record.root, "lock").write_bytes(MARKER)

    monkeypatch.setattr(fcntl, "flock", late)
    assert here.runs.claim(record) is None
    monkeypatch.undo()
    assert os.path.exists(record.root + "/lock")


def test_a_launch_waits_for_a_recovery_that_takes_its_new_directory_away(here, monkeypatch):
    """The directory is removed between being made and being locked: it is made anew."""
    ready = prepared(here, plan())
    real, taken = os.open, []

    def open_after(path, flags, mode=0o777, *, dir_fd=None):
        descriptor = real(path, flags, mode, dir_fd=dir_fd)
        if path == ready.site.root and not taken:
            taken.append(path)
            os.rmdir(path)
        return descriptor

    monkeypatch.setattr(os, "open", open_after)
    occupied = opened(here, ready)
    monkeypatch.undo()
    assert taken
    assert isinstance(occupied, OpenRun)
    assert os.stat(occupied.record.root).st_ino == occupied.record.inode


def test_a_journal_whose_directory_is_about_to_be_made_is_not_forgotten(here):
    record = evolve(let_go(here, an_open_run(here)), device=0, inode=0)
    here.runs.remove(record.root, 0, 0)
    here.runs.journal(record)
    assert list(here.runs.stale()) == []
    assert list(here.journals.iterdir())
    here.runs.journal(evolve(record, started_ns=record.started_ns - 2 * 3600 * 10**9))
    assert list(here.runs.stale()) == []
    assert not list(here.journals.iterdir())


def test_the_sweep_takes_old_marked_directories_and_nothing_else(here, tmp_path):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "x").write_text("1")
    now = time.time_ns()
    old, young, held, unsaved, planted, fresh_inside = (an_open_run(here).record for _ in range(6))
    for record in (old, unsaved, planted, fresh_inside, young):
        os.symlink(precious, record.root + "/link")
        os.makedirs(record.root + "/projection/a/b")
    here.runs.journal(evolve(unsaved, phase="unsaved"))
    Path(planted.root, "lock").write_bytes(b"outfitter run 2\n")
    for record in (old, held, unsaved, planted, fresh_inside):
        age(record.root)
    Path(fresh_inside.root, "projection/a/b/new").touch()
    age(fresh_inside.root + "/projection/a/b", 0)
    Path(tmp_path, "tmp/outfitter-link").symlink_to(precious)
    here.runs.sweep(now)
    assert os.path.exists(held.root), "all are held by this process"
    again = runs(here.ambient)
    for descriptor in range(3, 100):
        try:
            if (
                b"outfitter run" in os.pread(descriptor, 20, 0)
                and os.fstat(descriptor).st_ino != os.stat(held.root + "/lock").st_ino
            ):
                os.close(descriptor)
        except OSError:
            continue
    again.sweep(now)
    assert not os.path.exists(old.root)
    assert all(os.path.exists(one.root) for one in (young, held, unsaved, planted, fresh_inside))
    assert (precious / "x").read_text() == "1"
    assert old.run_id + ".json" not in os.listdir(here.journals)


def test_the_sweep_takes_what_was_retained_a_week_ago_and_not_a_day_sooner(here):
    record = let_go(here, an_open_run(here))
    here.runs.journal(evolve(record, phase="retained"))
    now = max(os.lstat(os.path.join(record.root, name)).st_mtime_ns for name in (".", "lock", "run.json"))
    here.runs.sweep(now + WEEK_NS - 86_400_000_000_000)
    assert os.path.exists(record.root)
    here.runs.sweep(now + WEEK_NS + 1)
    assert not os.path.exists(record.root)
    assert not list(here.journals.iterdir())


def test_a_killed_marker_is_swept_too(here):
    record = let_go(here, an_open_run(here))
    here.runs.forget(record.run_id)
    os.rename(record.root + "/lock", record.root + "/.lock.new")
    os.truncate(record.root + "/.lock.new", 3)
    age(record.root)
    here.runs.sweep(time.time_ns())
    assert not os.path.exists(record.root)


SWEEPER = """
import json, sys, time
from attrs import evolve
from pathlib import Path
from tests.state.standing import stand
here = stand(Path(sys.argv[1]))
sys.stdin.readline()
here.runs.sweep(time.time_ns())
print(json.dumps([]))
"""


def test_cln_07_eight_sweepers_at_once_say_nothing(here, tmp_path):
    for _ in range(5):
        record = let_go(here, an_open_run(here))
        os.makedirs(record.root + "/projection/" + "d/" * 30)
        for number in range(50):
            Path(record.root, f"projection/f{number}").touch()
        age(record.root)
    env = {"PATH": "/usr/bin:/bin", "HOME": str(here.home), "PYTHONPATH": os.getcwd(), "PYTHONDONTWRITEBYTECODE": "1"}
    sweepers = [
        subprocess.Popen(
            [sys.executable, "-c", SWEEPER, str(tmp_path)],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(8)
    ]
    ended = [sweeper.communicate(b"go\n", timeout=60) for sweeper in sweepers]
    assert ended == [(b"[]\n", b"")] * 8
    assert not list(here.tmp.iterdir())


@pytest.mark.other_uid
def test_nothing_of_another_user_is_claimed_or_swept(tmp_path):
    def job(top):
        here = stand(top)
        record = opened(here, prepared(here, plan())).record
        age(record.root)
        return json.loads((here.journals / f"{record.run_id}.json").read_text())["uid"]

    assert as_nobody(job) == 65534
    here = stand(tmp_path)
    record = let_go(here, an_open_run(here))
    os.chown(record.root, 65534, 65534)
    age(record.root)
    assert here.runs.claim(record) is None
    here.runs.sweep(time.time_ns())
    assert os.path.exists(record.root)
