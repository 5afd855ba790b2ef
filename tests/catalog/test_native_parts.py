"""Pi overlays and DeepWork jobs (006.3.13 to 17, spec/95 CMP-04 to CMP-06), commands and knowledge."""

import os

import pytest

from tests.catalog.stand import Stand


@pytest.fixture
def stand(tmp_path):
    made = Stand(tmp_path)
    made.agent("a", "inherits: base")
    made.agent("base")
    return made


def laid(made):
    return [(file.path, file.content.decode(), file.executable) for file in made.overlays]


def test_parents_first_lower_layers_first_and_replaced_files_are_gone(stand):
    stand.put(".agents/agents/a/pi/x", "own")
    stand.put("../home/.agents/agents/a/pi/x", "own, home")
    stand.put("../home/.agents/agents/a/pi/y", "home")
    stand.put(".agents/agents/base/pi/x", "base")
    stand.put(".agents/agents/base/pi/z", "base")
    stand.put(".agents/agents/base/pi/settings.json", "{}")
    stand.put(".agents/agents/a/pi/settings.json", '{"own": 1}')
    assert laid(stand.compose("a")) == [
        ("settings.json", "{}", False),
        ("z", "base", False),
        ("y", "home", False),
        ("settings.json", '{"own": 1}', False),
        ("x", "own", False),
    ]


def test_links_are_not_followed_with_one_diagnostic_each(stand):
    """spec/95 CMP-04."""
    stand.put("inside/file", "x")
    stand.put(".agents/agents/a/pi/kept", "kept")
    stand.link(".agents/agents/a/pi/out", "/etc/hostname")
    stand.link(".agents/agents/a/pi/dir", "../../../../inside")
    stand.link(".agents/agents/a/pi/in", "kept")
    stand.link(".agents/agents/base/pi", "../../../inside")
    os.mkfifo(stand.project / ".agents/agents/a/pi/fifo")
    made = stand.compose("a")
    assert laid(made) == [("kept", "kept", False)]
    assert [n.code for n in made.notices] == ["overlay-skipped"] * 5
    assert len({n.message for n in made.notices}) == 5


@pytest.mark.parametrize("high_is_file", [True, False])
def test_kinds_that_disagree(stand, high_is_file):
    """spec/95 CMP-05."""
    file, folder = (".agents", "../home/.agents") if high_is_file else ("../home/.agents", ".agents")
    stand.put(f"{file}/agents/a/pi/x", "file")
    stand.put(f"{folder}/agents/a/pi/x/one", "1")
    stand.put(f"{folder}/agents/a/pi/x/deep/two", "2")
    want = [("x", "file", False)] if high_is_file else [("x/deep/two", "2", False), ("x/one", "1", False)]
    assert laid(stand.compose("a")) == want
    assert (stand.project / folder / "agents/a/pi/x/one").read_text() == "1"


def test_the_execute_bit_is_kept(stand):
    """spec/95 CMP-06."""
    stand.put(".agents/agents/a/pi/hook.sh", "#!/bin/sh", 0o755)
    stand.put(".agents/agents/a/pi/plain", "p", 0o444)
    assert laid(stand.compose("a")) == [("hook.sh", "#!/bin/sh", True), ("plain", "p", False)]


def test_an_overlay_counts_in_the_digest_but_not_what_pi_keeps_as_state(stand):
    before = stand.compose("a").digest
    stand.put(".agents/agents/a/pi/auth.json", "{}")
    stand.put(".agents/agents/a/pi/sessions/x", "{}")
    assert stand.compose("a").digest == before
    stand.put(".agents/agents/a/pi/prompts/x.md", "x")
    assert stand.compose("a").digest != before


def test_job_roots_own_first_then_parents_then_named_shared_ones(stand):
    stand.agent("a", "inherits: base\ncontrols: {deepwork: {jobs: [ship, own]}, pi: {deepwork: {jobs: [lint]}}}")
    stand.put(".agents/agents/a/deepwork/jobs/own/job.yml", "x")
    stand.put(".agents/agents/base/pi/deepwork/jobs/pijob/job.yml", "x")
    stand.put(".agents/deepwork/jobs/ship/job.yml", "x")
    stand.put(".agents/deepwork/jobs/other/job.yml", "x")
    stand.put("../home/.agents/deepwork/jobs/lint/job.yml", "x")
    stand.put("../home/.agents/deepwork/jobs/ship/job.yml", "x")
    stand.put("../home/.agents/deepwork/jobs/empty/readme", "x")
    made = stand.compose("a")
    got = [(os.path.relpath(root.path, stand.top), root.names, root.pi_only) for root in made.job_roots]
    assert got == [
        ("project/.agents/agents/a/deepwork/jobs", (), False),
        ("project/.agents/agents/base/pi/deepwork/jobs", (), True),
        ("project/.agents/deepwork/jobs", ("ship",), False),
        ("home/.agents/deepwork/jobs", ("lint",), False),
    ]


def test_a_jobs_content_counts_in_the_digest(stand):
    stand.agent("a", "controls: {deepwork: {jobs: [ship]}}")
    stand.put(".agents/deepwork/jobs/ship/job.yml", "one")
    before = stand.compose("a").digest
    stand.put(".agents/deepwork/jobs/ship/steps/x.md", "more")
    assert stand.compose("a").digest != before


def test_commands_and_knowledge_by_id(stand):
    stand.put("../home/.agents/commands/fix.md", "home fix")
    stand.put(".agents/commands/fix.md", "fix")
    stand.put(".agents/commands/git/commit.md", "commit")
    stand.put(".agents/commands/off.md", "---\nenabled: false\n---\nx")
    stand.put(".agents/agents/base/commands/fix.md", "base fix")
    stand.put(".agents/agents/other/commands/secret.md", "s")
    stand.put(".agents/knowledge/facts.md", "f")
    stand.put(".agents/agents/a/knowledge/book/one.md", "1")
    made = stand.compose("a")
    assert [(command.id, command.text) for command in made.commands] == [("fix", "base fix"), ("git/commit", "commit")]
    assert [one.id for one in made.knowledge] == ["book", "facts"]


def test_front_matter_of_commands_that_is_no_yaml_stops_nothing(stand):
    text = "---\nargument-hint: [issue] [priority]\n---\nFix $1\n"
    stand.put(".agents/commands/fix.md", text)
    stand.put(".agents/commands/off.md", '---\nargument-hint: [a] [b]\nenabled: "no"\n---\nx')
    stand.put(".agents/commands/latin.md", b"\xff")
    stand.put(".agents/commands/body.md", "x\n---\nenabled: false\n---\n")
    stand.put("../home/.agents/knowledge/k.md", "home")
    stand.put(".agents/knowledge/k.md", "---\nenabled: false\n---\nproject")
    made = stand.compose("a")
    assert [(command.id, command.text) for command in made.commands][1] == ("fix", text)
    assert [command.id for command in made.commands] == ["body", "fix"]
    assert [n.code for n in made.notices] == ["command-unreadable"]
    assert made.knowledge == ()
