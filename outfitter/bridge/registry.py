"""Rewrite plugin registries that name paths of a projection (spec/50, "Plugin registry")."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Iterator, Mapping

from blake3 import blake3

from outfitter.bridge.context import BridgeContext, FileResult, Topic
from outfitter.host import WriteFailure
from outfitter.model.errors import os_error_text
from outfitter.model.projection import Bridge, Record
from outfitter.syntax.json_scanner import BYTE_ORDER_MARK, strings

TOPIC: Topic = "plugin registry"
_TRIES = 3


def rewrite(context: BridgeContext, bridge: Bridge) -> Iterator[FileResult]:
    """Rewrite each durable registry that names the projection; yield a result for each failure."""
    for member in bridge.members:
        reason = _rewrite(context, posixpath.join(bridge.durable, member))
        if reason:
            yield FileResult(posixpath.join(bridge.path, member), "durable", TOPIC, "failed", reason)


def _rewrite(context: BridgeContext, path: str) -> str:
    """Rewrite a registry if it needs it; return why that failed, "" if it did not."""
    failure: WriteFailure | None = None
    for _ in range(_TRIES):
        try:
            content = context.durable.read(path)
            new = rewritten(content, places(context.record))
            if new == content:
                return ""
            failure = context.durable.write(path, new, blake3(content).digest(), None)
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError as error:
            return os_error_text(error)
        if not failure or failure.kind != "conflict":
            break
    return failure.reason if failure else ""


def places(record: Record) -> dict[str, str]:
    """Return projection directory → durable directory for every linked one."""
    return {
        posixpath.join(record.projection, state.key.rstrip("/")): state.durable.rstrip("/")
        for state in record.states
        if state.handling == "symlink" and state.key.endswith("/") and state.durable
    }


def rewritten(content: bytes, places: Mapping[str, str]) -> bytes:
    """Return JSON bytes in which strings that begin with a path of `places` begin with its value.

    Only those characters change. Content that is not JSON in UTF-8 is returned as it is.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return content
    if not _is_json(text):
        return content
    spellings = [spelling for place in places.items() for spelling in _spellings(*place)]
    pieces: list[str] = []
    copied = 0
    for string in strings(text):
        for before, after in spellings:
            end = string.start + len(before)
            if text.startswith(before, string.start) and (end == string.end or text.startswith(("/", "\\/"), end)):
                pieces += (text[copied : string.start], after)
                copied = end
                break
    return "".join((*pieces, text[copied:])).encode()


def _spellings(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Yield the ways in which JSON writers spell a path, each with the new path spelled alike."""
    for ascii_only in (True, False):
        before = json.dumps(old, ensure_ascii=ascii_only)[1:-1]
        after = json.dumps(new, ensure_ascii=ascii_only or not _is_text(new))[1:-1]
        yield before, after
        yield before.replace("/", "\\/"), after.replace("/", "\\/")


def _is_text(name: str) -> bool:
    """Whether a name can be written in UTF-8: one that cannot is spelled with escapes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_json(text: str) -> bool:
    try:
        json.loads(text.removeprefix(BYTE_ORDER_MARK))
    except (ValueError, RecursionError):
        return False
    return True
