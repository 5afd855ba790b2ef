"""Removal by directory descriptors: all of the tree, nothing else, whatever stands in it (spec/95 CLN-01, 10, 11, FPT-13, 17)."""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outfitter.run import removal as module
from outfitter.run.removal import Descent, MovedError, remove_run, remove_tree
from tests.state.standing import NOBODY, as_nobody


def identity(path):
    at = os.lstat(path)
    return at.st_dev, at.st_ino


def gone(root):
    left = remove_tree(str(root), *identity(root))
    assert not left, left
    assert not os.path.lexists(root)


@pytest.fixture
def root(tmp_path):
    made = tmp_path / "outfitter-a-pi-abcdefgh"
    made.mkdir()
    (made / "lock").write_text("outfitter run 1\n")
    return made


def test_cln_01_links_go_and_their_targets_stay(root, tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "x").write_text("1")
    inner = root / "projection/inner"
    inner.mkdir(parents=True)
    for name, target in (("abs", docs), ("rel", "../../../docs"), ("up", ".."), ("self", "self"), ("dead", "nowhere")):
        (inner / name).symlink_to(target)
    os.mkfifo(inner / "pipe")
    os.link(docs / "x", inner / "hard")
    gone(root)
    assert (docs / "x").read_text() == "1"


@given(st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=5), max_size=12), st.data())
def test_any_tree_goes(tmp_path_factory, paths, data):
    root = tmp_path_factory.mktemp("t") / "root"
    root.mkdir()
    for parts in paths:
        place = root.joinpath(*parts)
        try:
            if data.draw(st.booleans()):
                place.mkdir(parents=True)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text("x")
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue
    gone(root)


def nest(top, depth):
    """Deeper than any path may be long: made with relative steps."""
    before = os.getcwd()
    os.chdir(top)
    try:
        for _ in range(depth):
            os.mkdir("d" * 20)
            Path("f").write_text("x")
            os.chdir("d" * 20)
    finally:
        os.chdir(before)


def test_fpt_17_fifteen_hundred_levels_go_with_a_handful_of_descriptors(root, monkeypatch):
    nest(root, 1500)
    most = 0
    real = Descent.enter

    def counted(self, name):
        nonlocal most
        real(self, name)
        most = max(most, len(os.listdir("/proc/self/fd")))

    before = len(os.listdir("/proc/self/fd"))
    monkeypatch.setattr(Descent, "enter", counted)
    gone(root)
    assert most <= before + 3
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.other_uid
def test_fpt_13_unreadable_and_read_only_directories_go():
    def job(top):
        root = top / "root"
        for name, mode in (("closed", 0o000), ("readonly", 0o555), ("blind", 0o300), ("unsearchable", 0o600)):
            inner = root / name / "deep"
            inner.mkdir(parents=True)
            (inner / "f").write_text("x")
            (inner / "f").chmod(0o000)
            inner.chmod(mode)
            (root / name).chmod(mode)
        root.chmod(0o500)
        assert os.getuid() == 65534
        with pytest.raises(PermissionError):
            os.listdir(root / "closed")
        return [tuple(one) for one in remove_tree(str(root), *identity(root))], os.path.lexists(root)

    assert as_nobody(job) == ([], False)


@pytest.mark.other_uid
def test_what_another_user_owns_is_reported_relative_and_the_rest_goes():
    def job(top):
        other = top / "outfitter-x/projection/other"
        other.mkdir(parents=True)
        (top / "outfitter-x/projection/mine").write_text("x")
        (other / "held").write_text("x")
        (top / "outfitter-x/lock").write_text("outfitter run 1\n")
        return str(top)

    # The directory is given away by root between two visits of the other user.
    top = Path(tempfile.mkdtemp(prefix="given-"))
    top.chmod(0o755)
    try:
        job(top)
        for folder, folders, files in os.walk(top):
            for name in folders + files:
                os.chown(os.path.join(folder, name), NOBODY, NOBODY)
        os.chown(top, NOBODY, NOBODY)
        os.chown(top / "outfitter-x/projection/other", 0, 0)
        (top / "outfitter-x/projection/other").chmod(0o755)
        root = top / "outfitter-x"
        (notice,) = as_nobody(lambda _: remove_run(str(root), *identity(root)))
        assert notice.level == "warning"
        assert "outfitter-x/projection/other/held" in notice.message
        assert str(top) not in notice.message
        assert str(root) in notice.hint
        assert (root / "lock").exists(), "what is left must stay recognizable"
        assert not (root / "projection/mine").exists()
    finally:
        shutil.rmtree(top)


