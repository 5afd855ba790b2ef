"""The merge of scopes: a monoid whose leaves know their winner (spec/20)."""

from hypothesis import given

from outfitter.model.settings import Origin
from outfitter.settings import lookup
from outfitter.settings.merge import EMPTY, flatten, grown, merge, merge_scopes
from tests.settings.strategies import mappings, scope, stacks


def leaves(tree, path=()):
    """Every set leaf of one scope: no nulls, lists whole."""
    for key, value in tree.items():
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))
        elif value is not None:
            yield (*path, key), value


@given(mappings(), mappings(), mappings())
def test_the_merge_is_associative(high, middle, low):
    a, b, c = (grown(scope(tree, rank)) for rank, tree in enumerate((high, middle, low)))
    assert merge(merge(a, b), c) == merge(a, merge(b, c))


@given(mappings())
def test_the_empty_mapping_is_the_unit(tree):
    a = grown(scope(tree))
    assert merge(a, EMPTY) == merge(EMPTY, a) == a
    assert merge(a, grown(scope({}, 1))) == a


@given(mappings())
def test_a_scope_over_itself_changes_nothing(tree):
    once, twice = merge_scopes([scope(tree)]), merge_scopes([scope(tree), scope(tree)])
    assert (once.values, once.origins) == (twice.values, twice.origins)


@given(stacks())
def test_every_leaf_belongs_to_the_highest_scope_that_sets_it(scopes):
    merged = merge_scopes(scopes)
    found = dict(leaves(merged.values))
    assert set(found) == set(merged.origins)
    for path, value in found.items():
        setters = [one for one in scopes if path in dict(leaves(one.values))]
        winner = setters[0]
        assert dict(leaves(winner.values))[path] == value
        assert merged.origins[path] == Origin(winner.kind, winner.path, winner.positions[path])
        assert set(merged.overridden.get(path, ())) <= {
            Origin(one.kind, one.path, one.positions[path]) for one in setters[1:]
        }


@given(stacks())
def test_what_the_highest_scope_sets_always_stands(scopes):
    merged = dict(leaves(merge_scopes(scopes).values))
    for path, value in leaves(scopes[0].values) if scopes else ():
        assert merged[path] == value


@given(stacks(), mappings())
def test_a_lower_scope_changes_nothing_that_is_set(scopes, low):
    before = merge_scopes(scopes)
    after = merge_scopes([*scopes, scope(low, 4)])
    assert before.origins.items() <= after.origins.items()
    assert dict(leaves(before.values)).items() <= dict(leaves(after.values)).items()


def test_yml_11_a_null_section_is_not_set():
    low = {"state_persistence": {"unknown": "error"}, "sources": [{"path": "a"}]}
    merged = merge_scopes([scope({"state_persistence": None, "sources": None}), scope(low, 1)])
    assert merged.values == low
    assert not merged.overridden


def test_mappings_merge_at_every_depth_and_lists_replace():
    high = {"custom_settings": {"a": {"b": 1}, "l": [1]}, "state_persistence": {"claude": {"projects/": "discard"}}}
    low = {"custom_settings": {"a": {"b": 2, "c": 3}, "l": [2, 3]}, "state_persistence": {"claude": {"debug/": "warn"}}}
    merged = merge_scopes([scope(high), scope(low, 1)])
    assert merged.values == {
        "custom_settings": {"a": {"b": 1, "c": 3}, "l": [1]},
        "state_persistence": {"claude": {"projects/": "discard", "debug/": "warn"}},
    }
    assert [origin.path for origin in merged.overridden[("custom_settings", "a", "b")]] == ["/1.yml"]
    assert lookup.value_at(("custom_settings", "a", "c"), merged.values) == 3


def test_a_scalar_hides_what_lies_below_it_even_when_it_is_overridden_itself():
    trees = [{"a": {"x": 1}}, {"a": 5}, {"a": {"y": 2}}]
    assert merge_scopes([scope(tree, rank) for rank, tree in enumerate(trees)]).values == {"a": {"x": 1}}


def test_nothing_is_nothing():
    assert flatten(EMPTY).values == {}
