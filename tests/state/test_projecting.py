"""What makes a projection, and the durable places behind it (spec/50; spec/95 LNK-03, 09, PYE-03)."""

import os
import stat
from pathlib import Path

import pytest

from outfitter.atomic import AtomicFile
from tests.state.standing import as_nobody, stand


@pytest.fixture
def here(tmp_path):
    return stand(tmp_path)


def mode(path):
    return stat.S_IMODE(os.lstat(path).st_mode)


def run_directory(here):
    root = here.tmp / "outfitter-a-pi-abcdefgh"
    root.mkdir(mode=0o700, exist_ok=True)
    return root


def ensure(here, path, directory=False, create=b""):
    return here.projecting.ensure_durable(str(path), directory, create)


def test_files_are_private_new_and_described_by_their_row(here):
    root = run_directory(here)
    before = os.umask(0)
    try:
        row = here.projecting.write(f"{root}/projection/a/b", b"hello\n", False)
        tool = here.projecting.write(f"{root}/projection/tool", b"", True)
    finally:
        os.umask(before)
    at = os.stat(root / "projection/a/b")
    assert (row.tag, row.size, row.mode, row.path) == ("f", 6, 0o600, b"")
    assert row.identity == (at.st_dev, at.st_ino, at.st_mtime_ns, at.st_ctime_ns)
    assert (tool.tag, mode(root / "projection/tool")) == ("x", 0o700)
    assert mode(root / "projection") == mode(root / "projection/a") == 0o700
    with pytest.raises(FileExistsError):
        here.projecting.write(f"{root}/projection/a/b", b"", False)


def test_nothing_is_written_outside_or_through_a_link(here, tmp_path):
    root = run_directory(here)
    native = tmp_path / "native"
    native.mkdir()
    (root / "projection").mkdir()
    (root / "projection/skills").symlink_to(native)
    for path in (
        f"{root}/projection/skills/x/SKILL.md",
        f"{root}/projection/skills/x",
        f"{root}/../x",
        f"{root}/projection/../../x",
        f"{here.tmp}/other/x",
        f"{here.home}/x",
        "relative",
        f"{root}//x",
    ):
        with pytest.raises(OSError):
            here.projecting.write(path, b"", False)
        with pytest.raises(OSError):
            here.projecting.link("/etc", path + "/l")
        with pytest.raises(OSError):
            here.projecting.make_directory(path + "/d")
    assert not list(native.iterdir())
    assert sorted(here.tmp.iterdir()) == [root]


def test_missing_durable_places_are_made_private_and_whole(here):
    made = here.home / ".pi/agent/trust.json"
    assert ensure(here, made, create=b"{}") == str(made)
    assert (made.read_bytes(), mode(made), mode(made.parent), mode(made.parent.parent)) == (b"{}", 0o600, 0o700, 0o700)
    plugins = here.home / ".pi/agent/plugins"
    assert ensure(here, plugins, directory=True) == str(plugins)
    assert mode(plugins) == 0o700
    assert sorted(path.name for path in made.parent.iterdir()) == ["plugins", "trust.json"]


def test_what_exists_is_not_touched(here):
    place = here.home / "settings.json"
    place.write_text("mine")
    place.chmod(0o444)
    before = place.stat()
    assert ensure(here, place, create=b"{}") == str(place)
    assert place.stat() == before
    assert place.read_text() == "mine"


def test_links_are_followed_through_every_hop_and_stay(here):
    for name in ("a", "b", "c"):
        (here.home / name).mkdir()
    (here.home / "settings.json").symlink_to("a/one")
    (here.home / "a/one").symlink_to("../b/two")
    (here.home / "b/two").symlink_to("../c/final")
    assert ensure(here, here.home / "settings.json", create=b"{}") == str(here.home / "c/final")
    assert (here.home / "c/final").read_bytes() == b"{}"
    assert all((here.home / link).is_symlink() for link in ("settings.json", "a/one", "b/two"))
    assert [path.name for path in (here.home / "b").iterdir()] == ["two"]


def test_a_link_to_a_missing_directory_is_made_where_it_leads(here):
    (here.home / "dot").mkdir()
    (here.home / "skills").symlink_to("dot/skills")
    assert ensure(here, here.home / "skills", directory=True) == str(here.home / "dot/skills")
    assert (here.home / "dot/skills").is_dir()
    assert (here.home / "skills").is_symlink()


@pytest.mark.other_uid
def test_lnk_03_nothing_is_written_in_a_read_only_middle_directory():
    def job(top):
        here = stand(top)
        for name in ("store", "final"):
            (here.home / name).mkdir()
        (here.home / "settings.json").symlink_to(here.home / "store/entry")
        (here.home / "store/entry").symlink_to(here.home / "final/settings.json")
        (here.home / "store").chmod(0o555)
        target = ensure(here, here.home / "settings.json", create=b"{}")
        return target == str(here.home / "final/settings.json"), os.listdir(here.home / "store")

    assert as_nobody(job) == (True, ["entry"])


