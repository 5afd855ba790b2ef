"""A model gateway that never gets another login, and the one `--settings` file (006.9.4, spec/40).

Measured: `env` in the user's or a project's settings beats the process environment, and `--settings` beats both; of
two `--settings` the last wins. An `apiKeyHelper` in the user's settings is sent to whatever host is configured,
unless `--settings` empties it. So is a key stored in the user's own state file, next to any token: no setting empties
that, but a header of the same name replaces it.

Pure.

Measured: `env` of a user's or a project's settings beats the process environment, `--settings` beats both, and of two
`--settings` the last wins. An `apiKeyHelper` of the user's settings is sent to whatever host is configured, unless it is
empty there. So is a key stored in the user's own state file, beside any token: no setting empties that, but a header of the
same name takes its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from returns.result import Failure, Success

from outfitter.adapters.models import selection
from outfitter.model.composition import Composition, ModelTarget, Subagent
from outfitter.model.errors import CompositionFailed, UsageError
from outfitter.model.request import Notice
from outfitter.model.value import NamedTuple
from outfitter.railway import Outcome

# Whatever else could sign a request, or send it to another service; empty counts as unset there.
OTHER_LOGINS = (
    "ANTHROPIC_API_KEY",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_REFRESH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR",
    "CLAUDE_CODE_API_KEY_FILE_DESCRIPTOR",
    "CLAUDE_CODE_SESSION_ACCESS_TOKEN",
    "ANTHROPIC_IDENTITY_TOKEN",
    "ANTHROPIC_IDENTITY_TOKEN_FILE",
    "ANTHROPIC_PROFILE",
    "ANTHROPIC_UNIX_SOCKET",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
    "CLAUDE_CODE_USE_MANTLE",
    "CLAUDE_CODE_USE_GATEWAY",
    "CLAUDE_CODE_USE_ANTHROPIC_AWS",
    "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD",
)
HELPER = "apiKeyHelper"
KEY_HEADER = "x-api-key"
NO_TOKEN = "none"
_REFERENCE = r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}|^\$([A-Za-z_][A-Za-z0-9_]*)$"


class Gateway(NamedTuple):
    """Variables to set and to unset for the child, and settings that enforce them over other files."""

    env: Mapping[str, str]
    unset: tuple[str, ...]
    settings: Mapping[str, Any]


NO_GATEWAY = Gateway({}, (), {})


def gateway(target: ModelTarget | None, agent: str, env: Mapping[str, str], inherited: bool) -> Outcome[Gateway]:
    """Return the gateway of a registry target; no gateway for any other target.

    `env` is the environment that the child would have; `inherited` is true if it reads the user's own state file.

    Errors: a header that names a variable which is unset or empty, or whose value breaks the line.
    """
    if target is None or target.kind != "registry":
        return Success(NO_GATEWAY)
    headers: list[str] = []
    for name, value in target.headers.items():
        text, unset = _expanded(value, env)
        why = f"needs the environment variable {unset}, which is unset or empty" if unset else ""
        if not why and {"\r", "\n"} & set(text):
            why = "would contain a line break with the variables of this environment, and so another header"
        if why:
            message = f"agent {agent}: header {name} of provider {target.provider} {why}"
            return Failure(CompositionFailed(message, f"export {unset}=… before the launch" if unset else ""))
        headers.append(f"{name}: {text}")
    token = env.get(target.variable, "") if target.variable else NO_TOKEN
    if inherited and KEY_HEADER not in {name.lower() for name in target.headers}:
        headers.append(f"{KEY_HEADER}: {token}")
    given = {
        "ANTHROPIC_BASE_URL": base_url(target.base_url),
        "ANTHROPIC_AUTH_TOKEN": token,
        "ANTHROPIC_CUSTOM_HEADERS": "\n".join(headers),
    }
    emptied = {**given, **dict.fromkeys(OTHER_LOGINS, "")}
    return Success(Gateway(given, OTHER_LOGINS, {"env": emptied, HELPER: ""}))


def base_url(url: str) -> str:
    """Return the address without `/v1` and without a final slash, as the program expects it."""
    return url.rstrip("/").removesuffix("/v1").rstrip("/")


def settings_document(layers: tuple[Mapping[str, Any], ...], over: Gateway) -> bytes | None:
    """Return the generated settings as JSON, or None if there are none.

    `layers` come lowest first; the gateway's own keys override them all.
    """
    merged: dict[str, Any] = {}
    for layer in (*layers, over.settings):
        merged = _merged(merged, layer)
    return json.dumps(merged, indent=2).encode() + b"\n" if merged else None


def settings_object(text: str) -> Outcome[Mapping[str, Any]]:
    """Return the JSON object that a `--settings` value contains.

    Errors: a `UsageError` if it is not one. Without folding one of the two settings would be lost.

    Errors: a `UsageError` where it is none, for folding would lose it and not folding would lose ours.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return Success(value)
    return Failure(
        UsageError("--settings is not a JSON object", "it is merged with the settings that this run generates")
    )


