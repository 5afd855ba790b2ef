"""What a journal's members must look like: checks that turn decoded JSON into a record, or raise `ValueError` (spec/50)."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args

from attrs import fields

from outfitter.containment import inside
from outfitter.model.outcome import Change, ChangeKind, Ending, Zone
from outfitter.model.projection import Bridge, Phase, Record, State
from outfitter.model.settings import Handling, ScopeKind

_RULES = ("credentials", "member", "sessions", "rewrite")
_A = TypeVar("_A")


def record(value: dict[str, Any]) -> Record:
    """The record in a decoded object, every member checked and none left over; raises `ValueError` or `KeyError`."""
    value = {**_SINCE, **value}
    checked = {field.name: _FIELDS[field.name](value.pop(field.name), field.name) for field in fields(Record)}
    if value:
        raise ValueError(f"unknown member {min(value)!r}")
    return Record(**checked)


def _kind(what: type[_A]) -> Callable[[Any, str], _A]:
    def check(value: Any, name: str) -> _A:
        if type(value) is not what:
            raise ValueError(f"{name} is no {what.__name__}")
        return value

    return check


_text, _flag = _kind(str), _kind(bool)


def _number(value: Any, name: str) -> int:
    if type(value) is not int or not 0 <= value < 1 << 64:
        raise ValueError(f"{name} is no number")
    return value


def _choice(*among: str) -> Callable[[Any, str], Any]:
    def check(value: Any, name: str) -> Any:
        if not isinstance(value, str) or value not in among:
            raise ValueError(f"{name} has a value that is not known")
        return value

    return check


def _many(one: Callable[[Any, str], _A]) -> Callable[[Any, str], tuple[_A, ...]]:
    def check(value: Any, name: str) -> tuple[_A, ...]:
        if not isinstance(value, list):
            raise ValueError(f"{name} is no list")
        return tuple(one(item, name) for item in value)

    return check


def _absolute(value: Any, name: str) -> str:
    """An absolute, normal path that the system could take."""
    path = _text(value, name)
    if not path.startswith("/") or "\0" in path or posixpath.normpath(path) != path or not _encodable(path):
        raise ValueError(f"{name} is no absolute path")
    return path


def _place(value: Any, name: str) -> str:
    return _absolute(value, name) if value != "" else ""


def _relative(value: Any, name: str) -> str:
    path = _text(value, name)
    if not inside(path) or "\0" in path or not _encodable(path):
        raise ValueError(f"{name} holds a path that is not inside the projection")
    return path


def _encodable(path: str) -> bool:
    """Whether every surrogate in it stands for a byte."""
    return not any("\ud800" <= c <= "\udc7f" or "\udd00" <= c <= "\udfff" for c in path)


def _run_id(value: Any, name: str) -> str:
    text = _text(value, name)
    if not text or len(text) > 100 or not all(c.isascii() and (c.isalnum() or c in "-_") for c in text):
        raise ValueError(f"{name} is no run id")
    return text


def _bytes(value: Any, name: str) -> bytes:
    return _text(value, name).encode("utf-8", "surrogateescape")


def _maybe(one: Callable[[Any, str], _A]) -> Callable[[Any, str], _A | None]:
    return lambda value, name: None if value is None else one(value, name)


def _row(kind: type[_A], checks: Mapping[str, Callable[[Any, str], Any]]) -> Callable[[Any, str], _A]:
    """A leaf row from a JSON object, or from a list in the fields' order."""

    def check(value: Any, name: str) -> _A:
        row = dict(zip(checks, value, strict=True)) if isinstance(value, list) else value
        if not isinstance(row, dict) or row.keys() != checks.keys():
            raise ValueError(f"{name} holds something else")
        return kind(**{key: one(row[key], f"{name}.{key}") for key, one in checks.items()})

    return check


_HANDLING = _choice(*get_args(Handling))
_STATE = _row(
    State,
    {
        "key": _relative,
        "handling": _HANDLING,
        "durable": _place,
        "scope": _choice(*get_args(ScopeKind)),
        "origin": _text,
        "form": _text,
        "allowed": _many(_text),
        "initial": _maybe(_bytes),
        "create": _bytes,
        "scratch": _flag,
    },
)
_BRIDGE = _row(
    Bridge,
    {
        "rule": _choice(*_RULES),
        "path": _relative,
        "durable": _absolute,
        "member": _text,
        "seeded": _text,
        "lock": _place,
        "members": _many(_relative),
    },
)
_CHANGE = _row(
    Change,
    {
        "path": _relative,
        "change": _choice(*get_args(ChangeKind)),
        "zone": _choice(*get_args(Zone)),
        "state_path": _text,
        "strategy": _text,
        "outcome": _choice(*get_args(Ending)),
        "size_before": _maybe(_number),
        "size_after": _maybe(_number),
        "note": _text,
    },
)
# What journals of older versions do not have.
_SINCE: Mapping[str, Any] = {"out": ""}
_FIELDS: Mapping[str, Callable[[Any, str], Any]] = {
    "run_id": _run_id,
    "agent": _text,
    "harness": _text,
    "root": _absolute,
    "device": _number,
    "inode": _number,
    "uid": _number,
    "started_ns": _number,
    "plan_digest": _text,
    "strict": _flag,
    "retained": _flag,
    "project_root": _text,
    "home": _text,
    "native": _text,
    "cache": _text,
    "states": _many(_STATE),
    "unknown": _HANDLING,
    "bridges": _many(_BRIDGE),
    "generated": _many(_relative),
    "phase": _choice(*get_args(Phase)),
    "baseline_digest": _text,
    "interactive": _flag,
    "changes": _maybe(_many(_CHANGE)),
    "out": _text,
}
