"""The identity's order and the containment of what it reads (spec/10, "Files of a loadout", spec/30)."""

import os

import pytest


def kinds(made):
    return [(fragment.kind, fragment.content.strip(), fragment.agent) for fragment in made.fragments]


def test_the_whole_order(world):
    world.put(".agents/system-prompt.md", "Tree system.")
    world.put(".agents/agents.md", "Context.")
    world.put(".agents/p/base.md", "Base append.")
    world.put(".agents/p/own.md", "Own append.")
    world.agent("base", "append_system_prompt: {file: p/base.md}", "Base body.")
    world.agent("a", "inherits: base\nappend_system_prompt: [{file: p/own.md}, {repo_file: NOTES.md}]", "Own body.")
    world.put("NOTES.md", "Repository words.")
    world.put("run1.md", "Run one.")
    made = world.compose("a", append_prompts=("run1.md", str(world.put("sub/run2.md", "Run two."))))
    assert kinds(made) == [
        ("system", "Tree system.", ""),
        ("context", "Context.", ""),
        ("append", "Base append.", "base"),
        ("append", "Own append.", "a"),
        ("append", "Repository words.", "a"),
        ("body", "Base body.", "base"),
        ("body", "Own body.", "a"),
        ("run", "Run one.", ""),
        ("run", "Run two.", ""),
    ]
    assert [fragment.trusted for fragment in made.fragments].index(False) == 4


def test_the_nearest_system_prompt_replaces_the_trees(world):
    world.put(".agents/system-prompt.md", "Tree system.")
    world.put(".agents/base.md", "Base system.")
    world.agent("base", "system_prompt: {file: base.md}\nprompt_template: {file: base.md}")
    world.agent("a", "inherits: base")
    made = world.compose("a")
    assert kinds(made)[0] == ("system", "Base system.", "base")
    assert made.prompt_template.content == "Base system.\n"


def test_the_highest_layer_decides_common_files(world):
    world.put("../home/.agents/agents.md", "Home.")
    world.put("../home/.agents/system-prompt.md", "Home system.")
    world.put(".agents/agents.md", "---\nx: 1\n---\nProject.")
    world.agent("a")
    assert [text for _, text, _ in kinds(world.compose("a"))] == ["Home system.", "Project.", "You are A."]
    world.put(".agents/agents.md", "---\nenabled: false\n---\nProject.")
    assert [text for _, text, _ in kinds(world.compose("a"))] == ["Home system.", "You are A."]


def test_a_file_beside_the_agent_is_found_too(world):
    world.put(".agents/agents/a/extra.md", "Beside.")
    world.agent("a", "append_system_prompt: {file: extra.md}")
    assert kinds(world.compose("a"))[0][1] == "Beside."


def test_a_file_is_the_declaring_agents_layers(world):
    world.put("../home/.agents/p.md", "Home's.")
    world.put(".agents/p.md", "Project's.")
    world.agent("base", "append_system_prompt: {file: p.md}", under="../home/.agents")
    world.agent("a", "inherits: base")
    assert kinds(world.compose("a"))[0][1] == "Home's."


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("none.md", "does not exist"),
        ("p/none.md", "does not exist"),
        ("p", "is a directory"),
        ("/etc/hostname", "absolute"),
        ("~/x", "absolute"),
        ("../project/NOTES.md", "leaves the tree"),
        ("p/../../x", "leaves the tree"),
        ("out.md", "points outside"),
        ("outdir/hostname", "points outside"),
        ("gone.md", "dangling symlink"),
        ("fifo.md", "not a regular file"),
    ],
)
@pytest.mark.parametrize("key", ["system_prompt", "append_system_prompt", "prompt_template"])
def test_a_file_that_is_not_there_or_leaves_its_layer_is_an_error(world, path, why, key):
    world.put(".agents/p/x.md", "X")
    world.put("NOTES.md", "N")
    world.link(".agents/out.md", "/etc/hostname")
    world.link(".agents/outdir", "/etc")
    world.link(".agents/gone.md", "nothing")
    os.mkfifo(world.project / ".agents/fifo.md")
    world.agent("a", f"{key}: {{file: '{path}'}}")
    problems = world.compose("a").problems
    assert [why in problem.message for problem in problems] == [True]
    assert problems[0].key == f"{key}.file"
    assert problems[0].at.line == 2


