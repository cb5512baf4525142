"""The facts of a comparison: what each candidate loses, and what risk it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from .compat import Keyed


@dataclass(frozen=True)
class Candidate(Keyed, old={"loss": "loss_percent", "risk": "linked_share"}):
    """A method with a k, and what it reached; or why it is not possible."""

    method: str
    k: int
    loss_percent: float | None = None
    linked_share: float | None = None  # records whose nearest original is their own
    largest_risk: float | None = None  # 1 / smallest class
    seconds: float | None = None
    not_possible: str | None = None  # the reason
    on_frontier: bool = False  # no other candidate has both less loss and fewer links

    @property
    def linked_percent(self) -> float | None:
        """The linked share in percent."""
        return None if self.linked_share is None else 100 * self.linked_share

    @property
    def largest_risk_percent(self) -> float | None:
        """The largest risk in percent."""
        return None if self.largest_risk is None else 100 * self.largest_risk

    def beats(self, other: Candidate) -> bool:
        """Whether it loses no more and links no more, and is better in one."""
        mine, its = (self.loss_percent, self.linked_share), (other.loss_percent, other.linked_share)
        if None in mine or None in its:
            return False
        return mine != its and all(a <= b for a, b in zip(mine, its, strict=True))  # type: ignore[operator]


def with_frontier(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates, each told whether it is on the risk-utility frontier."""
    best = [c.not_possible is None and not any(other.beats(c) for other in candidates) for c in candidates]
    return tuple(replace(c, on_frontier=flag) for c, flag in zip(candidates, best, strict=True))
