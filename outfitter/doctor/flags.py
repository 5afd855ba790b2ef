"""The options of each harness that its adapter may use, and what for: what `outfitter doctor` looks for in `--help`. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

FLAGS: Mapping[str, Mapping[str, str]] = {
    "pi": {
        "--system-prompt": "identity",
        "--append-system-prompt": "identity",
        "--no-skills": "skills",
        "--skill": "skills",
        "--extension": "extensions",
        "--prompt-template": "commands and prompt templates",
        "--provider": "models",
        "--model": "models",
        "--thinking": "thinking levels",
        "--tools": "tool limits",
        "--exclude-tools": "tool limits",
        "--no-tools": "tool limits",
    },
    "claude": {
        "--plugin-dir": "inherited runs",
        "--mcp-config": "servers",
        "--strict-mcp-config": "isolated servers",
        "--system-prompt-file": "identity",
        "--append-system-prompt-file": "identity",
        "--settings": "model gateways",
        "--model": "models",
        "--effort": "thinking levels",
        "--tools": "tool limits",
        "--disallowedTools": "tool limits",
        "--system-prompt-snapshot": "a changed identity in a continued session",
    },
    "codex": {"--config": "servers, models, identity", "--model": "models"},
}


def missing(harness: str, help_text: str) -> dict[str, str]:
    """The options of `FLAGS` that a help text does not name, with what each is for. `--x[-file]` names `--x-file` too."""
    spelled = re.sub(r"(--[a-z-]+)\[(-[a-z-]+)\]", r"\1 \1\2", help_text)
    return {
        flag: purpose
        for flag, purpose in FLAGS[harness].items()
        if not re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", spelled)
    }