def test_a_link_inside_the_layers_boundary_is_followed(world):
    world.put("docs/style.md", "Style.")
    world.link(".agents/style.md", "../docs/style.md")
    world.agent("a", "append_system_prompt: {file: style.md}")
    assert kinds(world.compose("a"))[0][1] == "Style."


@pytest.mark.parametrize("path", ["../outside.md", "/etc/hostname", "link.md", "dir"])
def test_a_repo_file_stays_in_the_project(world, path):
    world.put("../outside.md", "O")
    world.put("dir/x", "")
    world.link("link.md", "../outside.md")
    world.agent("a", f"append_system_prompt: {{repo_file: '{path}'}}")
    assert len(world.compose("a").problems) == 1


def test_a_missing_repo_file_is_a_warning(world):
    world.agent(
        "a", "append_system_prompt: [{repo_file: NOTES.md}, {repo_file: no/where.md}]\nsystem_prompt: {repo_file: S.md}"
    )
    world.put(".agents/system-prompt.md", "Tree system.")
    made = world.compose("a")
    assert [n.code for n in made.notices] == ["repo-file-missing"] * 3
    assert kinds(made)[0] == ("system", "Tree system.", "")


def test_a_repo_file_beside_the_project_root_of_a_home_agent(world):
    world.agent("a", "append_system_prompt: {repo_file: NOTES.md}", under="../home/.agents")
    world.put("NOTES.md", "---\nnot: stripped\n---\nN")
    (fragment, _) = world.compose("a").fragments
    assert (fragment.content, fragment.trusted) == ("---\nnot: stripped\n---\nN\n", False)


def test_a_missing_append_prompt_names_the_file(world):
    world.agent("a")
    (problem,) = world.compose("a", append_prompts=("none.md",)).problems
    assert problem.path == str(world.project / "none.md")
    assert "no such file" in problem.message


def test_empty_files_are_no_fragments(world):
    world.put(".agents/agents.md", "\n\n")
    world.put(".agents/empty.md", "")
    world.agent("a", "append_system_prompt: {file: empty.md}", "")
    assert world.compose("a").fragments == ()


@pytest.mark.parametrize(
    ("text", "body", "label"),
    [
        (b"\xef\xbb\xbf---\nlabel: L\n---\nBody.\n", "Body.\n", "L"),
        (b"---\r\nlabel: L\r\n---\r\nBody.\r\n", "Body.\n", "L"),
        (b"---  \nlabel: L\n---\t\nBody.", "Body.\n", "L"),
    ],
    ids=["byte-order mark", "CRLF", "blanks after the fences"],
)
def test_front_matter_is_seen_in_all_its_spellings(world, text, body, label):
    """spec/95 CMP-03."""
    world.put(".agents/agents/a/agent.md", text)
    made = world.compose("a")
    assert (made.fragments[0].content, made.label) == (body, label)


def test_an_unclosed_fence_is_reported(world):
    """spec/95 CMP-03."""
    world.put(".agents/agents/a/agent.md", "---\nlabel: L\nBody.\n")
    (problem,) = world.compose("a").problems
    assert "not closed" in problem.message
    assert problem.at.line == 1


def test_one_file_may_be_context_and_prompt(world):
    world.put(".agents/agents.md", "---\nx: 1\n---\nContext.")
    world.skill("one", "description: d")
    front = "append_system_prompt: [{file: agents.md}, {file: skills/one/SKILL.md}]\nskills: [one]"
    world.agent("a", front)
    made = world.compose("a")
    assert [fragment.content for fragment in made.fragments] == [
        "Context.\n",
        "---\nx: 1\n---\nContext.\n",
        "---\ndescription: d\n---\ndo it\n",
        "You are A.\n",
    ]
    assert made.skills[0].description == "d"
