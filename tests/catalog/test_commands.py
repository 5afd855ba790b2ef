"""`list`, `show`, `validate` and `dump` as a user runs them (spec/10, spec/30, spec/80)."""

import json
import os
import stat
from pathlib import Path

import pytest


def tree(machine):
    machine.agent(
        "reviewer", "You review.", description="Reads changes", inherits="base", skills=["one", "private"], mcp=["db"]
    )
    machine.agent("base", "Base words.", abstract=True)
    machine.put(".agents/skills/one/SKILL.md", "---\nname: one\ndescription: first\n---\nDo.\n")
    machine.put(".agents/skills/one/scripts/run.sh", "#!/bin/sh\n", 0o755)
    machine.put(".agents/agents/reviewer/skills/private/SKILL.md", "---\nname: private\ndescription: own\n---\nDo.\n")
    machine.put(machine.home / ".agents/skills/one/SKILL.md", "---\nname: one\ndescription: shadowed\n---\nDo.\n")
    machine.put(".agents/mcp.json", '{"mcpServers": {"db": {"command": "db", "env": {"DB_TOKEN": "t0p-secret"}}}}')
    machine.put(".agents/agents.md", "Context words.")
    machine.put(".agents/knowledge/facts.md", "f")
    machine.put(".agents/commands/fix.md", "fix")


def document(ended):
    assert ended.code == 0, ended
    made = json.loads(ended.out)
    assert made["schema_version"] == 1
    return made


def test_list_shows_the_winners(machine):
    tree(machine)
    ended = machine.run("list")
    assert ended.code == 0, ended
    assert "reviewer" in ended.out
    assert "(abstract)" in ended.out
    assert "context: agents.md, 14 bytes" in ended.out
    assert "shadowed" not in ended.out
    assert ended.err == ""


def test_list_as_json(machine):
    tree(machine)
    made = document(machine.run("list", "--json"))
    assert [(row["id"], row["flags"]) for row in made["agents"]] == [("base", ["abstract"]), ("reviewer", [])]
    (one, private) = sorted(made["skills"], key=lambda row: row["id"])
    assert one["shadows"] == [str(machine.home / ".agents/skills/one/SKILL.md")]
    assert (private["id"], private["agent"]) == ("private", "reviewer")
    assert [row["id"] for row in made["knowledge"]] == ["facts"]
    assert [row["id"] for row in made["commands"]] == ["fix"]
    assert [layer["kind"] for layer in made["layers"]] == ["project", "home"]
    assert made["notices"] == []


def test_list_of_one_kind_as_one_agent_sees_it(machine):
    tree(machine)
    machine.agent("other", skills=["one"])
    made = document(machine.run("list", "skills", "--agent", "other", "--json"))
    assert set(made) == {"schema_version", "layers", "skills", "context", "notices"}
    assert [(row["id"], row["flags"]) for row in made["skills"]] == [("one", ["selected"])]
    ended = machine.run("list", "--agent", "othr")
    assert ended.code == 1
    assert "did you mean other?" in ended.err
    assert machine.run("list", "nonsense").code == 2


def test_list_of_a_tree_without_agents_says_the_next_step(machine):
    machine.put(".agents/skills/one/SKILL.md", "---\nname: one\ndescription: first\n---\nDo.\n")
    ended = machine.run("list")
    assert ended.code == 0
    assert "outfitter setup" in ended.err


def test_rival_sources_are_told_by_list_and_validate_and_not_by_a_run(machine):
    machine.agent("a")
    for name in ("x", "y"):
        machine.put(machine.top / name / "skills/one/SKILL.md", f"---\nname: one\ndescription: {name}\n---\nDo.\n")
    machine.settings("sources: [{path: ../../x}, {path: ../../y}]\n")
    machine.settings("sources: [{path: ../../z}]\n", under=machine.home)
    for words in (("list",), ("validate",)):
        ended = machine.run(*words)
        assert ended.code == 0, ended
        said = ended.out + ended.err
        assert f"skill 'one' is in {machine.top / 'x'} and {machine.top / 'y'}; {machine.top / 'x'} wins" in said
        assert "drop ../../z" in said
    assert machine.run("run", "a").err == ""
    machine.put(".agents/skills/one/SKILL.md", "---\nname: one\ndescription: own\n---\nDo.\n")
    assert "wins" not in machine.run("list").err


def test_one_repository_at_two_refs(machine):
    machine.agent("a")
    machine.settings("sources: [{github: acme/x, ref: v1}, {uri: 'https://github.com/acme/x.git', ref: v2}]\n")
    assert "github.com/acme/x is declared at v1 and v2; v1 wins" in machine.run("list").err


