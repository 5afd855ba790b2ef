"""What every adapter promises, run over all of them and over a fourth one (OFTR-006.1, 006.2; spec/40)."""

from __future__ import annotations

import ast
import posixpath
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import outfitter.adapters
import stages.choose_harness
from outfitter.adapters import NAMES, Adapter, adapter
from outfitter.model.composition import Server, Tools
from outfitter.model.errors import PolicyRefused, UsageError
from outfitter.model.projection import LaunchSite, Prepared, ProjectionPlan
from outfitter.railway import fold
from outfitter.run.plan_checks import violations
from stages.choose_harness import choose_harness
from stages.reject_warnings import reject_warnings
from tests.adapters import example_harness
from tests.adapters.elements import CREDENTIAL, ELEMENTS, ENV, SILENT, machine, projected, selecting, warnings_of
from tests.adapters.samples import composed, request, settings, skill

ALL = [*(adapter(name) for name in NAMES), example_harness.ADAPTER]
STATE = ("symlink", "discard", "warn", "error", "prompt")
each = pytest.mark.parametrize("one", ALL, ids=lambda one: one.id)
modes = pytest.mark.parametrize("isolated", [False, True], ids=["", "isolated"])


@each
def test_006_1_2_a_projection_is_identified_by_its_harness(one: Adapter) -> None:
    assert projected(one, composed()).harness == one.id


@each
@modes
def test_006_1_1_a_projection_is_a_root_and_a_launch(one: Adapter, isolated: bool) -> None:
    plan = projected(one, selecting(), isolated)
    assert plan.launch.executable == f"/bin/{one.command}"
    assert violations(plan) == ()


@each
@modes
def test_planning_is_pure(one: Adapter, isolated: bool) -> None:
    assert projected(one, selecting(), isolated) == projected(one, selecting(), isolated)


@each
@modes
def test_the_pass_through_comes_last_and_unchanged(one: Adapter, isolated: bool) -> None:
    words = ("--x", "y z", "--", "-p", "")
    plan = projected(one, selecting(), isolated, request(words, env=ENV))
    assert plan.launch.arguments[-len(words) :] == words


@each
@modes
def test_no_credential_of_the_environment_stands_in_arguments_files_or_notices(one: Adapter, isolated: bool) -> None:
    """spec/80: none in arguments, logs, JSON, errors or the journal."""
    plan = projected(one, selecting(), isolated)
    seen = [
        *plan.launch.arguments,
        *(file.path for file in plan.generated),
        *(n.message + n.hint for n in plan.notices),
    ]
    assert CREDENTIAL not in "".join(seen)
    assert CREDENTIAL not in repr(plan)


@each
@pytest.mark.parametrize("name", [name for name in ELEMENTS if "." not in name])
def test_006_1_3_and_4_an_element_is_projected_or_reported(one: Adapter, name: str) -> None:
    """A selected element changes the launch, or it is named; never both, and never neither but for what is no element."""
    bare, with_it = projected(one, composed()), projected(one, selecting(name))
    changed = _reaches(bare) != _reaches(with_it) or bool(set(with_it.native_reads) - set(bare.native_reads))
    if name in one.elements and not (one.id == "codex" and name == "tools"):
        assert changed
        assert name not in with_it.unsupported
    elif name in ("extensions", *SILENT):
        assert not changed or one.id == "pi"
        assert with_it.unsupported == ()
    elif name == "tools":
        assert name in with_it.unsupported
    else:
        assert not changed
        assert with_it.unsupported == (name,)
        assert warnings_of(with_it) - warnings_of(bare)


@each
@pytest.mark.parametrize("name", [name for name in ELEMENTS if name.startswith("controls.")])
def test_006_5_9_a_control_is_translated_or_warned(one: Adapter, name: str) -> None:
    bare, with_it = projected(one, composed()), projected(one, selecting(name))
    assert (_reaches(bare) != _reaches(with_it)) != bool(warnings_of(with_it) - warnings_of(bare))


@each
def test_006_6_7_no_adapter_reports_extensions(one: Adapter) -> None:
    assert "extensions" not in projected(one, selecting()).unsupported
    assert "extensions" not in one.unsupported_elements(selecting("extensions"))


@each
def test_006_1_4_and_6_strict_makes_an_unsupported_element_fatal_before_launch(one: Adapter) -> None:
    composition = selecting("prompt_template", "plugins")
    plan = projected(one, composition)
    asked = request(strict=True)
    error = fold(
        reject_warnings(Prepared(asked, settings(), composition, LaunchSite("r", "/r", machine(one)), plan)),
        _none,
        lambda e: e,
    )
    assert isinstance(error, PolicyRefused)
    assert "plugins" in " ".join(notice.message for notice in error.notices)
    assert ("prompt_template" in " ".join(n.message for n in error.notices)) == (one.id != "pi")


def _none(_value: object) -> None:
    return None


@each
def test_an_idle_agent_has_nothing_to_warn_of(one: Adapter) -> None:
    """spec/95 CLS-10."""
    assert warnings_of(projected(one, composed())) == set()


@each
@modes
@pytest.mark.parametrize("element", [*ELEMENTS, "a skill out of reach"])
def test_what_an_element_cannot_be_given_is_said_once(one: Adapter, isolated: bool, element: str) -> None:
    """One selected thing leads to one warning at most, whoever has a reason to give it."""
    made = selecting(element) if element in ELEMENTS else composed(skills=(skill("far"),))
    plan = projected(one, made, isolated)
    surplus = warnings_of(plan) - warnings_of(projected(one, composed(), isolated))
    about = {text for text in surplus if text.startswith("unsupported-element") or element.split()[-1] in text}
    assert len(about) <= 1
    assert len(plan.unsupported) == sum(text.startswith("unsupported-element") for text in surplus)


