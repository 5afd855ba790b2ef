"""How messages word counts, long lists and slips of the pen."""

import ast
import itertools
import re
from pathlib import Path

import pytest

import outfitter
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


# Cells of a page.
BY_HAND = {"outfitter/evidence/page.py"}
NOUNS = (
    "agents|attempts|bytes|changes|contents|directories|entries|errors|files|inputs|paths|runs|skills|sources|warnings"
)


def slips(tree):
    """Lines of f-strings that put a number before a plural noun, and of expressions that choose an s, each by hand."""
    for node in ast.walk(tree):
        if isinstance(node, ast.IfExp) and {ast.unparse(node.body), ast.unparse(node.orelse)} == {"''", "'s'"}:
            yield node.lineno
        if not isinstance(node, ast.JoinedStr):
            continue
        for value, after in itertools.pairwise(node.values):
            if not isinstance(value, ast.FormattedValue) or not isinstance(after, ast.Constant):
                continue
            limit = isinstance(value.value, ast.Name) and value.value.id.isupper()
            if not limit and re.match(rf" (?:{NOUNS})\b", str(after.value)):
                yield node.lineno


def test_no_message_words_a_count_by_hand():
    root = Path(outfitter.__file__).parents[1]
    found = {
        f"{path.relative_to(root)}:{line}"
        for folder in ("outfitter", "stages")
        for path in (root / folder).rglob("*.py")
        if str(path.relative_to(root)) not in BY_HAND
        for line in slips(ast.parse(path.read_text()))
    }
    assert found == set()


@pytest.mark.parametrize("text", ['f"{n} files"', 'f"{len(x)} skills are"', """f"{n} change{'s' if n > 1 else ''}\""""])
def test_a_count_worded_by_hand_is_found(text):
    assert list(slips(ast.parse(text))) == [1]
