"""Pi overlays and DeepWork jobs (006.3.13 to 17, spec/95 CMP-04 to CMP-06), commands and knowledge."""

import os

import pytest


@pytest.fixture
def world(world):
    world.agent("a", "inherits: base")
    world.agent("base")
    return world


def laid(made):
    return [(file.path, file.content.decode(), file.executable) for file in made.overlays]


def test_parents_first_lower_layers_first_and_replaced_files_are_gone(world):
    world.put(".agents/agents/a/pi/x", "own")
    world.put("../home/.agents/agents/a/pi/x", "own, home")
    world.put("../home/.agents/agents/a/pi/y", "home")
    world.put(".agents/agents/base/pi/x", "base")
    world.put(".agents/agents/base/pi/z", "base")
    world.put(".agents/agents/base/pi/settings.json", "{}")
    world.put(".agents/agents/a/pi/settings.json", '{"own": 1}')
    assert laid(world.compose("a")) == [
        ("settings.json", "{}", False),
        ("z", "base", False),
        ("y", "home", False),
        ("settings.json", '{"own": 1}', False),
        ("x", "own", False),
    ]


def test_links_are_not_followed_with_one_diagnostic_each(world):
    """spec/95 CMP-04."""
    world.put("inside/file", "x")
    world.put(".agents/agents/a/pi/kept", "kept")
    world.link(".agents/agents/a/pi/out", "/etc/hostname")
    world.link(".agents/agents/a/pi/dir", "../../../../inside")
    world.link(".agents/agents/a/pi/in", "kept")
    world.link(".agents/agents/base/pi", "../../../inside")
    os.mkfifo(world.project / ".agents/agents/a/pi/fifo")
    made = world.compose("a")
    assert laid(made) == [("kept", "kept", False)]
    assert [n.code for n in made.notices] == ["overlay-skipped"] * 5
    assert len({n.message for n in made.notices}) == 5


@pytest.mark.parametrize("high_is_file", [True, False])
def test_kinds_that_disagree(world, high_is_file):
    """spec/95 CMP-05."""
    file, folder = (".agents", "../home/.agents") if high_is_file else ("../home/.agents", ".agents")
    world.put(f"{file}/agents/a/pi/x", "file")
    world.put(f"{folder}/agents/a/pi/x/one", "1")
    world.put(f"{folder}/agents/a/pi/x/deep/two", "2")
    want = [("x", "file", False)] if high_is_file else [("x/deep/two", "2", False), ("x/one", "1", False)]
    assert laid(world.compose("a")) == want
    assert (world.project / folder / "agents/a/pi/x/one").read_text() == "1"


def test_the_execute_bit_is_kept(world):
    """spec/95 CMP-06."""
    world.put(".agents/agents/a/pi/hook.sh", "#!/bin/sh", 0o755)
    world.put(".agents/agents/a/pi/plain", "p", 0o444)
    assert laid(world.compose("a")) == [("hook.sh", "#!/bin/sh", True), ("plain", "p", False)]


def test_an_overlay_counts_in_the_digest_but_not_what_pi_keeps_as_state(world):
    before = world.compose("a").digest
    world.put(".agents/agents/a/pi/auth.json", "{}")
    world.put(".agents/agents/a/pi/sessions/x", "{}")
    assert world.compose("a").digest == before
    world.put(".agents/agents/a/pi/prompts/x.md", "x")
    assert world.compose("a").digest != before


def test_job_roots_own_first_then_parents_then_named_shared_ones(world):
    world.agent("a", "inherits: base\ncontrols: {deepwork: {jobs: [ship, own]}, pi: {deepwork: {jobs: [lint]}}}")
    world.put(".agents/agents/a/deepwork/jobs/own/job.yml", "x")
    world.put(".agents/agents/base/pi/deepwork/jobs/pijob/job.yml", "x")
    world.put(".agents/deepwork/jobs/ship/job.yml", "x")
    world.put(".agents/deepwork/jobs/other/job.yml", "x")
    world.put("../home/.agents/deepwork/jobs/lint/job.yml", "x")
    world.put("../home/.agents/deepwork/jobs/ship/job.yml", "x")
    world.put("../home/.agents/deepwork/jobs/empty/readme", "x")
    made = world.compose("a")
    got = [(os.path.relpath(root.path, world.top), root.names, root.pi_only) for root in made.job_roots]
    assert got == [
        ("project/.agents/agents/a/deepwork/jobs", (), False),
        ("project/.agents/agents/base/pi/deepwork/jobs", (), True),
        ("project/.agents/deepwork/jobs", ("ship",), False),
        ("home/.agents/deepwork/jobs", ("lint",), False),
    ]


def test_a_jobs_content_counts_in_the_digest(world):
    world.agent("a", "controls: {deepwork: {jobs: [ship]}}")
    world.put(".agents/deepwork/jobs/ship/job.yml", "one")
    before = world.compose("a").digest
    world.put(".agents/deepwork/jobs/ship/steps/x.md", "more")
    assert world.compose("a").digest != before


def test_commands_and_knowledge_by_id(world):
    world.put("../home/.agents/commands/fix.md", "home fix")
    world.put(".agents/commands/fix.md", "fix")
    world.put(".agents/commands/git/commit.md", "commit")
    world.put(".agents/commands/off.md", "---\nenabled: false\n---\nx")
    world.put(".agents/agents/base/commands/fix.md", "base fix")
    world.put(".agents/agents/other/commands/secret.md", "s")
    world.put(".agents/knowledge/facts.md", "f")
    world.put(".agents/agents/a/knowledge/book/one.md", "1")
    made = world.compose("a")
    assert [(command.id, command.text) for command in made.commands] == [("fix", "base fix"), ("git/commit", "commit")]
    assert [one.id for one in made.knowledge] == ["book", "facts"]


def test_front_matter_of_commands_that_is_no_yaml_stops_nothing(world):
    text = "---\nargument-hint: [issue] [priority]\n---\nFix $1\n"
    world.put(".agents/commands/fix.md", text)
    world.put(".agents/commands/off.md", '---\nargument-hint: [a] [b]\nenabled: "no"\n---\nx')
    world.put(".agents/commands/latin.md", b"\xff")
    world.put(".agents/commands/body.md", "x\n---\nenabled: false\n---\n")
    world.put("../home/.agents/knowledge/k.md", "home")
    world.put(".agents/knowledge/k.md", "---\nenabled: false\n---\nproject")
    made = world.compose("a")
    assert [(command.id, command.text) for command in made.commands][1] == ("fix", text)
    assert [command.id for command in made.commands] == ["body", "fix"]
    assert [n.code for n in made.notices] == ["command-unreadable"]
    assert made.knowledge == ()
