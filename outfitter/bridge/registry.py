"""Plugin registries that name places inside a projection, made to name the durable ones (spec/50, "A `plugins/` registry")."""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping

from blake3 import blake3

from outfitter.bridge.context import Aftermath, Item, Topic, words
from outfitter.bridge.threeway import CHANGED
from outfitter.model.projection import Bridge, Record

TOPIC: Topic = "plugin registry"
_TRIES = 3


def rewrite(after: Aftermath, bridge: Bridge) -> Iterator[Item]:
    """Rewrite each registry under the durable directory that names the projection; an item only where that failed."""
    for member in bridge.members:
        why = _rewrite(after, posixpath.join(bridge.durable, member))
        if why:
            yield Item(posixpath.join(bridge.path, member), "durable", TOPIC, "failed", why)


def _rewrite(after: Aftermath, path: str) -> str:
    why = CHANGED
    for _ in range(_TRIES):
        if why != CHANGED:
            break
        try:
            content = after.durable.read(path)
            new = rewritten(content, places(after.record))
            if new == content:
                return ""
            why = after.durable.write(path, new, blake3(content).digest(), None)
        except (FileNotFoundError, NotADirectoryError):
            return ""
        except OSError as error:
            return words(error)
    return why


def places(record: Record) -> dict[str, str]:
    """Projection directory → durable one, for every directory that is linked."""
    return {
        posixpath.join(record.projection, state.key.rstrip("/")): state.durable.rstrip("/")
        for state in record.states
        if state.handling == "symlink" and state.key.endswith("/") and state.durable
    }


def rewritten(content: bytes, places: Mapping[str, str]) -> bytes:
    """JSON bytes with every string that begins with one of the places, as whole path components, begun with its other name.

    Only those characters change. What is no JSON in UTF-8, before or after, is left alone.
    """
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError:
        return content
    new = text
    for old, other in places.items():
        for ascii_only in (True, False):
            spelled = json.dumps(old, ensure_ascii=ascii_only)[1:-1]
            instead = json.dumps(other, ensure_ascii=ascii_only or not _is_text(other))[1:-1]
            for before, after in ((spelled, instead), (spelled.replace("/", "\\/"), instead.replace("/", "\\/"))):
                new = re.sub(f'"{re.escape(before)}(?="|/|\\\\/)', lambda _, to=after: f'"{to}', new)  # type: ignore[misc]
    return new.encode() if new != text and _is_json(text) and _is_json(new) else content


def _is_text(name: str) -> bool:
    """Whether a name can be written in UTF-8: one that cannot is spelled with escapes."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_json(text: str) -> bool:
    try:
        json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return False
    return True
