"""`outfitter settings` and `outfitter schema`, as a user runs them (spec/20, spec/80)."""

import json
from pathlib import Path

import jsonschema_rs
import pytest

import outfitter
from outfitter.syntax.parse import parse
from tests.settings.reading import read_file

SCHEMAS = Path(outfitter.__file__).parent / "schemas"


def read(machine, *words, **env):
    ended = machine.run("settings", *words, env=env)
    return ended.code, ended.out, ended.err


@pytest.fixture
def configured(machine):
    """A home and a project that disagree."""
    machine.settings(
        "default_agent: mine\nstate_persistence:\n  settings.json: warn\n  cache/: discard\n", machine.home
    )
    machine.settings("# ours\ndefault_agent: ours\nstate_persistence: {cache/: warn, claude: {projects/: discard}}\n")
    return machine


def test_one_line_a_value(configured):
    code, out, err = read(configured)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "default_agent=ours",
        "state_persistence.cache/=warn",
        "state_persistence.claude.projects/=discard",
        "state_persistence.settings.json=warn",
        "default_harness=pi",
        "isolation=inherit",
        "cache_directory=~/.agents/cache",
    ]


def test_the_origin_of_each_value_and_what_it_overrides(configured):
    home, project = f"{configured.home}/.agents/settings.yml", f"{configured.project}/.agents/settings.yml"
    assert read(configured, "default_agent", "--origin")[1] == f"{project}:2\tours\n  overrides {home}:1\tmine\n"
    assert read(configured, "state_persistence", "--origin")[1].splitlines() == [
        f"{project}:3\tstate_persistence.cache/=warn",
        f"  overrides {home}:4\tdiscard",
        f"{project}:3\tstate_persistence.claude.projects/=discard",
        f"{home}:3\tstate_persistence.settings.json=warn",
    ]
    assert read(configured, "--origin", "isolation")[1] == "default\tinherit\n"


def test_a_key_may_hold_dots_itself(configured):
    assert read(configured, "state_persistence.settings.json")[1] == "warn\n"


def test_json_is_nested_and_carries_origins_when_asked(configured):
    found = json.loads(read(configured, "--json")[1])
    assert found["schema_version"] == 1
    assert found["settings"]["state_persistence"]["claude"] == {"projects/": "discard"}
    assert "origins" not in found
    (row,) = json.loads(read(configured, "state_persistence.cache/", "--json", "--origin")[1])["origins"]
    assert (row["path"], row["value"], row["scope"], row["line"]) == (
        ["state_persistence", "cache/"],
        "warn",
        "project",
        3,
    )
    assert [(one["scope"], one["line"], one["value"]) for one in row["overrides"]] == [("home", 4, "discard")]


def test_a_key_that_is_not_set_is_named_with_the_nearest(configured):
    code, out, err = read(configured, "default_agnet")
    assert (code, out) == (1, "")
    assert "default_agnet: is not set" in err
    assert "did you mean default_agent?" in err
    assert json.loads(read(configured, "nosuch", "--json")[2])["exit"] == 1


def test_no_files_are_the_defaults(machine):
    assert read(machine)[1].splitlines() == [
        "default_harness=pi",
        "isolation=inherit",
        "cache_directory=~/.agents/cache",
    ]


def test_values_that_are_no_plain_line_are_json(machine):
    machine.settings('custom_settings: {a: "x\\ny", b: [1, "é"], c: " s", d: .inf, e: true, f: ""}\n')
    assert [line.partition("=")[2] for line in read(machine, "custom_settings")[1].splitlines()] == [
        '"x\\ny"', '[1, "é"]', '" s"', '"inf"', "true", '""',
    ]  # fmt: skip
    assert read(machine, "custom_settings.a")[1] == "x\ny\n"
    assert json.loads(read(machine, "--json")[1])["settings"]["custom_settings"]["d"] == "inf"


