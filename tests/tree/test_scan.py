"""Fingerprints of real directories: what is read, what is trusted, and what a live tree may do meanwhile (spec/60, spec/95 FPT)."""

import ast
import os
import resource
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import pytest
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st

from outfitter.fingerprint import hash_file
from outfitter.fingerprint import scan as scanning
from outfitter.fingerprint.scan import look_again, scan
from outfitter.fingerprint.tree import compare
from outfitter.model.outcome import GRANULARITY_NS
from tests.tree import strategies
from tests.tree.trees import make

OLD = 1_000_000_000 * 10**9


def fresh(root):
    return scan(str(root), (), 0, False)


def again(root, tree, taken_ns=None):
    return scan(str(root), tree.rows, tree.taken_ns if taken_ns is None else taken_ns, False)


def settled(tree):
    """A moment from which no row of the tree is racy."""
    return max([0, *(max(row.identity[2:]) for row in tree.rows)]) + GRANULARITY_NS + 1


def by_path(tree):
    return {row.path: row for row in tree.rows}


def independent(root):
    """Path → (tag, digest of bytes or target), by other means."""
    found = {}
    for folder, below, files in os.walk(os.fsencode(root)):
        for name in [*below, *files]:
            path = os.path.join(folder, name)
            relative = os.path.relpath(path, os.fsencode(root))
            if os.path.islink(path):
                found[relative] = ("l", blake3(os.readlink(path)).digest())
            elif os.path.isdir(path):
                found[relative] = ("d", None)
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    tag = "x" if os.stat(path).st_mode & 0o100 else "f"
                    found[relative] = (tag, blake3(file.read()).digest())
            else:
                found[relative] = ("o", None)
    return found


@pytest.fixture
def many(tmp_path):
    """Enough files for workers, in directories of all sizes."""
    entries = {f"d{i % 7}/e{i % 3}/f{i}": str(i).encode() * (i % 50) for i in range(900)}
    return make(tmp_path / "t", entries | {f"flat/{i}": b"%d" % i for i in range(600)} | {"big": 3_000_000})


@given(strategies.descriptions)
def test_a_fingerprint_says_what_an_independent_walk_finds(entries):
    with tempfile.TemporaryDirectory() as top:
        tree = fresh(make(top + "/t", entries))
        expected = independent(top + "/t")
        assert {row.path: (row.tag, row.digest if row.tag in "fxl" else None) for row in tree.rows} == expected


@given(strategies.descriptions, st.randoms())
def test_the_digest_ignores_the_order_of_creation_times_and_place(entries, random):
    shuffled = list(entries.items())
    random.shuffle(shuffled)
    with tempfile.TemporaryDirectory() as top:
        one, other = make(top + "/a", entries), make(top + "/b/c", dict(shuffled))
        for folder, _, files in os.walk(other):
            for name in files:
                os.utime(os.path.join(folder, name), ns=(OLD, OLD), follow_symlinks=False)
        assert fresh(one).digest == fresh(other).digest


@given(strategies.descriptions, strategies.descriptions, st.booleans(), st.booleans())
def test_known_rows_never_change_a_result(before, after, shares_files, compared_first):
    """Whatever tree the knowledge came from, and whether files are the same ones, rewritten in place."""
    with tempfile.TemporaryDirectory() as top, pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "PARALLEL_ROWS", 1 if compared_first else 10**9)
        root = make(top + "/t", before)
        known = fresh(root)
        if not shares_files:
            os.rename(root, top + "/old")
            make(root, after)
        else:
            for path, value in before.items():
                if isinstance(value, tuple):
                    full = os.path.join(os.fsencode(root), path)
                    times = os.stat(full)
                    with open(full, "r+b") as file:
                        file.write(b"Z" * min(3, times.st_size))
                    os.utime(full, ns=(times.st_atime_ns, times.st_mtime_ns))
        warm, cold = again(root, known, None if shares_files else settled(known)), fresh(root)
        assert warm.digest == cold.digest
        assert warm.rows == cold.rows


def test_a_warm_scan_reads_nothing(many):
    cold = fresh(many)
    warm = again(many, cold, settled(cold))
    assert (warm.digest, warm.files_read, warm.files_cached) == (cold.digest, 0, 1501)
    assert (cold.files_read, cold.files_cached) == (1501, 0)


