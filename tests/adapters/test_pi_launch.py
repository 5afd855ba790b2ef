"""OFTR-006.3 and 006.4, item by item: what Pi is given as arguments, environment and files (spec/40 "Pi")."""

from __future__ import annotations

import json

import pytest

from outfitter.model.composition import (
    Command,
    Composition,
    Controls,
    JobRoot,
    ModelTarget,
    Part,
    Subagent,
    Tools,
)
from outfitter.model.errors import CompositionFailed
from outfitter.model.projection import Copied
from stages.choose_harness import choose_harness
from tests.adapters.samples import (
    HOME,
    PROJECT,
    ROOT,
    composed,
    facts,
    fragment,
    overlay,
    planned,
    refused,
    registry_target,
    request,
    said,
    server,
    settings,
    skill,
    texts,
    values,
    warnings,
)

P = f"{ROOT}/projection"
JOBS = "DEEPWORK_ADDITIONAL_JOBS_FOLDERS"
SESSIONS = "PI_CODING_AGENT_SESSION_DIR"


def test_006_3_1_the_projection_is_the_configuration_directory() -> None:
    plan = planned("pi", composed())
    assert plan.launch.env_set["PI_CODING_AGENT_DIR"] == P
    assert plan.exported == P


def test_006_3_2_and_3_environment_and_arguments_of_the_agent_before_the_pass_through() -> None:
    controls = Controls({"A": "1", "B": "1"}, ("--generic",))
    own = {"pi": Controls({"B": "2"}, ("--own",)), "claude": Controls({"C": "3"}, ("--no",))}
    plan = planned("pi", composed(controls=controls, harness_controls=own), request(("-p", "hi")))
    assert {"A": "1", "B": "2"}.items() <= plan.launch.env_set.items()
    assert "C" not in plan.launch.env_set
    assert plan.launch.arguments[-4:] == ("--generic", "--own", "-p", "hi")


def test_006_3_4_a_session_directory_of_the_agent() -> None:
    plan = planned("pi", composed(controls=Controls(session_directory="~/s")))
    assert plan.launch.env_set[SESSIONS] == f"{HOME}/s"
    own = {"pi": Controls(session_directory="rel")}
    assert planned("pi", composed(harness_controls=own)).launch.env_set[SESSIONS] == f"{PROJECT}/rel"


def test_006_3_5_extensions_as_written_in_order() -> None:
    extensions = ("npm:x@1", "git:host/o/r", "/t/ext.ts")
    assert values(planned("pi", composed(extensions=extensions)), "--extension") == list(extensions)


def test_one_package_in_two_spellings_is_loaded_once_as_the_agent_itself_names_it() -> None:
    extensions = ("npm:x@1", "git:host/o/r", "npm:x@2", "https://host/o/r.git@v1")
    assert values(planned("pi", composed(extensions=extensions)), "--extension") == [
        "npm:x@2",
        "https://host/o/r.git@v1",
    ]


def test_006_3_6_and_12_each_selected_skill_and_no_other() -> None:
    one = skill("one")._replace(
        files=(Part("/t/skills/one/run.sh", "scripts/run.sh", True),), extras=(Part("/r/ref.md", "references/ref.md"),)
    )
    plan = planned("pi", composed(skills=(one, skill("two"))))
    assert plan.launch.arguments[0] == "--no-skills"
    assert values(plan, "--skill") == [f"{P}/outfitter/skills/one", f"{P}/outfitter/skills/two"]
    assert texts(plan)["outfitter/skills/one/SKILL.md"] == one.manifest
    assert Copied("/t/skills/one/run.sh", "outfitter/skills/one/scripts/run.sh", True) in plan.copied
    assert Copied("/r/ref.md", "outfitter/skills/one/references/ref.md", False) in plan.copied


def test_no_skills_always() -> None:
    """spec/15 V3: Pi would load every skill of the home's and the project's tree by itself."""
    plan = planned("pi", composed())
    assert plan.launch.arguments == ("--no-skills",)


def test_006_3_12_skills_of_the_agents_own_pi_folder_join() -> None:
    overlays = (overlay("skills/own/SKILL.md"), overlay("skills/own/data/x"), overlay("skills/two/SKILL.md"))
    plan = planned("pi", composed(skills=(skill("one"), skill("two")), overlays=overlays))
    assert values(plan, "--skill") == [f"{P}/outfitter/skills/one", f"{P}/skills/own", f"{P}/skills/two"]
    assert said(plan, "skill-overlaid", "notice")


