"""The free records in tiles: nearest and farthest questions that look at few records, with deletion.

A tile holds up to SIZE records that lie close together, column by column, so that distances to a whole tile
run in SIMD. Two columns more hold each record's distance from an anchor common to all tiles, and from its tile's
centre. A tile knows the least and the largest value in each column. A search bounds every tile first and opens only
those that may matter.

Nearest: a box's nearest point is subtracted, squared and summed in the same order as a record's distance, and
rounding is monotone, so the bound computed is never above the distance computed, and needs no slack. Farthest: the
triangle inequality over the anchor (sharp for the centroid) or the tile's centre (sharp elsewhere), with slack for
rounding and for squares that vanish.

An opened tile is first looked at through its shadow: its records about its centre, in single precision, at half
the memory traffic. With u = 2**-24, coordinates a of a record and b of the query about the centre are off by at most
u |a| and u |b|, so their distance is off by at most u (|a| + |b|), and the squared sum over p columns by a factor of
1 + (p + 2) u. _BLUR and the margins are twice that. Only records that these errors leave in question are computed
exactly.

Answers are therefore, bit for bit, those of a scan of all free records, whatever the tiles; equal distances go to the
lowest record index.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import exact_sum
from ._jit import kernel

SIZE = 64
NOBODY = 2**62  # stands after every record where distances are equal
_SLACK = 1.0 + 1e-9
_BLUR = 2.0**-23
_GRAIN = 1e-150  # distances below about 1e-162 vanish when squared: no bound may rely on them
_FAINT = 1e-36  # below it, squares in single precision are lost

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Shadows = NDArray[np.float32]


class Tiles(NamedTuple):
    """The state of the search: t tiles, p columns, n records in all (free or not)."""

    values: Floats  # (t, p + 2, SIZE): the records by column; the last two: distance from the anchor, from the centre
    record: Ints  # (t, SIZE): their indices
    filled: Ints  # (t,): how many of them are free; those stand first
    box: Floats  # (2, p + 2, t): the least and the largest value of each column
    place: Ints  # (n,): where a record stands, tile * SIZE + slot; -1 once it is taken
    anchor: Floats  # (p,): a point amid all records
    centre: Floats  # (p, t): a point amid the tile's
    shadow: Shadows  # (t, p, SIZE): (records - centre) * scale in single precision
    scale: float  # a power of two that brings the shadows to a magnitude of about 1
    digits: Ints  # (p, DIGITS): the exact sum of the free records; (0, DIGITS) where nobody asks for it


@kernel
def _tighten(values: Floats, w: int, box: Floats, t: int) -> None:
    """Recompute the box of tile t from its w records."""
    for j in range(values.shape[0]):
        low, high = np.inf, -np.inf
        for i in range(w):
            low = min(low, values[j, i])
            high = max(high, values[j, i])
        box[0, j, t] = low
        box[1, j, t] = high


@kernel
def fill(tiles: Tiles, X: Floats, order: Ints, starts: Ints) -> None:
    """Put records order[starts[t]:starts[t + 1]] into tile t."""
    values, record, filled, box, place, anchor, centre, shadow, scale, _ = tiles
    p = X.shape[1]
    for t in range(starts.shape[0] - 1):
        inside = order[starts[t] : starts[t + 1]]
        filled[t] = inside.shape[0]
        for j in range(p):
            total = 0.0
            for x in inside:
                total += X[x, j]
            centre[j, t] = total / max(1, inside.shape[0])
        for i in range(inside.shape[0]):
            x = inside[i]
            record[t, i] = x
            place[x] = t * SIZE + i
            from_anchor = from_centre = 0.0
            for j in range(p):
                values[t, j, i] = X[x, j]
                from_anchor += (X[x, j] - anchor[j]) ** 2
                from_centre += (X[x, j] - centre[j, t]) ** 2
                shadow[t, j, i] = np.float32((X[x, j] - centre[j, t]) * scale)
            values[t, p, i] = np.sqrt(from_anchor)
            values[t, p + 1, i] = np.sqrt(from_centre)
        _tighten(values[t], filled[t], box, t)


@kernel
def remove(tiles: Tiles, records: Ints) -> None:
    """Take records out; a tile's box shrinks where they touched its wall."""
    values, record, filled, box, place, _, _, shadow, _, digits = tiles
    for x in records:
        t, i = place[x] // SIZE, place[x] % SIZE
        last = filled[t] - 1
        touched = False
        for j in range(values.shape[1]):
            value = values[t, j, i]
            if j < digits.shape[0]:
                exact_sum.add(digits[j], value, -1)
            if j < shadow.shape[1]:
                shadow[t, j, i] = shadow[t, j, last]
            touched |= value == box[0, j, t] or value == box[1, j, t]
            values[t, j, i] = values[t, j, last]
        moved = record[t, last]
        record[t, i] = moved
        place[moved] = t * SIZE + i
        place[x] = -1
        filled[t] = last
        if touched:
            _tighten(values[t], last, box, t)


