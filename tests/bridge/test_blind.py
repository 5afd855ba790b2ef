"""What could not be read when the baseline was taken: it hides nothing that is there after the run (spec/50)."""

import pytest

from outfitter.fingerprint.tree import pack, tree_of
from outfitter.model.outcome import Snapshot
from tests.bridge.bench import Bench


def blinded(bench, path):
    """The bench with a baseline, as an older version could write it, that could not read `path`: nothing below it is known."""
    rows = [row for row in bench.baseline.tree.rows if not row.path.startswith(path + b"/")]
    rows = [
        row._replace(tag="u", digest=bytes(32), target=b"", note="EMFILE") if row.path == path else row for row in rows
    ]
    tree = tree_of(pack(rows).folders, bench.baseline.tree.taken_ns)
    bench.baseline = Snapshot(tree, bench.baseline.durable)
    return bench


@pytest.mark.parametrize("path", ["projects", "projects/SLUG"])
def test_transcripts_below_a_directory_of_an_incomplete_baseline_are_saved(tmp_path, path):
    bench = Bench(tmp_path)
    bench.history("s1.jsonl", b"one\n")
    bench.history("s2.jsonl", b"same\n")
    blinded(bench.age().launch(), path.replace("SLUG", bench.slug).encode())
    bench.write(f"projects/{bench.slug}/s1.jsonl", "two\n", append=True)
    bench.write(f"projects/{bench.slug}/new.jsonl", "new\n")
    assert bench.settle().saved
    place = bench.native / "projects" / bench.slug
    assert [(place / name).read_text() for name in ("s1.jsonl", "s2.jsonl", "new.jsonl")] == [
        "one\ntwo\n",
        "same\n",
        "new\n",
    ]
    assert bench.kept() == {}


def test_a_replaced_link_of_an_incomplete_baseline_is_adopted(tmp_path):
    bench = Bench(tmp_path)
    bench.put(bench.native / "debug/old.txt", "old")
    blinded(bench.age().launch(), b"debug")
    bench.delete("debug")
    bench.write("debug/new.txt", "new")
    assert bench.settle().saved
    assert (bench.native / "debug/new.txt").read_text() == "new"


def test_an_unknown_path_of_an_incomplete_baseline_fails_an_error_policy(tmp_path):
    bench = Bench(tmp_path, handlings={"unknown": "error"}, generated={"odd/made": b"1"}).launch()
    blinded(bench, b"odd")
    bench.write("odd/new", "x")
    bench.settle()
    assert bench.outcome("odd/new") == "failed"
