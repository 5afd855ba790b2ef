"""spec/70: ROOT holds both files or neither, whatever moment the writer is killed at."""

import fcntl
import json
import os
import stat
from pathlib import Path

import pytest

from outfitter.evidence import files, publication
from outfitter.evidence.files import check_root, write_pair
from outfitter.evidence.result import RESULT_PATH, TRACE_PATH


class Killed(BaseException):
    pass


def both(root):
    return [(root / relative).exists() for relative in (TRACE_PATH, RESULT_PATH)]


def test_the_pair_is_private(tmp_path):
    write_pair(str(tmp_path / "out"), {"a": 1}, {"b": 2})
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode) for path in [tmp_path / "out", *(tmp_path / "out").rglob("*")]
    }
    assert modes == {"out": 0o700, "trace": 0o700, "result": 0o700, "run_trace.json": 0o600, "final_result.json": 0o600}
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize("existing", [False, True])
def test_killed_at_any_moment_the_root_holds_both_or_neither(tmp_path, monkeypatch, existing):
    calls = [name for name in ("open", "fsync", "rename", "mkdir", "makedirs", "close") if hasattr(os, name)]
    for point in range(200):
        root = tmp_path / f"out{point}"
        if existing:
            root.mkdir()
        count = iter(range(10_000))

        def failing(real, point=point, count=count):
            def call(*arguments, **options):
                if next(count) == point:
                    raise Killed
                return real(*arguments, **options)

            return call

        with monkeypatch.context() as patch:
            for name in calls:
                patch.setattr(files.os, name, failing(getattr(os, name)))
            try:
                write_pair(str(root), {"a": 1}, {"b": 2})
                done = True
            except Killed:
                done = False
        assert both(root) in ([True, True], [False, False]), point
        if done:
            break
    assert point > 10, "the writer was interrupted at too few points to say anything"
    assert both(root) == [True, True]


def test_what_a_killed_writer_left_beside_the_root_goes_with_the_next_pair_for_it(tmp_path, monkeypatch):
    root = str(tmp_path / "out")
    kept = ["out.outfitter-mine", "out2.outfitter-0123456789ab.tmp", "other.tmp"]
    for name in (*kept, "out.outfitter-0123456789ab.tmp"):
        files._fill(str(tmp_path / name), {"a": 1}, {"b": 2})
    full = tmp_path / "out.outfitter-ba9876543210.tmp"
    files._fill(str(full), {"a": 1}, {"b": 2})
    (full / "theirs").write_text("1")
    live = os.open(tmp_path / "out2.outfitter-0123456789ab.tmp", os.O_RDONLY)
    fcntl.flock(live, fcntl.LOCK_EX)
    monkeypatch.setattr(files, "_STALE_SECONDS", -1.0)
    write_pair(root, {"a": 1}, {"b": 2})
    assert sorted(os.listdir(tmp_path)) == sorted([*kept, "out", full.name])
    assert os.listdir(full) == ["theirs"]
    write_pair(str(tmp_path / "out2"), {"a": 1}, {"b": 2})
    assert (tmp_path / "out2.outfitter-0123456789ab.tmp/result").exists(), "somebody is writing it"
    os.close(live)
    monkeypatch.setattr(files, "_STALE_SECONDS", 3600.0)
    os.rename(tmp_path / "out2", tmp_path / "out3")
    write_pair(str(tmp_path / "out2"), {"a": 1}, {"b": 2})
    assert (tmp_path / "out2.outfitter-0123456789ab.tmp/result").exists(), "too young to tell"


def test_where_a_rename_cannot_replace_the_root_the_pair_is_written_inside(tmp_path, monkeypatch):
    root = tmp_path / "mount"
    root.mkdir()
    real = os.rename

    def busy(source, target, **options):
        if str(target) == str(root):
            raise OSError(16, "busy")
        return real(source, target, **options)

    monkeypatch.setattr(files.os, "rename", busy)
    write_pair(str(root), {"a": 1}, {"b": 2})
    assert both(root) == [True, True]
    assert sorted(os.listdir(tmp_path)) == ["mount"]


def test_a_root_in_use_is_refused(tmp_path):
    assert check_root(str(tmp_path / "new")) == ""
    (tmp_path / "full").mkdir()
    (tmp_path / "full/x").touch()
    assert "not empty" in check_root(str(tmp_path / "full"))
    assert "not a directory" in check_root(str(tmp_path / "full/x"))
    assert "parent" in check_root(str(tmp_path / "a/b/c"))
    (tmp_path / "link").symlink_to(tmp_path / "full")
    assert check_root(str(tmp_path / "link"))


def test_publishing_is_whole_or_nothing(tmp_path, monkeypatch):
    root = tmp_path / "out"
    write_pair(str(root), {"a": 1}, {"b": 2})
    monkeypatch.setattr(publication.os, "rename", lambda *_: (_ for _ in ()).throw(Killed()))
    with pytest.raises(Killed):
        publication.publish(str(root), str(tmp_path / "kept"), {"attempt": "r1", "published_ns": 1})
    assert os.listdir(tmp_path / "kept") == []


def test_quarantine_moves_and_never_edits(tmp_path):
    root = tmp_path / "out"
    write_pair(str(root), {"a": 1}, {"b": 2})
    before = (root / TRACE_PATH).read_bytes()
    place = Path(publication.quarantine(str(root), str(tmp_path / "kept"), "bad", {"why": "x"}))
    assert not root.exists()
    assert (place / TRACE_PATH).read_bytes() == before
    assert json.loads((place / "reason.json").read_text()) == {"why": "x"}
