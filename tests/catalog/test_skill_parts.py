"""What travels with a skill (spec/10: references, scripts, assets; spec/95 CMP-01)."""

import os

import pytest

from tests.catalog.world import summary


@pytest.fixture
def world(world):
    world.agent("a", "skills: [one]")
    return world


def parts(world):
    (skill,) = world.compose("a").skills
    return {
        part.path: (os.path.relpath(part.source, world.top), part.executable) for part in (*skill.files, *skill.extras)
    }


def test_files_directories_and_globs_land_by_their_base_names(world):
    world.put(".agents/docs/style.md", "s")
    world.put(".agents/docs/api/v1/x.json", "x")
    world.put(".agents/docs/api/run.sh", "#!/bin/sh", 0o755)
    world.put(".agents/tools/a.sh", "", 0o755)
    world.put(".agents/tools/b.txt", "")
    world.put("README.md", "r")
    world.put("pics/deep/er/p.png", "p")
    world.put(".agents/skills/one/references/own.md", "own")
    world.skill(
        "one",
        "description: d\nreferences: [{file: docs/style.md}, {file: docs/api}, {repo_file: README.md}]\n"
        "scripts: {file: 'tools/*.sh'}\nassets:\n  - repo_file: 'pics/**/*.png'\n",
    )
    assert parts(world) == {
        "references/own.md": ("project/.agents/skills/one/references/own.md", False),
        "references/style.md": ("project/.agents/docs/style.md", False),
        "references/api/v1/x.json": ("project/.agents/docs/api/v1/x.json", False),
        "references/api/run.sh": ("project/.agents/docs/api/run.sh", True),
        "references/README.md": ("project/README.md", False),
        "scripts/a.sh": ("project/.agents/tools/a.sh", True),
        "assets/p.png": ("project/pics/deep/er/p.png", False),
    }
    (skill,) = world.compose("a").skills
    assert skill.manifest == "---\nname: one\ndescription: d\n---\ndo it\n"


def test_links_inside_a_directory_are_dereferenced(world):
    world.put("shared/real.md", "r")
    world.link(".agents/docs/linked.md", "../../shared/real.md")
    world.link(".agents/skills/one/also.md", "../../../shared/real.md")
    world.skill("one", "description: d\nreferences: {file: docs}")
    assert parts(world) == {
        "also.md": ("project/shared/real.md", False),
        "references/docs/linked.md": ("project/shared/real.md", False),
    }


def test_a_link_out_of_the_boundary_is_left_out_with_one_warning(world):
    world.skill("one")
    world.link(".agents/skills/one/out.md", "/etc/hostname")
    world.link(".agents/skills/one/gone.md", "nothing")
    os.mkfifo(world.project / ".agents/skills/one/fifo")
    got = summary(world.compose("a"))
    assert got["files"] == {"one": []}
    assert got["warnings"] == ["entry-skipped"] * 3


@pytest.mark.parametrize(
    "front",
    [
        "references: [{file: a/x.md}, {file: b/x.md}]",
        "references: {file: a/own.md}",
        "references: {file: d/shipped}",
        "references: [{file: d/shipped2}, {file: e/shipped2}]",
        "references: {file: 'a*/x.md'}\nscripts: {file: 'none/*.sh'}",
        "references: {file: gone.md}",
        "references: {file: ../x}",
        "references: {file: '../*'}",
        "references: {file: /etc/*}",
        "scripts: {file: out}",
    ],
)
def test_collisions_and_missing_files_are_errors(world, front):
    for name in ("a/x.md", "b/x.md", "a/own.md", "a2/x.md", "d/shipped/1", "d/shipped2/1", "e/shipped2/2"):
        world.put(f".agents/{name}", "")
    world.link(".agents/out", "/etc")
    world.put(".agents/skills/one/references/own.md", "own")
    world.put(".agents/skills/one/references/shipped/0", "own")
    world.skill("one", f"description: d\n{front}")
    problems = world.compose("a").problems
    assert problems
    assert all(problem.path.endswith("skills/one/SKILL.md") and problem.at.line == 3 for problem in problems[:1])


def test_a_repo_file_that_matches_nothing_is_left_out(world):
    world.skill("one", "description: d\nreferences: [{repo_file: none.md}, {repo_file: 'no/*.md'}]")
    got = summary(world.compose("a"))
    assert (got["files"], got["warnings"]) == ({"one": []}, ["repo-file-missing"] * 2)


def test_a_loadout_adds_references(world):
    world.put(".agents/extra.md", "e")
    world.agent("a", "skills:\n  - id: one\n    references: [{file: extra.md}]\n")
    world.skill("one")
    assert list(parts(world)) == ["references/extra.md"]


def test_other_keys_of_these_names_are_left_as_they_are(world):
    world.skill("one", "description: d\nassets: [logo.png]\nscripts: true")
    (skill,) = world.compose("a").skills
    assert "assets: [logo.png]\nscripts: true\n" in skill.manifest


def test_an_unquoted_colon_is_told_with_file_and_line_and_the_skill_stays(world):
    """spec/95 CMP-01."""
    world.skill("one", "name: one\ndescription: Use when: reviewing")
    made = world.compose("a")
    assert [skill.id for skill in made.skills] == ["one"]
    (notice,) = made.notices
    assert notice.level == "warning"
    assert "skills/one/SKILL.md:3" in notice.message


def test_the_projected_manifest_has_no_byte_order_mark_and_keeps_the_rest(world):
    text = "\ufeff---\r\nname: one\r\ndescription: d\r\nlicense: |\r\n  a\r\n  b\r\n---\r\nBody\r\n"
    world.put(".agents/skills/one/SKILL.md", text)
    (skill,) = world.compose("a").skills
    assert skill.manifest == "---\nname: one\r\ndescription: d\r\nlicense: |\r\n  a\r\n  b\r\n---\nBody\r\n"


def test_lower_case_manifests_are_read(world):
    world.put(".agents/skills/one/skill.md", "---\ndescription: d\n---\nx\n")
    assert [skill.id for skill in world.compose("a").skills] == ["one"]


def test_a_switched_off_skill_is_hidden(world):
    world.skill("one", "description: d\nenabled: false")
    world.skill("one", "description: lower", under="../home/.agents/skills")
    got = summary(world.compose("a"))
    assert (got["skills"], got["notices"], got["warnings"]) == ([], ["skill-off"], [])


def test_a_broken_skill_that_is_selected_is_an_error(world):
    world.skill("one", "references: [")
    (problem,) = world.compose("a").problems
    assert problem.path.endswith("skills/one/SKILL.md")


def test_a_broken_skill_that_is_not_selected_stops_nothing(world):
    world.agent("a", "")
    world.skill("one", "references: [")
    assert world.compose("a").skills == ()


def test_a_pattern_across_folders_takes_files_and_leaves_git_alone(world):
    world.put(".git/hooks/x.md", "git")
    world.put("docs/a.md", "a")
    world.put("docs/b/c.md", "c")
    world.skill("one", "description: d\nreferences: {repo_file: '**/*.md'}")
    assert sorted(parts(world)) == ["references/SKILL.md", "references/a.md", "references/agent.md", "references/c.md"]


def test_a_directory_with_a_link_that_leads_out(world):
    world.put(".agents/docs/a.md", "a")
    world.link(".agents/docs/out.md", "/etc/hostname")
    world.skill("one", "description: d\nreferences: {file: docs}")
    got = summary(world.compose("a"))
    assert (got["files"], got["warnings"]) == ({"one": ["references/docs/a.md"]}, ["entry-skipped"])
