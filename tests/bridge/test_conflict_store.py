"""Contents that could not be saved: private, kept once, listed whatever became of their index (spec/50)."""

import json
import os
import stat
from pathlib import Path

import pytest

from outfitter.bridge.conflict_store import drop, store, stored_conflicts, totals
from outfitter.host import Unsaved


def put(path, content):
    path.write_bytes(content)
    return str(path)


@pytest.fixture
def place(tmp_path):
    return str(tmp_path / "state/conflicts")


def unsaved(path="p/a", run="run-1", **more):
    return Unsaved(run, path, "why", "/durable/a", **more)


def test_everything_is_private(tmp_path, place):
    old = os.umask(0)
    try:
        store(place, put(tmp_path / "x", b"content"), unsaved())
    finally:
        os.umask(old)
    for folder, _, files in os.walk(tmp_path / "state"):
        assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
        for name in files:
            assert stat.S_IMODE(os.stat(os.path.join(folder, name)).st_mode) == 0o600


def test_the_same_content_of_the_same_path_is_kept_once(tmp_path, place):
    source = put(tmp_path / "x", b"content")
    first = store(place, source, unsaved())
    assert store(place, source, unsaved()) == first
    assert store(place, source, unsaved("p/b")) != first
    assert store(place, put(tmp_path / "y", b"other"), unsaved()) != first
    assert totals(place) == (3, 19)
    assert len(stored_conflicts(place)) == 3


def test_what_is_known_comes_back(tmp_path, place):
    odd = os.fsdecode(b"fo\xffo\n")
    store(place, put(tmp_path / "x", b"content"), unsaved(odd, credential=True))
    (entry,) = stored_conflicts(place)
    assert entry[1:2] + entry[3:8] == ("run-1", odd, "/durable/a", "why", True, 7)


@pytest.mark.parametrize("index", [None, b"", b"[]", b"{", b'{"path": 3, "kept_ns": "x", "credential": "no"}', b"\xff"])
def test_a_lost_or_damaged_index_hides_nothing_and_shows_nothing(tmp_path, place, index):
    file = store(place, put(tmp_path / "x", b"content"), unsaved())
    os.unlink(file + ".json")
    if index is not None:
        put(tmp_path / "i", index)
        os.rename(tmp_path / "i", file + ".json")
    (entry,) = stored_conflicts(place)
    assert entry.credential
    assert entry.size == 7
    drop(entry)
    assert stored_conflicts(place) == ()
    assert os.listdir(place) == []


def test_a_source_that_is_no_file_is_refused_and_leaves_nothing(tmp_path, place):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/passwd")
    for name in ("pipe", "link", "nothing"):
        with pytest.raises(OSError, match=r"regular|symbolic|No such"):
            store(place, str(tmp_path / name), unsaved())
    assert os.listdir(os.path.join(place, "run-1")) == []


def test_what_a_killed_launcher_left_there_goes(tmp_path, place):
    store(place, put(tmp_path / "x", b"content"), unsaved())
    left = os.path.join(place, "run-1", ".outfitter-0123456789ab.tmp")
    Path(left).touch()
    assert len(stored_conflicts(place)) == 1
    store(place, put(tmp_path / "y", b"other"), unsaved())
    assert not os.path.exists(left)


def test_strangers_files_are_ignored(tmp_path, place):
    file = store(place, put(tmp_path / "x", b"content"), unsaved())
    Path(place, "run-1", "notes.txt").touch()
    Path(place, "README").touch()
    (entry,) = stored_conflicts(place)
    assert json.loads(Path(file + ".json").read_text())["reason"] == entry.reason
    drop(entry)
    assert os.listdir(os.path.join(place, "run-1")) == ["notes.txt"]


def test_nothing_kept_is_no_error(place):
    assert stored_conflicts(place) == ()
    assert totals(place) == (0, 0)
