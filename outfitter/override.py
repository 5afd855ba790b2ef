"""Recording a strategy in a settings file's text: what the answer `always` writes (spec/50, seed 001). Pure."""

from __future__ import annotations

from returns.result import Failure, Result

from outfitter.persistence import SECTION
from outfitter.splice import splice

_MARK = b"\xef\xbb\xbf"


def override_text(content: bytes, key: str, form: str, harness: str, strategy: str = "symlink") -> Result[bytes, str]:
    """A settings file's bytes (b"" for a new one) with `state_persistence: {<key>: <strategy>}` set, all else as it was.

    `form` "harness" puts it into the block of `harness`, any other one among the plain keys. The reason for a refusal:
    the file is no UTF-8 or no YAML that can be edited safely.
    """
    from outfitter.syntax.fault import TextError
    from outfitter.syntax.text import decode

    try:
        text = decode(content)
    except TextError as error:
        return Failure(error.message)
    path = (SECTION, harness, key) if form == "harness" else (SECTION, key)
    mark = _MARK if content.startswith(_MARK) else b""
    return splice(text, path, strategy).map(lambda new: mark + new.encode())
