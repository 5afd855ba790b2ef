"""The `fingerprint` stage: the baseline before the harness, and both sides after it (spec/50)."""

import errno
import os
import pathlib
import time

import pytest
from attrs import evolve

from outfitter.bridge.durable import real_durable
from outfitter.fingerprint.scan import TREES, load_baseline, save_baseline
from outfitter.fingerprint.tree import compare, pack, tree_of
from outfitter.host import Durable, Runs, Trees
from outfitter.model.outcome import GRANULARITY_NS
from outfitter.model.projection import Bridge, Projected, Record, State
from outfitter.railway import fold, perform
from outfitter.run.seeding import copy, seed_tree
from stages.fingerprint import fingerprint
from stages.fingerprint_again import fingerprint_again
from tests.effects import fake
from tests.tree.test_scan import as_nobody, open_place  # noqa: F401 - a fixture
from tests.tree.trees import make


def outcome(effect):
    def fail(error):
        raise AssertionError(error)

    return fold(perform(effect), lambda value: value, fail)


def failure(effect):
    return fold(perform(effect), lambda _: None, lambda error: error)


def state(key, handling, durable):
    return State(key, handling, durable, "default", "", "default", ())


class Site:
    """A run directory with a linked file, a watched copy, and seeded sessions of one project; and their durable side."""

    def __init__(self, top):
        self.durable = make(
            top / "home",
            {
                "auth.json": b"{}",
                "history.jsonl": b"1\n",
                "projects/-p/a.jsonl": b"a",
                "projects/-p/s/b.jsonl": b"b",
                "projects/-other/huge.jsonl": b"not ours to read",
            },
        )
        time.sleep(2 * GRANULARITY_NS / 1e9)
        started = time.time_ns()
        self.root = make(top / "run", {})
        projection = make(top / "run/projection", {"auth.json": f"link:{self.durable}/auth.json"})
        row, seen = copy(self.durable + "/history.jsonl", projection + "/history.jsonl", False)
        os.mkdir(projection + "/projects")
        rows, durable, _ = seed_tree(self.durable + "/projects/-p", projection + "/projects/-p", None)
        linked = TREES.scan(self.durable, (), 0, False).rows.at(b"auth.json")
        prefix = b"projects/-p/"
        self.rows = (row._replace(path=b"history.jsonl"), *(row._replace(path=prefix + row.path) for row in rows))
        self.before = (
            linked,
            row._replace(path=b"history.jsonl", identity=seen.identity, mode=seen.mode),
            *(row._replace(path=prefix + row.path) for row in durable),
        )
        self.record = Record(
            "r",
            "a",
            "claude",
            self.root,
            1,
            2,
            0,
            started,
            "",
            False,
            False,
            "/",
            "/",
            "/",
            "/",
            (
                state("auth.json", "symlink", self.durable + "/auth.json"),
                state("history.jsonl", "warn", self.durable + "/history.jsonl"),
                state("late.json", "symlink", self.durable + "/late.json"),
                state("scratch.json", "discard", self.durable + "/scratch.json"),
                state("projects/", "bridge", self.durable + "/projects"),
            ),
            "warn",
            (Bridge("sessions", "projects/", self.durable + "/projects"),),
            (),
        )
        self.journalled = []
        self.runs = fake(Runs, journal=self._journal)
        self.looked = []
        real = real_durable(str(top / "state"))
        self.side = fake(Durable, real, look=lambda *given: self.looked.append(given) or real.look(*given))

    def _journal(self, record):
        self.journalled.append(record)
        return ()

    def take(self):
        return outcome(fingerprint(TREES, self.runs, Projected(self.record, self.rows, self.before)))

    def again(self, based):
        return outcome(fingerprint_again(TREES, self.side, based.record, based.baseline))


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


def test_the_baseline_reads_nothing_we_wrote_and_is_saved_and_journalled(site):
    based = site.take()
    tree, durable = load_baseline(site.root + "/baseline")
    assert (tree, durable) == (based.baseline.tree, tuple(sorted(site.before)))
    assert tree.files_read == 0
    assert [row.path for row in tree.rows if row.tag in "fl"] == [
        b"auth.json",
        b"history.jsonl",
        b"projects/-p/a.jsonl",
        b"projects/-p/s/b.jsonl",
    ]
    assert site.journalled == [based.record]
    assert based.record.baseline_digest == tree.digest.hex()
    assert os.stat(site.root + "/baseline").st_mode & 0o777 == 0o600


def test_the_baseline_is_written_exclusively(site):
    make(site.root, {"baseline": b"somebody else's"})
    error = failure(fingerprint(TREES, site.runs, Projected(site.record, site.rows, site.before)))
    assert (error.path, error.reason) == (site.root + "/baseline", "File exists")
    assert site.journalled == []


def test_a_damaged_baseline_raises(tmp_path, site):
    based = site.take()
    path = site.root + "/baseline"
    os.truncate(path, os.path.getsize(path) - 1)
    with pytest.raises(OSError, match="damaged baseline"):
        load_baseline(path)
    with pytest.raises(FileNotFoundError):
        load_baseline(path + "x")
    save_baseline(str(tmp_path / "other"), based.baseline.tree, ())
    assert load_baseline(str(tmp_path / "other")) == (based.baseline.tree, ())


