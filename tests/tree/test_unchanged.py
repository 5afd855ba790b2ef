"""What is believed of a known directory (spec/60, "Warm comparison and the racy rule"): each function beside its plain definition."""

from hypothesis import given
from hypothesis import strategies as st

from outfitter.fingerprint.tree import STAT, aligned, maybe_changed, pack, unchanged
from tests.tree import strategies

limits = st.one_of(st.none(), st.integers(0, 2**63 - 1))


@st.composite
def folders(draw):
    """A directory with a few children of all kinds."""
    rows = draw(st.lists(strategies.rows(), max_size=60))
    return pack([row._replace(path=b"%d" % number) for number, row in enumerate(rows)]).folders[b""]


@st.composite
def looks(draw):
    """A known directory and a stat column of the same names, some of it changed."""
    known = draw(folders())
    stats = bytearray(known.stats)
    for index in draw(st.sets(st.integers(0, max(0, len(known.tags) - 1)), max_size=3)) if known.tags else ():
        stats[index * STAT.size + draw(st.integers(0, STAT.size - 1))] ^= 1
    return known, bytes(stats)


@given(looks(), limits)
def test_a_child_is_doubted_if_its_stat_changed_or_is_racy_or_it_was_not_read_well(look, limit):
    known, stats = look
    expected = []
    for index, name in enumerate(known.children()):
        stat = stats[index * STAT.size : (index + 1) * STAT.size]
        mtime, ctime = STAT.unpack(stat)[3:5]
        row = known.row(index, name)
        racy = limit is not None and max(mtime, ctime) >= limit and known.newest >= limit
        if stat != known.stats[index * STAT.size : (index + 1) * STAT.size] or racy or row.tag == "u" or row.note:
            expected.append(index)
    assert maybe_changed(known, stats, limit) == expected
    if unchanged(known, stats, limit):
        assert expected == []


@given(folders(), folders())
def test_what_is_known_can_be_put_beside_other_names(known, other):
    rows = {row.path: row for row in pack(known.row(i, n) for i, n in enumerate(known.children()))}
    found = aligned(known, other.names, len(other.tags))
    assert (found.names, len(found.tags)) == (other.names, len(other.tags))
    for index, name in enumerate(other.children()):
        if name in rows:
            assert found.row(index, name) == rows[name]
    missing = [index for index, name in enumerate(other.children()) if name not in rows]
    assert set(missing) <= set(maybe_changed(found, bytes(len(found.stats)), None))
