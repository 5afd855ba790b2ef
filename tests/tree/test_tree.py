"""Packed trees as values: packing, the file form, and the comparison."""

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from outfitter.cli.fingerprint import counts, remarked
from outfitter.fingerprint.codec import dump, dump_later, load, load_later
from outfitter.fingerprint.tree import NO_DIGEST, Folder, Rows, compare, pack, tree_of
from outfitter.model.outcome import Identity, Row
from tests.tree import strategies


@given(st.lists(strategies.rows(), max_size=12))
def test_packing_keeps_every_row_and_sorts_them_by_raw_path(rows):
    packed = pack(rows)
    last = {row.path: row for row in rows}
    assert list(packed) == [last[path] for path in sorted(last)]
    assert len(packed) == len(last)
    assert [packed[i] for i in range(len(packed))] == list(packed)
    assert all(packed.at(row.path) == row for row in last.values())
    assert packed.at(b"no/such") is None
    assert packed[1:] == tuple(packed)[1:]
    assert pack(packed) is packed


@given(strategies.trees, st.lists(strategies.rows(), max_size=5))
def test_the_file_form_gives_everything_back(tree, durable):
    loaded, rows = load(dump(tree, durable))
    assert (loaded, list(rows)) == (tree, list(pack(durable)))
    assert loaded.taken_ns == tree.taken_ns
    assert loaded.complete == tree.complete


@given(strategies.trees, st.data())
def test_no_damaged_file_form_is_believed(tree, data):
    whole = dump(tree)
    cut = data.draw(st.integers(0, len(whole) - 1))
    refused(whole[:cut])
    at, bit = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 7))
    flipped = whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1 :]
    refused(flipped)
    refused(whole + b"x")


@given(st.binary(max_size=300))
def test_noise_is_no_file_form(noise):
    refused(noise)
    with pytest.raises(ValueError, match="another record"):
        load_later(noise, tree_of(EMPTY, 0), b"r" * 32)
    with pytest.raises(ValueError, match="not a tree"):
        load_later(b"r" * 32 + noise, tree_of(EMPTY, 0), b"r" * 32)


EMPTY = {b"": Folder(b"", b"", b"", b"", b"")}


def refused(data):
    with pytest.raises(ValueError, match=r"not a tree of this version|damaged"):
        load(data)


@given(strategies.trees, strategies.trees)
def test_a_tree_comes_back_from_another_and_what_changed_since(one, other):
    then, now = one.rows.folders, other.rows.folders
    changed = {path: now.get(path) for path in then.keys() | now.keys() if now.get(path) != then.get(path)}
    found, paths = load_later(dump_later(other, changed, b"r" * 32), one, b"r" * 32)
    assert (found, found.taken_ns, paths) == (other, other.taken_ns, changed.keys())


@given(strategies.trees)
def test_a_tree_does_not_differ_from_itself(tree):
    assert list(compare(tree, tree)) == []
    assert list(compare(tree, load(dump(tree))[0])) == []


@given(strategies.trees, strategies.trees)
def test_differences_mirror_and_come_in_order(before, after):
    there, back = list(compare(before, after)), list(compare(after, before))
    hidden = below_unread(before, after)
    assert [(path, new, old) for path, old, new in there if not hidden(path)] == [
        one for one in back if not hidden(one[0])
    ]
    assert [path for path, _, _ in there] == sorted({path for path, _, _ in there})


def below_unread(*trees):
    blind = {row.path for tree in trees for row in tree.rows if row.tag == "u"}
    return lambda path: any(path.startswith(above + b"/") for above in blind)


@given(strategies.trees, strategies.trees)
def test_applying_the_differences_rebuilds_the_other_tree(before, after):
    rows = {row.path: row for row in before.rows}
    for path, old, new in compare(before, after):
        assert rows.pop(path, None) == old
        if new:
            rows[path] = new
    seen = {row.path: (row.tag, row.digest if row.tag != "d" else b"") for row in after.rows}
    hidden = {path for path in {*rows, *seen} if below_unread(after)(path)}
    assert {
        path: (row.tag, row.digest if row.tag != "d" else b"") for path, row in rows.items() if path not in hidden
    } == {path: value for path, value in seen.items() if path not in hidden}
    if not hidden:
        assert tree_of(pack(rows.values()).folders, 0).digest == after.digest


@given(strategies.trees, strategies.trees)
def test_equal_digests_mean_equal_names_kinds_and_bytes(one, other):
    facts = [{(row.path, row.tag, row.digest) for row in tree.rows} for tree in (one, other)]
    assert (one.digest == other.digest) == (facts[0] == facts[1])


def _tree(*rows):
    return tree_of(pack(rows).folders, 1)


def _row(path, tag="f", content=b"", mode=0o644, note=""):
    digest = NO_DIGEST if tag in "du" else blake3(content).digest()
    return Row(path, tag, digest, len(content), mode, Identity(1, 2, 3, 4), b"", note)


def test_what_lies_below_an_unreadable_directory_is_unknown_not_deleted():
    before = _tree(_row(b"d", "d"), _row(b"d/x"), _row(b"d/e", "d"), _row(b"d/e/y"), _row(b"d-"))
    after = _tree(_row(b"d", "u", note="EACCES"), _row(b"d-"))
    assert [path for path, _, _ in compare(before, after)] == [b"d"]


def test_what_was_unreadable_before_hides_nothing_that_is_there_afterwards():
    before = _tree(_row(b"d", "u", note="EMFILE"), _row(b"d-"))
    after = _tree(_row(b"d", "d"), _row(b"d/x"), _row(b"d/e", "d"), _row(b"d/e/y"), _row(b"d-"))
    assert [(path, old and old.tag, new and new.tag) for path, old, new in compare(before, after)] == [
        (b"d", "u", "d"),
        (b"d/e", None, "d"),
        (b"d/e/y", None, "f"),
        (b"d/x", None, "f"),
    ]


def test_a_directory_in_the_place_of_a_file_comes_with_its_content():
    before, after = _tree(_row(b"a")), _tree(_row(b"a", "d"), _row(b"a/b"))
    assert [(path, old and old.tag, new and new.tag) for path, old, new in compare(before, after)] == [
        (b"a", "f", "d"),
        (b"a/b", None, "f"),
    ]


def test_permission_bits_are_no_difference_but_the_execute_bit_is():
    assert list(compare(_tree(_row(b"a", mode=0o600)), _tree(_row(b"a", mode=0o644)))) == []
    assert len(list(compare(_tree(_row(b"a")), _tree(_row(b"a", "x"))))) == 1


def test_counts_and_remarks():
    tree = _tree(_row(b"a", content=b"12"), _row(b"d", "d"), _row(b"d/x", "x", b"345"), _row(b"u", "u", note="EACCES"))
    assert counts(tree) == ({"f": 1, "d": 1, "x": 1, "u": 1}, 5)
    assert [(row.path, row.note) for row in remarked(tree)] == [(b"u", "EACCES")]
    assert not tree.complete


def test_rows_compare_as_sequences():
    rows = pack([_row(b"a")])
    assert rows == [_row(b"a")]
    assert rows != [_row(b"b")]
    assert rows != 3
    assert isinstance(rows, Rows)
    with pytest.raises(IndexError):
        rows[1]
