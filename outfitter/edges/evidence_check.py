"""Reading an evidence pair and judging it: missing, malformed, schema, then field by field (spec/70)."""

import json
import os
from typing import Any, Literal, NamedTuple

from outfitter.edges.evidence_files import read_document
from outfitter.evidence.result import RESULT_PATH, TRACE_PATH
from outfitter.evidence.verify import Mismatch, compare, upgraded

SCHEMAS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "schemas")


class Pair(NamedTuple):
    """A pair as found: both documents at the current schema version where they could be read, and what does not hold."""

    trace: Any
    result: Any
    mismatches: tuple[Mismatch, ...]

    @property
    def is_lone_veto(self) -> bool:
        """Whether there is no trace, and a valid result says of itself that it stands alone: the harness was never started."""
        valid = isinstance(self.result, dict) and not any(row.file == "result" for row in self.mismatches)
        return self.trace is None and valid and self.result["trace_path"] is None


def read_pair(root: str) -> Pair:
    """Read and judge the pair under `root`; comparing needs both files readable and valid."""
    trace, trace_faults = _read(root, "trace", TRACE_PATH)
    result, result_faults = _read(root, "result", RESULT_PATH)
    faults = (*trace_faults, *result_faults)
    if not faults:
        faults = compare(trace, result)
    return Pair(trace, result, faults)


def schema_faults(value: Any, file: Literal["trace", "result"]) -> tuple[Mismatch, ...]:
    """Every place where a document does not fit the schema that ships with the package."""
    import jsonschema_rs

    schema, _ = read_document(os.path.join(SCHEMAS, f"{file}.json"))
    validator = jsonschema_rs.validator_for(schema)
    # Names that are not UTF-8 are lone surrogates here, which the library cannot quote; no schema asks after them.
    quotable = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    return tuple(
        Mismatch("schema", file, ".".join(map(str, fault.instance_path)) or "(root)", _first_line(fault.message))
        for fault in validator.iter_errors(quotable)
    )


def _read(root: str, file: Literal["trace", "result"], relative: str) -> tuple[Any, tuple[Mismatch, ...]]:
    value, why = read_document(os.path.join(root, relative))
    if why:
        kind: Literal["missing", "malformed"] = "missing" if why == "missing" else "malformed"
        return None, (Mismatch(kind, file, relative, "not there" if kind == "missing" else why),)
    value, refused = upgraded(value, file)
    return value, (refused,) if refused else schema_faults(value, file)


def _first_line(message: str) -> str:
    """The schema library quotes whole values: one line of them is enough."""
    line = message.splitlines()[0] if message else ""
    return line if len(line) <= 200 else line[:197] + "..."
