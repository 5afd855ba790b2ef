"""The generated `keybindings.json` of Pi: Outfitter's two keys reserved, all other valid bindings kept (OFTR-006.8.1 to 3). Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from outfitter.adapters.native_json import Json, json_bytes, json_object
from outfitter.model.request import Notice

MODE_KEY = "shift+tab"
THINKING_KEY = "ctrl+shift+t"
THINKING_ACTION = "app.thinking.cycle"
# The action's name before Pi gave its actions dotted names.
_OLD_THINKING_ACTION = "cycleThinkingLevel"
_COMMENTS = rb"//[^\n]*|(?s:/\*.*?\*/)"


def keybindings(sources: Iterable[tuple[str, bytes | None]]) -> tuple[bytes, tuple[Notice, ...]]:
    """The generated file from (path, bytes) of the native file and the overlays', lowest first; and one notice a file that is unreadable."""
    merged: Json = {}
    notices: list[Notice] = []
    for path, raw in sources:
        if raw is None or not re.sub(_COMMENTS, b"", raw.removeprefix(b"\xef\xbb\xbf")).strip():
            continue
        found = json_object(raw)
        if found is None:
            message = f"{path}: not a JSON object; its key bindings are left out of this run"
            notices.append(Notice("warning", "keybindings-unreadable", message))
        else:
            merged |= {action: kept for action, value in found.items() if (kept := _unreserved(value)) is not None}
    merged.pop(_OLD_THINKING_ACTION, None)
    merged[THINKING_ACTION] = THINKING_KEY
    return json_bytes(merged), tuple(notices)


def _unreserved(value: Any) -> str | list[str] | None:
    """A binding without the reserved keys; None where it is no binding, or nothing but reserved keys."""
    if isinstance(value, str):
        return None if _key(value) in _RESERVED else value
    if not isinstance(value, list) or not all(isinstance(key, str) for key in value):
        return None
    kept = [key for key in value if _key(key) not in _RESERVED]
    return kept if kept or not value else None


def _key(text: str) -> tuple[str, ...]:
    """A key with its modifiers in one order: `Ctrl+Shift+T` and `shift+ctrl+t` are one."""
    return tuple(sorted(part.strip() for part in text.lower().split("+")))


_RESERVED = frozenset({_key(MODE_KEY), _key(THINKING_KEY)})