@kernel
def distances(values: Floats, w: int, q: Floats, d2: Floats) -> None:
    """d2: squared distances of a tile's w records to q, summed column after column."""
    for i in range(w):
        d2[i] = 0.0
    for j in range(q.shape[0]):
        column, x = values[j], q[j]
        for i in range(w):
            step = column[i] - x
            d2[i] += step * step


@kernel
def distance_to_boxes(box: Floats, q: Floats) -> Floats:
    """Give, for each tile, a squared distance that none of its records is nearer to q than; empty tiles: infinity."""
    below = np.zeros(box.shape[2])
    for j in range(q.shape[0]):
        low, high, x = box[0, j], box[1, j], q[j]
        for t in range(below.shape[0]):
            step = max(max(low[t] - x, x - high[t]), 0.0)
            below[t] += step * step
    return below


@kernel
def _insert(near_d2: Floats, near: Ints, d2: float, x: int) -> None:
    """Put (d2, x) into the list of nearest, sorted by distance and then index; the last one falls out."""
    i = near.shape[0] - 1
    if d2 == near_d2[i] and x > near[i]:
        return
    while i > 0 and (near_d2[i - 1] > d2 or (near_d2[i - 1] == d2 and near[i - 1] > x)):
        near_d2[i] = near_d2[i - 1]
        near[i] = near[i - 1]
        i -= 1
    near_d2[i] = d2
    near[i] = x


@kernel
def _look(
    shadow: Shadows, w: int, q: Floats, centre: Floats, t: int, scale: float, b: Shadows, rough: Shadows
) -> float:
    """rough: squared distances of tile t's w records to q, scaled, in single precision. Gives the centre's distance."""
    away = 0.0
    for j in range(q.shape[0]):
        step = q[j] - centre[j, t]
        away += step * step
        b[j] = np.float32(step * scale)
    for i in range(w):
        rough[i] = 0.0
    for j in range(q.shape[0]):
        column, y = shadow[j], b[j]
        for i in range(w):
            gap = column[i] - y
            rough[i] += gap * gap
    return math.sqrt(away)


@kernel
def _exactly(values: Floats, i: int, q: Floats) -> float:
    """Give the squared distance of a tile's record i to q, as `distances` does."""
    d2 = 0.0
    for j in range(q.shape[0]):
        step = values[j, i] - q[j]
        d2 += step * step
    return d2


@kernel
def nearest(tiles: Tiles, q: Floats, near_d2: Floats, near: Ints) -> None:
    """Write the free records nearest to q, by distance and then index, as many as `near` has room for.

    Where fewer are free, the rest is NOBODY at an infinite distance.
    """
    values, record, filled, box, _, _, centre, shadow, scale, _ = tiles
    p = q.shape[0]
    margin = 1.0 + (p + 8) * _BLUR
    near_d2[:] = np.inf
    near[:] = NOBODY
    b, rough = np.empty(p, np.float32), np.empty(SIZE, np.float32)
    below = distance_to_boxes(box, q)
    first = 1 + p // 4  # so many of the most promising tiles before the rest: more where bounds are loose
    for turn in range(first + below.shape[0]):
        t = int(np.argmin(below)) if turn < first else turn - first
        if below[t] > near_d2[-1] or below[t] == np.inf:  # too far; empty, or opened before
            continue
        below[t] = np.inf
        w = filled[t]
        away = _look(shadow[t], w, q, centre, t, scale, b, rough)
        reach = (np.sqrt(near_d2[-1]) + _BLUR * (away + box[1, p + 1, t]) + _GRAIN) * scale
        limit = np.float32(max(reach * reach * margin, _FAINT))
        hits = 0
        for i in range(w):  # most tiles end here, in SIMD
            hits += rough[i] <= limit
        if hits:
            for i in range(w):
                if rough[i] <= limit:
                    d2 = _exactly(values[t], i, q)
                    if d2 <= near_d2[-1]:
                        _insert(near_d2, near, d2, record[t, i])


