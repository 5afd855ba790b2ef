"""Strategies for trees: rows in memory, and descriptions that `tests.tree.trees.make` puts on disk."""

from blake3 import blake3
from hypothesis import strategies as st

from outfitter.fingerprint.tree import NO_DIGEST, pack, tree_of
from outfitter.model.outcome import Identity, Row

# Names that sort differently as text and as bytes, that are not UTF-8, and that meet `/` in the order of whole paths.
NAMES = [
    b"a",
    b"a-",
    b"a.b",
    b"a0",
    b"A",
    b"b",
    b"\xc3\xa9",
    b"e\xcc\x81",
    b"\xff",
    b"\xf0\x9f\x98\x80",
    b"\xef\xbf\xbf",
    b"c\nd",
    b"-x",
]
names = st.sampled_from(NAMES)
contents = st.one_of(st.binary(max_size=8), st.sampled_from([0, 1, 5000, 1_200_000]))
modes = st.sampled_from([0o644, 0o755, 0o600, 0o700])
_leaf = st.one_of(
    st.tuples(contents, modes), st.sampled_from(["fifo", "link:a", "link:.", "link:nowhere/else"]), st.just(None)
)
_nested = st.recursive(_leaf, lambda inner: st.dictionaries(names, inner, max_size=4), max_leaves=12)


def _flat(tree, prefix=b""):
    found = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            found[prefix + name] = None
            found.update(_flat(value, prefix + name + b"/"))
        else:
            found[prefix + name] = value
    return found


descriptions = st.dictionaries(names, _nested, max_size=5).map(_flat)
"""Raw path → (bytes or how many, mode), "fifo", "link:<target>" or None for a directory; every parent is among them."""

_numbers = st.integers(0, 2**63 - 1)
identities = st.builds(Identity, st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1), _numbers, _numbers)
_notes = st.sampled_from(["", "", "", "unstable"])


@st.composite
def rows(draw, paths=None):
    """One row with a path of a few parts."""
    parts = draw(st.lists(names, min_size=1, max_size=3))
    tag = draw(st.sampled_from("ffxlou"))
    content = draw(st.binary(max_size=3))
    digest = NO_DIGEST if tag == "u" else blake3(content).digest()
    target, note = (content, "") if tag == "l" else (b"", "EACCES" if tag == "u" else draw(_notes))
    return Row(
        b"/".join(parts), tag, digest, draw(_numbers), draw(st.integers(0, 0o7777)), draw(identities), target, note
    )


def _rooted(found):
    """Rows whose parents are directories, as a tree."""
    by_path = {}
    for row in found:
        parts = row.path.split(b"/")
        above = [b"/".join(parts[:n]) for n in range(1, len(parts))]
        if any(by_path.get(path, row).tag != "d" for path in above if path in by_path) or row.path in by_path:
            continue
        for path in above:
            by_path[path] = Row(path, "d", NO_DIGEST, 0, 0o755, Identity(1, 2, 0, 0))
        by_path[row.path] = row
    return tree_of(pack(by_path.values()).folders, 1_000)


trees = st.lists(rows(), max_size=12).map(_rooted)
"""Whole fingerprints, sealed."""
