"""Settings files as a launch meets them: whatever is wrong ends it in one line before anything starts (spec/95 YML, CLS-08, PYE-01)."""

import os
import subprocess
import sys

import pytest


@pytest.fixture
def ready(machine):
    """A machine with a default agent."""
    machine.agent("a", under=machine.home)
    machine.settings("default_agent: a\n", machine.home)
    return machine


def refused(ended, code=125):
    assert (ended.code, ended.seen) == (code, None), ended.err
    assert "Traceback" not in ended.err
    return ended.err


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "   \n", "{}"])
def test_yml_01_an_empty_file_equals_no_file(ready, text):
    ready.settings(text)
    ended = ready.run("run")
    assert (ended.code, ended.err) == (0, "")
    assert ended.seen


@pytest.mark.parametrize("text", ["- a\n", "words\n", "5\n"])
def test_yml_02_a_wrong_root_launches_nothing(ready, text):
    ready.settings(text)
    assert ".agents/settings.yml: expected a mapping" in refused(ready.run("run"))


def test_yml_02_a_section_of_the_wrong_kind_launches_nothing(ready):
    ready.settings("state_persistence:\n- cache/: warn\n")
    assert "settings.yml:1:1: state_persistence: must be a mapping, not a list" in refused(ready.run("run"))


def test_yml_04_no_is_never_a_boolean(ready):
    ready.settings("state_persistence: {cache/: no}\n")
    err = refused(ready.run("run"), 122)
    assert "settings.yml:1" in err
    assert "state_persistence.cache/: 'no' is not a strategy" in err


def test_yml_06_a_tab_is_named(ready):
    ready.settings("state_persistence:\n\tcache/: warn\n")
    err = refused(ready.run("run"))
    assert "settings.yml:2:1: tab used" in err


def test_yml_08_mark_and_crlf(ready):
    ready.settings(b"\xef\xbb\xbfdefault_harness: claude\r\ndefault_agent: a")
    assert ready.run("run", "--isolated").seen["argv"][0].endswith("claude")


@pytest.mark.parametrize(
    ("content", "word"),
    [("default_agent: a\n".encode("utf-16"), "UTF-16"), (b"# \xe9\n", "offset 2"), (b"a: \0", "NUL")],
)
def test_yml_09_other_encodings(ready, content, word):
    ready.settings(content)
    err = refused(ready.run("run"))
    assert word in err
    assert "settings.yml" in err


def test_yml_11_an_empty_section_keeps_the_lower_policy(ready):
    ready.settings("default_agent: a\nstate_persistence: {unknown: error}\n", ready.home)
    ready.settings("state_persistence:\nsources:\n", local=True)
    ended = ready.run("run", script=[["write", "surprise", "x"]])
    assert ended.seen
    assert ended.code == 121, ended.err


def test_yml_12_a_second_document_and_tags(ready):
    ready.settings("default_agent: a\n---\nisolation: inherit\n")
    assert "second document" in refused(ready.run("run"))
    ready.settings(f"custom_settings: !!python/object/apply:os.system ['touch {ready.top}/made']\n")
    assert "!!python/object" in refused(ready.run("run"))
    assert not (ready.top / "made").exists()


def test_yml_13_a_repository_cannot_choose_isolation(ready):
    ready.settings("default_agent: a\nisolation: isolated\ndefault_harness: claude\n", ready.home)
    for local in (False, True):
        ready.settings("isolation: inherit\nenterprise: {x: 1}\n", local=local)
    ended = ready.run("run")
    assert ended.code == 0
    assert ended.err.count("isolation counts from the home settings only") == 2
    assert ended.err.count("settings of another tool") == 1
    assert "--plugin-dir" not in ended.argv


def test_yml_15_settings_that_cannot_be_read_end_the_launch(ready):
    path = ready.project / ".agents/settings.local.yml"
    path.parent.mkdir(exist_ok=True)
    path.symlink_to("gone")
    assert "settings.local.yml: is a dangling symlink" in refused(ready.run("run"))
    path.unlink()
    path.mkdir()
    assert "is a directory" in refused(ready.run("run"))
    path.rmdir()
    os.mkfifo(path)
    assert "is a fifo" in refused(ready.run("run", timeout=20))