@kernel
def farthest(tiles: Tiles, q: Floats) -> int:
    """Give the free record farthest from q; -1 if none is free."""
    values, record, filled, box, _, anchor, centre, shadow, scale, _ = tiles
    p = q.shape[0]
    margin = 1.0 - (p + 8) * _BLUR
    b, rough = np.empty(p, np.float32), np.empty(SIZE, np.float32)
    above = np.zeros(filled.shape[0])  # no record of the tile is farther, squared
    shift = 0.0
    for j in range(p):
        column, x = centre[j], q[j]
        shift += (x - anchor[j]) ** 2
        for t in range(above.shape[0]):
            step = column[t] - x
            above[t] += step * step
    shift = np.sqrt(shift)
    for t in range(above.shape[0]):
        reach = min(np.sqrt(above[t]) + box[1, p + 1, t], shift + box[1, p, t]) * _SLACK + _GRAIN
        above[t] = reach * reach if filled[t] else -1.0  # nobody there
    first = 1 + p // 4
    best, best_d2 = -1, -1.0
    for turn in range(first + above.shape[0]):
        t = int(np.argmax(above)) if turn < first else turn - first
        if above[t] < best_d2 or above[t] < 0.0:
            continue
        above[t] = -1.0
        w = filled[t]
        away = _look(shadow[t], w, q, centre, t, scale, b, rough)
        reach = (np.sqrt(max(best_d2, 0.0)) - _BLUR * (away + box[1, p + 1, t]) - _GRAIN) * scale
        least = reach * reach * margin if reach > 0.0 else 0.0
        limit = np.float32(least if least > _FAINT else -1.0)
        hits = 0
        for i in range(w):
            hits += rough[i] >= limit
        if hits:
            for i in range(w):
                if rough[i] >= limit:
                    d2 = _exactly(values[t], i, q)
                    if d2 > best_d2 or (d2 == best_d2 and record[t, i] < best):
                        best, best_d2 = record[t, i], d2
    return best


@kernel
def farthest_pair(tiles: Tiles, outermost: Ints) -> int:
    """Give r, the lowest free record at an end of a longest pair; -1 if none is free.

    Tiles are paired by their reach, `outermost` first: once the anchor's bound falls below the longest pair, so does
    all that follows.
    """
    values, record, filled, box, _, _, centre, _, _, _ = tiles
    p = centre.shape[0]
    reach, radius = box[1, p] * _SLACK + _GRAIN, box[1, p + 1]
    d2, q = np.empty(SIZE), np.empty(p)
    best, best_d2 = -1, -1.0
    for n, a in enumerate(outermost):
        if filled[a] == 0 or (reach[a] + reach[outermost[0]]) ** 2 < best_d2:
            break
        for b in outermost[n:]:
            if filled[b] == 0 or (reach[a] + reach[b]) ** 2 < best_d2:
                break
            between = 0.0
            for j in range(p):
                between += (centre[j, a] - centre[j, b]) ** 2
            if ((np.sqrt(between) + radius[a] + radius[b]) * _SLACK + _GRAIN) ** 2 < best_d2:
                continue
            for i in range(filled[a]):
                if (values[a, p, i] * _SLACK + reach[b]) ** 2 < best_d2:
                    continue
                for j in range(p):
                    q[j] = values[a, j, i]
                distances(values[b], filled[b], q, d2)
                hits, w, worst = 0, filled[b], best_d2
                for h in range(w):
                    hits += d2[h] >= worst
                if hits:
                    for h in range(w):
                        r = min(record[a, i], record[b, h])
                        if d2[h] > best_d2 or (d2[h] == best_d2 and r < best):
                            best, best_d2 = r, d2[h]
    return best


@kernel
def take_group(tiles: Tiles, X: Floats, members: Ints) -> None:
    """Take out members[0] and the free records nearest to it, which are written to the rest of `members`."""
    k = members.shape[0]
    near_d2, near = np.empty(k), np.empty(k, np.int64)
    nearest(tiles, X[members[0]], near_d2, near)
    size = 1
    for x in near:  # members[0] is one of them, unless k others lie on it
        if x != members[0] and size < k:
            members[size] = x
            size += 1
    remove(tiles, members)


@kernel
def _one_nearest(tiles: Tiles, X: Floats, x: int | np.int64, near_d2: Floats, near: Ints) -> tuple[int, float]:
    """Give the free record nearest to record x, other than x, and its squared distance."""
    nearest(tiles, X[x], near_d2, near)  # the nearest two: one of them is not x
    i = 1 if near[0] == x else 0
    return near[i], near_d2[i]


@kernel
def take_growing_group(tiles: Tiles, X: Floats, members: Ints, size: int, gamma: float) -> int:
    """Take a group of `size`, as `take_group`, and let it grow up to all of `members` as V-MDAV does; give its size.

    The free record nearest to any member joins while its squared distance to the group is below gamma times that to its
    nearest other free record.
    """
    take_group(tiles, X, members[:size])
    place = tiles.place
    near_d2, near = np.empty(2), np.empty(2, np.int64)
    closest, closest_d2 = np.empty_like(members), np.empty(members.shape[0])
    closest[:] = -1
    while size < members.shape[0]:
        e, d_in = np.int64(NOBODY), np.inf
        for i in range(size):  # a member's nearest free record stays so until it is taken
            if closest[i] < 0 or (closest[i] != NOBODY and place[closest[i]] < 0):
                closest[i], closest_d2[i] = _one_nearest(tiles, X, members[i], near_d2, near)
            if closest_d2[i] < d_in or (closest_d2[i] == d_in and closest[i] < e):
                e, d_in = closest[i], closest_d2[i]
        if e == NOBODY:
            break
        _, d_out = _one_nearest(tiles, X, e, near_d2, near)
        if not d_in < gamma * d_out:
            break
        members[size] = e
        size += 1
        remove(tiles, members[size - 1 : size])
    return size
