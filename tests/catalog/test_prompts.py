"""The identity's order and the containment of what it reads (spec/10, "Files of a loadout", spec/30)."""

import os

import pytest

from tests.catalog.stand import Stand


@pytest.fixture
def stand(tmp_path):
    return Stand(tmp_path)


def kinds(made):
    return [(fragment.kind, fragment.content.strip(), fragment.agent) for fragment in made.fragments]


def test_the_whole_order(stand):
    stand.put(".agents/system-prompt.md", "Tree system.")
    stand.put(".agents/agents.md", "Context.")
    stand.put(".agents/p/base.md", "Base append.")
    stand.put(".agents/p/own.md", "Own append.")
    stand.agent("base", "append_system_prompt: {file: p/base.md}", "Base body.")
    stand.agent("a", "inherits: base\nappend_system_prompt: [{file: p/own.md}, {repo_file: NOTES.md}]", "Own body.")
    stand.put("NOTES.md", "Repository words.")
    stand.put("run1.md", "Run one.")
    made = stand.compose("a", append_prompts=("run1.md", str(stand.put("sub/run2.md", "Run two."))))
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


def test_the_nearest_system_prompt_replaces_the_trees(stand):
    stand.put(".agents/system-prompt.md", "Tree system.")
    stand.put(".agents/base.md", "Base system.")
    stand.agent("base", "system_prompt: {file: base.md}\nprompt_template: {file: base.md}")
    stand.agent("a", "inherits: base")
    made = stand.compose("a")
    assert kinds(made)[0] == ("system", "Base system.", "base")
    assert made.prompt_template.content == "Base system.\n"


def test_the_highest_layer_decides_common_files(stand):
    stand.put("../home/.agents/agents.md", "Home.")
    stand.put("../home/.agents/system-prompt.md", "Home system.")
    stand.put(".agents/agents.md", "---\nx: 1\n---\nProject.")
    stand.agent("a")
    assert [text for _, text, _ in kinds(stand.compose("a"))] == ["Home system.", "Project.", "You are A."]
    stand.put(".agents/agents.md", "---\nenabled: false\n---\nProject.")
    assert [text for _, text, _ in kinds(stand.compose("a"))] == ["Home system.", "You are A."]


def test_a_file_beside_the_agent_is_found_too(stand):
    stand.put(".agents/agents/a/extra.md", "Beside.")
    stand.agent("a", "append_system_prompt: {file: extra.md}")
    assert kinds(stand.compose("a"))[0][1] == "Beside."


def test_a_file_is_the_declaring_agents_layers(stand):
    stand.put("../home/.agents/p.md", "Home's.")
    stand.put(".agents/p.md", "Project's.")
    stand.agent("base", "append_system_prompt: {file: p.md}", under="../home/.agents")
    stand.agent("a", "inherits: base")
    assert kinds(stand.compose("a"))[0][1] == "Home's."


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
        ("out.md", "leads outside"),
        ("outdir/hostname", "leads outside"),
        ("gone.md", "leads nowhere"),
        ("fifo.md", "no regular file"),
    ],
)
@pytest.mark.parametrize("key", ["system_prompt", "append_system_prompt", "prompt_template"])
def test_a_file_that_is_not_there_or_leaves_its_layer_is_an_error(stand, path, why, key):
    stand.put(".agents/p/x.md", "X")
    stand.put("NOTES.md", "N")
    stand.link(".agents/out.md", "/etc/hostname")
    stand.link(".agents/outdir", "/etc")
    stand.link(".agents/gone.md", "nothing")
    os.mkfifo(stand.project / ".agents/fifo.md")
    stand.agent("a", f"{key}: {{file: '{path}'}}")
    problems = stand.compose("a").problems
    assert [why in problem.message for problem in problems] == [True]
    assert problems[0].key == f"{key}.file"
    assert problems[0].at.line == 2


def test_a_link_inside_the_layers_boundary_is_followed(stand):
    stand.put("docs/style.md", "Style.")
    stand.link(".agents/style.md", "../docs/style.md")
    stand.agent("a", "append_system_prompt: {file: style.md}")
    assert kinds(stand.compose("a"))[0][1] == "Style."


@pytest.mark.parametrize("path", ["../outside.md", "/etc/hostname", "link.md", "dir"])
def test_a_repo_file_stays_in_the_project(stand, path):
    stand.put("../outside.md", "O")
    stand.put("dir/x", "")
    stand.link("link.md", "../outside.md")
    stand.agent("a", f"append_system_prompt: {{repo_file: '{path}'}}")
    assert len(stand.compose("a").problems) == 1


def test_a_missing_repo_file_is_a_warning(stand):
    stand.agent(
        "a", "append_system_prompt: [{repo_file: NOTES.md}, {repo_file: no/where.md}]\nsystem_prompt: {repo_file: S.md}"
    )
    stand.put(".agents/system-prompt.md", "Tree system.")
    made = stand.compose("a")
    assert [n.code for n in made.notices] == ["repo-file-missing"] * 3
    assert kinds(made)[0] == ("system", "Tree system.", "")


def test_a_repo_file_beside_the_project_root_of_a_home_agent(stand):
    stand.agent("a", "append_system_prompt: {repo_file: NOTES.md}", under="../home/.agents")
    stand.put("NOTES.md", "---\nnot: stripped\n---\nN")
    (fragment, _) = stand.compose("a").fragments
    assert (fragment.content, fragment.trusted) == ("---\nnot: stripped\n---\nN\n", False)


def test_a_missing_append_prompt_names_the_file(stand):
    stand.agent("a")
    (problem,) = stand.compose("a", append_prompts=("none.md",)).problems
    assert problem.path == str(stand.project / "none.md")
    assert "no such file" in problem.message


def test_empty_files_are_no_fragments(stand):
    stand.put(".agents/agents.md", "\n\n")
    stand.put(".agents/empty.md", "")
    stand.agent("a", "append_system_prompt: {file: empty.md}", "")
    assert stand.compose("a").fragments == ()


@pytest.mark.parametrize(
    ("text", "body", "label"),
    [
        (b"\xef\xbb\xbf---\nlabel: L\n---\nBody.\n", "Body.\n", "L"),
        (b"---\r\nlabel: L\r\n---\r\nBody.\r\n", "Body.\n", "L"),
        (b"---  \nlabel: L\n---\t\nBody.", "Body.\n", "L"),
    ],
    ids=["byte-order mark", "CRLF", "blanks after the fences"],
)
def test_front_matter_is_seen_in_all_its_spellings(stand, text, body, label):
    """spec/95 CMP-03."""
    stand.put(".agents/agents/a/agent.md", text)
    made = stand.compose("a")
    assert (made.fragments[0].content, made.label) == (body, label)


def test_an_unclosed_fence_is_reported(stand):
    """spec/95 CMP-03."""
    stand.put(".agents/agents/a/agent.md", "---\nlabel: L\nBody.\n")
    (problem,) = stand.compose("a").problems
    assert "fence" in problem.message
    assert problem.at.line == 1


def test_one_file_may_be_context_and_prompt(stand):
    stand.put(".agents/agents.md", "---\nx: 1\n---\nContext.")
    stand.skill("one", "description: d")
    front = "append_system_prompt: [{file: agents.md}, {file: skills/one/SKILL.md}]\nskills: [one]"
    stand.agent("a", front)
    made = stand.compose("a")
    assert [fragment.content for fragment in made.fragments] == [
        "Context.\n",
        "---\nx: 1\n---\nContext.\n",
        "---\ndescription: d\n---\ndo it\n",
        "You are A.\n",
    ]
    assert made.skills[0].description == "d"
