"""The record of a run: made from what was prepared, written as JSON, checked when read (spec/50)."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, get_args

from attrs import fields
from blake3 import blake3
from returns.result import Failure, Result, Success

from outfitter.model.outcome import Change, ChangeKind, ChangeOutcome, Zone
from outfitter.model.projection import Bridge, Phase, Prepared, ProjectionPlan, Record, State
from outfitter.model.settings import Handling, Resolution, ScopeKind
from outfitter.run.plan_checks import inside

_RULES = ("credentials", "member", "sessions", "rewrite")
_A = TypeVar("_A")


def record(value: dict[str, Any]) -> Record:
    """Return the record in a decoded object, every member checked. Raises `ValueError` or `KeyError`."""
    value = {**_SINCE, **value}
    checked = {field.name: _FIELDS[field.name](value.pop(field.name), field.name) for field in fields(Record)}
    if value:
        raise ValueError(f"unknown member {min(value)!r}")
    return Record(**checked)


def _kind(what: type[_A]) -> Callable[[Any, str], _A]:
    def check(value: Any, name: str) -> _A:
        if type(value) is not what:
            raise ValueError(f"{name} is not of type {what.__name__}")
        return value

    return check


_text, _flag = _kind(str), _kind(bool)


def _number(value: Any, name: str) -> int:
    if type(value) is not int or not 0 <= value < 1 << 64:
        raise ValueError(f"{name} is not a number")
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
            raise ValueError(f"{name} is not a list")
        return tuple(one(item, name) for item in value)

    return check


def _absolute(value: Any, name: str) -> str:
    """Return an absolute, normalized path that the system can take."""
    path = _text(value, name)
    if not path.startswith("/") or "\0" in path or posixpath.normpath(path) != path or not _encodable(path):
        raise ValueError(f"{name} is not an absolute path")
    return path


def _place(value: Any, name: str) -> str:
    return _absolute(value, name) if value != "" else ""


def _relative(value: Any, name: str) -> str:
    path = _text(value, name)
    if not inside(path) or "\0" in path or not _encodable(path):
        raise ValueError(f"{name} holds a path that is not inside the projection")
    return path


def _encodable(path: str) -> bool:
    """Return whether every surrogate in it stands for a byte."""
    return not any("\ud800" <= c <= "\udc7f" or "\udd00" <= c <= "\udfff" for c in path)


def _run_id(value: Any, name: str) -> str:
    text = _text(value, name)
    if not text or len(text) > 100 or not all(c.isascii() and (c.isalnum() or c in "-_") for c in text):
        raise ValueError(f"{name} is not a run id")
    return text


def _bytes(value: Any, name: str) -> bytes:
    return _text(value, name).encode("utf-8", "surrogateescape")


def _maybe(one: Callable[[Any, str], _A]) -> Callable[[Any, str], _A | None]:
    return lambda value, name: None if value is None else one(value, name)


def _row(kind: type[_A], checks: Mapping[str, Callable[[Any, str], Any]]) -> Callable[[Any, str], _A]:
    """Return a check that makes a row from a JSON object, or from a list in the order of the fields."""

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
        "outcome": _choice(*get_args(ChangeOutcome)),
        "size_before": _maybe(_number),
        "size_after": _maybe(_number),
        "note": _text,
    },
)
# Members that journals of older versions do not have, and their values.
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


FORMAT = 1


def record_of(prepared: Prepared, root: str, device: int, inode: int) -> Record:
    """Return what must be known to settle a run without its settings, tree or adapter.

    Its phase is `preparing`. A generated path that is a declared file is one-run: `discard` instead of `symlink`, `warn` instead
    of `prompt` (spec/50, "three kinds"). A declared path that a bridge merges by a rule of its own is handled as `bridge`.
    """
    plan, facts, ambient = prepared.plan, prepared.site.facts, prepared.request.ambient
    out = prepared.request.out
    generated = generated_paths(plan)
    return Record(
        run_id=prepared.site.run_id,
        agent=prepared.composition.agent,
        harness=plan.harness,
        root=root,
        device=device,
        inode=inode,
        uid=ambient.uid,
        started_ns=ambient.now_ns,
        plan_digest=plan_digest(plan, root),
        strict=prepared.request.strict,
        retained=prepared.request.retain,
        project_root=facts.project_root,
        home=ambient.home,
        native=facts.native,
        cache=facts.cache,
        states=_states(plan, frozenset(generated)),
        unknown=plan.strategies.unknown.strategy,
        bridges=plan.bridges,
        generated=generated,
        interactive=ambient.stdin_tty and ambient.stdout_tty,
        out=posixpath.normpath(posixpath.join(ambient.cwd, out)) if out else "",
    )


def generated_paths(plan: ProjectionPlan) -> tuple[str, ...]:
    """Return every file that the plan writes or copies, projection-relative, sorted."""
    return tuple(sorted({*(item.path for item in plan.generated), *(item.path for item in plan.copied)}))


def plan_digest(plan: ProjectionPlan, root: str) -> str:
    """Return the BLAKE3 (hex) of a plan, without the run directory's random name and environment values."""
    whole = (
        plan.harness,
        [(item.path, item.content.hex(), item.executable) for item in plan.generated],
        plan.copied,
        plan.seeds,
        plan.bridges,
        [(one.path.key, one.strategy, one.path.native) for one in (*plan.strategies.declared, plan.strategies.unknown)],
        (plan.launch.executable, plan.launch.arguments, sorted(plan.launch.env_set), plan.launch.env_unset),
    )
    text = repr(whole).replace(root.encode("utf-8", "surrogateescape").hex(), "").replace(root, "")
    return blake3(text.encode("utf-8", "surrogateescape")).hexdigest()


