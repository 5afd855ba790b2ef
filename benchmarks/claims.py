"""What is asked of a result: ratios of two contenders' times, and limits of memory (spec/60, spec/80)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.measure import Figures

MB = 10**6


class Claim(NamedTuple):
    """`contender`'s minimum is at most `most` times `reference`'s; without a reference, its peak memory is at most `most` MB.

    `aim` is what we should like to reach, 0 for nothing more; `what` is said of it where the task's name does not.
    """

    contender: str
    reference: str
    most: float
    aim: float = 0
    what: str = ""

    def reached(self, figures: Sequence[Figures]) -> float | None:
        """The ratio or the MB, None where one of them did not take part."""
        by_name = {one.name: one for one in figures}
        ours = by_name.get(self.contender)
        if ours is None:
            return None
        if not self.reference:
            return ours.peak / MB
        other = by_name.get(self.reference)
        return ours.minimum / other.minimum if other and other.minimum else None

    def holds(self, reached: float) -> bool:
        """Whether that is enough."""
        return reached <= self.most

    def said(self, reached: float) -> str:
        """What was reached, and beside what."""
        return f"{reached:.2f} x {self.reference}" if self.reference else f"{reached:.0f} MB at its peak"

    def verdict(self, figures: Sequence[Figures]) -> str:
        """One line of text; empty where nothing can be said."""
        reached = self.reached(figures)
        if reached is None:
            return ""
        limits = f"at most {self.most:g}" + (f", aim {self.aim:g}" if self.aim else "")
        what = f"{self.what}: " if self.what else ""
        return f"{what}{self.said(reached)} ({limits}): {'holds' if self.holds(reached) else 'FALLS SHORT'}"
