"""Bytes to text: UTF-8 alone, with or without a byte-order mark (spec/95 YML-08, YML-09)."""

from __future__ import annotations

from outfitter.model.request import Position
from outfitter.syntax.fault import TextError

_OTHER_ENCODINGS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)


def decode(content: bytes) -> str:
    """Return the text of a file without its byte-order mark; line ends stay.

    Another encoding, invalid UTF-8 or a NUL raises `TextError`.
    """
    for mark, name in _OTHER_ENCODINGS:
        if content.startswith(mark):
            raise TextError(
                f"is {name} (byte-order mark at offset 0); only UTF-8 is read", hint="save the file as UTF-8"
            )
    nul = content.find(b"\0")
    if nul >= 0:
        raise TextError(
            f"contains a NUL byte at offset {nul}", _place(content, nul), hint="save the file as UTF-8 text"
        )
    start = 3 if content.startswith(b"\xef\xbb\xbf") else 0
    try:
        return content[start:].decode("utf-8")
    except UnicodeDecodeError as error:
        offset = start + error.start
        raise TextError(
            f"is not valid UTF-8: byte 0x{content[offset]:02x} at offset {offset}",
            _place(content, offset),
            hint="save the file as UTF-8",
        ) from None


def _place(content: bytes, offset: int) -> Position:
    """Line and column of a byte, with everything before it on its line counted as far as it decodes."""
    start = content.rfind(b"\n", 0, offset) + 1
    before = content[start:offset].removeprefix(b"\xef\xbb\xbf") if start == 0 else content[start:offset]
    return Position(content.count(b"\n", 0, offset) + 1, len(before.decode("utf-8", "replace")) + 1)