def _states(plan: ProjectionPlan, generated: frozenset[str]) -> tuple[State, ...]:
    """Return the declared paths in the adapter's order, then the bridged files that no setting can name."""
    bridges = {bridge.path: bridge for bridge in plan.bridges if bridge.rule != "rewrite"}
    declared = tuple(_state(one, bridges, generated) for one in plan.strategies.declared)
    known = {state.key for state in declared}
    return declared + tuple(
        State(path, "bridge", bridge.durable, "default", "", "default", ())
        for path, bridge in bridges.items()
        if path not in known
    )


def _state(one: Resolution, bridges: Mapping[str, Bridge], generated: frozenset[str]) -> State:
    path = one.path
    handling: Handling = one.strategy
    if path.key in bridges and handling == "symlink":
        handling = "bridge"
    elif path.key in generated:
        handling = {"symlink": "discard", "prompt": "warn"}.get(handling, handling)  # type: ignore[assignment]
    return State(
        key=path.key,
        handling=handling,
        durable=(path.native or "").rstrip("/"),
        scope=one.origin.scope,
        origin=one.origin.path,
        form=one.form,
        allowed=path.allowed,
        initial=path.initial,
        create=path.create,
        scratch=path.scratch,
    )


def encode(record: Record) -> bytes:
    """Return a record as one JSON object in ASCII; bytes and names that are not UTF-8 as lone surrogates."""
    value: dict[str, Any] = {field.name: getattr(record, field.name) for field in fields(Record)}
    value["states"] = [state._asdict() for state in record.states]
    value["bridges"] = [bridge._asdict() for bridge in record.bridges]
    if record.changes is not None:
        value["changes"] = [tuple(change) for change in record.changes]
    return (
        json.dumps({"format": FORMAT, **value}, separators=(",", ":"), default=_bytes_as_text).encode("ascii") + b"\n"
    )


def _bytes_as_text(value: object) -> str:
    """Return bytes as text: the only type of a record that JSON does not know."""
    if not isinstance(value, bytes):
        raise TypeError(f"{type(value).__name__} cannot be written to a journal")
    return value.decode("utf-8", "surrogateescape")


def decode(data: bytes) -> Result[Record, str]:
    """Return the record in a journal, or why it is not valid. No input raises.

    Everything that later names a path on disk is checked: the run id is one path component, every durable path and the run
    directory are absolute and normalized, every projection path is relative and stays inside.
    """
    try:
        value = json.loads(data)
        if not isinstance(value, dict) or value.pop("format", None) != FORMAT:
            return Failure("not a journal of this version")
        return Success(record(value))
    except (ValueError, RecursionError, TypeError, KeyError) as wrong:
        return Failure(str(wrong) or type(wrong).__name__)
