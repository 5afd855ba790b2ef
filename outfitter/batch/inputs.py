"""Select the inputs of a batch: files, files of a directory, lines of a `.jsonl` (spec/70)."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from blake3 import blake3

from outfitter.batch.rows import Input
from outfitter.fs import read_regular
from outfitter.model.errors import os_error_text


def select(arguments: list[str], cwd: str) -> list[Input]:
    """Return every selected input in the order given.

    A path selected twice is `skipped` the second time; an absent one is `missing`.
    """
    seen: set[str] = set()
    inputs = []
    for argument in arguments:
        for item in _inputs(os.path.normpath(os.path.join(cwd, argument))):
            twice = item.name in seen and not item.problem
            inputs.append(item._replace(problem="selected twice", outcome="skipped") if twice else item)
            seen.add(item.name)
    return inputs


def text_of(item: Input) -> bytes:
    """Return the text of an input as the harness gets it.

    Raises `OSError`, also if the file changed since it was selected.
    """
    with open(item.path, "rb") as file:
        file.seek(item.start)
        text = file.read(item.length)
    if blake3(text).hexdigest() != item.digest:
        raise OSError(116, "changed since it was selected", item.path)
    return text


def _inputs(path: str) -> Iterator[Input]:
    if os.path.isdir(path):
        try:
            names = sorted(os.listdir(path), key=os.fsencode)
        except OSError as error:
            yield _unreadable(path, error)
            return
        for name in names:
            inner = os.path.join(path, name)
            if not name.startswith(".") and not os.path.isdir(inner):
                yield from _of_file(inner, by_line=False)
    else:
        yield from _of_file(path, by_line=path.endswith(".jsonl"))


def _of_file(path: str, *, by_line: bool) -> Iterator[Input]:
    try:
        data = read_regular(path)
    except FileNotFoundError:
        yield Input(path, _key(path), "", "no such file", "missing")
        return
    except OSError as error:
        yield _unreadable(path, error)
        return
    if not by_line:
        yield _input(path, path, data, 0)
        return
    start = 0
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            yield _input(f"{path}:{number}", path, line, start)
        start += len(line) + 1


def _unreadable(path: str, error: OSError) -> Input:
    return Input(path, _key(path), "", f"cannot be read: {os_error_text(error)}", "failed")


def _input(name: str, path: str, text: bytes, start: int) -> Input:
    digest = blake3(text).hexdigest()
    if b"\0" in text:
        return Input(name, _key(name), digest, "not text: it contains a NUL byte", "failed")
    return Input(name, f"{_key(name)}-{digest[:12]}", digest, path=path, start=start, length=len(text))


def _key(name: str) -> str:
    """Return a readable folder name that no two inputs share."""
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", os.path.basename(name)).strip("-.")[:40] or "input"
    return f"{safe}-{blake3(os.fsencode(name)).hexdigest()[:8]}"
