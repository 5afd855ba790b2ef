"""Which strategy holds for each declared path, and which entries are refused (spec/20, spec/50, spec/95 CLS-08)."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outfitter.adapters import adapter
from outfitter.model.errors import PolicyRefused
from outfitter.model.projection import Facts
from outfitter.model.request import Ambient, Request
from outfitter.model.settings import Scope, SettingsFiles
from outfitter.settings.state_persistence import STRATEGIES
from stages.merge_settings import merge_settings
from stages.resolve_strategies import resolve_strategies
from tests.settings.reading import read_file
from tests.settings.strategies import KINDS, placed

AMBIENT = Ambient("/p", "/h", "/t", "/s", {}, False, False, False, 0, 0, "linux")
HELP = (
    "--plugin-dir <path> --mcp-config <file> --settings <file> --model --effort --append-system-prompt --system-prompt"
)
FACTS = Facts("/bin/x", "/h/native", "/h/cache", "/t/run/projection", "/p", {}, help=HELP)


def resolved(harness, *trees, isolated=True):
    """Resolve over scopes given as mappings, highest first, each in a file of its own."""
    scopes = tuple(
        Scope(kind, f"/{kind}.yml", "/", {"state_persistence": tree}, placed({"state_persistence": tree}), True)
        for kind, tree in zip(KINDS, trees, strict=False)
    )
    settings = merge_settings(SettingsFiles("/p", "", scopes)).unwrap()
    return resolve_strategies(
        adapter(harness), settings, FACTS, Request(AMBIENT, isolated=isolated and harness == "claude")
    )


def strategy(outcome, key):
    strategies = outcome.unwrap()
    return next(row for row in (*strategies.declared, strategies.unknown) if row.path.key == key)


@pytest.mark.parametrize("harness", ["pi", "claude"])
def test_without_settings_every_path_has_its_default(harness):
    strategies = resolved(harness).unwrap()
    rows = (*strategies.declared, strategies.unknown)
    assert {row.path.key: row.strategy for row in rows} == {row.path.key: row.path.default for row in rows}
    assert {row.form for row in rows} == {"default"}
    assert strategies.unknown.strategy == "warn"


def test_an_override_wins_and_says_where_it_stands():
    row = strategy(resolved("pi", {"cache/": "discard"}), "cache/")
    assert (row.strategy, row.form, row.origin.path, row.origin.at.line) == (
        "discard",
        "plain",
        "/project-local.yml",
        2,
    )


@pytest.mark.parametrize(
    ("trees", "expected", "form"),
    [
        ([{"projects/": "warn", "claude": {"projects/": "discard"}}], "discard", "harness"),
        ([{"projects/": "warn"}, {"claude": {"projects/": "discard"}}], "warn", "plain"),
        ([{"claude": {"projects/": "discard"}}, {"projects/": "warn"}], "discard", "harness"),
        ([{"pi": {"projects/": "error"}}, {"projects/": "warn"}], "warn", "plain"),
        ([{"claude": None}, {"projects/": "warn"}], "warn", "plain"),
    ],
)
def test_the_higher_scope_wins_first_then_the_block(trees, expected, form):
    row = strategy(resolved("claude", *trees), "projects/")
    assert (row.strategy, row.form) == (expected, form)


def test_unknown_has_a_block_of_its_own_too():
    assert strategy(resolved("pi", {"unknown": "error", "pi": {"unknown": "discard"}}), "unknown").strategy == "discard"


def test_a_plain_key_reaches_scratch_only_if_no_table_has_it():
    assert strategy(resolved("claude", {"sessions/": "warn"}), "sessions/").form == "default"
    assert strategy(resolved("claude", {"claude": {"sessions/": "warn"}}), "sessions/").strategy == "warn"
    assert strategy(resolved("claude", {"todos/": "symlink"}), "todos/").strategy == "symlink"


def test_a_key_of_another_harness_is_no_error():
    strategies = resolved("pi", {"projects/": "discard", "skills/": "warn", "claude": {"skills/": "discard"}}).unwrap()
    assert {row.form for row in strategies.declared} == {"default"}
    assert resolved("claude", {"auth.json": "error"}, isolated=False).unwrap().declared == ()
    assert resolved("codex", {"auth.json": "error", "projects/": "discard"}).unwrap().declared == ()


CLS_08 = [
    ("sessions: discard", "sessions", "sessions/", "symlink, discard, warn, error"),
    ("./settings.json: warn", "./settings.json", "settings.json", "symlink, warn, error, prompt"),
    ("settings.json: discard", "settings.json", "settings.json", "symlink, warn, error, prompt"),
    ("unknown: symlink", "unknown", "unknown", "discard, warn, error, prompt"),
    ("nosuch: warn", "nosuch", "no declared path is near it; pi declares auth.json, ", "allowed"),
    ("nosuch.json: warn", "nosuch.json", "no declared path is near it", "allowed"),
    ("nosuch/: warn", "nosuch/", "no declared path is near it", "allowed"),
    ("setting.json: warn", "setting.json", "settings.json", "symlink, warn, error, prompt"),
    ("unknwon: warn", "unknwon", "unknown", "discard, warn, error, prompt"),
    ("agent/sessions: discard", "agent/sessions", "sessions/", "symlink, discard, warn, error"),
]


DECLARED = {path.key for path in adapter("pi").declared} | {"unknown"}


@pytest.mark.parametrize(("line", "path", "nearest", "allowed"), CLS_08)
@pytest.mark.parametrize("block", ["", "pi"])
def test_cls_08_a_mistyped_entry_is_refused_by_name(tmp_path, line, path, nearest, allowed, block):
    file = tmp_path / "settings.yml"
    file.write_text("# mine\nstate_persistence:\n" + (f"  {block}:\n    {line}\n" if block else f"  {line}\n"))
    document = read_file(file, "settings")
    scope = Scope("project", str(file), str(tmp_path), document.value, document.positions, True)
    settings = merge_settings(SettingsFiles("/p", "", (scope,), document.problems)).unwrap()
    error = resolve_strategies(adapter("pi"), settings, FACTS, Request(AMBIENT)).failure()
    assert isinstance(error, PolicyRefused)
    (problem,) = error.problems
    assert (problem.path, problem.at.line) == (str(file), 4 if block else 3)
    assert problem.key.endswith(f".{path}")
    assert nearest in problem.hint
    assert ("nearest declared path" in problem.hint) == (nearest in DECLARED and nearest != path)
    assert allowed in problem.hint


@pytest.mark.parametrize("value", ["no", "symlnk", 5, True, ["warn"], {"a": "warn"}])
@pytest.mark.parametrize("key", ["cache/", "projects/", "unknown"])
def test_yml_04_what_is_no_strategy_is_refused_whichever_harness_owns_the_path(value, key):
    error = resolved("pi", {key: value}).failure()
    assert any("is not a strategy" in problem.message for problem in error.problems)
    error = resolved("pi", {"claude": {"projects/": value}}).failure()
    assert any("is not a strategy" in problem.message for problem in error.problems)


def test_a_harness_name_takes_a_mapping():
    (problem,) = resolved("pi", {"claude": "warn"}).failure().problems
    assert "takes a mapping" in problem.message


def test_no_setting_can_name_the_bridge():
    assert resolved("pi", {"cache/": "bridge"}).failure()
    assert resolved("claude", {".credentials.json": "symlink"}).failure()


def test_an_inherited_run_declares_nothing_but_its_settings_are_checked():
    assert resolved("claude", {"settings.json": "warn"}, isolated=False).unwrap().declared == ()
    assert resolved("claude", {"settings.json": "discard"}, isolated=False).failure()
    assert resolved("claude", {"claude": {"nosuch": "warn"}}, isolated=False).failure()


def test_an_overridden_mistake_of_a_lower_scope_does_not_matter():
    assert (
        strategy(resolved("pi", {"settings.json": "warn"}, {"settings.json": "discard"}), "settings.json").strategy
        == "warn"
    )


def test_every_problem_comes_at_once():
    error = resolved("pi", {"sessions": "discard", "settings.json": "discard"}, {"unknown": "symlink"}).failure()
    assert [problem.path for problem in error.problems] == ["/project-local.yml", "/project-local.yml", "/project.yml"]


@given(st.data())
def test_a_resolution_is_allowed_or_refused(data):
    harness = data.draw(st.sampled_from(["pi", "claude", "codex"]))
    keys = [path.key for name in ("pi", "claude") for path in adapter(name).declared] + ["unknown", "nosuch"]
    block = st.dictionaries(st.sampled_from(keys), st.sampled_from([*STRATEGIES, "no", None]), max_size=4)
    trees = [{**data.draw(block), "pi": data.draw(block), "claude": data.draw(block)} for _ in range(3)]
    outcome = resolved(harness, *trees)
    if not outcome.value_or(None):
        assert outcome.failure().problems
        return
    for row in (*outcome.unwrap().declared, outcome.unwrap().unknown):
        assert row.strategy in row.path.allowed
        if row.form != "default":
            assert row.origin.path


def test_a_normal_launch_imports_one_adapter():
    code = (
        "import sys; from tests.settings.test_resolve_strategies import resolved\n"
        "for m in [m for m in sys.modules if m.startswith('outfitter.adapters.')]: del sys.modules[m]\n"
        "resolved('pi', {'cache/': 'discard', 'unknown': 'error', 'pi': {'mcp.log': 'warn'}}).unwrap()\n"
        "print([m for m in ('claude', 'codex') if f'outfitter.adapters.{m}' in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"HOME": "/nowhere"}
    )
    assert done.stdout == "[]\n"
