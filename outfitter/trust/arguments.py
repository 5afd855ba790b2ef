"""Arguments of a tree that would set what only the home may set, by another door. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from outfitter.trust.names import refused

# Claude Code: a document of settings, whose `env` beats the process environment.
SETTINGS = "--settings"
# Settings of Claude Code that run a program or send a login by themselves, whatever the environment holds.
HELPERS = (
    "apiKeyHelper",
    "awsAuthRefresh",
    "awsCredentialExport",
    "gcpAuthRefresh",
    "otelHeadersHelper",
    "proxyAuthHelper",
)
# Codex: one key of the configuration.
OVERRIDES = ("-c", "--config")
# Keys of Codex's configuration that name a host, a provider, the environment of what it runs, or whom it trusts.
_OVERRIDE = re.compile(
    r"(^|\.)(\w*base_url|model_providers?|chatgpt_\w*url|openai_\w+|shell_environment_policy|otel|projects|profiles?"
    r"|sqlite_home|log_dir|forced_\w+|ca_certificate|proxy|network_proxy)(\.|$)"
)

Fault = tuple[str, str]
"""(the words as written, why they are refused)."""


def faults(words: tuple[str, ...]) -> Iterator[Fault]:
    """Return what in a list of arguments only the home may set, in every spelling of the options."""
    for number, word in enumerate(words):
        if word == "--":
            return
        name, equals, value = word.partition("=")
        following = words[number + 1] if number + 1 < len(words) else None
        if name == SETTINGS:
            why = _about_settings(value if equals else following)
            if why:
                yield SETTINGS, why
        elif name in OVERRIDES or (word.startswith("-c") and not word.startswith("--") and len(word) > 2):
            given = _override(word, name, value, equals, following)
            key = re.sub(r"[\s\"']", "", given.partition("=")[0]).lower()
            if _OVERRIDE.search(key):
                yield f"-c {key}", "chooses which host is talked to, or whom Codex trusts"
            yield from _named(given, f"-c {key}")


def environment_faults(settings: Mapping[str, Any]) -> Iterator[Fault]:
    """What in a document of Claude Code's settings sets a name that only the home may set."""
    env = settings.get("env")
    for name in env if isinstance(env, Mapping) else ():
        why = refused(str(name))
        if why:
            yield f"env.{name}", why


def _override(word: str, name: str, value: str, equals: str, following: str | None) -> str:
    if name == "--config":
        return value if equals else following or ""
    if word == "-c":
        return following or ""
    return word[2:].removeprefix("=")


def _named(given: str, label: str) -> Iterator[Fault]:
    """Return the refused names that are keys of the value, as in `set={PATH="…"}`.

    What a server is given in its own table concerns that server alone.
    """
    if given.partition("=")[0].strip().lower().startswith("mcp_servers"):
        return
    for found in re.finditer(r"[\"']?([A-Za-z_][A-Za-z0-9_]*)[\"']?\s*=", given.partition("=")[2]):
        name = found[1]
        if name.isupper() and refused(name):
            yield f"{label}: {name}", refused(name)
        elif _OVERRIDE.search(name.lower()):
            yield f"{label}: {name}", "chooses which host is talked to, or whom Codex trusts"


def _about_settings(value: str | None) -> str:
    """Why the value of `--settings` cannot come from a tree, "" if it can."""
    try:
        document = json.loads(value or "")
    except (ValueError, RecursionError):
        return "names a file, which nobody compared; write the settings out"
    if not isinstance(document, Mapping):
        return "is not a JSON object"
    found = [f"{name}: {why}" for name, why in environment_faults(document)]
    found += [f"{name} would run a program for a login" for name in HELPERS if document.get(name)]
    return "; ".join(found)