@each
@modes
def test_declared_paths_are_sound(one: Adapter, isolated: bool) -> None:
    plan = projected(one, composed(), isolated)
    keys = [row.path.key for row in plan.strategies.declared]
    assert len(set(keys)) == len(keys)
    for row in plan.strategies.declared:
        path = row.path
        assert posixpath.normpath(path.key) == path.key.rstrip("/")
        assert not path.key.startswith(("/", "../"))
        assert path.native is None or path.native.startswith("/")
        if path.default in STATE:
            assert path.default in path.allowed
        assert not path.scratch or path.native or "symlink" not in path.allowed


@each
def test_known_scratch_is_quiet_by_default(one: Adapter) -> None:
    scratch = [
        row for row in projected(one, composed(), True).strategies.declared if row.path.scratch and not row.path.native
    ]
    assert all(row.strategy == "discard" for row in scratch)


@each
def test_an_unchanged_environment_but_for_what_is_declared(one: Adapter) -> None:
    plan = projected(one, composed())
    assert "HOME" not in {*plan.launch.env_set, *plan.launch.env_unset}
    assert "PATH" not in {*plan.launch.env_set, *plan.launch.env_unset}


def test_006_1_5_composing_knows_no_harness() -> None:
    root = Path(outfitter.adapters.__file__).parents[1]
    modules = [*(root / "catalog").rglob("*.py"), root / "model/composition.py", root.parent / "stages/compose.py"]
    for path in modules:
        tree = ast.parse(path.read_text())
        names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        names += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
        assert not [name for name in names if name.startswith("outfitter.adapters")], path


def test_no_adapter_reaches_into_another() -> None:
    """What two of them need stands where neither owns it: a launch loads one harness's modules alone."""
    root = Path(outfitter.adapters.__file__).parent
    for path in root.glob("*.py"):
        owner = path.stem.partition("_")[0]
        tree = ast.parse(path.read_text())
        names = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        leaves = [name.removeprefix("outfitter.adapters.").partition("_")[0] for name in names if "adapters." in name]
        assert not [leaf for leaf in leaves if leaf in NAMES and leaf != owner], path


def test_006_2_1_6_and_7_the_three_harnesses_are_there() -> None:
    assert NAMES == ("pi", "claude", "codex")


def test_006_2_3_only_implemented_and_tested_adapters_are_in_the_registry() -> None:
    """Each has a module, and a test module of its own."""
    here = Path(__file__).parent
    for name in NAMES:
        assert adapter(name).id == name
        assert list(here.glob(f"test_{name}*.py"))


def test_006_2_4_pis_files_keep_pis_names() -> None:
    made = {file.path for file in projected(adapter("pi"), selecting()).generated}
    assert {"keybindings.json", "mcp.json"} <= made


def test_006_2_5_the_default_is_pi() -> None:
    assert choose_harness(settings(), request()).unwrap().id == "pi"


def test_a_name_that_is_no_harness_is_a_usage_error() -> None:
    error = fold(choose_harness(settings(default_harness="clade"), request()), _none, lambda e: e)
    assert isinstance(error, UsageError)
    assert "claude" in error.hint


def test_a_fourth_harness_is_one_module_and_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """docs/adapters.md shows this one."""
    monkeypatch.setitem(sys.modules, "outfitter.adapters.example.plan", example_harness)
    monkeypatch.setattr(stages.choose_harness, "NAMES", (*NAMES, "example"))
    chosen = choose_harness(settings(default_harness="example"), request()).unwrap()
    plan = projected(chosen, selecting("identity", "skills"))
    assert plan.launch.env_set["EXAMPLE_HOME"] == plan.exported
    assert plan.unsupported == ("skills",)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=6)
    | st.sampled_from(["${A}", "${A:-x}", "Bearer ${A}"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(["type", "command", "args", "env", "url", "headers", "cwd", "available_tools", "enabled_tools"])


@given(st.sampled_from(ALL), st.text(max_size=6), st.dictionaries(KEYS, JSON, max_size=5))
def test_no_server_definition_breaks_a_plan(one: Adapter, name: str, definition: dict[str, Any]) -> None:
    """What composing lets through by mistake is still no crash."""
    entry = Server(name, definition, "/t/mcp.json", "project")
    assert violations(projected(one, composed(servers=(entry,)))) == ()


WORDS = st.sampled_from(["read", "Bash", "mcp", "mcp__db", "mcp__db__x", "mcp__*", "Bash(rm:*)", "nosuch", "Task"])


@given(st.sampled_from(ALL), st.none() | st.lists(WORDS, max_size=4), st.lists(WORDS, max_size=4))
def test_no_tool_limits_break_a_plan(one: Adapter, allow: list[str] | None, deny: list[str]) -> None:
    tools = Tools(None if allow is None else tuple(allow), tuple(deny))
    servers = (Server("db", {"type": "stdio", "command": "x"}, "/t/mcp.json", "project"),)
    assert violations(projected(one, composed(tools=tools, servers=servers))) == ()


def _reaches(plan: ProjectionPlan) -> object:
    """What the harness can see of a plan."""
    launch = plan.launch
    return launch.arguments, dict(launch.env_set), launch.env_unset, plan.generated, plan.copied