def test_006_3_7_a_prompt_template_keeps_its_name() -> None:
    plan = planned("pi", composed(prompt_template=fragment("append", "do $1", "/t/agents/a/review.md")))
    assert values(plan, "--prompt-template") == [f"{P}/outfitter/template/review.md"]
    assert texts(plan)["outfitter/template/review.md"] == "do $1"


def test_commands_are_prompt_templates() -> None:
    plan = planned("pi", composed(commands=(Command("git/tidy", "tidy up", "/t/c", "project"),)))
    assert values(plan, "--prompt-template") == [f"{P}/outfitter/commands/git-tidy.md"]
    assert texts(plan)["outfitter/commands/git-tidy.md"] == "tidy up"


def test_006_3_8_and_18_one_system_prompt_and_ordered_appends_as_files() -> None:
    fragments = (
        fragment("system", "S"),
        fragment("context", "C"),
        fragment("append", "A1"),
        fragment("append", "  \n"),
        fragment("body", "B"),
        fragment("run", "R"),
    )
    plan = planned("pi", composed(fragments=fragments))
    files = texts(plan)
    read = [files[path.removeprefix(P + "/")] for path in values(plan, "--append-system-prompt")]
    assert read == ["C", "A1", "B", "R"]
    assert [files[path.removeprefix(P + "/")] for path in values(plan, "--system-prompt")] == ["S"]


def test_context_that_pi_reads_by_itself_is_not_given_twice() -> None:
    """spec/15 V1, and the notice that says so."""
    fragments = (fragment("context", "shared rules\n"), fragment("body", "B"))
    raw = b"---\ntitle: x\n---\n\nshared rules\r\n"
    plan = planned("pi", composed(fragments=fragments), files={f"{PROJECT}/AGENTS.md": raw})
    assert len(values(plan, "--append-system-prompt")) == 1
    assert said(plan, "context-native", "notice")
    assert plan.native_reads == (f"{PROJECT}/AGENTS.md",)
    told = request(("-nc",))
    assert (
        len(
            values(
                planned("pi", composed(fragments=fragments), told, files={f"{PROJECT}/AGENTS.md": raw}),
                "--append-system-prompt",
            )
        )
        == 2
    )


def test_only_the_context_file_that_pi_reads_counts() -> None:
    """Pi takes the first it finds: an AGENTS.md hides a CLAUDE.md of the same text as the tree's."""
    files = {f"{PROJECT}/AGENTS.md": b"other", f"{PROJECT}/CLAUDE.md": b"rules"}
    plan = planned("pi", composed(fragments=(fragment("context", "rules"),)), files=files)
    assert len(values(plan, "--append-system-prompt")) == 1
    assert plan.native_reads == (f"{PROJECT}/AGENTS.md",)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (ModelTarget("native", "gpt-x"), ["--model", "gpt-x"]),
        (ModelTarget("split", "m", "vendor"), ["--provider", "vendor", "--model", "m"]),
        (registry_target(variable=""), ["--provider", "gw", "--model", "m1"]),
    ],
)
def test_006_3_9_provider_and_model(target: ModelTarget, words: list[str]) -> None:
    plan = planned("pi", composed(model=target))
    assert list(plan.launch.arguments[1:]) == words


@pytest.mark.parametrize("level", ["off", "minimal", "low", "medium", "high", "xhigh", "max", "High"])
def test_006_3_9_thinking_levels(level: str) -> None:
    assert values(planned("pi", composed(thinking=level)), "--thinking") == [level.lower()]


def test_006_3_9_an_unknown_thinking_level_is_a_warning_and_left_out() -> None:
    plan = planned("pi", composed(thinking="deep"))
    assert said(plan, "thinking-unknown")
    assert "--thinking" not in plan.launch.arguments


@pytest.mark.parametrize("word", ["sonnet", "pro", "flash_lite", "Vendor Large 4 (Thinking)"])
def test_words_of_other_tools_are_no_model(word: str) -> None:
    """spec/15 V16."""
    plan = planned("pi", composed(model=ModelTarget("native", word)))
    assert "--model" not in plan.launch.arguments
    assert word in said(plan, "model-omitted")[0]


