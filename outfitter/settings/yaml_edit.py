"""Setting one key in YAML text while every other byte stays: comments, order, quoting, line ends. Pure.

The edit is an insertion, or the replacement of one scalar, found by position. It is then proved: the new text must read as
the old value with that one key set. What cannot be proved is refused with the reason, so no unusual file is ever damaged.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from returns.result import Failure, Result, Success

from outfitter.model.settings import KeyPath

_PLAIN = re.compile(r"[A-Za-z_./][A-Za-z0-9_./-]*")
_BLOCK_STYLES = ("|", ">")
_STEP = 2


class Edit(NamedTuple):
    """`text` in the place of what stands from `start` to `end` (character offsets)."""

    start: int
    end: int
    text: str


def splice(text: str, path: KeyPath, value: str) -> Result[str, str]:
    """The text with the scalar at `path` set to `value`, or the reason why that cannot be done safely.

    Missing mappings on the way are made. An empty text, and a key without a value, are as good as an empty mapping.
    """
    from outfitter.syntax import yaml_core
    from outfitter.syntax.fault import TextError

    try:
        before = yaml_core.load(text).value
        edit = _edit(text, path, value)
        if isinstance(edit, str):
            return Failure(edit)
        after = text[: edit.start] + edit.text + text[edit.end :]
        proved = yaml_core.load(after).value == with_value(before, path, value)
    except TextError as error:
        return Failure(error.message)
    return Success(after) if proved else Failure("the file is written in a way that cannot be edited safely")


def with_value(tree: Any, path: Sequence[str], value: str) -> Any:
    """Nested mappings with one key path set; anything but a mapping on the way gives way to one."""
    if not path:
        return value
    base = tree if isinstance(tree, Mapping) else {}
    return {**base, path[0]: with_value(base.get(path[0]), path[1:], value)}


def _edit(text: str, path: KeyPath, value: str) -> Edit | str:
    """Walk as deep as the path exists; there set the scalar, or add what is missing."""
    node = _root(text)
    if node is None:
        return _append(text, path, value)
    for depth, name in enumerate(path, 1):
        if node.id != "mapping":
            return f"{'.'.join(path[: depth - 1]) or 'the file'} is not a mapping"
        pair = next(((key, inner) for key, inner in node.value if key.value == name), None)
        if pair is None:
            return _added(text, node, path[depth - 1 :], value)
        key, node = pair
        if node.start_mark.index < key.end_mark.index:
            return f"{'.'.join(path[:depth])} is an alias"
        if _is_null(node) and depth < len(path):
            return _filled(text, key, node, path[depth:], value)
    if node.id != "scalar":
        return f"{'.'.join(path)} is not a single value"
    return _replaced(text, key.end_mark.index, node, value)


def _root(text: str) -> Any:
    """The composed root with positions; None where the text holds nothing."""
    import yaml

    node = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return None if node is None or (_is_null(node) and node.start_mark.index == node.end_mark.index) else node


def _is_null(node: Any) -> bool:
    return node.id == "scalar" and node.style in (None, "") and node.value in ("", "~", "null", "Null", "NULL")


def _append(text: str, path: KeyPath, value: str) -> Edit:
    """A first key below whatever comments there are."""
    end = _line_end(text)
    lead = "" if not text or text.endswith("\n") else end
    return Edit(len(text), len(text), lead + _block(path, value, 0, end))


def _added(text: str, mapping: Any, path: KeyPath, value: str) -> Edit | str:
    """A new last key in a mapping."""
    if mapping.flow_style and text[mapping.start_mark.index] == "{":
        if not mapping.value:
            opening = mapping.start_mark.index + 1
            return Edit(opening, opening, _flow(path, value))
        end = _end_of_last(mapping)
        return Edit(end, end, f", {_flow(path, value)}")
    if not mapping.value:
        return "it is written in a way that cannot be edited safely"
    column = mapping.value[0][0].start_mark.column
    return _new_lines(text, _end_of_last(mapping), path, value, column)


def _filled(text: str, key: Any, null: Any, path: KeyPath, value: str) -> Edit | str:
    """A mapping for a key that has no value yet: nested lines, or in braces where null is spelled out or braces surround it."""
    start, end = null.start_mark.index, null.end_mark.index
    if start == end and not _in_braces(text, key):
        return _new_lines(text, key.end_mark.index, path, value, key.start_mark.column + _STEP)
    return Edit(start, end, _after_colon(text, key.end_mark.index, start) + "{" + _flow(path, value) + "}")


def _replaced(text: str, key_end: int, scalar: Any, value: str) -> Edit:
    """Another scalar in the place of one, whatever the old one's style."""
    start = scalar.start_mark.index
    end = start + len(text[start : scalar.end_mark.index].rstrip())
    return Edit(start, end, (_after_colon(text, key_end, start) if start == end else "") + _scalar(value))


def _new_lines(text: str, after: int, path: KeyPath, value: str, column: int) -> Edit:
    """Lines of their own behind the line that ends what stands at `after`."""
    line_end = _line_end(text)
    newline = text.find("\n", after) if not text[:after].endswith("\n") or after == 0 else after - 1
    block = _block(path, value, column, line_end)
    if newline < 0:
        return Edit(len(text), len(text), line_end + block)
    return Edit(newline + 1, newline + 1, block)


def _end_of_last(mapping: Any) -> int:
    """Where the last entry of a mapping ends; the end of the key where its value is an alias or empty."""
    key, node = mapping.value[-1]
    if node.start_mark.index < key.end_mark.index:
        return int(key.end_mark.index)
    if node.id != "scalar" and not node.flow_style and node.value:
        last = node.value[-1]
        return _end_of_last(node) if node.id == "mapping" else _end_of_item(last)
    return max(int(key.end_mark.index), int(node.end_mark.index))


def _end_of_item(node: Any) -> int:
    if node.id == "scalar" or node.flow_style or not node.value:
        return int(node.end_mark.index)
    return _end_of_last(node) if node.id == "mapping" else _end_of_item(node.value[-1])


def _in_braces(text: str, key: Any) -> bool:
    """Whether a key stands in a flow mapping: something but blanks or a list's dash precedes it on its line, or a comma ends it."""
    line = text[text.rfind("\n", 0, key.start_mark.index) + 1 : key.start_mark.index]
    rest = text[key.end_mark.index :].lstrip(": \t")[:1]
    return bool(line.strip(" -\ufeff")) or rest in (",", "}")


def _after_colon(text: str, key_end: int, start: int) -> str:
    """What must stand between a key and a value where there was none."""
    between = text[key_end:start]
    return (": " if ":" not in between else "") + (" " if between.endswith(":") else "")


def _block(path: KeyPath, value: str, column: int, line_end: str) -> str:
    """Nested block mappings, one line each."""
    lines = [f"{' ' * (column + _STEP * depth)}{_scalar(name)}:" for depth, name in enumerate(path)]
    lines[-1] += f" {_scalar(value)}"
    return "".join(line + line_end for line in lines)


def _flow(path: KeyPath, value: str) -> str:
    """The same within braces, without the outer ones."""
    inner = _scalar(value) if len(path) == 1 else "{" + _flow(path[1:], value) + "}"
    return f"{_scalar(path[0])}: {inner}"


def _scalar(text: str) -> str:
    """A text as YAML: plain where it is safely so, else in double quotes."""
    from outfitter.syntax.scalars import plain

    safe = _PLAIN.fullmatch(text) is not None and plain(text) == text and text not in ("---", "...")
    return text if safe else json.dumps(text, ensure_ascii=False)


def _line_end(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"
