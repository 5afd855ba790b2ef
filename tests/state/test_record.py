"""The journal as a value: made from a plan, written, read back, and refused when it is not one."""

import json
import string

import pytest
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st
from returns.result import Failure

from outfitter.model.outcome import Change
from outfitter.model.projection import Bridge, Copied, Generated, LaunchPlan, State
from outfitter.run.plan_checks import inside
from outfitter.run.record import decode, encode, plan_digest, record_of
from tests.state.standing import plan, prepared, resolution, stand

NAMES = st.text(
    st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=12
) | st.binary(min_size=1, max_size=12).map(
    lambda raw: raw.replace(b"/", b"_").replace(b"\0", b"_").decode("utf-8", "surrogateescape")
)
PARTS = NAMES.filter(lambda name: name not in (".", ".."))
PATHS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)
PLACES = PATHS.map(lambda path: "/" + path)
SIZES = st.none() | st.integers(0, 1 << 50)
CHANGES = st.builds(
    Change,
    PATHS,
    st.sampled_from(["added", "modified", "deleted", "mode", "kind", "replaced-link", "relinked"]),
    st.sampled_from(["generated", "declared", "unknown"]),
    PATHS,
    st.sampled_from(["symlink", "warn"]),
    st.sampled_from(["durable", "adopted", "conflict", "warned", "unreadable"]),
    SIZES,
    SIZES,
    PATHS,
)
STATES = st.builds(
    State,
    PATHS,
    st.sampled_from(["symlink", "discard", "warn", "error", "prompt", "bridge"]),
    PLACES | st.just(""),
    st.sampled_from(["home", "default", "remote"]),
    PATHS,
    st.sampled_from(["plain", "harness", "default"]),
    st.lists(st.sampled_from(["symlink", "warn"])).map(tuple),
    st.none() | st.binary(max_size=20),
    st.binary(max_size=20),
    st.booleans(),
)
BRIDGES = st.builds(
    Bridge,
    st.sampled_from(["credentials", "member", "sessions", "rewrite"]),
    PATHS.map(lambda path: path + "/"),
    PLACES,
    PATHS,
    st.text(string.hexdigits, max_size=8),
    PLACES | st.just(""),
    st.lists(PATHS, max_size=2).map(tuple),
)


def a_record(tmp_path, **more):
    here = stand(tmp_path)
    return evolve(record_of(prepared(here, plan()), "/tmp/outfitter-a-pi-x", 3, 4), **more)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return a_record(tmp_path_factory.mktemp("r"))


@given(
    st.lists(STATES, max_size=3).map(tuple),
    st.lists(BRIDGES, max_size=2).map(tuple),
    st.lists(PATHS, max_size=3).map(tuple),
    st.none() | st.lists(CHANGES, max_size=3).map(tuple),
    PLACES,
)
def test_what_is_written_is_read_back_whatever_the_names(plain, states, bridges, generated, changes, root):
    record = evolve(plain, states=states, bridges=bridges, generated=generated, changes=changes, root=root)
    data = encode(record)
    assert data.isascii()
    assert decode(data).unwrap() == record


@given(st.binary(max_size=200))
def test_noise_is_refused_and_never_raises(data):
    assert isinstance(decode(data), Failure)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@given(st.data())
def test_a_member_of_another_shape_is_refused_or_harmless(plain, data):
    value = json.loads(encode(plain))
    name = data.draw(st.sampled_from(sorted(value)))
    value[name] = data.draw(JSON)
    decoded = decode(json.dumps(value).encode())
    decoded.map(encode)


def test_hostile_journals_are_refused(tmp_path):
    value = json.loads(encode(a_record(tmp_path)))
    for name, bad in (
        ("run_id", "../../etc"),
        ("run_id", ""),
        ("root", "relative"),
        ("root", "/tmp/../etc"),
        ("root", "/tmp/a\0b"),
        ("generated", ["../x"]),
        ("generated", ["/etc/passwd"]),
        ("inode", True),
        ("inode", -1),
        ("phase", "unheard of"),
        ("phase", ["started"]),
        ("states", [["a"]]),
        ("bridges", [{"rule": "sessions", "path": "projects/", "durable": "relative"}]),
        ("changes", "none"),
        ("root", "/tmp/\ud800"),
    ):
        assert isinstance(decode(json.dumps({**value, name: bad}).encode()), Failure), (name, bad)
    assert isinstance(decode(json.dumps({**value, "extra": 1}).encode()), Failure)
    assert isinstance(decode(b"[" * 200_000), Failure)
    del value["root"]
    assert isinstance(decode(json.dumps(value).encode()), Failure)


def test_generated_paths_are_one_run_but_a_users_watch_stays(tmp_path):
    here = stand(tmp_path)
    keys = ("symlink", "discard", "warn", "error", "prompt")
    made = plan(
        *(resolution(f"{key}.json", key, f"/n/{key}.json") for key in keys),
        resolution("other.json", "symlink", "/n/other.json"),
        generated=tuple(Generated(f"{key}.json", b"{}") for key in keys),
        copied=(Copied("/s", "skills/x/SKILL.md"),),
    )
    record = record_of(prepared(here, made), "/tmp/r", 1, 2)
    assert [state.handling for state in record.states] == ["discard", "discard", "warn", "error", "warn", "symlink"]
    assert record.generated == tuple(sorted([*(f"{key}.json" for key in keys), "skills/x/SKILL.md"]))
    assert record.phase == "preparing"


def test_bridged_paths_are_marked_and_added(tmp_path):
    here = stand(tmp_path)
    bridges = (
        Bridge("sessions", "projects/", "/n/projects"),
        Bridge("credentials", ".credentials.json", "/n/.credentials.json"),
        Bridge("rewrite", "plugins/", "/n/plugins", members=("installed_plugins.json",)),
    )
    declared = (resolution("projects/", "symlink", "/n/projects"), resolution("plugins/", "symlink", "/n/plugins/"))
    record = record_of(prepared(here, plan(*declared, bridges=bridges)), "/tmp/r", 1, 2)
    assert [(state.key, state.handling, state.durable) for state in record.states] == [
        ("projects/", "bridge", "/n/projects"),
        ("plugins/", "symlink", "/n/plugins"),
        (".credentials.json", "bridge", "/n/.credentials.json"),
    ]
    thrown = plan(resolution("projects/", "discard", "/n/projects"))
    assert record_of(prepared(here, thrown), "/tmp/r", 1, 2).states[0].handling == "discard"


def test_the_plan_digest_knows_no_random_name_and_no_secret():
    def digest(root, token="t0ken"):
        env = {"PI_CODING_AGENT_DIR": root + "/projection", "TOKEN": token}
        launch = LaunchPlan("/bin/pi", ("--skill", root + "/projection/skills"), env, ())
        return plan_digest(plan(launch=launch, generated=(Generated("a", root.encode()),)), root)

    assert digest("/tmp/outfitter-a-pi-1") == digest("/tmp/outfitter-a-pi-2") == digest("/t/x", "another")
    assert plan_digest(plan(generated=(Generated("a", b"1"),)), "/r") != plan_digest(
        plan(generated=(Generated("a", b"2"),)), "/r"
    )


def test_a_journal_says_where_the_native_state_is(tmp_path):
    record = a_record(tmp_path)
    assert json.loads(encode(record))["native"] == record.native


def test_inside_is_strictly_inside():
    assert inside("a")
    assert inside("a/b/")
    assert inside("..a/b")
    assert not any(
        inside(path) for path in ("", "/", "/a", ".", "..", "../a", "a/..", "a//b", "a/./b", "./a", "a/../../b")
    )
