"""How messages word counts, long lists and slips of the pen."""

import pytest

from outfitter.model.wording import counted, did_you_mean, listed, nearest


@pytest.mark.parametrize(
    ("count", "words", "text"),
    [
        (0, ("file",), "0 files"),
        (1, ("file",), "1 file"),
        (2, ("file",), "2 files"),
        (1, ("entry", "entries"), "1 entry"),
        (0, ("entry is", "entries are"), "0 entries are"),
    ],
)
def test_a_count_and_its_noun_agree(count, words, text):
    assert counted(count, *words) == text


def test_a_long_list_is_cut_and_counted():
    assert listed([]) == ""
    assert listed("ab", 2) == "a, b"
    assert listed("abcd", 2) == "a, b and 2 more"
    assert listed(map(str, range(10))) == "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"


def test_only_what_is_near_is_suggested():
    known = ("reviewer", "Writer", "tester")
    assert nearest("revewer", known) == ("reviewer",)
    assert nearest("WRITER", known, 1) == ("Writer",)
    assert nearest("zzz", known) == ()
    assert did_you_mean("zzz", known) == ""
    assert did_you_mean("zzz", known, "see the list") == "see the list"
    assert did_you_mean("testers", known, "see the list", 1) == "did you mean tester?"