def test_every_problem_of_every_file_with_its_place(machine):
    machine.settings("default_harness: pie\n", machine.home)
    machine.settings("isolation: off\nsources: x\n")
    machine.settings("a: [\n", local=True)
    code, out, err = read(machine)
    assert (code, out) == (1, "")
    for place in ("settings.yml:1:1: default_harness:", "settings.yml:1:1: isolation:", "settings.yml:2:1: sources:"):
        assert place in err
    assert "settings.local.yml:2" in err
    assert "Traceback" not in err


def test_warnings_go_to_stderr(machine):
    machine.settings("isolation: isolated\nwokflows: 1\n")
    code, out, err = read(machine, "isolation")
    assert (code, out) == (0, "inherit\n")
    assert "counts from the home settings only" in err
    assert "did you mean workflows?" in err


def test_pye_01_an_ascii_terminal_gets_escapes(machine):
    machine.settings("custom_settings: {a: über — x}\n")
    ascii_only = {
        "LC_ALL": "C",
        "LANG": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "ascii",
    }
    code, out, err = read(machine, "custom_settings.a", **ascii_only)
    assert (code, out, err) == (0, "\\xfcber \\u2014 x\n", "")


@pytest.mark.parametrize("name", ["settings", "agent", "trace", "result"])
def test_schemas_are_printed_as_they_ship(machine, name):
    ended = machine.run("schema", name)
    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out) == json.loads((SCHEMAS / f"{name}.json").read_text())


def test_an_unknown_schema_is_usage(machine):
    assert machine.run("schema", "nosuch").code == 2
    assert machine.run("schema").code == 2


@pytest.mark.parametrize("name", ["settings", "agent"])
def test_our_schemas_are_valid_and_describe_every_key(name):
    schema = json.loads((SCHEMAS / f"{name}.json").read_text())
    jsonschema_rs.meta.validate(schema)
    assert schema["$schema"].endswith("2020-12/schema")
    assert not [key for key, rule in schema["properties"].items() if not rule.get("description")]


def test_the_schema_allows_for_each_path_what_the_adapters_allow():
    from outfitter.adapters import adapter

    paths = json.loads((SCHEMAS / "settings.json").read_text())["properties"]["state_persistence"]["properties"]
    for name in ("pi", "claude"):
        table = {path.key: path.allowed for path in adapter(name).declared if not path.scratch}
        for key, allowed in table.items():
            assert set(paths[key]["enum"]) == {*allowed, None}, key


@pytest.mark.parametrize(
    "text",
    [
        "name: a\ndescription: x\nskills: [a, {id: b, references: [{file: x}]}]\ntools: {allow: [read], deny: [bash]}\n",
        "inherits: base\ntools: Read, Grep\nmodel: sonnet\ncontrols: {environment: {A: 1}, args: [-x], claude: {args: [-y]}}\n",
        "tools: [view_file]\nextensions: ['npm:x@1', {file: a.ts}]\nsystem_prompt: {file: p.md}\nunknown: {a: 1}\n",
        "append_system_prompt: [{file: a}, {repo_file: b}]\nenabled: off\nabstract: true\nsubagents:\nreadonly: true\n",
        "",
    ],
)
def test_the_agent_schema_takes_what_trees_hold(text):
    value = parse(f"---\n{text}---\n".encode(), "markdown").value
    jsonschema_rs.validate(json.loads((SCHEMAS / "agent.json").read_text()), value)


@pytest.mark.parametrize(
    "text",
    ["controls: {environment: {CLAUDE_CONFIG_DIR: x}}", "tools: {alow: [x]}", "tools: [-x]", "system_prompt: {fil: a}", "skills: [{references: []}]"],
)  # fmt: skip
def test_the_agent_schema_refuses_what_the_reader_refuses(text):
    value = parse(f"---\n{text}\n---\n".encode(), "markdown").value
    assert not jsonschema_rs.is_valid(json.loads((SCHEMAS / "agent.json").read_text()), value)


def test_the_examples_of_the_seed_are_valid_settings(tmp_path):
    path = tmp_path / "settings.yml"
    path.write_text(
        "state_persistence:\n  settings.json: error\n  plugins/: error\n  unknown: error\n  sessions/: discard\n"
    )
    assert not read_file(path, "settings").problems