def test_cln_10_a_mount_is_not_crossed(root, tmp_path):
    """Run in a mount namespace of its own, so that no mount can outlive the test."""
    if os.getuid() or subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode:
        pytest.skip("no right to mount here")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("1")
    inner = root / "projection/mounted"
    inner.mkdir(parents=True)
    (root / "projection/f").write_text("x")
    code = (
        "import os,sys;from outfitter.run.removal import remove_run;"
        "at=os.lstat(sys.argv[1]);print(remove_run(sys.argv[1],at.st_dev,at.st_ino)[0].message)"
    )
    script = f'mount --bind "{outside}" "{inner}" && exec "$0" -c "$1" "{root}"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, sys.executable, code],
        env={"PATH": "/usr/sbin:/usr/bin:/bin:/sbin", "PYTHONPATH": os.getcwd(), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "projection/mounted" in done.stdout
    assert "mount" in done.stdout
    assert (outside / "precious").read_text() == "1"
    assert not (root / "projection/f").exists()


def test_cln_11_an_entry_that_cannot_go_is_said_and_the_rest_goes(root):
    stuck = root / "projection/deep/stuck"
    stuck.parent.mkdir(parents=True)
    stuck.write_text("x")
    for number in range(5):
        (root / f"projection/f{number}").write_text("x")
    if os.getuid() or subprocess.run(["chattr", "+i", stuck], capture_output=True, check=False).returncode:
        pytest.skip("no immutable files here")
    try:
        (notice,) = remove_run(str(root), *identity(root))
    finally:
        subprocess.run(["chattr", "-i", stuck], check=True)
    assert f"{root.name}/projection/deep/stuck (Operation not permitted)" in notice.message
    assert sorted(str(path.relative_to(root)) for path in root.rglob("*")) == [
        "lock",
        "projection",
        "projection/deep",
        "projection/deep/stuck",
    ]
    gone(root)


def test_a_directory_swapped_for_a_link_is_not_followed(root, tmp_path, monkeypatch):
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (outside / "precious").write_text("1")
    (root / "projection/a/deep").mkdir(parents=True)
    real = Descent.enter

    def swap(self, name):
        if name == "a" and not os.path.islink(root / "projection/a"):
            os.rename(root / "projection/a", tmp_path / "elsewhere")
            os.symlink(outside, root / "projection/a")
        real(self, name)

    monkeypatch.setattr(Descent, "enter", swap)
    gone(root)
    assert (outside / "precious").read_text() == "1"
    assert (outside / "deep").is_dir()
    assert (tmp_path / "elsewhere/deep").is_dir()


def test_a_directory_moved_away_while_we_stand_in_it_ends_the_walk_there(root, tmp_path, monkeypatch):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("1")
    (root / "projection/a/b").mkdir(parents=True)
    (root / "projection/a/b/f").write_text("x")
    real = Descent.enter
    moved: list[str] = []

    def move(self, name):
        real(self, name)
        if name == "b" and not moved:
            moved.append(name)
            os.rename(root / "projection/a/b", outside / "b")

    monkeypatch.setattr(Descent, "enter", move)
    gone(root)
    assert (outside / "precious").read_text() == "1"


def test_moved_is_noticed_on_the_way_up(root, tmp_path):
    (root / "a/b").mkdir(parents=True)
    descent = Descent(str(root), *identity(root))
    descent.enter("a")
    descent.enter("b")
    os.rename(root / "a/b", tmp_path / "b")
    with pytest.raises(MovedError):
        descent.leave()
    descent.close()


def test_a_root_that_is_another_now_is_left_alone(root, tmp_path):
    (root / "x").write_text("1")
    (notice,) = remove_run(str(root), 1, 2)
    assert root.name in notice.message
    assert (root / "x").exists()
    link = tmp_path / "outfitter-link"
    link.symlink_to(root)
    assert remove_run(str(link), *identity(root))
    assert (root / "x").exists()


def test_a_root_that_vanished_is_fine(root):
    at = identity(root)
    shutil.rmtree(root)
    assert remove_run(str(root), *at) == ()


def test_run_11_a_program_that_writes_on_does_not_hold_us_up(root, monkeypatch):
    (root / "projection").mkdir()
    stop = threading.Event()

    def write():
        number = 0
        while not stop.is_set():
            number += 1
            try:
                (root / f"projection/g{number % 7}").mkdir(exist_ok=True)
                (root / f"projection/g{number % 7}/f{number}").write_text("x")
            except OSError:
                continue

    writer = threading.Thread(target=write)
    writer.start()
    threading.Timer(0.15, stop.set).start()
    left = remove_tree(str(root), *identity(root))
    writer.join()
    assert not left or all(one.reason == os.strerror(errno.ENOTEMPTY) for one in left)
    if os.path.lexists(root):
        gone(root)


def test_one_that_never_stops_is_said_in_the_end(root, monkeypatch):
    (root / "projection").mkdir()
    monkeypatch.setattr(module, "_PAUSE_SECONDS", 0.0)
    real = os.rmdir

    def refill(path, *, dir_fd=None):
        if path == "projection":
            (root / "projection/new").write_text("x")
        real(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "rmdir", refill)
    (notice,) = remove_run(str(root), *identity(root))
    assert f"{root.name}/projection (Directory not empty)" in notice.message
    assert (root / "lock").exists()


def test_the_lock_goes_last(root, monkeypatch):
    (root / "projection").mkdir()
    (root / "run.json").write_text("{}")
    order = []
    real = os.unlink

    def note(path, *, dir_fd=None):
        order.append(path)
        real(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", note)
    gone(root)
    assert order == ["run.json", "lock"]


def test_many_failures_are_counted(root):
    for number in range(9):
        (root / f"d{number}").mkdir()
    real = os.rmdir

    def refuse(path, *, dir_fd=None):
        raise PermissionError(errno.EACCES, "Permission denied", path)

    os.rmdir = refuse
    try:
        (notice,) = remove_run(str(root), *identity(root))
    finally:
        os.rmdir = real
    assert "and 4 more" in notice.message
