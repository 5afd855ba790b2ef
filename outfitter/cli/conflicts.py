"""`outfitter conflicts`: what could not be saved, to see, take or drop (spec/50, spec/80). A credential is never shown."""

from __future__ import annotations

import argparse
import os
from typing import Any

from outfitter.bridge.conflict_store import Conflict, drop, stored_conflicts
from outfitter.bridge.durable import real_durable
from outfitter.bridge.json_edit import edited, member_text
from outfitter.cli.context import Context
from outfitter.cli.diff_lines import bytes_text
from outfitter.cli.parser import action, days, json_option, parser
from outfitter.fs import read_regular
from outfitter.host import Durable, DurableState, Replacement, Unsaved, WriteFailure
from outfitter.model.errors import EffectFailed, UsageError
from outfitter.railway import effect_error
from outfitter.render import one_line
from outfitter.run.layout import journal_directory
from outfitter.run.pending_writes import pending_write

SUMMARY = "Contents that could not become durable, kept until you take or drop them."
EXAMPLES = (
    "outfitter conflicts list",
    "outfitter conflicts show 3f2a9c11d0e4",
    "outfitter conflicts apply 3f2a9c11d0e4",
    "outfitter conflicts drop --older-than 30",
)
_DAY_NS = 86_400 * 10**9
_TEXT_LIMIT = 256 * 1024
_UNFIT = "only {} is merged there, and one of the two files is not a JSON object with it; nothing was changed"


def arguments(made: argparse.ArgumentParser) -> None:
    """The four actions."""
    actions = made.add_subparsers(dest="action", metavar="list|show|apply|drop")
    json_option(action(actions, "list", "everything kept: id, age, size, run, path and why"))
    show = action(actions, "show", "one kept content, in full unless it is a credential")
    take = action(actions, "apply", "put a kept content at its durable place; what was there is kept instead")
    away = action(actions, "drop", "remove a kept content, or all that are older")
    for one in (show, take):
        one.add_argument("id", metavar="ID", help="an id of the list, or a beginning of one")
    away.add_argument("id", metavar="ID", nargs="?", help="an id of the list, or a beginning of one")
    away.add_argument("--older-than", metavar="DAYS", type=days, help="all that were kept longer ago")
    for one in (show, take, away):
        json_option(one)


def main(words: list[str], context: Context) -> int:
    """Run one action; 1 where it could not be done."""
    given = parser("conflicts", SUMMARY, arguments, EXAMPLES).parse_args(
        words if words and words[0] != "--json" else ["list", *words]
    )
    root = os.path.join(context.ambient.state_root, "conflicts")
    as_json = bool(getattr(given, "json", False))
    found = stored_conflicts(root)
    context.console.detail(f"kept contents: {root}: {len(found) or 'none'}")
    if given.action in (None, "list"):
        return _list(context, found, as_json)
    if given.action == "drop" and (given.id is None) == (given.older_than is None):
        return context.fail(
            UsageError("drop needs an ID or --older-than DAYS, one of them", "outfitter conflicts list"), as_json
        )
    if given.action == "drop" and given.id is None:
        limit = context.ambient.now_ns - round(given.older_than * _DAY_NS)
        return _drop(context, [entry for entry in found if entry.kept_ns < limit], as_json)
    chosen = [entry for entry in found if entry.id.startswith(given.id.rpartition("/")[2])]
    if len(chosen) != 1:
        why = "no kept content has this id" if not chosen else f"the ids of {len(chosen)} kept contents begin with it"
        return context.fail(EffectFailed(given.action, given.id, why, "outfitter conflicts list"), as_json)
    if given.action == "show":
        return _show(context, chosen[0], as_json)
    return _apply(context, chosen[0], as_json) if given.action == "apply" else _drop(context, chosen, as_json)


def _list(context: Context, found: tuple[Conflict, ...], as_json: bool) -> int:
    if as_json:
        context.console.document({"conflicts": [_json(context, entry) for entry in found]})
        return 0
    for entry in found:
        context.console.data(
            f"{entry.id}  {_age(context, entry):>8}  {bytes_text(entry.size):>10}  {one_line(entry.run_id)}"
        )
        context.console.data(f"    {one_line(entry.path)}: {one_line(entry.reason)}")
    total = bytes_text(sum(entry.size for entry in found))
    context.console.data(f"{len(found)} kept, {total} in all" if found else "nothing is kept")
    return 0


