"""The folder rule of Claude Code's sessions: spec/95 SLG, and what the adapter asks for to follow it."""

import json

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from outfitter.adapters.claude.plan import ADAPTER
from outfitter.adapters.claude.state import LONGEST, alike, folder, recorded_directory, slug
from tests.adapters.claude_case import NATIVE, composition, facts, plan, request, settings

LONG = "/w/" + "/".join(["d" * 20] * 12)


def test_slg_01_every_other_character_is_one_dash():
    assert slug("/w/a_b.c d") == "-w-a-b-c-d"


def test_slg_01_units_not_characters():
    assert slug("/w/é\U0001f600x") == "-w----x"


def test_slg_04_long_names_are_cut_and_hashed():
    assert len(LONG) == 254
    assert slug(LONG) == "-w-" + "-".join(["d" * 20] * 12)[:197] + "-qd1boo"
    assert len(slug(LONG)) == 207


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), max_size=400))
def test_slg_a_name_is_always_one_safe_component(path):
    name = slug("/" + path)
    assert name.isascii()
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")
    assert 0 < len(name) <= LONGEST + 8


def transcript(cwd):
    return json.dumps({"type": "summary"}).encode() + b"\n" + json.dumps({"cwd": cwd, "type": "user"}).encode() + b"\n"


def test_slg_05_the_folder_of_another_versions_suffix_is_found_by_its_newest_transcript():
    prefix = slug(LONG)[:LONGEST]
    other, decoy = prefix + "-zzz", prefix + "-aaa"
    heads = {other: transcript(LONG), decoy: transcript("/elsewhere")}
    assert folder(LONG, (decoy, other, "-w"), heads) == other
    assert folder(LONG, (decoy,), heads) == slug(LONG)
    assert folder(LONG, (decoy, other, slug(LONG)), heads) == slug(LONG)


def test_slg_05_short_names_are_certain():
    assert alike("/w/a", ("-w-a", "-w-b")) == ()
    assert folder("/w/a", ("-w-b",), {"-w-b": transcript("/w/a")}) == "-w-a"


def test_slg_05_the_adapter_asks_for_folders_then_for_the_heads_of_those_alike():
    asked = evolve(request(isolated=True), ambient=evolve(request().ambient, cwd=LONG))
    projects, other = NATIVE + "/projects", slug(LONG)[:LONGEST] + "-zzz"
    first = ADAPTER.more_facts(asked, settings(), facts())
    assert projects in first.listings
    assert first.heads == ()
    listed = facts(listings={projects: ("-w", other)})
    assert ADAPTER.more_facts(asked, settings(), listed).heads == (f"{projects}/{other}",)
    known = evolve(listed, heads={f"{projects}/{other}": transcript(LONG)})
    assert [seed.path for seed in plan(composition(), asked, known=known).seeds][1:] == [f"projects/{other}/"]


def test_slg_07_two_directories_of_one_slug_share_a_folder():
    assert slug("/w/a-b") == slug("/w/a/b")


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b"", ""),
        (b"not json\n", ""),
        (b'{"type":"x"}\n{"cwd":5}\n{"cwd":"/a"}\n{"cwd":"/b"}\n', "/a"),
        (b'{"message":{"content":"\\"cwd\\":\\"/fake\\""},"cwd":"/a\\u00e9","text":"cut of', "/aé"),
        (b'{"message":"\\"cwd\\":\\"/fake\\"","text":"cut of', ""),
        (b"[]\n" + b'{"cwd": "/a"}', "/a"),
    ],
)
def test_a_transcripts_directory_is_its_first_records(head, expected):
    assert recorded_directory(head) == expected
