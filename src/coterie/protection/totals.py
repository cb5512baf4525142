"""Controlled rounding: the released means of a part are rounded up or down so that the column's total is kept.

    sums of groups -> what each mean lies above its lower rounding -> the nearest total that can be reached -> which
    groups are rounded up, with the least change

All records of a group get the same value, so a group of n records that is rounded up instead of down adds n steps to
the total. Which totals can be reached is a subset-sum of the groups' sizes; which groups reach one with the least
squared change is a knapsack. Both are solved exactly. With sampling weights, sizes are sums of weights, which are no
whole numbers: the weighted total is approached by a greedy choice and exchanges.

Controlled rounding: Cox (1987), doi 10.1080/01621459.1987.10478456; Willenborg and de Waal (2001), Elements of
Statistical Disclosure Control.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from ..tables.columns import Column

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_FINE = 1_000_000  # of a step: what a mean of decimals lies above its lower rounding is counted in these
_MOST_STEPS = 2.0**52  # of a value: beyond it, floats have no room for the step
_NEARLY = 1e-9  # of a step: a weighted mean so near to a rounding is on it
_EXCHANGED = 1000  # groups, those nearest to being rounded the other way, among which exchanges are looked for
_ROUNDS = 8  # of exchanges, each of two groups at most


@dataclass(frozen=True)
class KeptTotal:
    """What is left between the total of a column before and after, over some parts.

    Attributes
    ----------
    left : float
        The total before minus the total after.
    left_plain : float
        The same if every mean were rounded to the nearest step.
    largest_left : float
        The largest difference of one part, without its sign.
    turned : int
        Groups that got the rounding of their mean that is not the nearest.
    """

    left: float = 0.0
    left_plain: float = 0.0
    largest_left: float = 0.0
    turned: int = 0

    def __add__(self, other: KeptTotal) -> KeptTotal:
        return KeptTotal(
            self.left + other.left,
            self.left_plain + other.left_plain,
            max(self.largest_left, other.largest_left),
            self.turned + other.turned,
        )


class _Rounding(NamedTuple):
    """The groups of a column: their weight, the lower rounding of their means, and what lies above it.

    `lower` is in steps. `above` is the group's sum above it, in `fine` parts of a step.
    """

    sizes: NDArray[Any]  # whole numbers, but for sums of weights
    lower: Floats
    above: NDArray[Any]
    fine: int


def keep_total(
    column: Column, labels: Ints, weights: Floats | None, step: float, nearest: Floats
) -> tuple[Floats, KeptTotal]:
    """What is released for each group so that the column's (weighted) total is kept as nearly as possible.

    Every group gets one of the two roundings of its mean to a multiple of `step`; a mean that is a multiple stays. Of
    all such choices, the total is nearest to that of the values, and then the squared change is the least; what is
    still equal goes to groups by their number. `nearest` are the means, each rounded to the nearest step.
    """
    there = np.flatnonzero(~column.missing)
    if not len(there):
        return nearest, KeptTotal()
    has = np.flatnonzero(~np.isnan(nearest))
    g = np.searchsorted(has, labels[there])
    y = _in_steps(column.numbers[there], step)
    if column.kind != "integer" and np.abs(y).max() >= _MOST_STEPS:
        what = f"The values of '{column.name}' must be below 2**52 steps of its decimals, for its total to be kept."
        raise CoterieError(what, "larger ones", "fewer decimals, or leave totals out.")
    units = np.rint(_in_steps(nearest[has], step))
    if weights is not None:
        rounding = _weighted(y, g, weights[there], units)
        up = nearest_by_exchange(rounding.sizes, rounding.above)
    else:
        rounding = _exact(y, g, units) if column.kind == "integer" else _counted(y, g, units)
        up = nearest_choice(rounding.sizes, rounding.above, rounding.fine)
    chosen = rounding.lower + up
    out = nearest.copy()
    out[has] = _from_steps(chosen, step) + 0.0
    left, plain = (float(_from_steps(_left(rounding, values), step)) for values in (chosen, units))
    half = 0.5 * rounding.sizes * rounding.fine
    turned = np.count_nonzero(np.where(up, rounding.above < half, rounding.above > half))
    return out, KeptTotal(left, plain, abs(left), int(turned))


def _in_steps(x: Floats, step: float) -> Floats:
    """Numbers in steps; a step below 1 is a power of ten, which has no float, but its inverse has."""
    with np.errstate(over="ignore"):
        return x / step if step >= 1.0 else x * 10.0 ** round(-np.log10(step))


def _from_steps(steps: Floats, step: float) -> Floats:
    return steps * step if step >= 1.0 else steps / 10.0 ** round(-np.log10(step))


def _left(rounding: _Rounding, released: Floats) -> Floats:
    """The total before minus that after, in steps; by whole numbers, where sizes are."""
    up = (released - rounding.lower).astype(rounding.sizes.dtype)
    left: Floats = (rounding.above - up * rounding.sizes * rounding.fine).sum() / rounding.fine
    return left


def _exact(y: Floats, g: Ints, units: Floats) -> _Rounding:
    """Whole numbers below 2**53, exactly, however many there are."""
    sizes, far = np.bincount(g), y - units[g]
    if np.abs(far).max() * sizes.max() < 2.0**53:
        whole = far.astype(np.int64)
    else:  # Python's numbers have no end
        whole = y.astype(np.int64).astype(object) - units[g].astype(np.int64).astype(object)
    starts = np.cumsum(sizes) - sizes
    return _divided(np.add.reduceat(whole[np.argsort(g, kind="stable")], starts), sizes, units, 1)


def _counted(y: Floats, g: Ints, units: Floats) -> _Rounding:
    """Numbers with decimals, to a millionth of a step."""
    sums = np.bincount(g, y - units[g], len(units))
    return _divided(np.rint(sums * _FINE).astype(np.int64), np.bincount(g), units, _FINE)


def _divided(sums: NDArray[Any], sizes: Ints, units: Floats, fine: int) -> _Rounding:
    """From the groups' sums above the nearest rounding to those above the lower one."""
    steps = sums // (sizes * fine)
    above = (sums - steps * sizes * fine).astype(np.int64)
    return _Rounding(sizes, units + steps.astype(np.float64), above, fine)


