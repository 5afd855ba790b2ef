"""A dump holds nothing that looks like a credential, at any depth and in any file kind that is parsed (seeds 000, 001)."""

import json

import pytest

from outfitter.catalog.dump_text import DumpFile
from outfitter.porting.dump_credentials import cleaned, literals

SECRET = "SEKRIT-planted-0123"
TOKEN = "ghp_" + "Zq9" * 12


def test_nothing_planted_in_a_tree_reaches_its_dump(machine):
    machine.agent("a", controls={"environment": {"API_KEY": SECRET}})
    tree = machine.project / ".agents"
    folder = tree / "agents/a/pi"
    machine.put(folder / ".credentials.json", json.dumps({"claudeAiOauth": {"accessToken": SECRET}}))
    machine.put(folder / "models-store.json", "{}")
    machine.put(folder / "mcp.json", json.dumps({"mcpServers": {"q": {"command": "c", "env": {"API_KEY": SECRET}}}}))
    machine.put(folder / "deep.yml", f"a: {{b: [{{clientSecret: {SECRET}}}]}}\n")
    machine.put(tree / "skills/s/SKILL.md", f"---\nname: s\ndescription: s\n---\nUse {TOKEN}.\n")
    machine.put(tree / "skills/s/.credentials.json", json.dumps({"t": SECRET}))
    machine.put(tree / "skills/s/conf.toml", f'[x.y]\npassword = "{SECRET}"\n')
    machine.put(tree / "knowledge/k.json", json.dumps([{"auth": {"token": SECRET}}]))
    out = machine.project / "d"
    ended = machine.run("dump", "--out", str(out))
    assert ended.code == 0, ended.err
    files = {str(path.relative_to(out)): path.read_text() for path in out.rglob("*") if path.is_file()}
    assert [path for path, text in files.items() if SECRET in text or TOKEN in text] == []
    assert "agents/a/pi/.credentials.json" not in files
    assert json.loads(files["agents/a/pi/mcp.json"])["mcpServers"]["q"]["env"] == {"API_KEY": "${API_KEY}"}
    assert set(json.loads(files[".outfitter/composition.json"])["files"]) == set(files) - {
        ".outfitter/composition.json"
    }
    for path in ("agents/a/pi/.credentials.json", "agents/a/pi/mcp.json", "agents/a/agent.md", "skills/s/conf.toml"):
        assert f"{path}: " in ended.err
    assert SECRET not in ended.err
    assert machine.run("dump", "--out", str(out)).code == 0


@pytest.mark.parametrize(
    "value",
    [
        {"a": {"b": [{"Authorization": f"Bearer {SECRET}"}]}},
        {"env": {"MY_PAT": SECRET}},
        {"headers": {"X-Api-Key": SECRET}},
        {"args": ["--token", SECRET]},
        {"args": [f"--api-key={SECRET}"]},
        {"url": f"https://me:{SECRET}@host/x"},
        {"modelOverrides": {"m": {"apiKey": SECRET}}},
    ],
)
def test_a_literal_is_replaced_wherever_it_is(value):
    made = cleaned(DumpFile("x/y.json"), json.dumps(value).encode())
    assert made.file is not None
    assert made.places
    assert SECRET.encode() not in made.file.content
    assert not list(literals(json.loads(made.file.content)))


@pytest.mark.parametrize(
    "value",
    [
        {"apiKey": "$GW_KEY", "env": {"TOKEN": "${TOKEN}"}},
        {"maxTokens": "4096", "keybindings": [{"key": "ctrl+a"}], "token": ""},
        {"args": ["--token", "--verbose", "--api-key=$KEY"], "url": "https://host/x"},
    ],
)
def test_what_is_no_credential_is_left_alone(value):
    content = json.dumps(value).encode()
    file = DumpFile("x/y.json", content)
    assert cleaned(file, content) == (file, ())


def test_a_value_too_short_to_replace_for_certain_leaves_the_file_out():
    assert cleaned(DumpFile("x.yml"), b"password: abc\n") == (None, ("password",))