def _merged(low: Mapping[str, Any], high: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(low)
    for key, value in high.items():
        below = merged.get(key)
        both = isinstance(below, Mapping) and isinstance(value, Mapping)
        merged[key] = _merged(below, value) if both else value  # type: ignore[arg-type]
    return merged


def _expanded(value: str, env: Mapping[str, str]) -> tuple[str, str]:
    """Return a header's value with its variables replaced, and the first unset variable ("" for none)."""
    names = [found[1] or found[2] for found in re.finditer(_REFERENCE, value)]
    unset = next((name for name in names if not env.get(name)), "")
    return re.sub(_REFERENCE, lambda found: env.get(found[1] or found[2], ""), value), unset


DIALECT = "anthropic-messages"
_LEVELS = ("low", "medium", "high", "xhigh", "max")


class Word(NamedTuple):
    """A value for a flag or a front matter key ("" for none), and notices if the tree asked for another."""

    name: str
    notices: tuple[Notice, ...] = ()


def leader_target(composition: Composition) -> tuple[ModelTarget | None, tuple[Notice, ...]]:
    """The leader's target, if this program can keep it whole."""
    chosen = selection(composition.model, composition.agent, "claude", (DIALECT,), "anthropic")
    return chosen.target, chosen.notices


def subagent_model(composition: Composition, subagent: Subagent) -> Word:
    """Return a subagent's model, if it is at the endpoint that the leader uses (006.9.6).

    All requests of a session go to one endpoint.
    """
    chosen = selection(subagent.model, subagent.id, "claude", (DIALECT,), "anthropic")
    target = chosen.target
    if target is None:
        return Word("", chosen.notices)
    leader, _ = leader_target(composition)
    here = _endpoint(leader)
    if _endpoint(target) not in ("", here) or (target.kind == "split" and here):
        return Word(
            "",
            (
                Notice(
                    "warning",
                    "model-omitted",
                    f"agent {subagent.id}: model {target.provider}/{target.model} is not at the endpoint that"
                    f" {composition.agent} uses, and a subagent has no other; skipped",
                ),
            ),
        )
    return Word(target.model)


def effort(level: str, agent: str, help_text: str) -> Word:
    """Return the value of `--effort`; an unknown level is skipped with a warning.

    Known are the levels that the program's help lists, else the built-in list.
    """
    if not level:
        return Word("")
    known = levels(help_text)
    if level in known:
        return Word(level)
    message = f"agent {agent}: claude has no thinking level {level!r}; skipped"
    return Word("", (Notice("warning", "thinking-unknown", message, f"known: {', '.join(known)}"),))


def levels(help_text: str) -> tuple[str, ...]:
    """The effort levels in brackets after `--effort` in the help, else the known ones."""
    found = re.search(r"--effort\s+<\w+>(?:(?!--effort)[^()])*+\(([a-z,\s]+)\)", help_text)
    return tuple(word.strip() for word in found[1].split(",") if word.strip()) if found else _LEVELS


def _endpoint(target: ModelTarget | None) -> str:
    return f"{target.provider} {target.base_url}" if target is not None and target.kind == "registry" else ""
