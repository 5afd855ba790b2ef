"""Session trees of a realistic shape, in tiers, deterministic by seed.

A tree is one or more project folders below `projects/`. Sizes follow percentiles of real session histories (main
transcripts, subagent files, tool results), drawn log-linearly between them and scaled to the size of the tier.
"""

from __future__ import annotations

import math
import os
import random
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

KB, MB, GB = 10**3, 10**6, 10**9


class Tier(NamedTuple):
    """The number of files and bytes; `here` of them (files, bytes) are in the launch directory's folder.

    If `here` is None, all are.
    """

    files: int
    size: int
    here: tuple[int, int] | None = None
    small: bool = False


TIERS: dict[str, Tier] = {
    "S": Tier(180, 70 * MB),
    "CI": Tier(450, 120 * MB),
    "M": Tier(4_500, 1_200 * MB, (3_300, 500 * MB)),
    "L": Tier(28_000, 7_500 * MB, (4_000, 1_000 * MB)),
    "N20k": Tier(20_000, 20_000 * 42 * KB, small=True),
    "N100k": Tier(100_000, 100_000 * 11 * KB, small=True),
    "N100k-200B": Tier(100_000, 100_000 * 200, small=True),
    "N1M-200B": Tier(1_000_000, 1_000_000 * 200, small=True),
    "launch20k": Tier(20_000, 20_000 * 20 * KB, small=True),
    "launch2k": Tier(2_000, 2_000 * 50 * KB, small=True),
    "X2G": Tier(1, 2 << 30),
    "X7k": Tier(7_214, 7_214 * 60 * KB),
}

PERCENTILES = (0, 10, 50, 75, 90, 95, 99, 100)
SIZES: dict[str, tuple[float, ...]] = {
    "transcript": (1 * KB, 4 * KB, 150 * KB, 600 * KB, 2 * MB, 4.2 * MB, 14 * MB, 156 * MB),
    "agent": (2 * KB, 8 * KB, 40 * KB, 95 * KB, 200 * KB, 320 * KB, 0.9 * MB, 4 * MB),
    "result": (5 * KB, 20 * KB, 50 * KB, 110 * KB, 220 * KB, 450 * KB, 1.2 * MB, 6 * MB),
    "meta": (100, 120, 180, 220, 300, 350, 400, 600),
    "memory": (200, 300, 1 * KB, 2 * KB, 5 * KB, 8 * KB, 20 * KB, 60 * KB),
}
WITH_AGENTS, WITHOUT_TRANSCRIPT, WITH_RESULTS = 0.27, 0.08, 0.2
BLOB_SIZE = 8 * MB


class File(NamedTuple):
    """One file to make: path relative to `projects/`, kind of size, and the size itself."""

    path: str
    kind: str
    size: int


def draw(kind: str, chance: random.Random) -> int:
    """Return a size drawn by the percentiles of the kind."""
    percent = chance.random() * 100
    sizes = SIZES[kind]
    interval = min(bisect_right(PERCENTILES, percent) - 1, len(sizes) - 2)
    share = (percent - PERCENTILES[interval]) / (PERCENTILES[interval + 1] - PERCENTILES[interval])
    return int(math.exp(math.log(sizes[interval]) * (1 - share) + math.log(sizes[interval + 1]) * share))


def session(name: str, chance: random.Random) -> Iterator[tuple[str, str]]:
    """Yield (path, kind) of one session's files."""
    if chance.random() >= WITHOUT_TRANSCRIPT:
        yield f"{name}.jsonl", "transcript"
    if chance.random() < WITH_AGENTS:
        for _ in range(1 + int(chance.expovariate(1 / 12))):
            agent = f"{name}/subagents/agent-{chance.getrandbits(32):08x}"
            yield f"{agent}.jsonl", "agent"
            yield f"{agent}.meta.json", "meta"
        for _ in range(chance.choice((0, 0, 1, 2))):
            run = f"{chance.getrandbits(32):08x}"
            yield f"{name}/workflows/{run}.json", "memory"
            yield f"{name}/subagents/workflows/{run}/journal.jsonl", "memory"
            for _ in range(chance.randrange(1, 14)):
                yield f"{name}/subagents/workflows/{run}/agent-{chance.getrandbits(32):08x}.jsonl", "agent"
    if chance.random() < WITH_RESULTS:
        for _ in range(chance.randrange(1, 6)):
            yield f"{name}/tool-results/{chance.getrandbits(48):012x}.txt", "result"


def folder(slug: str, files: int, size: int, chance: random.Random) -> list[File]:
    """Return one project folder with exactly `files` files and about `size` bytes."""
    chosen: list[tuple[str, str]] = [(f"{slug}/sessions-index.json", "memory"), (f"{slug}/memory/MEMORY.md", "memory")]
    while len(chosen) < files:
        name = f"{chance.getrandbits(32):08x}-{chance.getrandbits(16):04x}-4{chance.getrandbits(12):03x}"
        chosen += [(f"{slug}/{path}", kind) for path, kind in session(name, chance)]
    chosen = chosen[-1:] if files == 1 else chosen[:files]
    drawn = [draw(kind, chance) for _, kind in chosen]
    scale = size / sum(drawn)
    return [
        File(path, kind, max(1, int(drawn_size * scale)))
        for (path, kind), drawn_size in zip(chosen, drawn, strict=True)
    ]


def plan(tier: str, slug: str, seed: int = 1) -> list[File]:
    """Return every file of a tier; the launch directory's folder is `slug`, the seed names the others."""
    want, chance = TIERS[tier], random.Random(f"{tier} {seed}")
    if tier == "X2G":
        return [File(f"{slug}/0.jsonl", "transcript", want.size)]
    if tier == "X7k":
        paths = [f"{slug}/0/subagents/agent-{chance.getrandbits(48):012x}.jsonl" for _ in range(want.files)]
        return [File(path, "agent", draw("agent", chance)) for path in paths]
    files, size = want.here or (want.files, want.size)
    chosen = folder(slug, files, size, chance)
    left, bytes_left = want.files - files, want.size - size
    number = 0
    while left > 0:
        count = min(left, chance.randrange(max(20, want.files // 60), max(40, want.files // 12)))
        share = bytes_left if count == left else bytes_left * count // left
        chosen += folder(f"-home-u-project-{number}", count, share, chance)
        left, bytes_left, number = left - count, bytes_left - share, number + 1
    return chosen


def make(root: str, tier: str, slug: str = "-home-u-here", seed: int = 1) -> list[File]:
    """Write a tier below `root`, which is created, and return its files; mtimes are in the past."""
    files = plan(tier, slug, seed)
    blob = memoryview(random.Random(seed).randbytes(BLOB_SIZE))
    chance = random.Random(seed + 1)
    for number, (path, _, size) in enumerate(files):
        full = os.path.join(root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            left = size
            while left:
                start = chance.randrange(BLOB_SIZE // 2)
                left -= file.write(blob[start : start + min(left, BLOB_SIZE // 2)])
        when = 1_700_000_000 * 10**9 + number * 60 * 10**9
        os.utime(full, ns=(when, when))
    return files