def test_006_3_13_jobs_of_the_agent_always_its_own_first() -> None:
    roots = (
        JobRoot("/p/agents/a/deepwork/jobs", "project"),
        JobRoot("/p/agents/a/pi/deepwork/jobs", "project", pi_only=True),
    )
    plan = planned("pi", composed(job_roots=roots))
    assert plan.launch.env_set[JOBS] == "/p/agents/a/deepwork/jobs:/p/agents/a/pi/deepwork/jobs"


def test_006_3_14_and_15_shared_jobs_only_by_name() -> None:
    roots = (JobRoot("/own", "project"), JobRoot("/shared", "home", ("build",)), JobRoot("/flat", "home", ("other",)))
    plan = planned("pi", composed(job_roots=roots, controls=Controls(deepwork_jobs=("build", "nosuch"))))
    assert plan.launch.env_set[JOBS] == "/own:/shared"
    assert ["nosuch" in message for message in said(plan, "job-missing")] == [True]


def test_006_3_16_an_inherited_value_only_if_allowed() -> None:
    outer = request(env={JOBS: "/outer"})
    plan = planned("pi", composed(), outer)
    assert plan.launch.env_unset == (JOBS,)
    allowed = composed(
        job_roots=(JobRoot("/own", "project"),),
        harness_controls={"pi": Controls(extra={"allow_external_deepwork_jobs": True})},
    )
    assert planned("pi", allowed, outer).launch.env_set[JOBS] == "/own:/outer"
    assert warnings(planned("pi", allowed, outer)) == []


def test_006_3_17_overlays_higher_over_lower_without_state() -> None:
    overlays = (
        overlay("themes/dark.json", b"low", layer="home"),
        overlay("x/file", b"low", layer="home"),
        overlay("y", b"low", layer="home"),
        overlay("themes/dark.json", b"high", executable=True),
        overlay("x", b"high"),
        overlay("y/file", b"high"),
        overlay("auth.json"),
        overlay("trust.json"),
        overlay("sessions/a.jsonl"),
        overlay("models.json"),
        overlay("models-store.json"),
        overlay("outfitter/x"),
        overlay("Trust.json"),
        overlay("Settings.json"),
    )
    plan = planned("pi", composed(overlays=overlays))
    made = {file.path: (file.content, file.executable) for file in plan.generated}
    assert made["themes/dark.json"] == (b"high", True)
    assert made["x"][0] == b"high"
    assert "x/file" not in made
    assert made["y/file"][0] == b"high"
    assert "y" not in made
    assert len(said(plan, "overlay-refused")) == 8
    assert not {"auth.json", "trust.json", "sessions/a.jsonl", "models.json", "outfitter/x"} & set(made)


def test_006_3_17_overlays_reach_no_other_harness() -> None:
    plan = planned("codex", composed(overlays=(overlay("themes/dark.json"),)))
    assert plan.generated == ()


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        (Tools(), []),
        (Tools(("Read", "run_command")), ["--no-tools", "--tools", "read,bash"]),
        (Tools(None, ("Bash",)), ["--exclude-tools", "bash"]),
        (Tools(("read", "bash"), ("Bash",)), ["--no-tools", "--tools", "read", "--exclude-tools", "bash"]),
        (Tools(("bash",), ("Bash",)), ["--no-tools", "--exclude-tools", "bash"]),
        (Tools(()), ["--no-tools"]),
        (Tools(("send_message",)), ["--no-tools", "--tools", "send_message"]),
        (Tools(None, ("send_message",)), ["--exclude-tools", "send_message"]),
        (Tools(("read", "bash(git:*)")), ["--no-tools", "--tools", "read"]),
        (Tools(("read", "mcp")), ["--no-tools", "--tools", "read,mcp__my_db__*"]),
        (Tools(None, ("mcp__my-db__drop",)), ["--exclude-tools", "mcp__my_db__drop"]),
        (Tools(None, ("Bash(rm:*)",)), ["--exclude-tools", "bash"]),
    ],
)
def test_tools_in_pis_spelling_never_wider(tools: Tools, words: list[str]) -> None:
    """spec/40, spec/15 V12."""
    plan = planned("pi", composed(tools=tools, servers=(server("my-db", command="x"),)))
    assert list(plan.launch.arguments[1:]) == words


