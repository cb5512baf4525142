"""The facts of a comparison: what each candidate loses, and what risk it leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

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
    best: bool = False  # one of a few on the frontier: see `with_frontier`
    importance: Mapping[str, float] = field(default_factory=dict)  # of the columns of which several were tried
    column_losses_percent: Mapping[str, float | None] = field(default_factory=dict)  # of these columns, each alone
    within_risk: bool | None = None  # whether its largest risk is at most the one that was asked for, if one was
    chosen: bool = False  # of the candidates within that risk, the one that loses least
    least_overlap_share: float | None = None  # of the confidence intervals of the recipe's analyses, before and after

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


MOST_BEST = 5


def with_frontier(candidates: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The candidates, each told whether it is on the risk-utility frontier, and whether it is one of the best.

    The best are, for each k, the candidate on the frontier that loses least. Of more than five, these are the one that
    loses least, the one with the fewest links, and the three that are nearest to the corner where both are least, each
    measured on the scale from the least to the most of these candidates.
    """
    frontier = [c.not_possible is None and not any(other.beats(c) for other in candidates) for c in candidates]
    best = _best([i for i, flag in enumerate(frontier) if flag], candidates)
    return tuple(
        replace(c, on_frontier=flag, best=i in best)
        for i, (c, flag) in enumerate(zip(candidates, frontier, strict=True))
    )


def with_threshold(candidates: Sequence[Candidate], k: int) -> tuple[Candidate, ...]:
    """The candidates, each told whether its smallest class has k records or units, and which of these loses least.

    Of equal losses, the one with fewer links, then the first.
    """
    within = [c.largest_risk is not None and round(1 / c.largest_risk) >= k for c in candidates]
    possible = [i for i, flag in enumerate(within) if flag and candidates[i].not_possible is None]
    chosen = min(possible, key=lambda i: (*_size(candidates[i]), i), default=None)
    return tuple(
        replace(c, within_risk=flag, chosen=i == chosen)
        for i, (c, flag) in enumerate(zip(candidates, within, strict=True))
    )


def _best(frontier: Sequence[int], candidates: Sequence[Candidate]) -> set[int]:
    least: dict[int, int] = {}  # of each k
    for i in frontier:
        k = candidates[i].k
        if k not in least or _size(candidates[i]) < _size(candidates[least[k]]):
            least[k] = i
    some = sorted(least.values(), key=lambda i: _size(candidates[i]))
    if len(some) <= MOST_BEST:
        return set(some)
    ends = _size(candidates[some[0]]), _size(candidates[some[-1]])
    wide = [abs(a - b) or 1.0 for a, b in zip(*ends, strict=True)]
    corner = [min(pair) for pair in zip(*ends, strict=True)]

    def far(i: int) -> float:
        return sum(((v - c) / w) ** 2 for v, c, w in zip(_size(candidates[i]), corner, wide, strict=True))

    return {some[0], some[-1], *sorted(some[1:-1], key=lambda i: (far(i), i))[: MOST_BEST - 2]}


def _size(candidate: Candidate) -> tuple[float, float]:
    """Loss and links; what is not known is taken for the most."""
    loss, links = candidate.loss_percent, candidate.linked_share
    return 100.0 if loss is None else loss, 1.0 if links is None else links
