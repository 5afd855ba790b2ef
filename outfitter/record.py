"""The journal of a run as a value: made from what was prepared, written as JSON, and read back from hostile hands (spec/50)."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Mapping
from typing import Any

from attrs import fields
from blake3 import blake3
from returns.result import Failure, Result, Success

from outfitter.model.projection import Bridge, Prepared, ProjectionPlan, Record, State
from outfitter.model.settings import Handling, Resolution

FORMAT = 1


def record_of(prepared: Prepared, root: str, device: int, inode: int) -> Record:
    """What must be known to settle this run without its settings, tree or adapter, in phase `preparing`.

    A generated path that is a declared file is one-run: `discard` instead of `symlink`, `warn` instead of `prompt`
    (spec/50, "three kinds"). A declared path that a bridge merges by a rule of its own is handled as `bridge`.
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
    """Every file that the plan writes or copies, projection-relative, sorted."""
    return tuple(sorted({*(item.path for item in plan.generated), *(item.path for item in plan.copied)}))


def plan_digest(plan: ProjectionPlan, root: str) -> str:
    """BLAKE3 (hex) of what a plan would do, without the run directory's random name and without environment values."""
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
    """The declared paths in the adapter's order, then the bridged files that no setting can name."""
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
    """A record as one JSON object, in ASCII; names that are not UTF-8 travel as lone surrogates, bytes as such text."""
    value: dict[str, Any] = {field.name: getattr(record, field.name) for field in fields(Record)}
    value["states"] = [state._asdict() for state in record.states]
    value["bridges"] = [bridge._asdict() for bridge in record.bridges]
    if record.changes is not None:
        value["changes"] = [tuple(change) for change in record.changes]
    return json.dumps({"format": FORMAT, **value}, separators=(",", ":"), default=_text).encode("ascii") + b"\n"


def _text(value: object) -> str:
    """What JSON does not know in a record: bytes."""
    if not isinstance(value, bytes):
        raise TypeError(f"{type(value).__name__} has no place in a journal")
    return value.decode("utf-8", "surrogateescape")


def decode(data: bytes) -> Result[Record, str]:
    """The record in a journal, or why it is none. Total: no input raises, and nothing is guessed.

    Everything that later names a place on disk is checked: the run id is one path component, every durable place and the
    run directory are absolute and normal, every projection path is relative and stays inside.
    """
    from outfitter.record_shape import record

    try:
        value = json.loads(data)
        if not isinstance(value, dict) or value.pop("format", None) != FORMAT:
            return Failure("not a journal of this version")
        return Success(record(value))
    except (ValueError, RecursionError, TypeError, KeyError) as wrong:
        return Failure(str(wrong) or type(wrong).__name__)
