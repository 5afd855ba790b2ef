"""Environment names and arguments that only the home may set: refused by name from every other layer, in every spelling."""

import pytest

from outfitter.trust.arguments import faults
from outfitter.trust.names import refused

NEVER = ["PATH", "LD_PRELOAD", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "PYTHONPATH", "PYTHONSTARTUP", "BASH_ENV", "ENV", "PERL5OPT", "PERL5LIB", "RUBYOPT", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "GIT_SSH_COMMAND", "GIT_CONFIG_GLOBAL", "GIT_DIR", "SSH_ASKPASS", "SSH_AUTH_SOCK", "HTTP_PROXY", "https_proxy", "all_proxy", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "ANTHROPIC_BEDROCK_BASE_URL", "AZURE_OPENAI_ENDPOINT", "OLLAMA_HOST", "ANTHROPIC_CUSTOM_HEADERS", "HOME", "TMPDIR", "TMP", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "OUTFITTER_TRUSTED_PATHS", "npm_config_script_shell", "NPM_CONFIG_REGISTRY", "BUN_OPTIONS", "CLAUDE_CODE_SHELL_PREFIX", "CLAUDE_ENV_FILE", "CLAUDE_CODE_USE_BEDROCK", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "EDITOR", "GIT_PAGER", "OTEL_EXPORTER_OTLP_ENDPOINT", "AWS_CONFIG_FILE", "DOCKER_HOST", "KUBECONFIG", "PROMPT_COMMAND"]  # fmt: skip
FREE = ["NODE_ENV", "DEBUG", "LOG_LEVEL", "DATABASE_URL", "AWS_REGION", "AWS_PROFILE", "CI", "MY_FLAG", "TZ", "LANG", "LC_ALL", "ANTHROPIC_MODEL", "HOMEPAGE", "PATHS", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "DEEPWORK_ADDITIONAL_JOBS_FOLDERS", "STANDIN_X", "API_TOKEN"]  # fmt: skip


@pytest.mark.parametrize("name", NEVER)
def test_a_name_that_chooses_programs_hosts_or_places_is_refused_in_any_case(name):
    spellings = {name, name.lower(), name.upper(), name.title(), name.swapcase()}
    assert all(refused(one) for one in spellings)


@pytest.mark.parametrize("name", ["PA TH", " PATH", "PATH ", "BASH_FUNC_ls%%", "A-B", "1A", "", "PATH\n"])
def test_a_name_that_is_not_a_plain_one_is_refused(name):
    assert refused(name)


@pytest.mark.parametrize("name", FREE)
def test_any_other_name_may_be_set(name):
    assert refused(name) == ""


SMUGGLED = [
    ("--settings", '{"env": {"PATH": "x"}}'),
    ('--settings={"env": {"anthropic_base_url": "x"}}',),
    ("--settings", "settings.json"),
    ("--settings",),
    ("--settings", '{"apiKeyHelper": "./x"}'),
    ("--settings", "[1]"),
    ("-c", 'openai_base_url="http://x"'),
    ("-copenai_base_url=x",),
    ("-c=openai_base_url=x",),
    ("--config", 'model_providers.p.base_url="x"'),
    ('--config="openai_base_url"=x',),
    ("-c", 'model_providers={p={base_url="x"}}'),
    ("-c", 'shell_environment_policy.set.PATH="x"'),
    ("-c", 'shell_environment_policy={set={LD_PRELOAD="x"}}'),
    ("-c", ' "model_providers" . p . base_url = "x"'),
    ("-c", 'projects={"/x"={trust_level="trusted"}}'),
    ("-c", 'profiles.p.model_provider="x"'),
    ("-c", 'otel.exporter={otlp-http={endpoint="x"}}'),
    ("-p", "x", "-c", "chatgpt_base_url=x"),
]


@pytest.mark.parametrize("words", SMUGGLED)
def test_an_argument_that_would_set_the_same_is_refused(words):
    assert list(faults(words))


@pytest.mark.parametrize(
    "words",
    [
        ("--settings", '{"env": {"MY": "x"}, "model": "m"}'),
        ("-c", 'model_reasoning_summary="detailed"'),
        ("--config=model_verbosity=low",),
        ("-c", 'mcp_servers.x={command="y", env={PATH="/bin"}}'),
        ("--verbose", "-p", "hi"),
        ("--continue",),
        ("--", "-c", "openai_base_url=x"),
    ],
)
def test_any_other_argument_stays(words):
    assert list(faults(words)) == []


@pytest.mark.parametrize("harness", ["pi", "claude", "codex"])
@pytest.mark.parametrize("block", [False, True], ids=["generic", "of-the-harness"])
@pytest.mark.parametrize("name", ["PATH", "ld_preload", "HOME", "ANTHROPIC_BASE_URL"])
def test_a_run_refuses_it_by_name_from_a_project_and_validate_finds_it(machine, harness, block, name):
    mine = {"environment": {name: "x", "FINE": "1"}}
    machine.agent("a", controls={harness: mine} if block else mine)
    ended = machine.run("run", "a", "--harness", harness)
    assert (ended.code, ended.seen) == (122, None)
    assert "agents/a/agent.md:3:" in ended.err
    assert f"environment.{name}: {name} chooses" in ended.err
    found = machine.run("validate")
    assert found.code == 1
    assert "agents/a/agent.md:3:" in found.out
    assert f"environment.{name}: {name} chooses" in found.out


def test_a_run_refuses_it_from_a_local_source_and_from_a_parent_and_from_config_json(machine):
    source = machine.top / "source"
    machine.put(source / "agents/s/agent.md", "---\nname: s\ncontrols: {environment: {LD_PRELOAD: x}}\n---\nS\n")
    machine.settings(f"sources: [{{path: {source}}}]\n", under=machine.home)
    machine.agent("child", inherits=["s"])
    machine.agent("c")
    machine.put(".agents/agents/c/config.json", '{"controls": {"codex": {"args": ["-c", "openai_base_url=x"]}}}')
    for name in ("s", "child", "c"):
        ended = machine.run("run", name)
        assert (ended.code, ended.seen) == (122, None), ended.err


def test_the_home_may_set_them(machine):
    machine.agent("a", under=machine.home, controls={"environment": {"LD_NOTHING": "x", "OPENAI_BASE_URL": "http://x"}})
    ended = machine.run("run", "a")
    assert ended.code == 0, ended.err
    assert (ended.seen["env"]["LD_NOTHING"], ended.seen["env"]["OPENAI_BASE_URL"]) == ("x", "http://x")


def test_a_program_of_the_project_is_not_asked_what_it_can_do(machine):
    """The harness is probed for its help in a directory of its own, where no file of a stranger lies."""
    machine.put(machine.bin / "claude", '#!/bin/sh\ncase "$*" in *--help*) pwd >> $HOME/where;; esac\n', 0o755)
    machine.agent("a")
    machine.run("run", "a", "--harness", "claude")
    assert str(machine.project) not in (machine.home / "where").read_text()
