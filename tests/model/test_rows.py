"""`outfitter.model.value`: the same rows as `typing`'s."""

import copy
import pickle
import typing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outfitter.model import value


class Ours(value.NamedTuple):
    """A row."""

    first: int
    second: str = "two"
    third: tuple[int, ...] = ()

    @property
    def both(self):
        return f"{self.first}{self.second}"


class Theirs(typing.NamedTuple):
    """The same row."""

    first: int
    second: str = "two"
    third: tuple[int, ...] = ()

    @property
    def both(self):
        return f"{self.first}{self.second}"


# Enough that the wrong calls are among them: too many, too few, unknown names, and a place given twice.
places = st.lists(st.integers(0, 3), max_size=4)
names = st.dictionaries(
    st.sampled_from(["first", "second", "third", "fourth", "cls", "self"]), st.integers(0, 3), max_size=3
)


def made(row, by_place, by_name):
    try:
        return tuple(row(*by_place, **by_name))
    except TypeError:
        return TypeError


@given(places, names)
def test_every_call_makes_the_same_row_or_none(by_place, by_name):
    assert made(Ours, by_place, by_name) == made(Theirs, by_place, by_name)


@given(places, names)
def test_rows_made_show_and_replace_alike(by_place, changes):
    try:
        theirs = Theirs(*by_place)
    except TypeError:
        return
    ours = Ours(*by_place)
    assert (ours, hash(ours), ours._asdict(), ours.both) == (theirs, hash(theirs), theirs._asdict(), theirs.both)
    assert repr(ours) == repr(theirs).replace("Theirs", "Ours")
    known = {name: value for name, value in changes.items() if name in Ours._fields}
    assert ours._replace(**known) == theirs._replace(**known)
    assert Ours._make(theirs) == theirs
    assert pickle.loads(pickle.dumps(ours)) == copy.deepcopy(ours) == ours


def test_a_row_is_frozen_and_as_small_as_a_tuple():
    row = Ours(1)
    for name in ("first", "other"):
        with pytest.raises(AttributeError):
            setattr(row, name, 2)
    assert not hasattr(row, "__dict__")
    assert row.__sizeof__() == tuple(row).__sizeof__()


def test_an_unknown_name_replaces_nothing():
    with pytest.raises(
        TypeError, match=r"first, second, third; given: 0 by place, first, second, third, fourth by name"
    ):
        Ours(1)._replace(fourth=1)


def test_rows_are_taken_apart_by_place_and_by_name():
    match Ours(1, "2"):
        case Ours(first, second, third=third):
            assert (first, second, third) == (1, "2", ())
    assert (Ours._fields, Ours._field_defaults) == (Theirs._fields, Theirs._field_defaults)
    assert isinstance(Ours(1), Ours)
    assert not isinstance(Theirs(1), Ours)
