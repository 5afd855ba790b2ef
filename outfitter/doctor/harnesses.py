"""Which harnesses this machine has, their versions, and the options they lack (`outfitter doctor`)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from outfitter.adapters import adapter
from outfitter.doctor.directories import Check, Verdict, misplaced
from outfitter.edges.environment import home_directory
from outfitter.edges.programs import ask_program, find_harness
from outfitter.model.errors import HarnessUnavailable, LaunchError, os_error_text
from outfitter.model.settings import StatePath
from outfitter.railway import fold, identity

# The options that each adapter may use, and what for: doctor looks for them in `--help`.
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


def harness_check(harness: str, env: Mapping[str, str], wanted: bool) -> tuple[Check, str]:
    """Return a check of one harness's presence, version and options, and its `--help`.

    `wanted` tells that launches use it by default.
    """
    name = f"harness {harness}"
    program: str | LaunchError = fold(
        find_harness(adapter(harness).command, env.get("PATH", ""), home_directory(env)), identity, identity
    )
    if isinstance(program, str):
        return _installed_check(name, harness, program, env, wanted)
    error = program
    if isinstance(error, HarnessUnavailable) and not error.found:
        verdict: Verdict = "error" if wanted else "info"
        return Check(
            name, verdict, "not installed" + (", and launches default to it" if wanted else ""), error.hint
        ), ""
    reason = f"{error.found} {error.reason}" if isinstance(error, HarnessUnavailable) else repr(error)
    hint = error.hint if isinstance(error, HarnessUnavailable) else ""
    return Check(name, "error" if wanted else "warning", reason, hint), ""


def native_check(harness: str, native: str, states: tuple[StatePath, ...]) -> Check:
    """Check that what is in a harness's native directory is of the kind that its runs link to."""
    name = f"native {harness}"
    reason = misplaced(native, True)
    if reason:
        return Check(name, "error", f"{native} {reason}", "fix the symlink, or move it aside")
    wrong = []
    for state in states:
        if state.native is None or state.default != "symlink":
            continue
        reason = misplaced(state.native.rstrip("/"), state.key.endswith("/"))
        if reason:
            wrong.append(f"{state.native} {reason}")
    if wrong:
        return Check(
            name, "error", wrong[0], "fix it, or set another strategy for it under state_persistence", tuple(wrong[1:])
        )
    if not os.path.isdir(native):
        return Check(name, "info", f"{native} does not exist yet; a launch creates it")
    if not os.access(native, os.W_OK | os.X_OK):
        return Check(name, "warning", f"{native} is not writable: logins and settings cannot be saved")
    return Check(name, "ok", native)


def _installed_check(name: str, harness: str, program: str, env: Mapping[str, str], wanted: bool) -> tuple[Check, str]:
    try:
        version, runs = ask_program(program, ("--version",), env)
        help_text, helped = ask_program(program, ("--help",), env)
    except OSError as error:
        version, runs, help_text, helped = os_error_text(error), False, "", False
    first = version_line(version)
    if not runs:
        reason = next((line.strip() for line in version.splitlines() if "rror" in line), first) or "it printed nothing"
        verdict: Verdict = "error" if wanted else "warning"
        return Check(name, verdict, f"{program}: `--version` failed: {reason}", "repair or reinstall it"), ""
    absent = missing(harness, help_text) if helped else {}
    known = len(FLAGS[harness]) - len(absent)
    summary = f"{first} ({program}), {known} of {len(FLAGS[harness])} options that Outfitter may use"
    if not helped:
        return Check(name, "warning", f"{first} ({program}); `--help` failed, so its options are unknown"), ""
    details = tuple(f"{flag} is missing: {purpose}" for flag, purpose in absent.items())
    hint = f"update it: {adapter(harness).install}" if absent else ""
    return Check(name, "warning" if absent else "ok", summary, hint, details), help_text


def version_line(text: str) -> str:
    """Return the line of `--version` with the version; programs may print warnings before it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    numbered = (line for line in lines if re.search(r"\d+\.\d+", line) and not line.startswith("WARNING"))
    return next(numbered, lines[0] if lines else "")


def missing(harness: str, help_text: str) -> dict[str, str]:
    """Return the options of `FLAGS` that a help text does not name, with what each is for.

    `--x[-file]` in a help text names `--x-file` too.
    """
    spelled = re.sub(r"(--[a-z-]+)\[(-[a-z-]+)\]", r"\1 \1\2", help_text)
    return {
        flag: purpose
        for flag, purpose in FLAGS[harness].items()
        if not re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", spelled)
    }