def test_show_gives_the_identity_with_its_sources_and_no_secret(machine):
    tree(machine)
    ended = machine.run("show", "reviewer")
    assert ended.code == 0, ended
    assert f"body of base  [project] {machine.project}/.agents/agents/base/agent.md\nBase words." in ended.out
    assert "t0p-secret" not in ended.out + ended.err
    made = document(machine.run("show", "reviewer", "--json"))
    assert [fragment["kind"] for fragment in made["identity"]] == ["context", "body", "body"]
    assert made["chain"] == ["base", "reviewer"]
    assert [skill["id"] for skill in made["skills"]] == ["one", "private"]
    assert made["skills"][0]["files"] == ["scripts/run.sh"]
    assert set(made["unsupported"]) == {"pi", "claude", "codex"}
    assert "t0p-secret" not in json.dumps(made)
    assert len(made["digest"]) == 64


def test_show_does_not_need_a_credential(machine):
    provider = {
        "api": "anthropic-messages",
        "baseUrl": "http://127.0.0.1:9",
        "apiKey": "$GW_KEY",
        "models": [{"id": "m"}],
    }
    machine.put(".agents/models.json", json.dumps({"providers": {"gw": provider}}))
    machine.agent("a", model="gw/m")
    made = document(machine.run("show", "a", "--json"))
    assert (made["model"]["provider"], made["model"]["variable"]) == ("gw", "GW_KEY")
    assert machine.run("run", "a").code == 125


def test_show_of_what_is_not_there(machine):
    tree(machine)
    ended = machine.run("show", "reviewr", "--json")
    assert ended.code == 1
    error = json.loads(ended.err)
    assert (error["kind"], "reviewer" in error["hint"]) == ("composition-failed", True)


def test_validate_a_clean_tree(machine):
    tree(machine)
    machine.put(".agents/mcp.json", '{"mcpServers": {"db": {"command": "db"}}}')
    ended = machine.run("validate", "--strict")
    assert (ended.code, [line for line in ended.out.splitlines() if not line.startswith("note:")]) == (0, [])


def test_validate_finds_everything_at_once(machine):
    machine.agent("a", skills=["non"], mcp=["nodb"], inherits="b")
    machine.agent("b", skillz=["x"])
    machine.put(".agents/skills/none/SKILL.md", "---\nname: none\ndescription: Use when: x\n---\nDo.\n")
    machine.put(".agents/skills/broken/SKILL.md", "---\nreferences: [\n---\nDo.\n")
    machine.settings("default_agent: c\n")
    ended = machine.run("validate", "--json")
    assert ended.code == 1
    made = json.loads(ended.out)
    assert not made["ok"]
    found = {(one["level"], one["code"]) for one in made["findings"]}
    assert {
        ("error", "skill-missing"),
        ("error", "server-missing"),
        ("error", "file"),
        ("error", "composition"),
        ("warning", "near-yaml"),
        ("warning", "agent-key"),
    } <= found
    broken = next(one for one in made["findings"] if one["path"].endswith("broken/SKILL.md"))
    assert broken["line"] > 1
    assert any("did you mean none" in one["hint"] for one in made["findings"])
    assert any(one["hint"] == "did you mean skills?" for one in made["findings"])


def test_strict_makes_warnings_fail(machine):
    machine.agent("a")
    machine.put(".agents/skills/x/SKILL.md", "---\nname: x\n---\nDo.\n")
    assert machine.run("validate").code == 0
    assert machine.run("validate", "--strict").code == 1


def test_validate_of_broken_settings_names_file_line_and_key(machine):
    machine.agent("a")
    machine.settings("default_agent: [1]\nsources: x\n")
    ended = machine.run("validate")
    assert ended.code == 1
    assert ".agents/settings.yml:1:" in ended.out
    assert ".agents/settings.yml:2:" in ended.out


def test_validate_looks_at_servers_and_models_that_nobody_selects(machine):
    machine.agent("a", abstract=True)
    machine.put(
        ".agents/mcp.json", '{"mcpServers": {\n"x": {"env": {}},\n"y": {"command": "y", "env": {"A_KEY": "v4lue"}}}}'
    )
    machine.put(".agents/agents/a/mcp.json", '{"mcpServers": {,}}')
    machine.put(
        ".agents/models.json", '{"providers": {"p": {"api": "x", "baseUrl": "http://h", "apiKey": "literal-k3y"}}}'
    )
    ended = machine.run("validate", "--json")
    assert ended.code == 1
    found = {
        (one["level"], one["code"], one["path"].rpartition(".agents/")[2], one["line"])
        for one in json.loads(ended.out)["findings"]
    }
    assert ("error", "server-invalid", "mcp.json", 2) in found
    assert ("warning", "server-written", "mcp.json", 3) in found
    assert ("error", "file", "agents/a/mcp.json", 1) in found
    assert ("error", "file", "models.json", 1) in found
    assert "v4lue" not in ended.out + ended.err
    assert "literal-k3y" not in ended.out + ended.err


def test_validate_names_a_source_that_is_no_tree(machine):
    machine.agent("a")
    machine.put(machine.top / "repo/.agents/agents/b/agent.md", "You are B.")
    machine.settings("sources: [{path: ../../repo}]\n")
    ended = machine.run("validate")
    assert f"warning: {machine.top}/repo: this source is not an .agents tree" in ended.out
    assert f"hint: name {machine.top}/repo/.agents" in ended.out


