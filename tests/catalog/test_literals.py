"""Literal credentials in settings and trees go nowhere but where a harness needs them (spec/30, spec/80)."""

import json

import pytest

WORD = "s3cr3t-w0rd"


def files_with(word, root):
    return [path for path in root.rglob("*") if path.is_file() and word.encode() in path.read_bytes()]


def test_a_token_in_a_sources_address_is_shown_and_remembered_nowhere(machine):
    machine.agent("a")
    machine.settings(f"sources:\n  - uri: https://me:{WORD}@127.0.0.1:1/x.git\n")
    for words in (
        ("settings",),
        ("settings", "sources"),
        ("settings", "--origin"),
        ("settings", "--json", "--origin"),
        ("sources",),
        ("sources", "--json"),
        ("sync",),
        ("list",),
        ("validate",),
        ("doctor",),
        ("run", "a"),
        ("run", "a", "--dry-run", "--json"),
    ):
        ended = machine.run(*words)
        assert WORD not in ended.out + ended.err, words
    assert "***@127.0.0.1" in machine.run("settings").out
    assert files_with(WORD, machine.home) == []


@pytest.mark.parametrize(("word", "part"), [(WORD, WORD), ('with "quotes" and \\ß', "quotes")])
@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_dry_run_hides_the_literals_that_codex_is_given_as_arguments(machine, word, part, more):
    """`part` is of the word, and no quoting alters it."""
    machine.agent("a", mcp=["d"])
    servers = {"d": {"command": "x", "env": {"API_TOKEN": word}}}
    machine.put(".agents/mcp.json", json.dumps({"mcpServers": servers}))
    words = ("run", "a", "--harness", "codex")
    shown = machine.run(*words, "--dry-run", *more).out
    assert "API_TOKEN" in shown
    assert "***" in shown
    assert part not in shown
    assert any("API_TOKEN" in argument and part in argument for argument in machine.run(*words).argv)


@pytest.mark.parametrize(
    "said",
    [
        {"apiKey": WORD},
        {"headers": {"X-Api-Key": WORD}},
        {"baseUrl": f"https://me:{WORD}@127.0.0.1"},
        {"apiKeyCommand": f"echo {WORD}"},
        {"models": [{"id": "m", "headers": {"Authorization": f"Bearer {WORD}"}}]},
    ],
)
def test_what_a_registry_refuses_is_not_dumped(machine, said):
    machine.agent("a")
    provider = {"api": "openai-responses", "baseUrl": "http://127.0.0.1", "models": [{"id": "m"}], **said}
    machine.put(".agents/models.json", json.dumps({"providers": {"p": provider}}))
    ended = machine.run("dump", "--out", "made")
    assert files_with(WORD, machine.project / "made") == []
    assert ended.code or "left out" in ended.err