def _json(context: Context, entry: Conflict) -> dict[str, Any]:
    return {
        "id": entry.id,
        "run": entry.run_id,
        "path": entry.path,
        "durable": entry.durable,
        "reason": entry.reason,
        "credential": entry.credential,
        "size": entry.size,
        "age_seconds": max(0, context.ambient.now_ns - entry.kept_ns) // 10**9,
        "file": entry.place,
    }


def _age(context: Context, entry: Conflict) -> str:
    seconds = max(0, context.ambient.now_ns - entry.kept_ns) // 10**9
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


def _show(context: Context, entry: Conflict, as_json: bool) -> int:
    try:
        text = _text(entry)
    except OSError as error:
        return context.fail(effect_error("read", error)._replace(path=entry.place), as_json)
    if as_json:
        context.console.document({**_json(context, entry), "text": text})
        return 0
    for name, value in _json(context, entry).items():
        context.console.data(f"{name}: {one_line(str(value))}")
    if text is None:
        why = "a credential is not shown" if entry.credential else "no text of 256 KiB at most; see its file"
        context.console.data(f"content: {why}")
    else:
        lines = text.splitlines()
        context.console.data("\n".join(["content:", *("    " + _tame(line) for line in lines)]))
    return 0


def _tame(line: str) -> str:
    return "\t".join(one_line(part) for part in line.split("\t"))


def _text(entry: Conflict) -> str | None:
    if entry.credential or entry.size > _TEXT_LIMIT:
        return None
    try:
        text = read_regular(entry.place).decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _apply(context: Context, entry: Conflict, as_json: bool) -> int:
    """Replace the durable file by the kept content; the replaced content is kept first, so that this can be undone."""
    durable = real_durable(context.ambient.state_root)
    if not entry.durable:
        return context.fail(
            EffectFailed("apply", entry.id, "its index is lost, so its destination is unknown"), as_json
        )
    instead = ""
    try:
        seen = durable.look(entry.durable, None, None)
        content = _with_member(durable, entry, seen) if entry.member else b""
        if content is None:
            return context.fail(EffectFailed("apply", entry.durable, _UNFIT.format(entry.member)), as_json)
        if seen is not None:
            reason = f"replaced by {entry.id}"
            unsaved = Unsaved(entry.run_id, entry.path, reason, entry.durable, entry.credential, entry.member)
            instead = durable.keep(seen.path, unsaved)
        place = os.path.dirname(os.path.realpath(entry.durable))
        with pending_write(journal_directory(context.ambient), context.ambient.home, place):
            failure = _put(durable, entry, seen, content) or durable.flush()
    except OSError as error:
        return context.fail(effect_error("apply", error)._replace(path=entry.durable), as_json)
    if failure:
        return context.fail(EffectFailed("apply", entry.durable, failure.reason), as_json)
    if instead != entry.place:
        _forget(entry)
    if as_json:
        context.console.document({"applied": _json(context, entry), "kept_instead": os.path.basename(instead)})
    else:
        what = f"{entry.member} of {entry.id}, and nothing else of it" if entry.member else entry.id
        context.console.data(f"{one_line(entry.durable)} now holds {what}")
        if instead and instead != entry.place:
            context.console.data(f"what it held is kept as {os.path.basename(instead)}")
    return 0


def _with_member(durable: Durable, entry: Conflict, seen: DurableState | None) -> bytes | None:
    """The durable file with the kept content's one member and nothing else of it (006.5.16); None where that cannot be."""
    value = member_text(durable.read(entry.place), entry.member)
    return None if value is None else edited(durable.read(entry.durable) if seen else b"{}\n", entry.member, value)


def _put(durable: Durable, entry: Conflict, seen: DurableState | None, content: bytes) -> WriteFailure | None:
    """Put `content`, or if that is empty the whole stored file, in place."""
    expected = seen.digest if seen else None
    if content:
        return durable.write(entry.durable, content, expected, None)
    mode = 0o600 if entry.credential else None
    return durable.replace([Replacement(entry.place, entry.durable, expected, mode, keep_mtime=False)])[0]


def _forget(entry: Conflict) -> None:
    try:
        drop(entry)
    except OSError:
        return


def _drop(context: Context, entries: list[Conflict], as_json: bool) -> int:
    gone: list[Conflict] = []
    for entry in entries:
        try:
            drop(entry)
        except OSError as error:
            return context.fail(effect_error("drop", error)._replace(path=entry.place), as_json)
        gone.append(entry)
    if as_json:
        context.console.document({"dropped": [_json(context, entry) for entry in gone]})
    else:
        context.console.data(f"{len(gone)} dropped")
    return 0
