"""A hostile clone on the real programs: without a grant none of its programs starts and the model server hears nothing."""

import json

import pytest

APIS = {"claude": "anthropic-messages", "pi": "openai-completions", "codex": "openai-responses"}
WORDS = {"claude": ("-p", "hi"), "pi": ("-p", "hi"), "codex": ("exec", "--skip-git-repo-check", "hi")}
UNTRUSTED = {"OUTFITTER_TRUSTED_PATHS": None}


def marks(real):
    return sorted(path.name for path in real.home.glob("RAN-*"))


def clone(real, harness):
    """A clone whose servers, hooks and extensions mark that they ran, in a home that trusts its path for every program.

    The home's own registry leads every program to the loopback server.
    """

    def server(name):
        return {"command": "sh", "args": ["-c", f"touch {real.home}/RAN-{name}; sleep 1"]}

    hook = {"type": "command", "command": f"touch {real.home}/RAN-hook"}
    registry = real.models(api=APIS[harness])
    real.put(real.home / ".agents/models.json", registry.read_text())
    registry.unlink()
    real.agent("a", mcp=["own"], model="loop/scripted-model")
    real.put(".agents/mcp.json", json.dumps({"mcpServers": {"own": server("tree")}}))
    real.put(".mcp.json", json.dumps({"mcpServers": {"s": server("claude")}}))
    settings = {"hooks": {"SessionStart": [{"hooks": [hook]}]}, "enableAllProjectMcpServers": True}
    real.put(".claude/settings.json", json.dumps(settings))
    real.put(".codex/config.toml", f'[mcp_servers.s]\ncommand = "touch"\nargs = ["{real.home}/RAN-codex"]\n')
    real.put(
        ".pi/extensions/x.ts",
        f'import fs from "fs"; fs.writeFileSync("{real.home}/RAN-pi", ""); export default () => {{}};\n',
    )
    real.put(real.home / ".codex/config.toml", f'[projects."{real.project}"]\ntrust_level = "trusted"\n')
    real.put(real.home / ".pi/agent/trust.json", json.dumps({str(real.project): True}))


def run(real, harness, *words):
    return real.run("run", "a", "--harness", harness, *words, "--", *WORDS[harness], env=UNTRUSTED)


@pytest.mark.parametrize("harness", APIS)
def test_nothing_of_a_clone_starts_without_a_grant(real, harness):
    clone(real, harness)
    refused = run(real, harness)
    assert refused.code == 122, refused.err
    assert (marks(real), list(real.turns())) == ([], [])


@pytest.mark.parametrize("harness", APIS)
def test_nothing_of_a_clone_starts_in_a_run_without_it(real, harness):
    clone(real, harness)
    ran = run(real, harness, "--untrusted")
    assert ran.code == 0, ran.err
    assert marks(real) == []
    assert list(real.turns()) != []


@pytest.mark.parametrize("harness", APIS)
def test_it_starts_once_it_was_granted(real, harness):
    clone(real, harness)
    granted = real.run("trust", "--grant", env=UNTRUSTED)
    assert granted.code == 0, granted.err
    run(real, harness)
    assert marks(real) != []