@pytest.mark.parametrize("rows", [1, 10**9], ids=["compared first", "as it is listed"])
def test_only_what_changed_is_read(many, monkeypatch, rows):
    monkeypatch.setattr(scanning, "PARALLEL_ROWS", rows)
    cold = fresh(many)
    with open(many + "/flat/9", "wb") as file:
        file.write(b"9")
    os.symlink("9", many + "/d2/e2/link")
    cold = again(many, cold, settled(cold))
    with open(many + "/d1/e1/f1", "wb") as file:
        file.write(b"other")
    os.unlink(many + "/flat/7")
    make(many, {"new/deep/er": b"new"})
    warm = again(many, cold, settled(cold))
    assert [path for path, _, _ in compare(cold, warm)] == [b"d1/e1/f1", b"flat/7", b"new", b"new/deep", b"new/deep/er"]
    assert warm.rows.at(b"d2/e2/link").target == b"9"
    assert warm.files_read == 2
    assert warm.digest == fresh(many).digest


def test_an_edit_in_place_of_the_same_size_within_one_tick_with_its_mtime_restored_is_seen(tmp_path):
    """No row younger than the clock's granularity is believed: size, mtime, inode and even ctime may be the same."""
    root = make(tmp_path / "t", {"a": b"aaaa"})
    for content in [b"bbbb", b"aaaa"] * 15:
        known = fresh(root)
        before = os.stat(root + "/a")
        with open(root + "/a", "r+b") as file:
            file.write(content)
        os.utime(root + "/a", ns=(before.st_atime_ns, before.st_mtime_ns))
        assert again(root, known).digest != known.digest


def test_rows_are_believed_only_if_older_than_their_record_by_the_granularity(tmp_path):
    root = make(tmp_path / "t", {"a": b"aaaa"})
    known = fresh(root)
    young = max(known.rows[0].identity[2:])
    assert again(root, known, young + GRANULARITY_NS).files_read == 1
    assert again(root, known, young + GRANULARITY_NS + 1).files_read == 0
    assert scan(root, known.rows, 0, True).files_read == 0


def test_a_row_from_the_future_is_not_believed(tmp_path):
    root = make(tmp_path / "t", {"a": b"aaaa"})
    ahead = time.time_ns() + 3600 * 10**9
    os.utime(root + "/a", ns=(ahead, ahead))
    known = fresh(root)
    assert again(root, known).files_read == 1


def test_workers_find_what_one_process_finds(many, monkeypatch):
    shared = fresh(many)
    monkeypatch.setattr(scanning, "PARALLEL_FILES", 10**9)
    alone = fresh(many)
    assert shared.rows == alone.rows
    assert shared.digest == alone.digest
    monkeypatch.setattr(scanning, "PARALLEL_ROWS", 1)
    assert again(many, shared, settled(shared)).files_read == 0


def test_what_workers_leave_undone_is_done_here(many, monkeypatch):
    from outfitter.fingerprint import scan

    expected = fresh(many)
    monkeypatch.setattr(scan._HashWorker, "run_part", lambda *_: None)
    monkeypatch.setattr(scan, "run_parts", lambda *_: None)
    assert fresh(many).digest == expected.digest
    monkeypatch.setattr(scanning, "PARALLEL_ROWS", 1)
    assert again(many, expected, settled(expected)).digest == expected.digest