CLS_08 = ["sessions: discard", "./settings.json: warn", "settings.json: discard", "unknown: symlink", "nosuch: warn"]


def test_cls_08_all_five_fail_before_launch(ready):
    ready.settings("state_persistence:\n" + "".join(f"  {line}\n" for line in CLS_08))
    err = refused(ready.run("run"), 122)
    for number, line in enumerate(CLS_08, 2):
        assert f"settings.yml:{number}:3: state_persistence.{line.partition(':')[0]}" in err
    assert err.count("allowed") >= 5


@pytest.mark.parametrize("harness", ["pi", "claude", "codex"])
def test_cls_08_a_mistyped_key_fails_with_every_harness(ready, harness):
    ready.settings("state_persistence: {nosuch: warn}\n")
    assert "nosuch" in refused(ready.run("run", "--harness", harness), 122)


def test_one_settings_file_serves_all_three(ready):
    ready.settings(
        "state_persistence: {auth.json: error, projects/: discard, codex: {unknown: error}, pi: {tmp/: discard}}\n"
    )
    ended = ready.run("run", "--harness", "pi")
    assert ended.seen, ended.err
    assert "state_persistence" not in ended.err
    # Codex declares no path: it runs, and says which of the entries hold nothing.
    ended = ready.run("run", "--harness", "codex")
    assert ended.seen, ended.err
    assert "cannot hold auth.json: error, projects/: discard" in ended.err


def test_pye_01_an_ascii_locale_with_settings_and_a_project_beyond_it(ready):
    project = ready.top / "projekt-ü"
    (project / ".git").mkdir(parents=True)
    ready.put(project / ".agents/settings.yml", "default_agent: a # a — b\ncustom_settings: {x: ü}\n")
    ascii_only = {
        "LC_ALL": "C",
        "LANG": "C",
        "PYTHONUTF8": "0",
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONIOENCODING": "ascii",
    }
    ended = ready.run("run", cwd=project, env=ascii_only)
    assert (ended.code, ended.err) == (0, ""), ended.err
    ready.put(project / ".agents/settings.yml", "isolation: off\n")
    err = refused(ready.run("run", cwd=project, env=ascii_only))
    assert "projekt-\\xc3\\xbc" in err or "projekt-\\xfc" in err or "projekt-\\udcc3\\udcbc" in err


@pytest.mark.parametrize("spoken", ["ascii", "iso-8859-1"])
def test_pye_01_a_path_in_a_utf_8_file_is_found_in_any_locale(ready, spoken):
    ready.settings("sources: [{path: ../katalog-ü}]\ndefault_agent: x\n")
    front = 'description: é\nappend_system_prompt: {file: "agents/x/ü.md"}\n'
    ready.put("katalog-ü/agents/x/agent.md", f"---\n{front}---\nI am X.\n")
    ready.put("katalog-ü/agents/x/ü.md", "Appended ü.\n")
    other = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": spoken}
    ended = ready.run("run", env=other)
    assert (ended.code, ended.err) == (0, "")
    assert "Appended ü." in str(ended.seen["texts"])
    assert {name: ended.seen["env"].get(name) for name in other} == other
    listed = ready.run("settings", "sources", env=other).out
    assert listed == ('[{"path": "../katalog-\\xfc"}]\n' if spoken == "ascii" else '[{"path": "../katalog-\udcfc"}]\n')


def test_a_warm_launch_reads_settings_without_a_parser(ready):
    ready.settings("state_persistence: {cache/: discard}\n")
    code = (
        "import sys; from outfitter.main import main; import outfitter.cli.run\n"
        "main(['run', '--dry-run'])\n"
        "print('LOADED', sorted({'yaml', 'jsonschema_rs', 'toolz', 'outfitter.settings.yaml_edit', 'outfitter.adapters.codex.plan'} & set(sys.modules)))"
    )
    assert ready.run("run").code == 0
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ready.project, env=ready.env(), capture_output=True, text=True, check=False
    )
    assert "LOADED []" in done.stdout, done.stdout + done.stderr
