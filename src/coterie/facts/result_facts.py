"""The facts of a microaggregated table: what was done, what it cost, and what is proven of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .compat import Called, Keyed


@dataclass(frozen=True)
class GuaranteeFacts(Keyed):
    """What the method can promise about the SSE."""

    factor: float  # the SSE is at most so many times the least possible, whatever the data
    why: str
    lower_bound: float | None
    factor_euclidean: float | None
    proof: Mapping[str, Any]


@dataclass(frozen=True)
class ProvenFacts(Keyed, old={"loss": "loss_percent", "gap": "gap_share", "reached": "reached_percent"}):
    """A lower bound on the SSE of any partition into groups of at least k, beside what was reached."""

    sse: float | None
    loss_percent: float | None
    gap_share: float | None  # reached / bound - 1; None if the bound is 0
    gap_percent: float | None
    kind: str
    tolerance: float | None
    seconds: float | None
    cut_short: str | None
    k: int
    reached_percent: float | None


@dataclass(frozen=True)
class ResultFacts(
    Called,
    old={
        "loss": "loss_percent",
        "loss_euclidean": "loss_euclidean_percent",
        "information_loss": "information_loss_percent",
    },
):
    """What there is to say of a result, without a record's value. For one version it can be called: a dictionary."""

    method: str
    params: Mapping[str, Any]
    options: Mapping[str, Any]
    k: int
    records: int
    columns: int
    groups: int
    sizes: Mapping[int, int]  # how many groups there are of each size
    groups_by_column: bool
    exposed: int  # records that share their released values with fewer than k - 1 others
    sse: float | None  # None where no float holds it
    sst: float | None
    loss_percent: float | None
    loss_euclidean_percent: float | None
    distortion: float | None
    diversity: float | None
    information_loss_percent: float | None
    seconds: float | None
    guarantee: GuaranteeFacts | None
    bound: ProvenFacts | None