def _weighted(y: Floats, g: Ints, w: Floats, units: Floats) -> _Rounding:
    sizes = np.bincount(g, w)
    share = np.bincount(g, w * (y - units[g])) / sizes
    share[np.abs(share) < _NEARLY] = 0.0
    below = np.floor(share)
    return _Rounding(sizes, units + below, (share - below) * sizes, 1)


def nearest_choice(sizes: Ints, above: Ints, fine: int = 1) -> Flags:
    """Which groups are rounded up, so that their sizes add up to what all lie above their lower roundings.

    Parameters
    ----------
    sizes : ndarray of int
    above : ndarray of int
        What the sum of each group's values lies above its lower rounding, in `fine` parts of a step: at least 0 and
        less than its size. Where it is 0, the mean is on a step, and stays.

    Returns
    -------
    ndarray of bool
        The choice whose sum of sizes is nearest to that of `above`, and of these one with the least squared change:
        the sum over groups of size times squared change. Of two sums equally near, it takes the one with the smaller
        change, then the lower one.
    """
    up = np.zeros(len(sizes), bool)
    free = np.flatnonzero(above > 0)
    wanted = int(above.sum())
    n, a = sizes[free], above[free]
    best = None
    for target in _reachable(n, wanted, fine):
        chosen = _least_change(n, a, target)
        change = target * fine - 2 * int(
            a[chosen].sum()
        )  # squared change: sizes of those up, less twice what they lack
        if best is None or change < best[0]:
            best = change, chosen
    if best is not None:
        up[free] = best[1]
    return up


def _reachable(sizes: Ints, wanted: int, fine: int) -> list[int]:
    """The sums of some sizes that are nearest to `wanted` / `fine`: one, or two; by a bit for each sum."""
    reach = 1
    for size, count in zip(*(found.tolist() for found in np.unique(sizes, return_counts=True)), strict=True):
        times = 1
        while count:  # 1, 2, 4, ... of them and the rest make every number up to count
            times = min(times, count)
            reach |= reach << (size * times)
            count -= times
            times *= 2
    low = wanted // fine
    below = (reach & ((1 << (low + 1)) - 1)).bit_length() - 1
    rest = reach >> (low + 1)
    if not rest:
        return [below]
    over = low + (rest & -rest).bit_length()
    short, beyond = wanted - below * fine, over * fine - wanted
    return [below] if short < beyond else [over] if beyond < short else [below, over]


