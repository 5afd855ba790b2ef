"""Every command, with what it is for."""

from __future__ import annotations

# Command → what it is for, in one line; the module is outfitter.cli.<command>.
COMMANDS: dict[str, str] = {
    "run": "launch an agent (the default command)",
    "diff": "list what a retained run wrote, and what was kept",
    "recover": "finish runs that were killed",
    "conflicts": "show, apply or drop changes that could not be saved",
    "list": "list agents, skills, knowledge and commands",
    "show": "show one composed agent and where each part comes from",
    "trust": "what a project would run by itself, and who allowed it",
    "validate": "check the tree and the settings",
    "dump": "write the effective tree, or one agent's closure",
    "settings": "show the merged settings (--origin: and their files)",
    "schema": "print a JSON Schema for editors",
    "sync": "fetch remote catalogs and settings",
    "sources": "list the layers and their sources",
    "setup": "create a first agent",
    "import": "make a tree of what another tool reads here",
    "fingerprint": "print a digest of a directory's content",
    "evidence": "verify, replay, publish or prune the evidence of runs",
    "batch": "run an agent once for each input",
    "report": "print a report on a run or a batch",
    "doctor": "check the installation, and say how to fix it",
    "demo": "try a complete launch here, without an account",
    "completion": "print shell completion for bash, zsh or fish",
    "cache": "manage the cache: dir, prune, clean",
}

# Command → module, where the command's name cannot be a module's.
_MODULES = {"import": "import_tree"}


def module_of(name: str) -> str:
    """The module of a command."""
    return f"outfitter.cli.{_MODULES.get(name, name)}"
