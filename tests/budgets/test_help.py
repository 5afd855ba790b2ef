"""No command takes long to show its help: what it may import for that, exactly and without a clock (issue: 0.25 s)."""

import json
import subprocess
import sys

import pytest

from outfitter.cli.commands import COMMANDS

SPY = """
import json, sys
from outfitter.main import main
code = main(sys.argv[2:])
with open(sys.argv[1], "w") as file:
    json.dump([code, sorted(sys.modules)], file)
"""
# What no help needs: parsers of files, validators, the machinery of a launch, of processes and of networks.
FORBIDDEN = (
    "asyncio",
    "distributed",
    "http.client",
    "importlib.metadata",
    "jsonschema_rs",
    "logging",
    "multiprocessing",
    "outfitter.edges.real",
    "outfitter.syntax.yaml_core",
    "returns.pipeline",
    "returns.pointfree",
    "rich",
    "ssl",
    "urllib.request",
    "yaml",
)
# What a command's own work brings along at its top: executors are of concurrent.futures, which logs.
OWN = {"batch": {"logging"}}
# `help COMMAND` and what the commands of every day load; the heaviest command's own imports bound the rest.
MOST_OF_OURS = 75
PAGES = [("--help",), ("help", "diff"), ("run", "--help"), *((name, "--help") for name in COMMANDS)]


@pytest.mark.parametrize("words", PAGES, ids=" ".join)
def test_help_imports_little(machine, words):
    record = machine.top / "modules.json"
    ended = subprocess.run(
        [sys.executable, "-c", SPY, str(record), *words],
        cwd=machine.project,
        env=machine.env(),
        capture_output=True,
        check=True,
    )
    code, modules = json.loads(record.read_text())
    ours = [name for name in modules if name.split(".")[0] in ("outfitter", "stages")]
    assert (code, ended.stderr) == (0, b"")
    assert ended.stdout.startswith((b"usage: outfitter", b"Run your agents"))
    assert set(FORBIDDEN) & set(modules) <= OWN.get(words[0], set())
    assert len(ours) <= MOST_OF_OURS, ours
