"""How messages word counts, long lists and typos."""

from collections.abc import Iterable

SHOWN = 8


def counted(count: int, one: str, many: str = "") -> str:
    """Return a number and what it counts: "1 file", "2 files"; `many` is an irregular plural."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def listed(names: Iterable[str], most: int = SHOWN) -> str:
    """Names in one line: the first `most`, and how many more there are."""
    every = list(names)
    return ", ".join(every[:most]) + (f" and {len(every) - most} more" if len(every) > most else "")


def nearest(word: str, known: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """The known names that look most like a word, best first; none where none does."""
    from difflib import get_close_matches

    by_lower = {name.lower(): name for name in sorted(known, reverse=True)}
    return tuple(by_lower[near] for near in get_close_matches(word.lower(), list(by_lower), count, 0.6))


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "", count: int = 3) -> str:
    """A hint that names the nearest known names, or `otherwise`."""
    near = nearest(word, known, count)
    return f"did you mean {' or '.join(near)}?" if near else otherwise
