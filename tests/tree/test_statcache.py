"""The cache of fingerprints: only ever a short cut (spec/60)."""

import os
import shutil
import tempfile
import threading
import time

import pytest
from attrs import evolve
from blake3 import blake3
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from outfitter.fingerprint import stat_cache
from outfitter.fingerprint.scan import scan
from outfitter.model.outcome import GRANULARITY_NS
from tests.tree.test_scan import as_nobody, open_place  # noqa: F401 - a fixture
from tests.tree.trees import make


def cached(root, cache):
    """What the command does: a scan helped by what was kept, and kept again."""
    real = os.path.realpath(root)
    known = stat_cache.recall(cache, real)
    tree = scan(root, known.tree.rows, known.tree.taken_ns, False) if known else scan(root, (), 0, False)
    stat_cache.keep(cache, real, tree, known)
    return tree


@pytest.fixture
def root(tmp_path):
    made = make(tmp_path / "t", {"a": b"1", "d/b": b"22", "d/e/c": (b"333", 0o755), "l": "link:a"})
    for folder, _, files in os.walk(made):
        for name in files:
            os.utime(os.path.join(folder, name), ns=(10**18, 10**18), follow_symlinks=False)
    return made


@pytest.fixture
def cache(tmp_path):
    return str(tmp_path / "cache")


def test_cold_and_warm_are_equal_and_warm_reads_nothing(root, cache):
    cold = cached(root, cache)
    _kept_when_old_enough(root, cache)
    warm = cached(root, cache)
    assert (cold.digest, cold.rows) == (warm.digest, warm.rows)
    assert (cold.files_read, warm.files_read, warm.files_cached) == (3, 0, 3)


def _kept_when_old_enough(root, cache):
    """A record whose rows are all older than itself, by more than the clock's granularity."""
    time.sleep(3 * GRANULARITY_NS / 10**9)
    tree = scan(root, (), 0, False)
    stat_cache.keep(cache, root, tree)
    return tree


def _only_file(cache):
    (found,) = [os.path.join(folder, name) for folder, _, files in os.walk(cache) for name in files]
    return found


def _noise(path):
    with open(path, "wb") as file:
        file.write(os.urandom(5000))


def _lies(path):
    """A file that is whole, but of another directory whose rows have nothing to do with this one."""
    with tempfile.TemporaryDirectory() as top:
        other = make(top + "/o", {"a": b"other", "d/b": b"other"})
        stat_cache.keep(top + "/c", other, scan(other, (), 0, False))
        shutil.copy(_only_file(top + "/c"), path)


def _directory(path):
    os.unlink(path)
    os.mkdir(path)


def _fifo(path):
    os.unlink(path)
    os.mkfifo(path)


def _link(path):
    os.rename(path, path + ".away")
    os.symlink(path + ".away", path)


@pytest.mark.parametrize(
    "spoil",
    [
        os.unlink,
        lambda path: os.truncate(path, os.path.getsize(path) // 2),
        lambda path: os.truncate(path, 0),
        _noise,
        _lies,
        _directory,
        _fifo,
        _link,
    ],
    ids=["deleted", "truncated", "emptied", "noise", "another's", "directory", "fifo", "link"],
)
def test_a_spoilt_cache_changes_no_result(root, cache, spoil):
    expected = _kept_when_old_enough(root, cache)
    spoil(_only_file(cache))
    found = cached(root, cache)
    assert (found.digest, found.rows) == (expected.digest, expected.rows)


def test_a_record_from_the_future_is_not_believed(root, cache):
    tree = cached(root, cache)
    stat_cache.keep(cache, root, evolve(tree, taken_ns=tree.taken_ns + 3600 * 10**9))
    assert stat_cache.recall(cache, root) is None


@pytest.mark.other_uid
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_read_only_or_foreign_cache_changes_no_result(open_place):  # noqa: F811
    root, cache = make(open_place + "/t", {"a": b"1", "d/b": b"22"}), open_place + "/cache"
    expected = cached(root, cache)
    before = _only_file(cache)
    for folder, _, files in os.walk(cache):
        os.chmod(folder, 0o555)
        for name in files:
            os.chmod(os.path.join(folder, name), 0o444)

    def look():
        kept = stat_cache.recall(cache, root)
        return kept, cached(root, cache).digest, cached(root, "/proc/nowhere").digest

    assert as_nobody(look) == (None, expected.digest, expected.digest)
    assert _only_file(cache) == before


def test_the_cache_is_private_and_leaves_no_temporaries(root, cache):
    cached(root, cache)
    path = _only_file(cache)
    assert os.stat(path).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(path)).st_mode & 0o777 == 0o700


