"""Do trace and result belong together? Every mismatch, classified (spec/70). Pure but for the schema library, loaded on use."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from outfitter.evidence.result import RESULT_VERSION, SECTIONS, digest, reconstruct
from outfitter.evidence.trace import TRACE_VERSION

Kind = Literal["missing", "malformed", "schema", "config-drift", "model-drift", "state-drift", "outcome-drift"]


class Mismatch(NamedTuple):
    """One thing that does not hold: its class, which file and field, and what was found."""

    kind: Kind
    file: Literal["trace", "result"]
    field: str
    message: str


# The class of a field of the result; what is not named here is an outcome.
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
    """Field by field, result against `reconstruct(trace)`; both valid and of the current version."""
    found: list[Mismatch] = []
    expected = reconstruct(trace)
    sections = result.get("trace_sections") or {}
    for name in SECTIONS:
        if sections.get(name) != expected["trace_sections"][name]:
            kind: Kind = f"{name}-drift"  # type: ignore[assignment]
            found.append(
                Mismatch(kind, "trace", name, f"the trace's {name} section is not the one the result was folded from")
            )
    for field in sorted({*expected, *result}):
        if field in ("trace_digest", "trace_sections") or field not in expected:
            continue
        if result.get(field) != expected[field]:
            found.append(
                Mismatch(
                    _FIELDS.get(field, "outcome-drift"), "result", field, _differs(expected[field], result.get(field))
                )
            )
    if not found and result.get("trace_digest") != digest(trace):
        found.append(Mismatch("outcome-drift", "result", "trace_digest", "not the digest of the trace beside it"))
    return tuple(found)


def upgraded(value: Any, file: Literal["trace", "result"]) -> tuple[Any, Mismatch | None]:
    """A document at the current schema version by the declared mappings; a newer or unknown version is refused."""
    current = TRACE_VERSION if file == "trace" else RESULT_VERSION
    steps = TRACE_UPGRADES if file == "trace" else RESULT_UPGRADES
    version = value.get("schema_version") if isinstance(value, dict) else None
    while isinstance(version, int) and version < current and version in steps:
        value = steps[version](value)
        version = value["schema_version"]
    if version != current or isinstance(version, bool):
        return value, Mismatch(
            "schema", file, "schema_version", f"version {version!r} is not known here (this is {current})"
        )
    return value, None


def _differs(expected: Any, found: Any) -> str:
    return f"the trace gives {_short(expected)}, the result says {_short(found)}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