@pytest.mark.parametrize("directory", [True, False])
def test_lnk_09_a_native_directory_that_leads_nowhere_is_named_and_nothing_made(here, directory):
    (here.home / ".claude").symlink_to("gone")
    with pytest.raises(OSError) as raised:
        ensure(here, here.home / ".claude/settings.json", directory, b"{}")
    assert raised.value.filename == str(here.home / ".claude")
    assert "gone" in str(raised.value.strerror)
    assert sorted(path.name for path in here.home.iterdir()) == [".claude"]


def test_a_file_link_whose_folder_is_missing_is_named_and_nothing_made(here):
    (here.home / "settings.json").symlink_to("nowhere/settings.json")
    with pytest.raises(OSError) as raised:
        ensure(here, here.home / "settings.json")
    assert (raised.value.filename, "nowhere" in str(raised.value.strerror)) == (str(here.home / "settings.json"), True)
    assert not (here.home / "nowhere").exists()


def test_loops_and_wrong_kinds_are_named(here):
    (here.home / "loop").symlink_to("loop")
    (here.home / "file").write_text("")
    (here.home / "folder").mkdir()
    os.mkfifo(here.home / "pipe")
    for name, directory in (
        ("loop", False),
        ("loop", True),
        ("file", True),
        ("folder", False),
        ("pipe", False),
        ("file/x", False),
    ):
        with pytest.raises(OSError) as raised:
            ensure(here, here.home / name, directory)
        assert str(here.home / name).startswith(raised.value.filename), name
    assert (here.home / "file").read_text() == ""


def test_pye_03_a_missing_home_is_named_and_never_made(tmp_path):
    here = stand(tmp_path, home=str(tmp_path / "nohome"), state_root=str(tmp_path / "nohome/.local/state/outfitter"))
    for directory in (True, False):
        with pytest.raises(FileNotFoundError) as raised:
            ensure(here, tmp_path / "nohome/.pi/agent/x", directory)
        assert raised.value.filename == str(tmp_path / "nohome")
    assert not (tmp_path / "nohome").exists()


@pytest.mark.other_uid
def test_pye_03_a_home_that_cannot_be_written_is_named():
    def job(top):
        here = stand(top)
        here.home.chmod(0o555)
        try:
            ensure(here, here.home / ".pi/agent/settings.json")
        except OSError as error:
            return error.filename == str(here.home / ".pi"), error.strerror, os.listdir(here.home)
        return None

    assert as_nobody(job) == (True, "Permission denied", [])


@pytest.mark.other_uid
def test_a_durable_folder_that_cannot_be_written_is_named_without_a_trace():
    def job(top):
        here = stand(top)
        (here.home / ".pi").mkdir()
        (here.home / ".pi").chmod(0o555)
        try:
            ensure(here, here.home / ".pi/settings.json", create=b"{}")
        except OSError as error:
            return error.filename == str(here.home / ".pi/settings.json"), error.strerror, os.listdir(here.home / ".pi")
        return None

    assert as_nobody(job) == (True, "Permission denied", [])


def test_one_made_by_another_launch_meanwhile_is_left_alone(here, monkeypatch):
    place = here.home / "trust.json"
    real = AtomicFile.begin

    def race(self, mode, fresh):
        real(self, mode, fresh)
        place.write_text('{"theirs": 1}')

    monkeypatch.setattr(AtomicFile, "begin", race)
    assert ensure(here, place, create=b"{}") == str(place)
    assert place.read_text() == '{"theirs": 1}'
    assert [path.name for path in here.home.iterdir()] == ["trust.json"]


def test_names_mark_directories_through_links(here):
    (here.home / "d").mkdir()
    (here.home / "f").write_text("")
    (here.home / "ld").symlink_to("d")
    (here.home / "lf").symlink_to("f")
    assert here.projecting.names(str(here.home)) == ("d/", "f", "ld/", "lf")
    assert here.projecting.names(str(here.home / "nowhere")) == here.projecting.names(str(here.home / "f")) == ()


def test_looking_at_a_durable_file(here):
    (here.home / "f").write_bytes(b"hello\n")
    (here.home / "l").symlink_to("f")
    seen = here.projecting.look(str(here.home / "l"))
    assert (seen.path, seen.size, len(seen.digest)) == (str(here.home / "f"), 6, 32)
    assert here.projecting.look(str(here.home / "gone")) is None
    os.mkfifo(here.home / "pipe")
    with pytest.raises(OSError):
        here.projecting.look(str(here.home / "pipe"))
    assert Path(seen.path).exists()
