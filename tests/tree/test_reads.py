"""Settlement reads what changed and is carried by a rule, and nothing else: reads are counted, not seconds (spec/60)."""

import os
import time
from pathlib import Path

import pytest
from attrs import evolve

from outfitter.bridge.durable import real_durable
from outfitter.fingerprint import hash_file, scan, walk
from outfitter.fingerprint.scan import TREES
from outfitter.model.outcome import GRANULARITY_NS, Snapshot
from outfitter.model.projection import Bridge
from outfitter.run.seeding import seed_tree
from stages.diff import diff
from stages.fingerprint_again import fingerprint_again
from tests.tree.test_stage import Site, outcome, state

CHANGED = 10


@pytest.fixture
def reads(monkeypatch):
    """The names of the files whose content is read, as they are read."""
    seen = []
    real = hash_file.hash_entry

    def counted(directory, name, *rest):
        seen.append(name)
        return real(directory, name, *rest)

    monkeypatch.setattr(walk, "hash_entry", counted)
    monkeypatch.setattr(scan, "PARALLEL_FILES", 10**9)
    monkeypatch.setattr(scan, "PARALLEL_ROWS", 10**9)
    return seen


def seeded(top, files):
    """A settled run directory with so many seeded transcripts: (record, baseline)."""
    native = top / "home/projects/-p"
    native.mkdir(parents=True)
    for number in range(files):
        (native / f"s{number:05d}.jsonl").write_bytes(b"one\n")
    projection = top / "run/projection"
    (projection / "projects").mkdir(parents=True)
    rows, durable, _ = seed_tree(str(native), str(projection / "projects/-p"), None)
    time.sleep(2 * GRANULARITY_NS / 1e9)
    tree = TREES.scan(str(projection), (), 0, True)
    assert len(rows) == len(durable) == files
    return record_of(top), Snapshot(tree, ())


def record_of(top):
    return evolve(
        Site(top / "site").record,
        root=str(top / "run"),
        states=(state("cache/", "discard", ""), state("watched/", "error", "")),
        bridges=(Bridge("sessions", "projects/", str(top / "home/projects")),),
        generated=(),
        unknown="warn",
        started_ns=time.time_ns(),
    )


@pytest.mark.parametrize("files", [200, 4000])
def test_ten_changed_files_of_many_cost_ten_reads(tmp_path, reads, files):
    record, baseline = seeded(tmp_path, files)
    reads.clear()
    for number in range(CHANGED):
        with open(f"{record.projection}/projects/-p/s{number:05d}.jsonl", "a") as file:
            file.write("two\n")
    actual = outcome(fingerprint_again(TREES, real_durable(str(tmp_path / "state")), record, baseline))
    assert (len(reads), actual.tree.files_read) == (CHANGED, CHANGED)


def test_what_no_rule_copies_is_not_read(tmp_path, reads):
    record, baseline = seeded(tmp_path, 1)
    reads.clear()
    for name in ("unknown", "deep/unknown", "cache/x", "watched/x", "projects/-p/new.jsonl", "projects/-q/new.jsonl"):
        path = Path(record.projection, name)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"12345")
    os.chmod(f"{record.projection}/deep/unknown", 0o700)
    actual = outcome(fingerprint_again(TREES, real_durable(str(tmp_path / "state")), record, baseline))
    assert sorted(reads) == [b"new.jsonl", b"new.jsonl"]
    row = actual.tree.rows.at(b"deep/unknown")
    assert (row.tag, row.size, row.digest, actual.tree.complete) == ("x", 5, bytes(32), True)
    told = {
        change.path: (change.change, change.size_after, change.outcome)
        for change in diff(record, baseline, actual).unwrap()
    }
    assert told == {
        "unknown": ("added", 5, "warned"),
        "deep/unknown": ("added", 5, "warned"),
        "cache/x": ("added", 5, "discarded"),
        "watched/x": ("added", 5, "failed"),
        "projects/-p/new.jsonl": ("added", 5, "bridged"),
        "projects/-q/new.jsonl": ("added", 5, "bridged"),
    }


def test_a_known_file_that_no_rule_copies_is_read_only_if_its_size_is_the_same(tmp_path, reads):
    projection = tmp_path / "run/projection"
    projection.mkdir(parents=True)
    for name in ("same", "touched", "grown", "untouched"):
        (projection / name).write_bytes(b"123")
    time.sleep(2 * GRANULARITY_NS / 1e9)
    baseline = Snapshot(TREES.scan(str(projection), (), 0, True), ())
    record = record_of(tmp_path)
    reads.clear()
    (projection / "same").write_bytes(b"456")
    (projection / "touched").write_bytes(b"123")
    (projection / "grown").write_bytes(b"1234")
    actual = outcome(fingerprint_again(TREES, real_durable(str(tmp_path / "state")), record, baseline))
    assert sorted(reads) == [b"same", b"touched"]
    told = {change.path: change.change for change in diff(record, baseline, actual).unwrap()}
    assert told == {"same": "modified", "grown": "modified"}
