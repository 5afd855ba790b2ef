"""`outfitter diff` as lines: groups, folds, counts; and the content of what changed."""

import re

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from outfitter.cli.diff_lines import FOLD_ABOVE, bytes_text, coloured, diff_document, diff_lines
from outfitter.model.outcome import Change
from tests.diff.test_diff import record, state

SETTLED = evolve(record((state("a.json"),)), changes=())


def change(
    path, kind="added", zone="unknown", key="", strategy="warn", outcome="warned", before=None, after=1, note=""
):
    return Change(path, kind, zone, key, strategy, outcome, before, after, note)


def lines(changes, unfolded=False):
    return list(diff_lines(SETTLED, changes, unfolded))


def test_nothing():
    assert lines([]) == ["no changes"]


def test_what_is_behind_a_directory_link_is_unobserved_not_unchanged():
    linked = evolve(record((state("a.json"), state("sessions/"), state("cache/", "discard"))), changes=())
    assert list(diff_lines(linked, [], False)) == [
        "unobserved: sessions/: links to directories of yours",
        "no changes were observed",
    ]
    assert diff_document(linked, [])["unobserved"] == ["sessions/"]


def test_a_run_that_declares_no_state_path_observes_nothing_of_the_harness():
    direct = evolve(record(), changes=())
    assert list(diff_lines(direct, [], False)) == [
        "unobserved: /n, which pi writes directly in a run like this one",
        "no changes were observed",
    ]
    assert diff_document(direct, [])["unobserved"] == ["*"]


def test_groups_come_by_zone_and_state_path():
    found = lines(
        [
            change("a"),
            change("g.md", "modified", "generated", "", "warn", "warned", 5, 7),
            change("p/x", zone="declared", key="p/", strategy="discard", outcome="discarded"),
            change("pipe", note="fifo", after=None),
            change("s.json", "replaced-link", "declared", "s.json", "symlink", "adopted", 1, 20_000),
        ]
    )
    assert found == [
        "p/ (discard)",
        "  added         discarded  p/x  (1 B)",
        "s.json (symlink)",
        "  replaced-link adopted    s.json  (1 B → 19.5 KiB)",
        "generated files (warn)",
        "  modified      warned     g.md  (5 B → 7 B)",
        "undeclared (warn)",
        "  added         warned     a  (1 B)",
        "  added         warned     pipe  (fifo)",
        "5 changes: 3 added, 1 modified, 1 replaced-link | 1 adopted, 1 discarded, 3 warned",
    ]


def test_a_directory_of_alike_changes_is_one_line():
    many = [change(f"junk/{i % 3}/{i}") for i in range(45)] + [change("other")]
    assert lines(many)[1:-1] == [
        "  added         warned     junk/  (45 alike, 45 B)",
        "  added         warned     other  (1 B)",
    ]
    assert len(lines(many, unfolded=True)) == 48


def test_what_is_not_alike_stays_visible():
    many = [change(f"d/{i:02}") for i in range(30)] + [change("d/x", "deleted", before=3, after=None)]
    assert lines(many)[1:-1] == [
        "  added         warned     d/  (30 alike, 30 B)",
        "  deleted       warned     d/x  (3 B)",
    ]


def test_many_at_the_top_fold_too():
    many = [change(f"{i:02}") for i in range(FOLD_ABOVE + 1)]
    assert lines(many)[1:-1] == ["  added         warned     ./  (21 alike, 21 B)"]
    assert len(lines(many[:-1])) == FOLD_ABOVE + 2


def test_names_stay_in_their_line():
    assert all("\n" not in line and "\x1b" not in line for line in lines([change("a\n\x1b[31mb")]))


def test_colour_is_only_added():
    some = [change("a"), change("b", outcome="conflict"), change("c", outcome="durable")]
    painted = list(diff_lines(SETTLED, some, False, coloured))
    assert [re.sub(r"\x1b\[\d+m", "", line) for line in painted] == lines(some)
    assert painted != lines(some)


def test_a_run_that_is_not_settled_says_so():
    assert "not settled" in next(diff_lines(record(), [change("a")], False))


PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join)


@given(st.sets(PATHS).map(sorted), st.data())
def test_every_change_is_in_one_line_and_the_counts_add_up(paths, data):
    some = [change(p, *data.draw(st.sampled_from([("added",), ("deleted",)]))) for p in paths]
    many = [change(f"{p}/{i}") for p in paths for i in range(25)]
    found = lines(some + many)
    counted = 0
    for line in found[1:-1]:
        counted += int(line.split("(")[1].split()[0]) if "alike" in line else 1
    assert counted == len(some + many)
    document = diff_document(SETTLED, some + many)
    assert document["counts"]["total"] == len(document["changes"]) == sum(document["counts"]["by_outcome"].values())


def test_sizes_for_people():
    assert [bytes_text(n) for n in (0, 9_999, 10_000, 2**20, 5 * 2**40)] == [
        "0 B",
        "9999 B",
        "9.8 KiB",
        "1.0 MiB",
        "5.0 TiB",
    ]
