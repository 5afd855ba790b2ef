"""Settings against their JSON Schema: each violation with its position and the nearest key.

See seed 000, "Path-keyed adapter declarations".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from outfitter.model.request import Position
from outfitter.model.settings import KeyPath
from outfitter.syntax.fault import Flaw, dotted, kind_of

_KINDS = {
    "string": "text",
    "array": "a list",
    "object": "a mapping",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
}


def settings_flaws(value: Any, places: Mapping[KeyPath, Position], schema: bytes) -> tuple[Flaw, ...]:
    """Everything in `value` that the schema forbids, in the order of the file.

    Entries of `state_persistence` are left to the resolution of strategies, which knows what each path allows (exit 122).
    """
    from jsonschema_rs import Draft202012Validator

    rules = json.loads(schema)
    found: dict[KeyPath, Flaw] = {}
    for error in sorted(Draft202012Validator(rules).iter_errors(value), key=lambda error: error.kind.name != "type"):
        path = tuple(str(part) for part in error.instance_path)
        if path[:1] == ("state_persistence",) and len(path) > 1:
            continue
        for key, message, hint in _explained(error, rules, _at(value, error.instance_path)):
            where = (*path, *key)
            found.setdefault(where, Flaw(message, _place(where, places), dotted(where), hint))
    return tuple(sorted(found.values(), key=lambda flaw: flaw.at))


def _place(path: KeyPath, places: Mapping[KeyPath, Position]) -> Position:
    """Where a key path stands, or the nearest one around it."""
    while path and path not in places:
        path = path[:-1]
    return places.get(path, Position())


def _explained(error: Any, rules: Any, given: Any) -> Iterable[tuple[KeyPath, str, str]]:
    """One schema error as (further key path, message, hint) rows; `given` is the value at fault."""
    kind = error.kind.as_dict()
    match error.kind.name:
        case "additionalProperties":
            known = tuple(_at(rules, list(error.schema_path)[:-1]).get("properties", {}))
            return [((name,), "unknown key", _nearest(name, known)) for name in kind["unexpected"]]
        case "type":
            wanted = [_KINDS[name] for name in kind["types"] if name != "null"]
            return [((), f"must be {' or '.join(wanted)}, not {kind_of(given)}", "")]
        case "enum":
            from outfitter.model.wording import did_you_mean

            allowed = [str(word) for word in _at(rules, error.schema_path) if word is not None]
            shown = repr(given) if isinstance(given, str) else kind_of(given)
            return [((), f"must be one of {', '.join(allowed)}, not {shown}", did_you_mean(str(given), allowed, "", 1))]
        case "required":
            return [((), f"{kind['property']!r} is missing", "")]
        case "pattern" | "minLength":
            wanted_text = str(_at(rules, list(error.schema_path)[:-1]).get("description", "")).rstrip(".")
            return [((), f"{given!r} does not fit", wanted_text)]
        case _:
            rule = _at(rules, list(error.schema_path)[:-1])
            return [((), "is not valid here", str(rule.get("description", "") if isinstance(rule, dict) else ""))]


def _at(rules: Any, path: Iterable[Any]) -> Any:
    """The part of a schema or value that a path of keys and indexes names."""
    here = rules
    for part in path:
        here = here[part]
    return here


def _nearest(word: str, known: Iterable[str]) -> str:
    from outfitter.model.wording import did_you_mean

    return did_you_mean(word, known, f"known: {', '.join(known)}", 1)
