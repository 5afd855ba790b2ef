"""Whatever a harness and a user do to a linked or asked-about file, nothing durable is lost and nothing of the run is (spec/50)."""

import shutil
import tempfile

from hypothesis import given
from hypothesis import strategies as st

from tests.bridge.bench import Bench

CONTENTS = st.sampled_from([b"", b"{}", b'{"a":1}', b'{"a":2}', b"no json"])
USER = st.one_of(st.none(), CONTENTS, st.just("delete"))
HARNESS = st.one_of(st.none(), CONTENTS, st.just("delete"), st.just("directory"))


def _harness(b, does, through):
    if does in ("delete", "directory") and (b.projection / "mcp.json").exists():
        b.delete("mcp.json")
    if does == "directory":
        b.write("mcp.json/inner", b"deep")
    elif isinstance(does, bytes):
        (b.write if through else b.replace)("mcp.json", does)


def _user(b, place, does):
    if does == "delete":
        place.unlink(missing_ok=True)
    elif does is not None:
        b.put(place, does)


@given(st.sampled_from(["symlink", "prompt"]), st.none() | CONTENTS, USER, HARNESS, st.booleans(), st.booleans())
def test_a_file(strategy, native, user, harness, through, twice):
    top = tempfile.mkdtemp(prefix="adopt-")
    try:
        b = Bench(top, "pi", {"mcp.json": strategy}, interactive=True)
        b.answers = ["persist", "persist"]
        place = b.native / "mcp.json"
        if native is not None:
            b.put(place, native)
        b.launch()
        launched = place.read_bytes() if place.exists() else None
        through = through and strategy == "symlink" and isinstance(harness, bytes)
        _harness(b, harness, through)
        _user(b, place, user)
        before = place.read_bytes() if place.exists() else None
        for _ in range(1 + twice):
            b.settle(b.settings())
        now = place.read_bytes() if place.exists() else None
        projected = harness if isinstance(harness, bytes) and not through else None
        if now != before:
            assert (now, before) == (projected, launched), "only over what was there at launch"
        started = launched if strategy == "symlink" else native
        if projected is not None and projected != started:
            assert projected == now or projected in b.kept(), "the run's version is lost"
            if before == launched:
                assert now == projected
        if harness == "directory":
            assert not b.settlement.saved or strategy == "prompt"
        assert b.temporaries() == []
    finally:
        shutil.rmtree(top)


TREES = st.dictionaries(st.sampled_from(["a.jsonl", "b/c.txt", "b/d.jsonl"]), CONTENTS, max_size=3)


@given(TREES, TREES, TREES)
def test_a_directory(native, user, harness):
    """The link of a directory is replaced by a directory; a user writes in the durable one meanwhile."""
    top = tempfile.mkdtemp(prefix="adopt-")
    try:
        b = Bench(top, "pi")
        root = b.native / "sessions"
        for path, content in native.items():
            b.put(root / path, content)
        b.age().launch()
        b.delete("sessions")
        (b.projection / "sessions").mkdir()
        for path, content in harness.items():
            b.write(f"sessions/{path}", content)
        for path, content in user.items():
            b.put(root / path, content)
        before = {**native, **user}
        b.settle()
        now = {path: content for path, (_, content) in b.durable_tree(root).items()}
        assert now.keys() == before.keys() | harness.keys()
        for path, content in now.items():
            written = harness.get(path)
            if path in user:
                assert content == user[path]
            elif content != native.get(path):
                assert content == written
            if written is not None and written != content:
                assert written in b.kept()
                assert b.outcome(f"sessions/{path}") == "conflict"
    finally:
        shutil.rmtree(top)
