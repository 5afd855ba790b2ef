"""docs/json.md against what every command prints with `--json` on a machine that has something of everything."""

import json
import re
from pathlib import Path

import pytest

from outfitter.cli.commands import COMMANDS

PAGE = Path(__file__).resolve().parents[2] / "docs/json.md"
ROW = re.compile(r"^\| `outfitter ([a-z -]+)` \| (.*?) \|", re.MULTILINE)


def shape(value, names=True):
    """An object as its keys in order, `key[…]` for a list of objects and `key{…}` for an object of fixed members."""
    found = []
    for key, inner in value.items():
        if isinstance(inner, list) and inner and isinstance(inner[0], dict):
            keys = list(dict.fromkeys(name for row in inner for name in row))
            found.append(f"{key}[{' '.join(keys)}]")
        else:
            found.append(key)
    return " ".join(key for key in found if key != "schema_version")


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """Command → the document it prints."""
    from tests.machine import Machine
    from tests.sync.test_sync import Catalog

    top = tmp_path_factory.mktemp("json")
    (top / "m").mkdir()
    machine = Machine(top / "m")
    catalog = Catalog(top / "catalog")
    furnish(machine, catalog)
    documents = {}

    def ask(name, *words, script=(), code=(0, 1)):
        ended = machine.run(*words, "--json", script=script)
        assert ended.code in code, f"{words}: {ended.err}"
        documents[name] = json.loads(ended.out)
        return documents[name]

    ask("sync", "sync")
    ask("sources", "sources")
    ask("trust", "trust")
    for name in ("list", "validate", "settings", "doctor"):
        ask(name, name)
    ask("show", "show", "full")
    ask("dump", "dump", "--out", "made")
    ask("schema", "schema", "settings")
    ask("fingerprint", "fingerprint", ".agents")
    ask("run --dry-run", "run", "full", "--dry-run")
    ask("setup", "setup", "--from", "starter", "--agent", "me", "--yes")
    machine.put("elsewhere/.claude/agents/odd.md", "no front matter\n")
    machine.put("elsewhere/.claude/commands/go.md", "Go.\n")
    ask("import", "import", "--from", "elsewhere", "--to", "adopted", "--yes")
    ask("completion", "completion", "bash")
    ask("cache dir", "cache", "dir")
    ask("cache prune", "cache", "prune")
    ask("cache clean", "cache", "clean")
    login = '{"claudeAiOauth": {"refreshToken": "%d"}}'
    machine.put(machine.home / ".claude/.credentials.json", login % 0)
    script = [["write", ".credentials.json", login % 1], ["write", "~/.claude/.credentials.json", login % 2]]
    machine.run("run", "full", "--harness", "claude", "--isolated", script=script)
    machine.run("run", "full", "--retain-projection", "--out", "out", script=[["write", "odd.txt", "x"]])
    ask("diff", "diff", "--all")
    ask("report", "report", "out")
    ask("evidence verify", "evidence", "verify", "out")
    ask("evidence replay", "evidence", "replay", "out")
    ask("evidence publish", "evidence", "publish", "out", "--to", "kept", "--task", "t")
    ask("evidence prune", "evidence", "prune", "kept", "--older-than", "0")
    machine.put("tasks/a.md", "x")
    ask("batch", "batch", "tasks", "--agent", "full", "--out", "results")
    entries = ask("conflicts list", "conflicts", "list")["conflicts"]
    ask("conflicts show", "conflicts", "show", entries[0]["id"])
    ask("conflicts apply", "conflicts", "apply", entries[0]["id"])
    entries = ask("conflicts list", "conflicts", "list")["conflicts"]
    ask("conflicts drop", "conflicts", "drop", entries[0]["id"])
    machine.run(
        "run", "full", script=[["write", "odd.txt", "x"], ["run", "kill -9 $(awk '{print $4}' /proc/$PPID/stat)"]]
    )
    back = machine.tmp / "outfitter-full-pi-abcdefgh"
    back.mkdir()
    machine.put(machine.home / ".local/state/outfitter/removed", f"{back}\0")
    retained = next(path for path in machine.run_directories() if (path / "originals").exists())
    (retained / "lock").unlink()
    ask("recover --list", "recover", "--list")
    ask("recover", "recover")
    ask("demo", "demo", "--harness", "stand-in")
    ask("--version", "--version")
    yield documents
    machine.close()


def furnish(machine, catalog):
    catalog.put(".agents/agents/elsewhere/agent.md", "---\nname: elsewhere\n---\nx\n")
    machine.settings(
        f"default_agent: full\nsources: {json.dumps([{'uri': catalog.uri, 'path': '.agents'}])}\ncolour: red\n"
    )
    for kind in ("knowledge", "commands"):
        machine.put(f".agents/{kind}/one.md", "---\ndescription: One\n---\nx\n")
    machine.put(".agents/skills/notes/SKILL.md", "---\nname: notes\ndescription: d\n---\nx\n")
    machine.put(".agents/mcp.json", '{"mcpServers": {"s": {"command": "x"}}}')
    machine.put(".agents/agents.md", "Shared.\n")
    machine.agent("under", description="d")
    machine.agent("full", skills=["notes"], mcp=["s"], subagents=["under"], description="d", model="sonnet")
    machine.put(".agents/agents/full/pi/keys.txt", "x")
    machine.put(".agents/agents/full/deepwork/jobs/j/job.yml", "x: 1\n")


def documented():
    return {name: " ".join(re.findall(r"`([^`]+)`", keys)) for name, keys in ROW.findall(PAGE.read_text())}


def test_every_document_has_the_shape_that_is_written_down(printed):
    assert {name: shape(value) for name, value in printed.items()} == documented()


def test_every_document_carries_its_version(printed):
    assert {name: value.get("schema_version") for name, value in printed.items()} == dict.fromkeys(printed, 1)


def test_every_command_is_there():
    assert {name.split()[0] for name in documented()} - {"--version"} == set(COMMANDS)
