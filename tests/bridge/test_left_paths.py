"""No durable file silently keeps a path of a projection (spec/50, "Paths of a projection")."""

import json

import pytest


def hooked(command):
    return json.dumps({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": command}]}]}})


@pytest.fixture
def b(bench):
    b = bench()
    b.durable = b.put(".claude/settings.json", "{}")
    return b


@pytest.mark.parametrize("way", ["write", "replace"])
def test_a_path_of_a_file_that_is_not_kept_is_told(b, way):
    b.age().launch()
    command = f"{b.projection}/hooks/guard.sh --all"
    getattr(b, way)("settings.json", hooked(command))
    b.settle()
    assert b.durable.read_text() == hooked(command)
    key = "hooks.PreToolUse[0].hooks[0].command"
    assert b.warnings(str(b.durable), f"{key}: {b.projection}/hooks/guard.sh)")


@pytest.mark.parametrize("way", ["write", "replace"])
def test_a_path_of_a_file_that_is_native_too_is_rewritten(b, way):
    b.put(".claude/hooks/my guard.sh")
    b.age().launch()
    getattr(b, way)("settings.json", hooked(f'sh "{b.projection}/hooks/my guard.sh" --all'))
    b.settle()
    assert b.durable.read_text() == hooked(f'sh "{b.native}/hooks/my guard.sh" --all')
    assert not b.warnings("temporary")


def test_links_of_the_user_stay_and_their_target_is_rewritten(b):
    target = b.put("dotfiles/settings.json", "{}")
    b.durable.unlink()
    b.durable.symlink_to(target)
    b.age().launch()
    b.write("settings.json", hooked(f"{b.projection}"))
    b.settle()
    assert b.durable.is_symlink()
    assert target.read_text() == hooked(str(b.native))


def test_what_the_run_added_below_linked_directories_is_searched(b):
    old = b.put(".claude/skills/old/SKILL.md", "as it was")
    b.age().launch()
    b.write("skills/new/lib.sh", "exit")
    b.write("skills/new/run.sh", f"#!/bin/sh\n. {b.projection}/skills/new/lib.sh; {b.projection}/gone\n").chmod(0o755)
    b.write("plugins/x/hooks.json", json.dumps({"run": f"{b.projection}/plugins/x/é.sh"}))
    b.write("plugins/x/é.sh", "exit")
    b.settle()
    script = b.native / "skills/new/run.sh"
    assert script.read_text() == f"#!/bin/sh\n. {b.native}/skills/new/lib.sh; {b.projection}/gone\n"
    assert script.stat().st_mode & 0o777 == 0o755
    assert json.loads((b.native / "plugins/x/hooks.json").read_text()) == {"run": f"{b.native}/plugins/x/é.sh"}
    assert old.read_text() == "as it was"
    assert b.warnings(f"{script} (line 2: {b.projection}/gone)")


def test_settings_of_pi_are_searched(bench):
    b = bench("pi")
    durable = b.put(".pi/agent/settings.json", "{}")
    b.age().launch()
    b.replace("settings.json", json.dumps({"packages": [f"{b.projection}/git/x", f"{b.projection}/ext.ts"]}))
    b.put(".pi/agent/git/x/index.ts")
    b.settle()
    assert json.loads(durable.read_text()) == {"packages": [f"{b.native}/git/x", f"{b.projection}/ext.ts"]}
    assert b.warnings("settings.json", f"packages[1]: {b.projection}/ext.ts")


@pytest.mark.parametrize("content", ["{}2", "{}-old/x", "{}/../hooks", "\0{}/hooks"])
def test_only_whole_paths_inside_the_projection_are_rewritten(b, content):
    b.put(".claude/hooks/x")
    b.age().launch()
    text = content.format(b.projection)
    b.write("settings.json", text)
    b.settle()
    assert b.durable.read_text() == text


def test_a_file_that_did_not_change_is_left_alone(b):
    b.put(".claude/agents/old.md", "x")
    b.age().launch()
    b.settle()
    assert b.settlement.notices == ()
