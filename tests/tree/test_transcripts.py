"""The beginning of a folder's newest transcript (spec/95 SLG-05)."""

import os

from outfitter.run.transcripts import HEAD, newest_head


def put(folder, name, content, when):
    path = folder / name
    path.write_bytes(content)
    os.utime(path, ns=(when, when))


def test_the_newest_by_time_and_no_more_than_its_beginning(tmp_path):
    put(tmp_path, "old.jsonl", b"old", 1_000)
    put(tmp_path, "new.jsonl", b"n" * (HEAD + 10), 2_000)
    put(tmp_path, "newest.txt", b"no transcript", 3_000)
    assert newest_head(str(tmp_path)) == b"n" * HEAD


def test_of_one_moment_the_later_name_counts(tmp_path):
    for name in ("a", "c", "b"):
        put(tmp_path, f"{name}.jsonl", name.encode(), 5)
    assert newest_head(str(tmp_path)) == b"c"


def test_nothing_there_is_none_and_a_pipe_is_not_waited_for(tmp_path):
    assert newest_head(str(tmp_path)) is None
    assert newest_head(str(tmp_path / "gone")) is None
    os.mkfifo(tmp_path / "pipe.jsonl")
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "link.jsonl").symlink_to("nowhere")
    assert newest_head(str(tmp_path)) is None
    put(tmp_path, "real", b"x", 5)
    (tmp_path / "linked.jsonl").symlink_to("real")
    assert newest_head(str(tmp_path)) == b"x"
