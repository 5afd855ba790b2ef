"""Seeding: one reading for copy and digest, and everything a session tree may hold (spec/50, spec/95 SES)."""

import os
import shutil
import socket
import tempfile

import pytest
from blake3 import blake3
from hypothesis import given

from outfitter.fingerprint import stat_cache
from outfitter.fingerprint.scan import scan
from outfitter.run import copying
from outfitter.run.copying import Copier
from outfitter.run.seeding import copy, seed_tree
from tests.tree import strategies
from tests.tree.test_scan import as_nobody, independent, open_place  # noqa: F401 - a fixture
from tests.tree.trees import make

WHEN = 1_700_000_000_123_456_789


def contents(root):
    """Regular files reached without following a link: relative path → (bytes, mtime, mode)."""
    found = {}
    for folder, _, files in os.walk(os.fsencode(root)):
        for name in files:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    status = os.stat(path)
                    found[os.path.relpath(path, os.fsencode(root))] = (
                        file.read(),
                        status.st_mtime_ns,
                        status.st_mode & 0o777,
                    )
    return found


def taken(found):
    """The same without modes: what a seeded tree must hold."""
    return {path: value[:2] for path, value in found.items()}


@given(strategies.descriptions)
def test_every_regular_file_is_there_with_its_bytes_and_time_and_no_other_kind(entries):
    with tempfile.TemporaryDirectory() as top:
        source = make(top + "/s", entries)
        before = scan(source, (), 0, False)
        projected, durable, _ = seed_tree(source, top + "/p", None)
        assert taken(contents(top + "/p")) == taken(contents(source))
        assert {value[2] for value in contents(top + "/p").values()} <= {0o600, 0o700}
        assert {tag for tag, _ in independent(top + "/p").values()} <= {"f", "x", "d"}
        assert sorted(durable) == [row for row in before.rows if row.tag in "fx"]
        trusted = scan(top + "/p", projected, 0, True)
        assert trusted.files_read == 0
        assert trusted.rows == scan(top + "/p", (), 0, False).rows
        assert scan(source, (), 0, False).rows == before.rows, "the durable side is as it was"


DEEP = {
    "1.jsonl": b"{}\n",
    "1/subagents/agent-a.jsonl": b"{}",
    "1/subagents/agent-a.meta.json": b"{}",
    "1/subagents/workflows/run/journal.jsonl": b"{}",
    "1/workflows/run.json": b"{}",
    "1/workflows/scripts/x.js": (b"//", 0o755),
    "1/tool-results/r.txt": b"..",
    "memory/note.md": b"#",
    "future/x/y/z.bin": bytes(range(256)),
    "2/subagents/agent-b.jsonl": b"an orphan",
    "sessions-index.json": b"{}",
}


def test_ses_05_and_06_the_deep_layout_and_folders_without_a_transcript(tmp_path):
    source = make(tmp_path / "s", DEEP)
    _, durable, notices = seed_tree(source, str(tmp_path / "p"), None)
    assert {os.fsdecode(row.path) for row in durable} == set(DEEP)
    assert notices == ()
    assert taken(contents(tmp_path / "p")) == taken(contents(source))
    assert contents(tmp_path / "p")[b"1/workflows/scripts/x.js"][2] == 0o700


def test_ses_13_a_link_at_the_top_is_followed_and_an_inner_one_is_not(tmp_path):
    make(tmp_path, {"shared/slug/a.jsonl": b"1", "dot/mem/m.md": b"2", "shared/slug/memory": "link:../../dot/mem"})
    make(tmp_path, {"projects/slug": "link:../shared/slug", "shared/slug/f": "link:a.jsonl"})
    _, durable, notices = seed_tree(str(tmp_path / "projects/slug"), str(tmp_path / "p"), None)
    assert [row.path for row in durable] == [b"a.jsonl"]
    assert set(contents(tmp_path / "p")) == {b"a.jsonl"}
    assert notices == ()


def test_ses_16_bytes_are_never_parsed(tmp_path):
    odd = b'\xff\xfe\x00{"a"\r\n\xed\xa0\x80 no newline at the end'
    seed_tree(make(tmp_path / "s", {"a.jsonl": odd}), str(tmp_path / "p"), None)
    assert (tmp_path / "p/a.jsonl").read_bytes() == odd


def test_ses_21_a_temporary_of_a_killed_merge_is_no_session(tmp_path):
    source = make(
        tmp_path / "s", {".outfitter-0123456789ab.tmp": b"half", ".outfitter-0123456789aB.tmp": b"a name", "a": b"1"}
    )
    _, durable, _ = seed_tree(source, str(tmp_path / "p"), None)
    assert [row.path for row in durable] == [b".outfitter-0123456789aB.tmp", b"a"]


