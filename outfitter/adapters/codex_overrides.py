"""Codex's `-c key=value` overrides as rows, each with the element it carries (OFTR-006.6). Pure."""

from collections.abc import Iterable
from typing import NamedTuple

from outfitter.adapters.toml_value import is_bare, toml_value
from outfitter.model.request import Notice

# One argument may hold this many bytes at most: the kernel counts a closing zero into its 128 KiB.
LONGEST = 128 * 1024 - 1


class Override(NamedTuple):
    """One `-c`: `element` says to people what it carries, `key` is a dotted path of bare parts, `value` any TOML value."""

    element: str
    key: str
    value: object

    @property
    def argument(self) -> str:
        """The word after `-c`. Raises `ValueError` for a value that TOML cannot hold."""
        return f"{self.key}={toml_value(self.value)}"


class Overrides(NamedTuple):
    """Overrides in order, and what to say about what could not be one."""

    rows: tuple[Override, ...] = ()
    notices: tuple[Notice, ...] = ()


def joined(parts: Iterable[Overrides]) -> Overrides:
    """Several parts as one, in order."""
    kept = tuple(parts)
    return Overrides(
        tuple(row for part in kept for row in part.rows), tuple(notice for part in kept for notice in part.notices)
    )


def written(overrides: Overrides) -> Overrides:
    """The overrides that can be written, each once, and a warning for each that cannot, naming its element."""
    rows: dict[str, Override] = {}
    notices = list(overrides.notices)
    for row in overrides.rows:
        why = unwritable(row)
        if why:
            notices.append(
                Notice("warning", "codex-unwritable", f"{row.element}: codex cannot be given it: {why}; left out")
            )
        else:
            rows.setdefault(row.argument, row)
    return Overrides(tuple(rows.values()), tuple(notices))


def unwritable(row: Override) -> str:
    """Why an override cannot be written, "" if it can."""
    bad = [part for part in row.key.split(".") if not is_bare(part)]
    if bad:
        return f"{bad[0]!r} cannot stand in the path of an override"
    try:
        return "" if row.argument else "nothing"
    except ValueError as error:
        return str(error)


def arguments(overrides: Overrides) -> tuple[str, ...]:
    """The words of the command line."""
    return tuple(word for row in overrides.rows for word in ("-c", row.argument))


def too_long(overrides: Overrides) -> Override | None:
    """The first override that no argument can hold."""
    return next((row for row in overrides.rows if size(row) > LONGEST), None)


def size(row: Override) -> int:
    """An override's bytes as an argument."""
    return len(row.argument.encode("utf-8"))
