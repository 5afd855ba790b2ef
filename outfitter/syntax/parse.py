"""The one way from a file's bytes to a value (spec/10, "Hostile and broken input")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outfitter.model.layers import DocumentForm
from outfitter.syntax.fault import Flaw, Node, Parsed, TextError, kind_of, positions
from outfitter.syntax.text import decode

EMPTY: Mapping[DocumentForm, Any] = {"yaml": {}, "settings": {}, "json": {}, "markdown": None, "text": None}


def parse(content: bytes, form: DocumentForm, schema: bytes = b"") -> Parsed:
    """What a file holds; total: whatever is wrong is a flaw, and the value is then the form's empty one.

    `schema` is the JSON Schema that the form `settings` must satisfy.
    """
    try:
        return _read(decode(content), form, schema)
    except TextError as fault:
        return Parsed(EMPTY[form], {}, flaws=(Flaw(fault.message, fault.at, fault.key, fault.hint),))


def _read(text: str, form: DocumentForm, schema: bytes) -> Parsed:
    if form == "text":
        return Parsed(None, {}, text)
    if form == "json":
        # Read at every launch, never remembered: it must not bring the other forms' readers with it.
        from outfitter.syntax import json_scanner

        return _mapping(json_scanner.load(text))
    from outfitter.syntax import front_matter, yaml_core

    if form == "markdown":
        return front_matter.read(text)
    read = _mapping(yaml_core.load(text))
    if form == "settings":
        from outfitter.syntax.schema import settings_flaws

        return read._replace(flaws=settings_flaws(read.value, read.positions, schema))
    return read


def _mapping(node: Node) -> Parsed:
    if node.value is not None and not isinstance(node.value, dict):
        raise TextError(f"expected a mapping, got {kind_of(node.value)}")
    return Parsed(node.value or {}, positions(node))
