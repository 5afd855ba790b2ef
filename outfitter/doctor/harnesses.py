"""The harnesses of this machine, asked what they are and what they can do (`outfitter doctor`)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from outfitter.adapters import adapter
from outfitter.doctor.check import Check, Verdict
from outfitter.doctor.directories import misplaced
from outfitter.doctor.flags import FLAGS, missing
from outfitter.edges.programs import ask_program, find_harness
from outfitter.model.errors import HarnessUnavailable, LaunchError
from outfitter.model.settings import StatePath
from outfitter.railway import fold


def harness_check(harness: str, env: Mapping[str, str], wanted: bool) -> tuple[Check, str]:
    """Whether a harness is there, its version, and which options it lacks; and its `--help`. `wanted`: launches default to it."""
    name = f"harness {harness}"
    found = fold(find_harness(adapter(harness).command, env.get("PATH", "")), _either, _either)
    if isinstance(found, str):
        return _asked(name, harness, found, env, wanted)
    if isinstance(found, HarnessUnavailable) and not found.found:
        verdict: Verdict = "error" if wanted else "info"
        return Check(
            name, verdict, "not installed" + (", and launches default to it" if wanted else ""), found.hint
        ), ""
    reason = f"{found.found} {found.reason}" if isinstance(found, HarnessUnavailable) else repr(found)
    hint = found.hint if isinstance(found, HarnessUnavailable) else ""
    return Check(name, "error" if wanted else "warning", reason, hint), ""


def native_check(harness: str, native: str, states: tuple[StatePath, ...]) -> Check:
    """Whether what stands in a harness's native directory is of the kind that its runs link to."""
    name = f"native {harness}"
    reason = misplaced(native, True)
    if reason:
        return Check(name, "error", f"{native} {reason}", "mend the link, or move it out of the way")
    wrong = []
    for state in states:
        if state.native is None or state.default != "symlink":
            continue
        reason = misplaced(state.native.rstrip("/"), state.key.endswith("/"))
        if reason:
            wrong.append(f"{state.native} {reason}")
    if wrong:
        return Check(
            name, "error", wrong[0], "mend it, or set another strategy for it under state_persistence", tuple(wrong[1:])
        )
    if not os.path.isdir(native):
        return Check(name, "info", f"{native} is not there yet; a launch makes it")
    if not os.access(native, os.W_OK | os.X_OK):
        return Check(name, "warning", f"{native} cannot be written: logins and settings cannot be kept")
    return Check(name, "ok", native)


def _asked(name: str, harness: str, program: str, env: Mapping[str, str], wanted: bool) -> tuple[Check, str]:
    try:
        version, runs = ask_program(program, ("--version",), env)
        help_text, helped = ask_program(program, ("--help",), env)
    except OSError as error:
        version, runs, help_text, helped = error.strerror or str(error), False, "", False
    first = version_line(version)
    if not runs:
        why = next((line.strip() for line in version.splitlines() if "rror" in line), first) or "it printed nothing"
        verdict: Verdict = "error" if wanted else "warning"
        return Check(name, verdict, f"{program}: `--version` failed: {why}", "mend or reinstall it"), ""
    lacking = missing(harness, help_text) if helped else {}
    known = len(FLAGS[harness]) - len(lacking)
    told = f"{first} ({program}), {known} of {len(FLAGS[harness])} options that Outfitter may use"
    if not helped:
        return Check(name, "warning", f"{first} ({program}); `--help` failed: its options are not known"), ""
    details = tuple(f"{flag} is missing: {purpose}" for flag, purpose in lacking.items())
    hint = f"update it: {adapter(harness).install}" if lacking else ""
    return Check(name, "warning" if lacking else "ok", told, hint, details), help_text


def version_line(text: str) -> str:
    """The line of `--version` that holds the version: programs print warnings about their surroundings before it."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    numbered = (line for line in lines if re.search(r"\d+\.\d+", line) and not line.startswith("WARNING"))
    return next(numbered, lines[0] if lines else "")


def _either(value: str | LaunchError) -> str | LaunchError:
    return value