def test_an_allow_list_that_names_no_tool_of_a_selected_server_says_so() -> None:
    servers = (server("db", command="x"), server("web", command="y"))
    plan = planned("pi", composed(tools=Tools(("read", "mcp__db__get")), servers=servers))
    assert ["web" in message for message in said(plan, "tools-exclude-server")] == [True]


def test_servers_that_an_allow_list_names_are_offered_directly() -> None:
    """Pi's script tool, through which it offers servers by default, is not on the list."""
    entry = server("db", command="x")
    made = json.loads(texts(planned("pi", composed(tools=Tools(("mcp",)), servers=(entry,))))["mcp.json"])
    assert made["mcpServers"]["db"]["exposure"] == "direct"
    made = json.loads(texts(planned("pi", composed(servers=(entry,))))["mcp.json"])
    assert "exposure" not in made["mcpServers"]["db"]


def test_a_tool_that_only_an_extension_could_bring_is_passed_as_written() -> None:
    plan = planned("pi", composed(tools=Tools(("read", "my_tool")), extensions=("npm:x",)))
    assert values(plan, "--tools") == ["read,my_tool"]
    assert warnings(plan) == []


def test_an_unknown_tool_is_a_warning_by_agent_name_and_harness() -> None:
    message = said(planned("pi", composed(tools=Tools(("send_message",)))), "tool-unknown")[0]
    assert all(word in message for word in ("agent a", "send_message", "pi"))


def test_006_1_3_and_4_what_pi_cannot_project() -> None:
    sub = Subagent("s", "", "b", Tools(), None, "", (), "/t", "project")
    plan = planned("pi", composed(subagents=(sub,), plugins=("x",)))
    assert plan.unsupported == ("subagents", "plugins")


def test_006_4_2_the_directory_is_chosen_before_pi_starts_and_by_no_extension() -> None:
    """006.4.1 and 006.4.2: the variable is set whatever extensions there are."""
    plan = planned("pi", composed(extensions=("npm:x",)), request(stdin_tty=True, stdout_tty=True))
    assert plan.launch.env_set["PI_CODING_AGENT_DIR"] == P


def test_a_target_without_its_credential_is_refused_by_name() -> None:
    """spec/10, "Models": the harness would send another login to that host."""
    error = refused("pi", composed(model=registry_target()))
    assert isinstance(error, CompositionFailed)
    assert "GW_KEY" in error.message
    given = Controls({"GW_KEY": "k"})
    assert values(planned("pi", composed(model=registry_target(), controls=given)), "--model") == ["m1"]


def test_a_control_that_pi_cannot_translate_is_a_warning() -> None:
    plan = planned("pi", composed(harness_controls={"pi": Controls(extra={"sandbox": "strict"})}))
    assert "controls.sandbox" in said(plan, "control-unsupported")[0]


def test_harness_defaults_are_a_warning() -> None:
    """spec/20."""
    plan = planned("pi", composed(), given=settings(harness_defaults={"pi": {"theme": "x"}}))
    assert said(plan, "defaults-unsupported")


def test_isolated_is_a_notice() -> None:
    """spec/80."""
    assert said(planned("pi", composed(), request(isolated=True)), "isolated", "notice")


def test_006_2_5_pi_is_the_default() -> None:
    assert choose_harness(settings(), request()).unwrap().id == "pi"


@pytest.mark.parametrize(
    "composition",
    [composed(), composed(skills=(skill("one"),), extensions=("npm:x",), servers=(server("s", command="c"),))],
)
def test_planning_is_pure(composition: Composition) -> None:
    first, second = (planned("pi", composition, request(("-p", "x"))) for _ in range(2))
    assert first == second


def test_launch_json_says_what_this_launch_is() -> None:
    tty = request(stdin_tty=True, stdout_tty=True)
    plan = planned("pi", composed(chain=("base", "a"), skills=(skill("one"),)), tty)
    about = json.loads(texts(plan)["outfitter/launch.json"])
    assert (about["agent"], about["inherits"], about["skills"]) == ("a", ["base"], ["one"])
    assert values(plan, "--extension") == [f"{P}/outfitter/bootstrap.ts"]


def test_facts_of_a_relocated_native_directory_are_the_durable_side() -> None:
    """spec/95 RUN-12: the native directory is what the survey found, never an outer projection."""
    plan = planned("pi", composed(), known=facts("pi", native="/elsewhere"))
    assert plan.launch.env_set[SESSIONS].startswith("/elsewhere/sessions/")
