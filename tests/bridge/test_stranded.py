"""What stands at a durable place and is no file of its own, yet may be the only way to what the run wrote (docs/safety.md, promise 4)."""

import pytest


def _linked(b, path, target, **files):
    """Replace whatever is at `path` by a link, and write `files` (names with `__` for `/`)."""
    if (b.projection / path).exists() or (b.projection / path).is_symlink():
        b.delete(path)
    (b.projection / path).parent.mkdir(parents=True, exist_ok=True)
    (b.projection / path).symlink_to(target)
    for name, content in files.items():
        b.write(name.replace("__", "/"), content)


@pytest.mark.parametrize(
    ("harness", "path", "target"),
    [
        ("pi", "settings.json", "settings.json.real"),
        ("pi", "sessions", "store"),
        ("pi", "sessions", "{projection}/store/deep/.."),
        ("pi", "settings.json", "hop"),
        ("claude", "projects", "store"),
        ("claude", "projects/-p", "../store"),
        ("claude", "projects/-p/a.jsonl", "../../store/a.jsonl"),
        ("claude", ".credentials.json", "store/a.jsonl"),
        ("claude", ".claude.json", "store/a.jsonl"),
        ("claude", "settings.json", "store/a.jsonl"),
    ],
)
def test_a_link_to_what_this_run_wrote_keeps_the_run_directory(bench, harness, path, target):
    b = bench(harness)
    b.age().launch()
    (b.projection / "hop").symlink_to("settings.json.real")
    content = {"settings.json.real": "{}", "store__a.jsonl": "1\n", "store__deep__b": "2"}
    _linked(b, path, target.format(projection=b.projection), **content)
    b.settle()
    assert not b.settlement.saved
    assert b.warnings(path, "link to", str(b.projection))


@pytest.mark.parametrize(
    ("harness", "path", "target"),
    [
        ("pi", "settings.json", "/elsewhere.json"),
        ("pi", "settings.json", "nothing-there"),
        ("pi", "settings.json", "settings.json"),
        ("pi", "settings.json", "../../outside"),
        ("claude", "projects/-p/latest", "a.jsonl"),
        ("claude", ".credentials.json", "/elsewhere.json"),
    ],
)
def test_a_link_that_leads_to_nothing_of_this_runs_alone_holds_nobody_up(bench, harness, path, target):
    b = bench(harness)
    b.age().launch()
    b.write("projects/-p/a.jsonl", "1\n")
    _linked(b, path, target)
    b.settle()
    assert b.settlement.saved
    assert b.warnings(path)


@pytest.mark.parametrize("path", [".credentials.json", ".claude.json"])
def test_a_directory_at_a_bridged_files_place_is_never_lost(bench, path):
    b = bench()
    b.put(".claude/.credentials.json", '{"claudeAiOauth": {"accessToken": "A"}}')
    b.put(".claude.json", '{"oauthAccount": {"id": 1}}')
    b.age().launch()
    b.delete(path)
    b.write(path + "/inner", "x")
    b.settle()
    assert b.warnings(path)
    assert not b.settlement.saved


@pytest.mark.parametrize(("harness", "path"), [("claude", "projects"), ("pi", "sessions")])
def test_a_file_at_a_directorys_place_never_becomes_the_durable_directory(bench, harness, path):
    b = bench(harness)
    b.age().launch()
    durable = b.native / path
    if durable.exists():
        durable.rmdir()
    if (b.projection / path).exists() or (b.projection / path).is_symlink():
        b.delete(path)
    b.write(path, "a file")
    b.settle()
    assert not durable.exists()
    assert b"a file" in b.kept()
    assert b.warnings(path, "in the place of a directory")