def _least_change(sizes: Ints, above: Ints, target: int) -> Flags:
    """Which sizes add up to `target`, so that the sum of their `above` is largest; it is known that some do.

    Those with the largest above / size are taken until one does not fit. That is best of all, if nothing is left; else
    some groups are turned over, at a cost of size times the distance of their above / size from that of the one that
    did not fit. At most 2 D - 1 turns are needed, with D the largest size: in an order in which their sums stay
    between 1 - D and D, more of them would come to a sum twice, and could be left out between. So no sum is farther
    than D² from 0, and of each size no more than 2 D groups matter, the cheapest.
    """
    order = np.argsort(-(above / sizes), kind="stable")
    upto = np.cumsum(sizes[order])
    fits = int(np.searchsorted(upto, target, side="right"))
    up = np.zeros(len(sizes), bool)
    up[order[:fits]] = True
    left = target - (int(upto[fits - 1]) if fits else 0)
    if left == 0:
        return up
    edge = order[fits]
    cost = np.abs(above.astype(np.float64) * sizes[edge] - float(above[edge]) * sizes)
    largest = int(sizes.max())
    turns = _cheapest(cost, np.where(up, -sizes, sizes), 2 * largest)
    down, rise = (min(largest**2, int(sizes[flags].sum())) for flags in (up, ~up))
    least = np.full(down + rise + 1, np.inf)
    least[down] = 0.0
    steps: list[tuple[int, int, NDArray[np.uint8]]] = []
    for turn in turns.tolist():
        if cost[turn] >= least[down + left]:
            break
        shift = -int(sizes[turn]) if up[turn] else int(sizes[turn])
        to, of = _shifted(len(least), shift)
        found = least[of] + cost[turn]
        better = np.zeros(len(least), bool)
        better[to] = found < least[to]
        least[to] = np.minimum(least[to], found)
        steps.append((turn, shift, np.packbits(better)))
    at = down + left
    for turn, shift, bits in reversed(steps):
        if bits[at >> 3] >> (7 - (at & 7)) & 1:
            up[turn] = not up[turn]
            at -= shift
    return up


def _shifted(length: int, shift: int) -> tuple[slice, slice]:
    """Where sums go, and where they come from, if all change by `shift`."""
    if shift >= 0:
        return slice(min(shift, length), length), slice(0, max(0, length - shift))
    return slice(0, max(0, length + shift)), slice(min(-shift, length), length)


def _cheapest(cost: Floats, shifts: Ints, most: int) -> Ints:
    """Groups from the cheapest to the dearest, then by number; no more than `most` with the same shift."""
    order = np.lexsort((np.arange(len(cost)), cost))
    same = np.argsort(shifts[order], kind="stable")
    sorted_shifts = shifts[order][same]
    first = np.flatnonzero(np.concatenate(([True], sorted_shifts[1:] != sorted_shifts[:-1])))
    rank = np.empty(len(order), np.int64)
    rank[same] = np.arange(len(order)) - np.repeat(first, np.diff(np.append(first, len(order))))
    kept: Ints = order[rank < most]
    return kept


def nearest_by_exchange(sizes: Floats, above: Floats) -> Flags:
    """The same for sizes that are sums of weights: no sum is proven to be the nearest.

    Groups with the largest above / size are rounded up until the sum is nearest to the wanted one, which leaves half
    the largest size at most. Then one or two groups at a time are turned over, of those nearest to being so, while
    that brings the sum nearer.
    """
    up = np.zeros(len(sizes), bool)
    free = np.flatnonzero(above > 0)
    if not len(free):
        return up
    share = above[free] / sizes[free]
    order = free[np.argsort(-share, kind="stable")]
    wanted = float(above[free].sum())
    upto = np.concatenate(([0.0], np.cumsum(sizes[order])))
    taken = int(np.argmin(np.abs(upto - wanted)))
    up[order[:taken]] = True
    edge = above[order[min(taken, len(order) - 1)]] / sizes[order[min(taken, len(order) - 1)]]
    near = free[np.lexsort((free, np.abs(above[free] - edge * sizes[free])))[:_EXCHANGED]]
    left = wanted - float(upto[taken])
    for _ in range(_ROUNDS):
        shifts = np.where(up[near], -sizes[near], sizes[near])
        turned = _best_exchange(shifts, left)
        now = left - float(shifts[turned].sum())
        if abs(now) >= abs(left) or abs(left) <= _NEARLY * max(1.0, wanted):
            break
        up[near[turned]] ^= True
        left = now
    return up


def _best_exchange(shifts: Floats, wanted: float) -> Ints:
    """The one or two shifts that are nearest to what is wanted; none if that is nearer."""
    order = np.argsort(shifts, kind="stable")
    s = np.append(shifts[order], 0.0)  # the last: none
    best, pair = abs(wanted), np.zeros(0, np.int64)
    for other in (-1, 0):
        at = np.clip(np.searchsorted(s[:-1], wanted - s) + other, 0, len(order) - 1)
        miss = np.abs(wanted - s - s[at])
        miss[at == np.arange(len(s))] = np.inf
        i = int(np.argmin(miss))
        if miss[i] < best:
            best = float(miss[i])
            pair = order[[at[i]] if i == len(order) else [at[i], i]]
    return pair
