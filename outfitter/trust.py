"""What is known of a directory, put beside what stat says of it now: which children are to be believed unread (spec/60). Pure."""

from outfitter.tree import DIGEST_SIZE, NO_DIGEST, STAT, Folder

UNREADABLE = b"u"
# Columns are compared so many rows at a time before single rows are.
BLOCK = 32
# What no lstat says.
_NEVER = b"\xff" * STAT.size


def vouched(known: Folder, stats: bytes, limit: int | None) -> bool:
    """Whether a whole directory is as known: every stat the same, none racy, nothing unreadable or noted.

    `stats` are of the same names in the same order. `limit` is the time (ns) from which on a row is racy, None where none is.
    """
    if stats != known.stats or UNREADABLE in known.tags or (limit is not None and known.newest >= limit):
        return False
    return not any(remark.note for remark in known.remarks)


def doubted(known: Folder, stats: bytes, limit: int | None) -> list[int]:
    """The children whose stat does not vouch for what is known of them, in order; arguments as for `vouched`."""
    doubts = set(_differing(known.stats, stats))
    doubts.update(remark.place for remark in known.remarks if remark.note)
    if UNREADABLE in known.tags:
        doubts.update(index for index, tag in enumerate(known.tags) if tag == UNREADABLE[0])
    if limit is not None and known.newest >= limit:
        words = memoryview(stats).cast("q")
        times = zip(words[3::6], words[4::6], strict=True)
        doubts.update([index for index, (mtime, ctime) in enumerate(times) if mtime >= limit or ctime >= limit])
    return sorted(doubts)


def _differing(one: bytes, other: bytes) -> list[int]:
    """The rows in which two stat columns of the same length differ."""
    size, span = STAT.size, BLOCK * STAT.size
    return [
        at // size
        for start in range(0, len(one), span)
        if one[start : start + span] != other[start : start + span]
        for at in range(start, min(start + span, len(one)), size)
        if one[at : at + size] != other[at : at + size]
    ]


def aligned(known: Folder, names: bytes, count: int) -> Folder:
    """What is known, in the order of `count` other names (raw, ascending, joined by NUL); one that is not known has a stat
    that no entry has."""
    if names == known.names and count == len(known.tags):
        return known
    places = {name: place for place, name in enumerate(known.children())}
    order = [places.get(name, -1) for name in (names.split(b"\0") if count else [])]
    now = {place: index for index, place in enumerate(order)}
    remarks = tuple([r._replace(place=now[r.place]) for r in known.remarks if r.place in now])
    return known._replace(
        names=names,
        tags=bytes([known.tags[place] if place >= 0 else 0 for place in order]),
        stats=_picked(known.stats, order, STAT.size, _NEVER),
        digests=_picked(known.digests, order, DIGEST_SIZE, NO_DIGEST),
        remarks=remarks,
    )


def _picked(column: bytes, order: list[int], size: int, missing: bytes) -> bytes:
    return b"".join([column[place * size : (place + 1) * size] if place >= 0 else missing for place in order])
