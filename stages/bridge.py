"""Bridge.

Reads: the record, both snapshots, the changes; asks where a `prompt` path changed and there is a terminal.
Adds: `Settlement`.
Effects: writes durable state, three-way, never removing; keeps what could not be saved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from returns.result import Success

from outfitter.bridge.context import BridgeContext, FileResult, bridge_context, unreadable
from outfitter.bridge.notices import failure_notices, kept_notice, policy_notices
from outfitter.host import Settling
from outfitter.model.errors import os_error_text
from outfitter.model.outcome import Change, Row, Settlement, Snapshot
from outfitter.model.projection import Bridge, Record, State
from outfitter.model.request import Notice
from outfitter.model.settings import Settings
from outfitter.railway import Effect, Outcome, attempt
from outfitter.run.ownership import index_paths, owner_of


def bridge(
    using: Settling,
    settings: Settings | None,
    record: Record,
    baseline: Snapshot,
    actual: Snapshot,
    changes: tuple[Change, ...],
) -> Effect[Settlement]:
    """Give every change its outcome (spec/50); one file's failure never stops the others.

    `settings` None: recovery.
    """

    def settle() -> Outcome[Settlement]:
        context = bridge_context(using.durable, record, baseline, actual)
        bridged, linked, prompted = _sorted_out(record, changes)
        items = [*_bridge(using, context, bridged), *_adopt(context, linked)]
        items += _hidden(context, changes)
        items += _rewrite(context)
        if prompted and settings is not None and record.interactive:
            from outfitter.bridge.prompt import ask_all

            asked = ask_all(using, settings, context, prompted)
            items += asked.items
            settled = _settlement(context, changes, items, asked.notices, asked.keys)
        else:
            settled = _settlement(context, changes, items)
        told = (*_left_paths(using, record, settled.changes), *_flushed(using))
        settled = settled._replace(notices=(*told, *settled.notices))
        return Success(_beside(using, record, baseline, actual, settled))

    return attempt("settle what the run wrote", settle)


def _beside(using: Settling, record: Record, baseline: Snapshot, actual: Snapshot, settled: Settlement) -> Settlement:
    """With what the harness wrote or moved elsewhere in the run directory: that keeps it.

    The whole projection may be gone while the harness ran, by a cleaner or the harness itself (spec/95 CLN-09).
    """
    gone = bool(baseline.tree.rows) and not actual.tree.rows
    try:
        found = _strays(using, record)
    except OSError as error:
        return settled._replace(notices=(_not_looked_through(record.root, error), *settled.notices), saved=False)
    if found:
        from outfitter.bridge.notices import stray_notice, written_strays

        found = written_strays(using.durable, record, baseline, found)
        if found:
            notice = stray_notice(record, found, gone)
            return settled._replace(notices=(notice, *settled.notices), saved=False)
    if not gone:
        return settled
    text = f"{record.projection} is gone: what the harness wrote there is lost; durable state is as it was"
    return settled._replace(notices=(Notice("warning", "projection-gone", text), *settled.notices))


def _not_looked_through(root: str, error: OSError) -> Notice:
    text = f"{root} could not be looked through for files beside the projection: {os_error_text(error)}"
    return Notice("warning", "not-looked-through", text)


def _strays(using: Settling, record: Record) -> Sequence[Row]:
    """Find what is beside the projection; look twice if that fails, unless the run directory is gone."""
    try:
        return using.strays(record.root)
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError:
        return using.strays(record.root)


def _flushed(using: Settling) -> tuple[Notice, ...]:
    try:
        failure = using.durable.flush()
        reason = failure.reason if failure else ""
    except OSError as error:
        reason = os_error_text(error)
    if not reason:
        return ()
    return (Notice("warning", "not-flushed", f"saved, but it might not outlive a power cut: {reason}"),)


def _sorted_out(
    record: Record, changes: tuple[Change, ...]
) -> tuple[dict[Bridge, list[Change]], dict[State, list[Change]], dict[State, list[Change]]]:
    """The changes that somebody must carry: by bridge, by linked state path, by state path to ask about."""
    held = index_paths(record)
    bridged: dict[Bridge, list[Change]] = {}
    linked: dict[State, list[Change]] = {}
    prompted: dict[State, list[Change]] = {}
    for change in changes:
        if change.zone != "declared":
            continue
        at = owner_of(held, change.path)
        if at.bridge:
            bridged.setdefault(at.bridge, []).append(change)
        elif at.state and change.strategy == "symlink":
            linked.setdefault(at.state, []).append(change)
        elif at.state and change.strategy == "prompt":
            prompted.setdefault(at.state, []).append(change)
    return bridged, linked, prompted


def _bridge(using: Settling, context: BridgeContext, bridged: dict[Bridge, list[Change]]) -> Iterator[FileResult]:
    for rule, changes in bridged.items():
        if rule.rule == "sessions":
            from outfitter.bridge.sessions import merge_sessions

            progress = using.user.progress("saving session history")
            yield from merge_sessions(context, rule, changes, using.files.real, progress)
        elif rule.rule == "credentials":
            from outfitter.bridge.credentials import carry_credentials

            yield from (carry_credentials(context, rule, change) for change in changes)
        elif rule.rule == "member":
            from outfitter.bridge.account import merge_member

            yield from (merge_member(context, rule, change) for change in changes)


def _adopt(context: BridgeContext, linked: dict[State, list[Change]]) -> Iterator[FileResult]:
    if any(change.outcome != "durable" for changes in linked.values() for change in changes):
        from outfitter.bridge.adoption import adopt

        for state, changes in linked.items():
            yield from adopt(context, state, changes)


def _hidden(context: BridgeContext, changes: Iterable[Change]) -> Iterator[FileResult]:
    """Yield undeclared directories above declared state that cannot be read now: they may hold some."""
    for change in changes:
        now = context.now(change.path) if change.zone != "declared" else None
        if (
            now is not None
            and now.tag == "u"
            and any(state.durable and state.key.startswith(change.path + "/") for state in context.record.states)
        ):
            yield unreadable(change, "replaced link")


def _rewrite(context: BridgeContext) -> Iterator[FileResult]:
    for rule in context.record.bridges:
        if rule.rule == "rewrite":
            from outfitter.bridge.registry import rewrite

            yield from rewrite(context, rule)


def _left_paths(using: Settling, record: Record, changes: tuple[Change, ...]) -> tuple[Notice, ...]:
    """Rewrite paths of the projection in durable files; return what to tell of those that stay."""
    from outfitter.bridge.left_paths import rewrite_paths

    try:
        physical = using.files.real(record.projection)
    except OSError:
        physical = record.projection
    return rewrite_paths(using.durable, record, changes, tuple(dict.fromkeys((physical, record.projection))))


def _settlement(
    context: BridgeContext,
    changes: tuple[Change, ...],
    items: Iterable[FileResult],
    notices: tuple[Notice, ...] = (),
    asked: frozenset[str] = frozenset(),
) -> Settlement:
    items = tuple(items)
    endings = {item.path: item.outcome for item in items}
    ended = tuple(change._replace(outcome=endings.get(change.path, change.outcome)) for change in changes)
    told = (
        *notices,
        *failure_notices(context.record, items),
        *kept_notice(context, items),
        *policy_notices(context.record, ended, asked),
    )
    return Settlement(ended, told, all(item.saved for item in items))
