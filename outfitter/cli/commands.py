"""Every command, with what it is for."""

from __future__ import annotations

# Command → what it is for, in one line; the module is outfitter.cli.<command>.
COMMANDS: dict[str, str] = {
    "run": "launch an agent (the command that needs no name)",
    "diff": "what a retained run wrote, who owns it, and what became of it",
    "recover": "finish what a killed launcher left",
    "conflicts": "see, take or drop what could not be saved",
    "list": "agents, skills, knowledge and commands of the tree",
    "show": "one agent, composed, with the source of each part",
    "validate": "check the tree and the settings",
    "dump": "write the effective tree, or one agent's closure",
    "settings": "the merged settings, with --origin where each came from",
    "schema": "JSON Schemas for editors",
    "sync": "fetch remote catalogs and settings",
    "sources": "where layers come from, and their state",
    "setup": "a first agent, step by step",
    "import": "make a tree of what another tool reads here",
    "fingerprint": "one digest of a directory's names, kinds and bytes",
    "evidence": "verify, replay, publish or prune the evidence of runs",
    "batch": "run an agent once for each input",
    "report": "one page of a run or a batch",
    "doctor": "what is installed, and what would stop a launch",
    "demo": "a whole launch on this machine, no account needed",
    "completion": "shell completion for bash, zsh or fish",
    "cache": "Outfitter's own cache: dir, prune, clean",
}

# Command → module, where the command's name cannot be a module's.
_MODULES = {"import": "import_tree"}


def module_of(name: str) -> str:
    """The module of a command."""
    return f"outfitter.cli.{_MODULES.get(name, name)}"
