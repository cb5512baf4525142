"""Which column to coarsen first: the risk with columns halved and with one left out, counted, not estimated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..facts.measures import ClassRisk
from ..facts.risk_drivers import Coarsened, CoarseningStep
from ..tables.columns import Column
from .risk import class_risk, combined

Ints = NDArray[np.int64]

_EQUAL = 0.001  # of the expected re-identifications: smaller differences decide nothing
_TENTH = 0.1  # of the expected re-identifications: low enough to stop at
_STEPS = 100
_WORK = 1_000_000_000  # values that are looked at, at most: some 70 steps with 100,000 records in 12 columns


def coarser(column: Column, numbers: Ints, times: int = 1) -> Ints:
    """The values of a column, numbered from 0, halved so many times; missing values stay a value of their own.

    Halved once, of v values v/2 are left, rounded up. Ordered columns: neighbours are merged in pairs, the lowest two,
    the next two and so on. Others: the most frequent stay, and all the rest become one category; ties stay by their
    order.
    """
    here = ~column.missing
    count = int(numbers[here].max(initial=-1)) + 1  # missing values come last, and are one
    if column.is_ordered:
        join = np.arange(count) >> times
    else:
        stay = max(0, -(-count >> times) - 1) if count else 0
        common = np.argsort(-np.bincount(numbers[here], minlength=count), kind="stable")
        join = np.full(count, stay)
        join[common[:stay]] = np.arange(stay)
    lacking = int(join.max(initial=-1)) + 1
    return np.append(join, lacking)[np.where(here, numbers, count)]


def coarsened(
    columns: Sequence[Column], values: Sequence[Ints], k: int, units: Ints | None, whole: ClassRisk
) -> list[tuple[Coarsened, Coarsened]]:
    """For each column the risk with it halved, and with it left out; `whole` is the risk as it is."""
    n = len(values[0])
    out = []
    for j, column in enumerate(columns):
        others = [numbers for i, numbers in enumerate(values) if i != j]
        half = coarser(column, values[j])
        with_half = class_risk(combined([*others, half]), k, units)
        without = class_risk(combined(others) if others else np.zeros(n, np.int64), k, units)
        left = _different(half)
        out.append((_risk(left, with_half, whole), _risk(min(1, left), without, whole)))
    return out


def _different(numbers: Ints) -> int:
    return int(numbers.max(initial=-1)) + 1


def _risk(values: int, risk: ClassRisk, whole: ClassRisk) -> Coarsened:
    before, after = whole.expected_reidentifications, risk.expected_reidentifications
    fall = 100.0 * (before - after) / before if before else None
    return Coarsened(values, risk.unique, risk.below_k, after, fall)


def in_turn(
    columns: Sequence[Column], values: Sequence[Ints], k: int, units: Ints | None, whole: ClassRisk
) -> list[CoarseningStep]:
    """Halve columns one after the other, each time the one with which the fewest re-identifications are expected.

    Of equal ones (to a thousandth of what was expected at first), the column with the most values left; then the first.
    It ends when a tenth of the expected re-identifications is left, when nothing can be halved, or after 100 steps, of
    large files fewer.
    """
    most = min(_STEPS, _WORK // (len(values[0]) * len(columns) ** 2))
    now, times = list(values), [0] * len(columns)
    steps: list[CoarseningStep] = []
    expected = whole.expected_reidentifications
    while expected > _TENTH * whole.expected_reidentifications and len(steps) < most:
        tried = []
        for j, column in enumerate(columns):
            half = coarser(column, values[j], times[j] + 1)
            if _different(half) < _different(now[j]):
                risk = class_risk(combined([*now[:j], half, *now[j + 1 :]]), k, units)
                rank = round(risk.expected_reidentifications / whole.expected_reidentifications / _EQUAL)
                tried.append((rank, -_different(now[j]), j, half, risk))
        if not tried:
            break
        *_, j, now[j], risk = min(tried, key=lambda one: one[:3])
        expected = risk.expected_reidentifications
        times[j] += 1
        steps.append(CoarseningStep(columns[j].name, _different(now[j]), risk.unique, risk.below_k, expected))
    return steps