def test_validate_checks_state_persistence_for_every_harness(machine):
    machine.agent("a")
    machine.settings("state_persistence:\n  settings.json: symlnk\n  nowhere/: warn\n  auth.json: symlink\n")
    ended = machine.run("validate")
    assert ended.code == 1
    assert ".agents/settings.yml:2:" in ended.out
    assert ".agents/settings.yml:3:" in ended.out
    assert ".agents/settings.yml:4:" not in ended.out
    machine.settings("state_persistence: {settings.json: error, unknown: error, claude: {projects/: discard}}\n")
    assert machine.run("validate").code == 0


def snapshot(root):
    found = {}
    for folder, _, names in os.walk(root):
        for name in ("", *names):
            path = os.path.join(folder, name)
            status = os.lstat(path)
            content = Path(path).read_bytes() if stat.S_ISREG(status.st_mode) else b""
            found[os.path.relpath(path, root)] = (oct(status.st_mode), status.st_mtime_ns, content)
    return found


def test_dump_is_the_same_bytes_again_and_composes_to_the_same_digest(machine):
    tree(machine)
    digest = document(machine.run("show", "reviewer", "--json"))["digest"]
    for name in ("one", "two"):
        assert machine.run("dump", "--agent", "reviewer", "--out", name).code == 0
    assert snapshot(machine.project / "one") == snapshot(machine.project / "two")
    assert (machine.project / "one/skills/private/SKILL.md").exists()
    assert not (machine.project / "one/agents/reviewer/skills").exists()
    record = json.loads((machine.project / "one/.outfitter/composition.json").read_text())
    assert (record["agent"], record["chain"], record["digest"]) == ("reviewer", ["base", "reviewer"], digest)
    assert str(machine.top) not in json.dumps(record)
    assert "Base words" not in json.dumps(record)


def test_a_literal_credential_is_not_dumped(machine):
    tree(machine)
    ended = machine.run("dump", "--agent", "reviewer", "--out", "out")
    assert "db.env.DB_TOKEN" in ended.err
    text = (machine.project / "out/mcp.json").read_text()
    assert "t0p-secret" not in text + ended.err + ended.out
    assert "${DB_TOKEN}" in text


def test_dump_refuses_what_it_did_not_write(machine):
    tree(machine)
    machine.put("out/mine.txt", "mine")
    ended = machine.run("dump", "--out", "out")
    assert ended.code == 1
    assert "mine.txt" in ended.err
    assert os.listdir(machine.project / "out") == ["mine.txt"]
    assert machine.run("dump", "--out", "fresh").code == 0
    assert machine.run("dump", "--out", "fresh").code == 0
    machine.put("fresh/added.md", "mine")
    assert machine.run("dump", "--out", "fresh").code == 1
    assert (machine.project / "fresh/added.md").read_text() == "mine"
    machine.put("file", "x")
    assert machine.run("dump", "--out", "file").code == 1


def test_the_whole_tree_loses_no_lower_layers_server_or_provider(machine):
    tree(machine)
    provider = {"api": "openai-responses", "baseUrl": "http://127.0.0.1:9/v1", "models": [{"id": "m"}]}
    machine.put(
        machine.home / ".agents/mcp.json", '{"mcpServers": {"low": {"command": "low"}, "db": {"command": "x"}}}'
    )
    machine.put(machine.home / ".agents/models.json", json.dumps({"providers": {"low": provider}}))
    machine.put(".agents/models.json", json.dumps({"providers": {"high": provider}}))
    made = document(machine.run("dump", "--out", "out", "--json"))
    assert "agents/reviewer/skills/private/SKILL.md" in made["files"]
    servers = json.loads((machine.project / "out/mcp.json").read_text())["mcpServers"]
    assert {name: server["command"] for name, server in servers.items()} == {"db": "db", "low": "low"}
    assert set(json.loads((machine.project / "out/models.json").read_text())["providers"]) == {"low", "high"}
    (run,) = (machine.project / "out").rglob("run.sh")
    assert stat.S_IMODE(run.stat().st_mode) == 0o755


@pytest.mark.parametrize("words", [("list",), ("show", "a"), ("validate",), ("dump", "--agent", "a")])
def test_nothing_is_written_but_by_dump_into_its_directory(machine, words):
    machine.agent("a")
    before = snapshot(machine.project)
    machine.run(*words)
    after = {path: row for path, row in snapshot(machine.project).items() if not path.startswith("agents-dump")}
    assert {**after, ".": ()} == {**before, ".": ()}


@pytest.mark.parametrize(
    "text", ["---\nname: a\n", "---\n- a\n---\nx\n", "---\ntools: [a\n---\nx\n", b"---\n---\n\xff\n"]
)
def test_front_matter_that_cannot_be_read_is_one_finding(machine, text):
    """Not also none at all."""
    machine.put(".agents/agents/a/agent.md", text)
    found = json.loads(machine.run("validate", "--json").out)["findings"]
    assert [one["level"] for one in found if one["path"].endswith("agents/a/agent.md")] == ["error"]
