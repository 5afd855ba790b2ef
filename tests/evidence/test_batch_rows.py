"""Seed 004, "Batch State": every selected input has one outcome, and the counts add up."""

from hypothesis import given
from hypothesis import strategies as st

from outfitter.batch.inputs import select, text_of
from outfitter.batch.rows import OUTCOMES, Attempt, Input, report, to_run

keys = st.sampled_from([f"k{i}" for i in range(8)])


def _unusable(drawn):
    name, outcome = drawn
    return Input(name, name, "", "why", outcome)


def _attempt(drawn):
    outcome, ran = drawn
    return Attempt("", outcome, "", 0, "attempts/x", ran)


inputs = st.lists(
    st.one_of(
        keys.map(lambda key: Input(key, key, "d")),
        st.tuples(keys, st.sampled_from(["failed", "skipped", "missing"])).map(_unusable),
    ),
    max_size=12,
)
attempts = st.dictionaries(
    keys,
    st.tuples(st.sampled_from(["succeeded", "failed"]), st.booleans()).map(_attempt),
)


@given(inputs, attempts, st.booleans())
def test_the_counts_add_up_to_the_selection(chosen, made, complete):
    result = report("a", "pi", chosen, made, complete=complete)
    assert result["reconciled"]
    assert sum(result["counts"][name] for name in OUTCOMES) == result["counts"]["selected"] == len(chosen)
    assert [row["input"] for row in result["inputs"]] == [item.name for item in chosen]


@given(inputs, st.sets(keys))
def test_only_what_is_missing_is_run(chosen, verified):
    assert all(not item.problem and item.key not in verified for item in to_run(chosen, verified))


def test_selecting_names_what_cannot_be_run(tmp_path):
    (tmp_path / "tasks").mkdir()
    (tmp_path / "tasks/b.md").write_text("b")
    (tmp_path / "tasks/a.md").write_text("a")
    (tmp_path / "tasks/nul").write_bytes(b"a\0b")
    (tmp_path / "lines.jsonl").write_text('{"n": 1}\n\n{"n": 2}\n')
    import os

    os.mkfifo(tmp_path / "tasks/pipe")
    found = select(["tasks", "gone.md", "tasks/a.md", "lines.jsonl"], str(tmp_path))
    assert [
        (os.path.basename(item.name), item.problem.split(":")[0], item.outcome if item.problem else "")
        for item in found
    ] == [
        ("a.md", "", ""),
        ("b.md", "", ""),
        ("nul", "not text", "failed"),
        ("pipe", "cannot be read", "failed"),
        ("gone.md", "no such file", "missing"),
        ("a.md", "selected twice", "skipped"),
        ("lines.jsonl:1", "", ""),
        ("lines.jsonl:3", "", ""),
    ]
    assert [text_of(item) for item in found if not item.problem] == [b"a", b"b", b'{"n": 1}', b'{"n": 2}']
    assert len({item.key for item in found if not item.problem}) == 4
