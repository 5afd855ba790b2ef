"""Compare a trace with its result and classify every mismatch (spec/70).

Pure except for the schema library, which is loaded on use.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from outfitter.evidence.result import RESULT_VERSION, SECTIONS, digest, reconstruct
from outfitter.evidence.trace import TRACE_VERSION

Kind = Literal["missing", "malformed", "schema", "config-drift", "model-drift", "state-drift", "outcome-drift"]


class Mismatch(NamedTuple):
    """One mismatch: its class, the file and field, and what was read there."""

    kind: Kind
    file: Literal["trace", "result"]
    field: str
    message: str


# The class of each field of the result; every other field is an outcome.
_FIELDS: dict[str, Kind] = {
    "runtime": "config-drift",
    "run_id": "config-drift",
    "schema_version": "schema",
    "model": "model-drift",
}

# Mappings from an older declared schema version to the next; empty while version 1 is the oldest.
TRACE_UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
RESULT_UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}


def compare(trace: dict[str, Any], result: dict[str, Any]) -> tuple[Mismatch, ...]:
    """Compare the result with `reconstruct(trace)`, field by field; both are valid and current."""
    mismatches: list[Mismatch] = []
    expected = reconstruct(trace)
    sections = result.get("trace_sections") or {}
    for name in SECTIONS:
        if sections.get(name) != expected["trace_sections"][name]:
            kind: Kind = f"{name}-drift"  # type: ignore[assignment]
            mismatches.append(
                Mismatch(
                    kind, "trace", name, f"the {name} section of the trace is not the one that the result was made from"
                )
            )
    for field in sorted({*expected, *result}):
        if field in ("trace_digest", "trace_sections") or field not in expected:
            continue
        if result.get(field) != expected[field]:
            mismatches.append(
                Mismatch(
                    _FIELDS.get(field, "outcome-drift"), "result", field, _differs(expected[field], result.get(field))
                )
            )
    if not mismatches and result.get("trace_digest") != digest(trace):
        mismatches.append(Mismatch("outcome-drift", "result", "trace_digest", "does not match the digest of the trace"))
    return tuple(mismatches)


def upgraded(value: Any, file: Literal["trace", "result"]) -> tuple[Any, Mismatch | None]:
    """Return a document at the current schema version, or a mismatch for a newer or unknown version."""
    current = TRACE_VERSION if file == "trace" else RESULT_VERSION
    steps = TRACE_UPGRADES if file == "trace" else RESULT_UPGRADES
    version = value.get("schema_version") if isinstance(value, dict) else None
    while isinstance(version, int) and version < current and version in steps:
        value = steps[version](value)
        version = value["schema_version"]
    if version != current or isinstance(version, bool):
        return value, Mismatch(
            "schema", file, "schema_version", f"unknown version {version!r} (this Outfitter reads {current})"
        )
    return value, None


def _differs(expected: Any, actual: Any) -> str:
    return f"expected {_short(expected)} from the trace, got {_short(actual)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