def test_two_writers_at_once_leave_one_whole_record(root, cache):
    wrong = []

    def write():
        for _ in range(25):
            tree = cached(root, cache)
            if tree.digest != expected:
                wrong.append(tree)

    expected = scan(root, (), 0, False).digest
    writers = [threading.Thread(target=write) for _ in range(3)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert wrong == []
    assert stat_cache.recall(cache, root).tree.digest == expected
    _only_file(cache)


@pytest.fixture
def little_is_written(monkeypatch):
    monkeypatch.setattr(stat_cache, "WHOLE_BELOW", 0)
    monkeypatch.setattr(stat_cache, "FRACTION", 1)


def _records(cache):
    found = [os.path.join(folder, name) for folder, _, files in os.walk(cache) for name in files]
    return sorted([(os.path.basename(path), os.path.getsize(path)) for path in found])


def test_where_little_changed_the_record_stays_and_only_that_is_written_beside_it(root, cache, little_is_written):
    make(root, {f"many/{number}": b"" for number in range(50)})
    _kept_when_old_enough(root, cache)
    (record,) = _records(cache)
    for content in (b"4444", b"55555"):
        make(root, {"d/b": content})
        found = cached(root, cache)
        assert found.digest == scan(root, (), 0, False).digest
        kept, (name, size) = _records(cache)
        assert (kept, name) == (record, record[0] + stat_cache.LATER)
        assert size < record[1]
    shutil.rmtree(root + "/d/e")
    time.sleep(3 * GRANULARITY_NS / 10**9)
    found = cached(root, cache)
    again = stat_cache.recall(cache, root)
    assert (again.tree, again.later) == (found, {b"", b"d", b"d/e"})


@pytest.mark.parametrize("spoil", [os.unlink, _noise, _directory, _fifo, _link, lambda path: os.truncate(path, 40)])
@pytest.mark.parametrize("which", [0, 1], ids=["record", "later"])
def test_spoiling_either_file_changes_no_result(root, cache, little_is_written, spoil, which):
    make(root, {f"many/{number}": b"" for number in range(50)})
    _kept_when_old_enough(root, cache)
    make(root, {"d/b": b"4444"})
    expected = cached(root, cache)
    for folder, _, files in os.walk(cache):
        if files:
            spoil(os.path.join(folder, sorted(files)[which]))
    found = cached(root, cache)
    assert (found.digest, found.rows) == (expected.digest, expected.rows)


class CacheMachine(RuleBasedStateMachine):
    """A directory, a model that says truly what is in it, and scans helped by an ever-growing cache; the two never differ."""

    files = Bundle("files")
    whole_below = 10**9

    @initialize()
    def begin(self):
        self.top = tempfile.mkdtemp()
        self.root, self.cache = make(self.top + "/t", {}), self.top + "/cache"
        self.model = {}
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(stat_cache, "WHOLE_BELOW", self.whole_below)
        self.patch.setattr(stat_cache, "FRACTION", 0)

    def _path(self, name):
        return os.path.join(self.root, name)

    @rule(target=files, name=st.sampled_from(["a", "b", "d/a", "d/e/f", "g/h"]), content=st.binary(max_size=4))
    def write(self, name, content):
        make(self.root, {name: content})
        self.model[name] = content
        return name

    @rule(name=files, content=st.binary(min_size=4, max_size=4))
    def write_same_size_and_restore_the_mtime(self, name, content):
        if name not in self.model:
            return
        content = content[: len(self.model[name])]
        before = os.stat(self._path(name))
        with open(self._path(name), "r+b") as file:
            file.write(content)
        os.utime(self._path(name), ns=(before.st_atime_ns, before.st_mtime_ns))
        self.model[name] = content + self.model[name][len(content) :]

    @rule(name=files, content=st.binary(max_size=4))
    def rename_over(self, name, content):
        if name in self.model:
            times = os.stat(self._path(name))
            make(self.top, {"beside": content})
            os.utime(self.top + "/beside", ns=(times.st_atime_ns, times.st_mtime_ns))
            os.replace(self.top + "/beside", self._path(name))
            self.model[name] = content

    @rule(name=files, age=st.sampled_from([0, 1, 10**18, 4 * 10**18]))
    def set_the_clock_of_a_file(self, name, age):
        if name in self.model:
            os.utime(self._path(name), ns=(age, age))

    @rule(name=files)
    def remove(self, name):
        if self.model.pop(name, None) is not None:
            os.unlink(self._path(name))

    @rule(one=files, other=files)
    def swap(self, one, other):
        if one in self.model and other in self.model and one != other:
            os.rename(self._path(one), self.top + "/swap")
            os.rename(self._path(other), self._path(one))
            os.rename(self.top + "/swap", self._path(other))
            self.model[one], self.model[other] = self.model[other], self.model[one]

    @rule(at=st.integers(0, 10_000), which=st.sampled_from(["", stat_cache.LATER]))
    def spoil_the_cache(self, at, which):
        for folder, _, files in os.walk(self.cache):
            for name in [name for name in files if name.endswith(which)]:
                os.truncate(os.path.join(folder, name), min(at, os.path.getsize(os.path.join(folder, name))))

    @invariant()
    def a_cached_scan_tells_the_truth(self):
        tree = cached(self.root, self.cache)
        found = {os.fsdecode(row.path): row.digest for row in tree.rows if row.tag != "d"}
        assert found == {name: blake3(content).digest() for name, content in self.model.items()}

    def teardown(self):
        if hasattr(self, "top"):
            self.patch.undo()
            shutil.rmtree(self.top)


class LaterMachine(CacheMachine):
    """The same, with only what changed written beside the first record."""

    whole_below = 0


TestLater = LaterMachine.TestCase
TestLater.settings = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
TestCache = CacheMachine.TestCase
TestCache.settings = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