def test_a_directory_that_vanishes_after_it_was_compared_is_absent(many, monkeypatch):
    from outfitter.fingerprint import scan

    os.symlink("f1", many + "/d1/e1/link")
    cold = fresh(many)
    os.unlink(many + "/d1/e1/link")
    os.symlink("f8", many + "/d1/e1/link")
    compare_in_parallel = scan.compare_in_parallel

    def then_gone(walk, root):
        compare_in_parallel(walk, root)
        assert b"d1/e1" in walk.current
        shutil.rmtree(many + "/d1/e1")

    monkeypatch.setattr(scan, "compare_in_parallel", then_gone)
    monkeypatch.setattr(scanning, "PARALLEL_ROWS", 1)
    warm = again(many, cold, settled(cold))
    assert warm.rows == fresh(many).rows


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_what_is_read_while_the_listing_goes_on_is_the_same(many, monkeypatch, cores):
    from outfitter.fingerprint import pool, walk

    expected = fresh(many)
    monkeypatch.setattr(walk, "AHEAD_FILES", 50)
    monkeypatch.setattr(scanning, "PARALLEL_FILES", 20)
    for module in (pool, scanning):
        monkeypatch.setattr(module, "cores", lambda: cores)
    found = fresh(many)
    assert (found.digest, found.rows, found.files_read) == (expected.digest, expected.rows, 1501)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_a_listing_that_ends_early_leaves_no_worker_behind(many, monkeypatch):
    from outfitter.fingerprint import walk

    monkeypatch.setattr(walk, "AHEAD_FILES", 50)
    monkeypatch.setattr(scanning, "PARALLEL_FILES", 20)
    list_directory, calls = walk.TreeScan.list_directory, []

    def interrupted(self, path):
        calls.append(path)
        if len(calls) > 20:
            raise KeyboardInterrupt
        return list_directory(self, path)

    monkeypatch.setattr(walk.TreeScan, "list_directory", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fresh(many)
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_an_interrupt_while_workers_run_leaves_none_behind(many, monkeypatch):
    from outfitter.fingerprint import pool, scan

    parent = os.getpid()

    class Interrupting(scan._HashWorker):
        def run_part(self, _, /):
            if os.getpid() == parent:
                raise KeyboardInterrupt
            time.sleep(30)

    monkeypatch.setattr(scan, "_HashWorker", Interrupting)
    monkeypatch.setattr(pool, "cores", lambda: 3)
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        fresh(many)
    assert time.monotonic() - started < 20
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def test_fpt_01_special_files_are_neither_opened_nor_waited_for(tmp_path):
    root = make(tmp_path / "t", {"notes.jsonl": "fifo"})
    with socket.socket(socket.AF_UNIX) as listener:
        os.chdir(root)
        try:
            listener.bind("s")
        finally:
            os.chdir("/")
        if os.getuid() == 0:
            os.mknod(root + "/null", 0o020600, os.makedev(1, 3))
        tree = fresh(root)
    kinds = {b"notes.jsonl": b"fifo", b"s": b"socket"} | ({b"null": b"char"} if os.getuid() == 0 else {})
    assert {path: row.digest for path, row in by_path(tree).items()} == {
        path: blake3(kind).digest() for path, kind in kinds.items()
    }
    assert {row.tag for row in tree.rows} == {"o"}
    assert tree.complete


def test_a_file_that_became_a_fifo_or_a_link_is_classified_anew_and_not_waited_for(tmp_path, monkeypatch):
    root = make(tmp_path / "t", {"a": b"1", "b": b"2", "c": b"3", "d": b"4"})
    hash_entry = hash_file.hash_entry
    turned = []

    def turn(directory, name, *rest):
        if name not in turned and name != b"inside":
            turned.append(name)
            os.unlink(os.path.join(root.encode(), name))
            if name == b"a":
                os.mkfifo(root + "/a")
            elif name == b"b":
                os.symlink("/etc/passwd", root + "/b")
            elif name == b"c":
                make(root, {"c/inside": b"5"})
        return hash_entry(directory, name, *rest)

    monkeypatch.setattr("outfitter.fingerprint.walk.hash_entry", turn)
    tree = fresh(root)
    assert {path: row.tag for path, row in by_path(tree).items()} == {b"a": "o", b"b": "l", b"c": "d", b"c/inside": "f"}
    assert tree.digest == fresh(root).digest


def test_fpt_03_links_are_fingerprinted_by_their_text(tmp_path):
    root = make(tmp_path / "t", {"loop": "link:.", "a": "link:b", "b": "link:a", "dead": "link:nowhere"})
    tree = fresh(root)
    assert {row.path: row.target for row in tree.rows} == {b"loop": b".", b"a": b"b", b"b": b"a", b"dead": b"nowhere"}
    assert all(row.digest == blake3(row.target).digest() for row in tree.rows)


def test_fpt_06_touching_everything_changes_nothing(many):
    before = fresh(many)
    for folder, _, files in os.walk(many):
        for name in files:
            os.utime(os.path.join(folder, name), ns=(OLD, OLD))
    after = again(many, before)
    assert list(compare(before, after)) == []
    assert after.files_read == 1501


def test_fpt_07_identical_bytes_are_no_change_and_reordered_keys_are(tmp_path):
    root = make(tmp_path / "t", {"a.json": b'{"x": 1, "y": 2}', "b.json": b'{"x": 1, "y": 2}'})
    before = fresh(root)
    make(root, {"a.tmp": b'{"x": 1, "y": 2}', "b.tmp": b'{"y": 2, "x": 1}'})
    os.replace(root + "/a.tmp", root + "/a.json")
    os.replace(root + "/b.tmp", root + "/b.json")
    assert [path for path, _, _ in compare(before, again(root, before))] == [b"b.json"]


def _churn(root, seconds):
    """A process that makes and removes files at full speed."""
    code = (
        "import os, sys, time\nend = time.monotonic() + float(sys.argv[2])\n"
        "while time.monotonic() < end:\n"
        "    for i in range(20):\n        open(f'{sys.argv[1]}/tmp{i}', 'w').write('x')\n"
        "        os.makedirs(f'{sys.argv[1]}/dir{i}/sub')\n"
        "    for i in range(20):\n        os.unlink(f'{sys.argv[1]}/tmp{i}')\n"
        "        os.removedirs(f'{sys.argv[1]}/dir{i}/sub')\n"
    )
    return subprocess.Popen([sys.executable, "-I", "-c", code, root, str(seconds)], env={}, stderr=subprocess.DEVNULL)


def test_fpt_09_files_that_vanish_are_absent(tmp_path):
    root = make(tmp_path / "t", {"keep/me": b"1"})
    before = fresh(root)
    with _churn(root, 60) as churning:
        try:
            trees = [again(root, before) for _ in range(150)]
        finally:
            churning.kill()
    assert all(tree.complete for tree in trees)
    assert all({b"keep", b"keep/me"} <= by_path(tree).keys() for tree in trees)
    assert all(row.note in ("", "unstable") for tree in trees for row in tree.rows)


def test_fpt_10_a_file_that_grows_for_ever_ends_the_walk_and_is_marked(tmp_path, monkeypatch):
    root = make(tmp_path / "t", {"x.log": 3_000_000})
    preadv = os.preadv

    def growing(*given):
        with open(root + "/x.log", "ab") as file:
            file.write(b"y" * 2_000_000)
        return preadv(*given)

    with monkeypatch.context() as patch:
        patch.setattr(os, "preadv", growing)
        tree = fresh(root)
    (row,) = tree.rows
    assert row.note == "unstable"
    assert again(root, tree, settled(tree)).files_read == 1, "an unstable row is never believed"


def test_a_file_truncated_while_it_is_read_is_read_again(tmp_path, monkeypatch):
    root = make(tmp_path / "t", {"a": 3_000_000})
    preadv, cut = os.preadv, []

    def cutting(*given):
        if not cut:
            cut.append(os.truncate(root + "/a", 10))
        return preadv(*given)

    monkeypatch.setattr(os, "preadv", cutting)
    (row,) = fresh(root).rows
    assert (row.digest, row.size, row.note) == (blake3(b"x" * 10).digest(), 10, "")


def as_nobody(job):
    """What `job` returns (its repr, evaluated) when it runs as another user."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            os.write(writing, repr(job()).encode())
        finally:
            os._exit(0)
    os.close(writing)
    with open(reading, "rb") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return ast.literal_eval(text.decode())


@pytest.fixture
def open_place():
    """A directory that every user may enter."""
    with tempfile.TemporaryDirectory(dir="/tmp") as top:
        os.chmod(top, 0o755)
        yield top


@pytest.mark.other_uid
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_fpt_13_what_cannot_be_read_is_named_and_the_walk_goes_on(open_place):
    root = make(open_place + "/t", {"file": (b"1", 0), "dir/inside": b"2", "z": b"3"})
    os.chmod(root + "/dir", 0)

    def look():
        tree = fresh(root)
        return tree.complete, [(row.path, row.tag, row.note, row.digest == bytes(32)) for row in tree.rows]

    expected = [(b"dir", "u", "EACCES", True), (b"file", "u", "EACCES", True), (b"z", "f", "", False)]
    assert as_nobody(look) == (False, expected)
    assert fresh(root).complete, "root can read it all"


@pytest.mark.other_uid
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_root_that_cannot_be_listed_raises(open_place):
    root = make(open_place + "/t", {"a": b"1"})
    os.chmod(root, 0)

    def look():
        try:
            fresh(root)
        except PermissionError as error:
            return error.filename
        return None

    assert as_nobody(look) == root


def test_fpt_14_the_execute_bit_counts_and_other_permissions_do_not(tmp_path):
    root = make(tmp_path / "t", {"hook.sh": b"#!", "plain": b""})
    before = fresh(root)
    os.chmod(root + "/hook.sh", 0o755)
    os.chmod(root + "/plain", 0o640)
    (difference,) = compare(before, again(root, before))
    assert (difference[1].tag, difference[2].tag) == ("f", "x")


def _deep(root, levels):
    os.mkdir(root)
    here = os.open(root, os.O_RDONLY)
    for level in range(levels):
        name = f"d{level:06d}"
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
        os.close(os.open("f", os.O_WRONLY | os.O_CREAT, dir_fd=here))
    os.close(here)


def _remove_deep(root):
    subprocess.run(["rm", "-rf", "--", root], check=True, env={"PATH": "/usr/bin:/bin"})


def test_fpt_17_a_tree_beyond_any_path_length_with_few_descriptors(tmp_path):
    root = str(tmp_path / "t")
    _deep(root, 1500)
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    used = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 30
    resource.setrlimit(resource.RLIMIT_NOFILE, (used + 40, limits[1]))
    try:
        cold = fresh(root)
        warm = again(root, cold, settled(cold))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        _remove_deep(root)
    assert cold.complete
    assert len(cold.rows) == 3000
    assert (warm.digest, warm.files_read) == (cold.digest, 0)


def test_fpt_18_both_spellings_of_a_name_are_two_entries(tmp_path):
    tree = fresh(make(tmp_path / "t", {"\u00e9": b"nfc", "e\u0301": b"nfd"}))
    assert {row.path: row.digest for row in tree.rows} == {
        "\u00e9".encode(): blake3(b"nfc").digest(),
        "e\u0301".encode(): blake3(b"nfd").digest(),
    }


def test_other_file_systems_are_reported_not_entered(tmp_path, monkeypatch):
    """CLN-10, where mounting may not be allowed: the same device number is what tells."""
    root = make(tmp_path / "t", {"mount/inside": b"1", "a": b"2"})
    real = os.stat

    class Elsewhere:
        def __init__(self, status):
            self._status = status

        def __getattr__(self, name):
            return self._status.st_dev + 1 if name == "st_dev" else getattr(self._status, name)

    def stat(path, *args, **options):
        status = real(path, *args, **options)
        return Elsewhere(status) if path == b"mount" else status

    monkeypatch.setattr(os, "stat", stat)
    tree = fresh(root)
    assert {row.path: (row.tag, row.note) for row in tree.rows} == {b"a": ("f", ""), b"mount": ("u", "EXDEV")}
    assert not tree.complete
    crossed = scan(root, (), 0, False, cross_mounts=True)
    assert crossed.complete
    assert b"mount/inside" in by_path(crossed)


@pytest.mark.parametrize("made", [None, b"file", "link:nowhere", "fifo"])
def test_a_root_that_is_no_directory_raises(tmp_path, made):
    root = tmp_path / "t"
    if made is not None:
        make(tmp_path, {"t": made})
    with pytest.raises(OSError, match=str(root)):
        fresh(root)


def test_a_root_that_is_a_link_is_followed(tmp_path):
    make(tmp_path, {"t/a": b"1", "l": "link:t"})
    assert fresh(tmp_path / "l").digest == fresh(tmp_path / "t").digest


def test_looking_again_reads_and_lists_only_what_was_known(many):
    tree = fresh(many)
    known = [*[row for row in tree.rows if row.path.startswith(b"d1/")][:5], by_path(tree)[b"big"]]
    known = [row for row in known if row.tag == "f"]
    make(many, {"d1/e1/unknown": b"1", "unknown/dir": b"2"})
    taken = settled(tree)
    assert list(look_again(many, known, taken)) == sorted(known)
    os.unlink(os.path.join(many.encode(), known[0].path))
    os.unlink(many + "/big")
    os.mkdir(many + "/big")
    with open(os.path.join(many.encode(), known[1].path), "wb") as file:
        file.write(b"changed")
    now = look_again(many, known, taken)
    assert [row.path for row in now] == sorted(row.path for row in known[1:] if row.path != b"big")
    assert {row.path: row.digest for row in now}[known[1].path] == blake3(b"changed").digest()
    assert look_again(many + "/absent", known, taken) == ()


@settings(max_examples=15)
@given(st.integers(0, 4_000_000))
def test_sizes_around_the_buffer(size):
    with tempfile.TemporaryDirectory() as top:
        for exact in {size, 1 << 20, (1 << 20) - 1, (1 << 20) + 1, 2 << 20}:
            content = b"q" * exact
            (row,) = fresh(make(f"{top}/{exact}", {"f": content})).rows
            assert (row.digest, row.size, row.note) == (blake3(content).digest(), exact, "")