def test_fpt_18_both_spellings_of_a_name_are_seeded(tmp_path):
    source = make(tmp_path / "s", {"\u00e9": b"nfc", "e\u0301": b"nfd"})
    seed_tree(source, str(tmp_path / "p"), None)
    assert taken(contents(tmp_path / "p")) == taken(contents(source))


def test_fpt_01_special_files_are_named_in_one_notice_and_not_waited_for(tmp_path):
    source = make(tmp_path / "s", {"notes.jsonl": "fifo", "x/p": "fifo", "a": b"1"})
    with socket.socket(socket.AF_UNIX) as listener:
        os.chdir(source)
        try:
            listener.bind("s")
        finally:
            os.chdir("/")
        _, durable, (notice,) = seed_tree(source, str(tmp_path / "p"), None)
    assert [row.path for row in durable] == [b"a"]
    assert (notice.level, notice.code) == ("notice", "special-not-seeded")
    assert all(name in notice.message for name in ("notes.jsonl", "x/p", "s"))


@pytest.mark.other_uid
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_files_that_fail_are_named_in_one_warning_and_stop_no_other(open_place):  # noqa: F811
    source = make(open_place + "/s", {f"f{i}": (b"1", 0) for i in range(9)} | {"ok": b"2", "d/in": b"3"})
    os.chmod(source + "/d", 0)
    target = open_place + "/p"
    os.mkdir(target)
    os.chmod(target, 0o777)

    def seed():
        _, durable, notices = seed_tree(source, target, None)
        return [row.path for row in durable], [tuple(notice) for notice in notices]

    paths, [(level, code, message, _)] = as_nobody(seed)
    assert paths == [b"ok"]
    assert (level, code) == ("warning", "not-seeded")
    assert "10 not copied: d (Permission denied), f0 (Permission denied)" in message
    assert message.endswith("and 5 more")


def test_an_absent_source_is_empty(tmp_path):
    assert seed_tree(str(tmp_path / "no"), str(tmp_path / "p"), None) == ((), (), ())


def test_a_source_that_is_no_directory_raises(tmp_path):
    make(tmp_path, {"f": b"1"})
    with pytest.raises(NotADirectoryError):
        seed_tree(str(tmp_path / "f"), str(tmp_path / "p"), None)


@pytest.fixture
def many(tmp_path):
    return make(tmp_path / "s", {f"d{i % 9}/f{i}": i for i in range(700)} | {"big.jsonl": 5_000_000})


def test_workers_copy_what_one_process_copies(many, tmp_path, monkeypatch):
    shared = seed_tree(many, str(tmp_path / "p"), None)
    monkeypatch.setattr(copying, "PARALLEL_FILES", 10**9)
    alone = seed_tree(many, str(tmp_path / "q"), None)
    assert shared[1] == alone[1]
    assert taken(contents(tmp_path / "p")) == taken(contents(tmp_path / "q")) == taken(contents(many))


def test_what_a_worker_left_half_done_is_made_anew(many, tmp_path, monkeypatch):
    def dies(parts, begin):
        make(tmp_path / "p", {"big.jsonl": b"half", "d1/f1": b""})

    monkeypatch.setattr(copying, "run_parts", dies)
    _, durable, notices = seed_tree(many, str(tmp_path / "p"), None)
    assert (len(durable), notices) == (701, ())
    assert taken(contents(tmp_path / "p")) == taken(contents(many))


def test_progress_counts_up_to_all_in_this_process_alone(many, tmp_path):
    seen = []
    seed_tree(many, str(tmp_path / "p"), lambda done, total: seen.append((os.getpid(), done, total)))
    assert {(process, total) for process, _, total in seen} == {(os.getpid(), 701)}
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)
    assert seen[-1][1] == 701


def test_an_interrupt_from_the_progress_ends_seeding_and_its_workers(many, tmp_path):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        seed_tree(many, str(tmp_path / "p"), stop)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_source_that_changes_while_it_is_copied_is_copied_again(tmp_path, monkeypatch):
    source = make(tmp_path / "s", {"a.jsonl": 3_000_000})
    write, changed = os.write, []

    def writing(descriptor, data):
        if not changed:
            changed.append(make(source, {"a.jsonl": b"short now"}))
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", writing)
    _, (row,), _ = seed_tree(source, str(tmp_path / "p"), None)
    assert (tmp_path / "p/a.jsonl").read_bytes() == b"short now"
    assert row.digest == blake3(b"short now").digest()


