"""A skill's manifest as it is projected: what programs would drop or misread is written as they take it."""

from __future__ import annotations

import pytest

from tests.catalog.world import World


def composed(tmp_path, manifest: str, name: str = "SKILL.md", **more: str):
    world = World(tmp_path)
    folder = tmp_path / "project/.agents/skills/s"
    folder.mkdir(parents=True)
    (folder / name).write_bytes(manifest.encode())
    for path, text in more.items():
        (folder / path.replace("__", ".")).write_text(text)
    agent = tmp_path / "project/.agents/agents/a/agent.md"
    agent.parent.mkdir(parents=True)
    agent.write_text("---\nskills: [s]\n---\nYou are A.\n")
    made = world.compose("a")
    assert len(made.skills) == 1, made.notices
    return made.skills[0]


@pytest.mark.parametrize(
    ("written", "projected"),
    [
        ("[one, two]", '"one, two"'),
        ("123", '"123"'),
        ("true", '"true"'),
        ("2024-01-01", '"2024-01-01"'),
        ("{a: b}", '"{a: b}"'),
        ("yes", '"yes"'),
        ("does s", "does s"),
        ("'2024'", "'2024'"),
    ],
)
def test_a_description_reaches_every_program_as_text(tmp_path, written, projected):
    skill = composed(tmp_path, f"---\nname: s\ndescription: {written}\n---\nBODY\n")
    assert skill.manifest == f"---\nname: s\ndescription: {projected}\n---\nBODY\n"


@pytest.mark.parametrize("above", ["# SPDX\n", "<!-- a\nb -->\n", "\n"])
def test_lines_above_the_front_matter_are_not_projected(tmp_path, above):
    assert composed(tmp_path, f"{above}---\nname: s\ndescription: d\n---\nBODY\n").manifest.startswith("---\nname: s\n")


def test_prose_that_is_not_yaml_is_projected_in_quotes(tmp_path):
    skill = composed(tmp_path, "---\nname: s\ndescription: d\nargument-hint: [file] [mode]\n---\nBODY\n")
    assert skill.manifest == '---\nname: s\ndescription: d\nargument-hint: "[file] [mode]"\n---\nBODY\n'


@pytest.mark.parametrize("name", ["Skill.md", "SKILL.MD", "skill.md", "Skill.MD"])
def test_a_manifest_is_found_in_any_case(tmp_path, name):
    assert composed(tmp_path, "---\nname: s\ndescription: d\n---\nBODY\n", name).manifest.endswith("BODY\n")


def test_ignore_files_are_not_copied(tmp_path):
    skill = composed(tmp_path, "---\nname: s\ndescription: d\n---\nB\n", __gitignore="*\n", __ignore="*\n", a__txt="a")
    assert [part.path for part in skill.files] == ["a.txt"]
