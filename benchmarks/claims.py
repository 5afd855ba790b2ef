"""What is required of a result: ratios of two contenders' times, and memory limits (spec/60, spec/80)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from benchmarks.measure import Figures

MB = 10**6


class Claim(NamedTuple):
    """`contender`'s minimum is at most `most` times `reference`'s.

    Without a reference, its peak memory is at most `most` MB. `aim` is a better value to reach, 0 for none; `what` says what is
    claimed if the task's name does not.
    """

    contender: str
    reference: str
    most: float
    aim: float = 0
    what: str = ""

    def reached(self, figures: Sequence[Figures]) -> float | None:
        """Return the ratio or the MB, or None if one of them did not take part."""
        by_name = {row.name: row for row in figures}
        ours = by_name.get(self.contender)
        if ours is None:
            return None
        if not self.reference:
            return ours.peak / MB
        other = by_name.get(self.reference)
        return ours.minimum / other.minimum if other and other.minimum else None

    def holds(self, reached: float) -> bool:
        """Return whether the value meets the claim."""
        return reached <= self.most

    def said(self, reached: float) -> str:
        """Return the value in words."""
        return f"{reached:.2f} x {self.reference}" if self.reference else f"{reached:.0f} MB at its peak"

    def verdict(self, figures: Sequence[Figures]) -> str:
        """Return one line of text, empty if the claim cannot be judged."""
        reached = self.reached(figures)
        if reached is None:
            return ""
        limits = f"at most {self.most:g}" + (f", aim {self.aim:g}" if self.aim else "")
        what = f"{self.what}: " if self.what else ""
        return f"{what}{self.said(reached)} ({limits}): {'holds' if self.holds(reached) else 'FALLS SHORT'}"