def test_a_source_that_never_holds_still_is_taken_as_read_and_vouched_for_by_nothing(tmp_path, monkeypatch):
    source = make(tmp_path / "s", {"a.jsonl": 3_000_000})
    write = os.write

    def writing(descriptor, data):
        with open(source + "/a.jsonl", "ab") as file:
            file.write(b"more")
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", writing)
    _, (row,), _ = seed_tree(source, str(tmp_path / "p"), None)
    assert row.digest == blake3((tmp_path / "p/a.jsonl").read_bytes()).digest()
    assert row.identity == (0, 0, 0, 0)


def test_a_copy_of_one_file_follows_links_and_tells_of_the_source(tmp_path):
    make(tmp_path, {"real": (b"content", 0o640), "link": "link:real"})
    os.utime(tmp_path / "real", ns=(WHEN, WHEN))
    row, seen = copy(str(tmp_path / "link"), str(tmp_path / "copy"), False)
    assert (tmp_path / "copy").read_bytes() == b"content"
    assert (row.path, row.tag, row.mode, row.size, row.digest) == (b"", "f", 0o600, 7, blake3(b"content").digest())
    assert (seen.path, seen.mode, seen.size) == (str((tmp_path / "real").resolve()), 0o640, 7)
    assert seen.identity.mtime_ns == WHEN
    assert copy(str(tmp_path / "real"), str(tmp_path / "x"), True)[0].tag == "x"


@pytest.mark.parametrize("entry", ["fifo", None, "link:nowhere"])
def test_a_copy_of_what_is_no_file_raises_and_leaves_nothing(tmp_path, entry):
    make(tmp_path, {"s": entry})
    with pytest.raises(OSError, match=r"s|nowhere"):
        copy(str(tmp_path / "s"), str(tmp_path / "t"), False)
    assert not (tmp_path / "t").exists()


def test_a_copy_never_replaces_anything(tmp_path):
    make(tmp_path, {"s": b"1", "t": b"2", "l": "link:elsewhere"})
    for target in ("t", "l"):
        with pytest.raises(FileExistsError):
            copy(str(tmp_path / "s"), str(tmp_path / target), False)
    assert (tmp_path / "t").read_bytes() == b"2"
    assert not (tmp_path / "elsewhere").exists()


def test_a_copy_is_private_whatever_the_umask(tmp_path):
    source = make(tmp_path / "s", {"a": (b"1", 0o777)})
    before = os.umask(0o777)
    try:
        row, _ = copy(source + "/a", str(tmp_path / "t"), False)
    finally:
        os.umask(before)
    assert (row.mode, os.stat(tmp_path / "t").st_mode & 0o777) == (0o600, 0o600)


class Sharing(Copier):
    """A copier on a file system that shares blocks, played by an ordinary copy."""

    def _clone(self, source, out):
        with open(source, "rb", closefd=False) as read, open(out, "wb", closefd=False) as written:
            shutil.copyfileobj(read, written)
        os.lseek(source, 0, os.SEEK_SET)
        os.lseek(out, 0, os.SEEK_SET)
        self.cloned = True
        return True

    def _digest(self, descriptor):
        self.read = True
        return super()._digest(descriptor)


def test_where_blocks_are_shared_a_remembered_digest_saves_the_reading(tmp_path, monkeypatch):
    reads = []

    class Counting(Sharing):
        def _digest(self, descriptor):
            reads.append(1)
            return super()._digest(descriptor)

    monkeypatch.setattr(copying, "Copier", Counting)
    source, cache = make(tmp_path / "s", {"x/big": 400_000, "small": b"1"}), str(tmp_path / "cache")
    first = seed_tree(source, str(tmp_path / "p"), None, cache)
    assert len(reads) == 1
    kept = stat_cache.recall(cache, source).tree
    stat_cache.keep(cache, source, type(kept)(kept.rows, kept.digest, True, kept.taken_ns + 10**9))
    monkeypatch.setattr(stat_cache.time, "time_ns", lambda: kept.taken_ns + 2 * 10**9)
    second = seed_tree(source, str(tmp_path / "q"), None, cache)
    assert len(reads) == 1
    assert first[1] == second[1]
    make(source, {"x/big": b"w" * 400_000})
    third = seed_tree(source, str(tmp_path / "r"), None, cache)
    assert len(reads) == 2
    assert {row.path: row.digest for row in third[1]}[b"x/big"] == blake3(b"w" * 400_000).digest()