def test_an_idle_run_changes_nothing_and_reads_no_durable_file_again(site, monkeypatch):
    time.sleep(2 * GRANULARITY_NS / 1e9)
    based = site.take()
    time.sleep(2 * GRANULARITY_NS / 1e9)
    actual = site.again(based)
    assert list(compare(based.baseline.tree, actual.tree)) == []
    assert actual.durable == tuple(sorted(site.before))
    assert actual.tree.files_read == 0
    known = {path: (identity, digest) for path, identity, digest in site.looked}
    assert known[site.durable + "/auth.json"][1] == site.before[0].digest
    assert all(name not in path for path in known for name in ("projects", "scratch"))


def test_both_sides_are_seen_as_they_are_after_the_harness(site):
    based = site.take()
    make(site.root + "/projection", {"projects/-p/a.jsonl": b"a more", "new": b"1"})
    make(site.durable, {"projects/-p/s/b.jsonl": b"theirs", "late.json": b"{}", "scratch.json": b"{}"})
    os.unlink(site.durable + "/history.jsonl")
    actual = site.again(based)
    assert [path for path, _, _ in compare(based.baseline.tree, actual.tree)] == [b"new", b"projects/-p/a.jsonl"]
    assert [row.path for row in actual.durable] == [
        b"auth.json",
        b"late.json",
        b"projects/-p/a.jsonl",
        b"projects/-p/s/b.jsonl",
    ]
    assert {row.path: row.size for row in actual.durable}[b"projects/-p/s/b.jsonl"] == 6


def test_a_linked_entry_of_a_directory_is_followed_when_looked_at_again(site):
    """A home under a dotfile manager: the native entry is itself a link."""
    make(site.durable, {"dot/c.md": b"one", "commands/c.md": "link:../dot/c.md"})
    make(site.root + "/projection", {"commands/c.md": f"link:{site.durable}/commands/c.md", "commands/ours.md": b""})
    seen = site.side.look(site.durable + "/commands/c.md", None, None)
    row = site.before[0]._replace(path=b"commands/c.md", digest=seen.digest, identity=seen.identity, size=3)
    site.before = (*site.before, row)
    site.record = evolve(
        site.record,
        states=(*site.record.states, state("commands/", "symlink", site.durable + "/commands")),
        generated=("commands/ours.md",),
    )
    based = site.take()
    make(site.durable, {"dot/c.md": b"three"})
    assert {row.path: row.size for row in site.again(based).durable}[b"commands/c.md"] == 5


def test_a_durable_edit_of_the_same_size_since_the_launch_is_seen(site):
    based = site.take()
    for name in ("auth.json", "projects/-p/a.jsonl"):
        path = os.path.join(site.durable, name)
        before = os.stat(path)
        with open(path, "r+b") as file:
            file.write(b"[")
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    then, now = ({row.path: row.digest for row in rows} for rows in (site.before, site.again(based).durable))
    assert {path for path in now if now[path] != then[path]} == {b"auth.json", b"projects/-p/a.jsonl"}


def test_what_was_young_at_launch_is_not_vouched_for(site):
    """A durable file written just before the launch could be written again within the same tick."""
    youngest = max(max(row.identity[2:]) for row in site.before)
    young = evolve(site.record, started_ns=youngest)
    based = outcome(fingerprint(TREES, site.runs, Projected(young, site.rows, site.before)))
    site.again(based)
    assert {digest for _, _, digest in site.looked} == {None}


def test_a_durable_directory_that_vanished_has_no_rows(site):
    based = site.take()
    os.rename(site.durable, site.durable + ".away")
    assert site.again(based).durable == ()


def test_a_projection_that_vanished_is_an_empty_one(site):
    based = site.take()
    os.rename(site.root + "/projection", site.root + "/away")
    actual = site.again(based)
    assert list(actual.tree.rows) == []
    assert actual.durable == tuple(sorted(site.before))


@pytest.mark.other_uid
@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_projection_that_cannot_be_listed_is_an_error_that_names_it(open_place):  # noqa: F811
    place = Site(pathlib.Path(open_place))
    based = place.take()
    os.chmod(place.root + "/projection", 0)

    def look():
        return failure(fingerprint_again(TREES, place.side, based.record, based.baseline)).path

    assert as_nobody(look) == place.root + "/projection"


def failing_scans(*results):
    """`Trees` whose scans give these in turn: an `OSError` is raised, a path is unreadable in a tree that is otherwise right."""
    left = list(results)

    def scan(*given):
        tree = TREES.scan(*given)
        what = left.pop(0) if left else None
        if isinstance(what, OSError):
            raise what
        if what is None:
            return tree
        blind = tree.rows.at(what)._replace(tag="u", digest=bytes(32), note="EMFILE")
        return tree_of(pack([blind if row.path == what else row for row in tree.rows]).folders, tree.taken_ns)

    return fake(Trees, TREES, scan=scan)


@pytest.mark.parametrize("first", [b"projects/-p", b"auth.json", OSError(errno.EMFILE, "Too many open files")])
def test_what_the_baseline_cannot_read_is_read_once_more(site, first):
    based = outcome(fingerprint(failing_scans(first), site.runs, Projected(site.record, site.rows, site.before)))
    assert based.baseline.tree.complete
    assert based.baseline.tree.rows.at(b"auth.json").tag == "l"


@pytest.mark.parametrize(
    ("path", "place"), [(b"projects/-p", "/projection/projects/-p"), (b"auth.json", "/projection/auth.json")]
)
def test_an_incomplete_baseline_refuses_the_launch(site, path, place):
    error = failure(fingerprint(failing_scans(path, path), site.runs, Projected(site.record, site.rows, site.before)))
    assert (error.path, error.reason) == (site.root + place, "cannot be read (EMFILE)")
    assert (site.journalled, os.path.exists(site.root + "/baseline")) == ([], False)
