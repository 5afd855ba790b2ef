"""The stage over real files: scopes, what each may set, and every problem at once (spec/20, spec/95 YML)."""

import pytest

from outfitter.model.errors import SettingsInvalid
from outfitter.model.request import Problem
from outfitter.model.settings import Scope, SettingsFiles
from stages.merge_settings import FOREIGN_KEYS, KEYS, SILENT_KEYS, merge_settings
from tests.settings.reading import read_file
from tests.settings.strategies import KINDS


@pytest.fixture
def merge(tmp_path):
    """Write one settings file a scope and run the stage on what was read."""

    def run(**texts):
        scopes: list[Scope] = []
        problems: list[Problem] = []
        for kind in KINDS:
            text = texts.get(kind.replace("-", "_"))
            if text is not None:
                path = tmp_path / f"{kind}.yml"
                path.write_text(text)
                document = read_file(path, "settings")
                problems += document.problems
                scopes.append(
                    Scope(kind, str(path), str(tmp_path), document.value, document.positions, kind != "remote")
                )
        return merge_settings(SettingsFiles("/p", "", tuple(scopes), tuple(problems)))

    return run


def test_the_highest_scope_wins_and_the_origin_is_its_line(merge, tmp_path):
    settings = merge(project="# c\ndefault_agent: a\n", home="default_agent: b\ndefault_harness: codex\n").unwrap()
    assert settings.values == {"default_agent": "a", "default_harness": "codex"}
    origin = settings.origins[("default_agent",)]
    assert (origin.scope, origin.path, origin.at.line) == ("project", str(tmp_path / "project.yml"), 2)
    assert [one.path for one in settings.overridden[("default_agent",)]] == [str(tmp_path / "home.yml")]


def test_no_files_are_no_settings(merge):
    settings = merge().unwrap()
    assert (settings.values, settings.notices) == ({}, ())


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "  \n", "{}"])
def test_yml_01_an_empty_file_equals_no_file(merge, text):
    assert merge(project=text).unwrap().values == merge().unwrap().values


def test_yml_02_a_wrong_root_ends_the_launch_with_its_file(merge, tmp_path):
    error = merge(project="- a\n", home="b\n").failure()
    assert isinstance(error, SettingsInvalid)
    assert [problem.path for problem in error.problems] == [
        str(tmp_path / f"{kind}.yml") for kind in ("project", "home")
    ]


def test_yml_11_a_null_section_leaves_the_lower_one(merge):
    settings = merge(
        project_local="state_persistence:\nsources:\n", home="state_persistence: {unknown: error}\n"
    ).unwrap()
    assert settings.values == {"state_persistence": {"unknown": "error"}}


@pytest.mark.parametrize("kind", ["project", "project_local", "remote"])
def test_yml_13_home_keys_are_ignored_elsewhere_with_a_warning(merge, kind):
    text = (
        "isolation: inherit\nenterprise: {a: 1}\nharness_defaults: {claude: {a: 1}}\n"
        "cache_directory: x\ntrusted_hosts: [evil.example]\n"
    )
    settings = merge(**{kind: text}, home="isolation: isolated\n").unwrap()
    assert settings.values == {"isolation": "isolated"}
    warnings = [notice.message for notice in settings.notices if notice.level == "warning"]
    assert len(warnings) == 4
    assert f"{kind.replace('_', '-')}.yml:1: isolation" in warnings[0]
    (foreign,) = [notice for notice in settings.notices if notice.level == "notice"]
    assert "enterprise" in foreign.message


def test_both_home_files_may_set_home_keys(merge):
    settings = merge(home_local="isolation: isolated\n", home="trusted_hosts: [a.example]\n").unwrap()
    assert settings.values == {"isolation": "isolated", "trusted_hosts": ["a.example"]}
    assert not settings.notices


def test_an_unknown_key_is_a_warning_with_the_nearest(merge):
    (notice,) = merge(home="default_agnet: a\n").unwrap().notices
    assert (notice.level, notice.hint) == ("warning", "did you mean default_agent?")
    assert "home.yml:1" in notice.message


def test_keys_of_another_tool_are_one_notice(merge):
    notices = merge(home="workflows: 1\nstartup: 1\n", project="telemetry: 1\n$schema: x\n").unwrap().notices
    assert [(notice.level, notice.code) for notice in notices] == [("notice", "setting-foreign")]


def test_every_problem_of_every_file_comes_at_once(merge):
    error = merge(project="isolation: off\nsources: x\n", home="default_harness: pie\n", remote="a: [\n").failure()
    assert [problem.key for problem in error.problems] == ["isolation", "sources", "default_harness", ""]
    assert all(problem.at.line for problem in error.problems)


def test_the_schema_knows_the_same_keys_as_the_stage():
    import json
    from pathlib import Path

    import outfitter

    schema = json.loads((Path(outfitter.__file__).parent / "schemas/settings.json").read_text())
    assert set(schema["properties"]) == {*KEYS, *FOREIGN_KEYS, *SILENT_KEYS}
