"""Generated settings: scopes with values and places, as trees of words a person could write."""

from hypothesis import strategies as st

from outfitter.model.request import Position
from outfitter.model.settings import Scope, ScopeKind

KINDS: tuple[ScopeKind, ...] = ("project-local", "project", "home-local", "home", "remote")
KEYS = st.sampled_from(["a", "b", "c", "x/", "settings.json"])
SCALARS = st.none() | st.booleans() | st.integers(0, 3) | st.sampled_from(["warn", "no", ""])


def values(leaves=SCALARS):
    """JSON-like values; few keys, so that scopes meet."""
    return st.recursive(
        leaves | st.lists(SCALARS, max_size=2), lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=8
    )


def mappings():
    return st.dictionaries(KEYS, values(), max_size=4)


def placed(tree, path=(), found=None):
    """A distinct line for every key path, in order."""
    found = {} if found is None else found
    for key, value in tree.items():
        found[(*path, key)] = Position(len(found) + 1, len(path) + 1)
        if isinstance(value, dict):
            placed(value, (*path, key), found)
    return found


def scope(tree, rank=0):
    kind = KINDS[min(rank, len(KINDS) - 1)]
    return Scope(kind, f"/{rank}.yml", "/", tree, placed(tree), kind != "remote")


def stacks(size=4):
    """Scopes, highest first."""
    return st.lists(mappings(), max_size=size).map(lambda trees: [scope(tree, n) for n, tree in enumerate(trees)])
