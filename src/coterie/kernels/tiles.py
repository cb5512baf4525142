"""The free records in tiles: nearest and farthest questions that look at few records, with deletion.

A tile holds up to SIZE records that lie close together, column by column, so that distances to a whole tile
run in SIMD. Two columns more hold each record's distance from an anchor common to all tiles, and from its tile's
centre. A tile knows the least and the largest value in each column. The tree over the tiles (tree.py) finds those that
may matter.

A tile is first looked at through its shadow: its records about its centre, in single precision, at half
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
from .tree import FAN, GRAIN, NOBODY, SLACK, STATE, Tree, begin, bound_near, next_tiles

SIZE = 64
_BLUR = 2.0**-23
_FAINT = 1e-36  # below it, squares in single precision are lost

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Shadows = NDArray[np.float32]


class Tiles(NamedTuple):
    """The state of the search: t tiles, p columns, n records in all (free or not)."""

    values: Floats  # (t, p + 2, SIZE): the records by column; the last two: distance from the anchor, from the centre
    record: Ints  # (t, SIZE): their indices
    filled: Ints  # (t,): how many of them are free; those stand first
    place: Ints  # (n,): where a record stands, tile * SIZE + slot; -2 - tile, or -1, once it is taken
    anchor: Floats  # (p,): a point amid all records
    shadow: Shadows  # (t, p, SIZE): (records - centre) * scale in single precision; infinitely far where nobody stands
    scale: float  # a power of two that brings the shadows to a magnitude of about 1
    digits: Ints  # (p, DIGITS): the exact sum of the free records; (0, DIGITS) where nobody asks for it
    middle: Floats  # (t, p): the centres again, tile by tile
    opened: Ints  # (2,): tiles that searches looked at, and that they might have looked at
    tree: Tree  # over the tiles: boxes, centres, lowest free records


@kernel
def _tighten(values: Floats, t: int, j: int, w: int, box: Floats) -> None:
    """Recompute the walls of tile t in column j from its w records."""
    low, high = np.inf, -np.inf
    for i in range(w):
        low = min(low, values[t, j, i])
        high = max(high, values[t, j, i])
    box[0, j, t] = low
    box[1, j, t] = high


@kernel
def _tighten_above(box: Floats, a: int, w: int, j: int, upper: Floats, u: int) -> None:
    """Recompute the walls of node u in column j from those of its w children, from number a on."""
    first = np.uint64(a)
    low, high = np.inf, -np.inf
    for i in range(np.uint64(w)):
        low = min(low, box[0, j, first + i])
        high = max(high, box[1, j, first + i])
    upper[0, j, u] = low
    upper[1, j, u] = high


@kernel
def _climb(tiles: Tiles, level: int, v: int, lowest: bool, columns: NDArray[np.bool_]) -> None:
    """Recompute, of node v of a level above the tiles, these columns' walls and, if asked for, the lowest record."""
    tree = tiles.tree
    starts = tree.starts
    t = starts[1]
    a = starts[level - 1] + (v - starts[level]) * FAN
    b = min(starts[level], a + FAN)
    if lowest:
        low = NOBODY
        for i in range(a, b):
            low = min(low, tree.lowest[i])
        tree.lowest[v] = low
    for j in range(columns.shape[0]):
        if columns[j]:
            if level == 1:
                _tighten_above(tree.box, a, b - a, j, tree.upper, v - t)
            else:
                _tighten_above(tree.upper, a - t, b - a, j, tree.upper, v - t)


@kernel
def _climb_everywhere(tiles: Tiles) -> None:
    """Recompute all nodes above the tiles."""
    tree = tiles.tree
    columns = np.ones(tree.upper.shape[1], np.bool_)
    for level in range(1, tree.starts.shape[0] - 1):
        for v in range(tree.starts[level], tree.starts[level + 1]):
            _climb(tiles, level, v, True, columns)


@kernel
def fill(tiles: Tiles, X: Floats, order: Ints, first: Ints) -> None:
    """Put the records into tiles: order[first[t]:first[t + 1]], at most SIZE of them, into tile t."""
    tree = tiles.tree
    values, record, filled, box, place = tiles.values, tiles.record, tiles.filled, tree.box, tiles.place
    anchor, centre, shadow, scale = tiles.anchor, tree.centre, tiles.shadow, tiles.scale
    p = X.shape[1]
    for t in range(filled.shape[0]):
        inside = order[first[t] : first[t + 1]]
        filled[t] = inside.shape[0]
        lowest = NOBODY
        for j in range(p):
            total = 0.0
            for x in inside:
                total += X[x, j]
            centre[j, t] = total / max(1, inside.shape[0])
            tiles.middle[t, j] = centre[j, t]
        for i in range(inside.shape[0]):
            x = inside[i]
            record[t, i] = x
            place[x] = t * SIZE + i
            lowest = min(lowest, x)
            from_anchor = from_centre = 0.0
            for j in range(p):
                values[t, j, i] = X[x, j]
                from_anchor += (X[x, j] - anchor[j]) ** 2
                from_centre += (X[x, j] - centre[j, t]) ** 2
                shadow[t, j, i] = np.float32((X[x, j] - centre[j, t]) * scale)
            values[t, p, i] = np.sqrt(from_anchor)
            values[t, p + 1, i] = np.sqrt(from_centre)
        for i in range(filled[t], SIZE):
            shadow[t, 0, i] = np.inf
        tree.lowest[t] = lowest
        for j in range(p + 2):
            _tighten(values, t, j, filled[t], box)
    _climb_everywhere(tiles)


@kernel
def anchor_at(tiles: Tiles, point: Floats) -> None:
    """Move the anchor, which bounds the farthest sharply where it is near the point asked for."""
    tree = tiles.tree
    values, filled, box, anchor = tiles.values, tiles.filled, tree.box, tiles.anchor
    p = point.shape[0]
    d2 = np.empty(SIZE)
    for j in range(p):
        anchor[j] = point[j]
    for t in range(filled.shape[0]):
        for i in range(SIZE):
            d2[i] = 0.0
        for j in range(p):
            x = point[j]
            for i in range(SIZE):
                step = values[t, j, i] - x
                d2[i] += step * step
        low, high = np.inf, -np.inf
        for i in range(filled[t]):
            reach = np.sqrt(d2[i])
            values[t, p, i] = reach
            low = min(low, reach)
            high = max(high, reach)
        box[0, p, t] = low
        box[1, p, t] = high
    _climb_everywhere(tiles)


@kernel
def remove(tiles: Tiles, records: Ints) -> None:
    """Take records out; boxes shrink where they touched a wall."""
    tree = tiles.tree
    values, record, filled, box, place = tiles.values, tiles.record, tiles.filled, tree.box, tiles.place
    shadow, digits, upper, lowest, starts = tiles.shadow, tiles.digits, tree.upper, tree.lowest, tree.starts
    p = shadow.shape[1]
    gone, touched = np.empty(p + 2), np.empty(p + 1, np.bool_)
    for x in records:
        t, i = place[x] // SIZE, place[x] % SIZE
        last = filled[t] - 1
        walls = 0
        for j in range(p + 2):
            value = values[t, j, i]
            gone[j] = value
            values[t, j, i] = values[t, j, last]
            touches = value == box[0, j, t] or value == box[1, j, t]
            if touches:
                _tighten(values, t, j, last, box)
            if j <= p:
                touched[j] = touches
                walls += touches
            if j < p:
                shadow[t, j, i] = shadow[t, j, last]
            if j < digits.shape[0]:
                exact_sum.add(digits[j], value, -1)
        shadow[t, 0, last] = np.inf
        moved = record[t, last]
        record[t, i] = moved
        place[moved] = t * SIZE + i
        place[x] = -2 - t
        filled[t] = last
        first = lowest[t] == x
        if first:
            low = NOBODY
            for h in range(last):
                low = min(low, record[t, h])
            lowest[t] = low
        v, level = t, 1
        while (walls or first) and level < starts.shape[0] - 1:  # a wall of the parent is one of the child's
            v = starts[level] + (v - starts[level - 1]) // FAN
            walls = 0
            for j in range(p + 1):
                touched[j] &= gone[j] == upper[0, j, v - starts[1]] or gone[j] == upper[1, j, v - starts[1]]
                walls += touched[j]
            first = first and lowest[v] == x
            if walls or first:
                _climb(tiles, int(level), int(v), bool(first), touched)
            level += 1


@kernel
def distances(values: Floats, w: int, q: Floats, d2: Floats) -> None:
    """d2: squared distances of a tile's w records to q, summed column after column."""
    for i in range(w):
        d2[i] = 0.0
    for j in range(q.shape[0]):
        x = q[j]
        for i in range(w):
            step = values[j, i] - x
            d2[i] += step * step


@kernel
def distance_to_boxes(box: Floats, q: Floats) -> Floats:
    """Give, for each tile, a squared distance that none of its records is nearer to q than; empty tiles: infinity."""
    below = np.empty(box.shape[2])
    bound_near(box, 0, q, below, 0, below.shape[0])
    return below


@kernel
def insert(near_d2: Floats, near: Ints, d2: float, x: int) -> None:
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
def around(worst: float, radius: float, scale: float, p: int) -> np.float32:
    """Bound what `within` computes for records at most `worst` from q, squared, in a tile of this radius.

    The tile's centre is no farther from q than such a record and the radius together.
    """
    root = np.sqrt(worst)
    reach = (root + _BLUR * (root + 2.0 * radius) + GRAIN) * scale
    return np.float32(max(reach * reach * (1.0 + (p + 8) * _BLUR), _FAINT))


@kernel
def _by_shadow(shadow: Shadows, t: int, q: Floats, middle: Floats, scale: float, rough: Shadows) -> None:
    """rough: squared distances of tile t's places to q, scaled, in single precision.

    This and the next two, as `around`, are part of every kernel that calls them (`_jit`): a call would take as long as
    what it does.
    """
    for i in range(SIZE):
        rough[i] = 0.0
    for j in range(q.shape[0]):
        y = np.float32((q[j] - middle[t, j]) * scale)
        for i in range(SIZE):  # a slice for each column would cost more than the sums
            gap = shadow[t, j, i] - y
            rough[i] += gap * gap


@kernel
def within(shadow: Shadows, t: int, q: Floats, middle: Floats, scale: float, limit: np.float32, rough: Shadows) -> int:
    """Write `rough`, and give how many places are up to `limit` away."""
    _by_shadow(shadow, t, q, middle, scale, rough)
    hits = np.int32(0)  # as wide as what is compared: all stays in SIMD
    for i in range(SIZE):
        hits = np.int32(hits + np.int32(rough[i] <= limit))
    return int(hits)


@kernel
def beyond(shadow: Shadows, t: int, q: Floats, middle: Floats, scale: float, limit: np.float32, rough: Shadows) -> int:
    """Write `rough`, and give how many places are `limit` away or more: those where nobody stands always are."""
    _by_shadow(shadow, t, q, middle, scale, rough)
    hits = np.int32(0)
    for i in range(SIZE):
        hits = np.int32(hits + np.int32(rough[i] >= limit))
    return int(hits)


@kernel
def exactly(values: Floats, t: int, i: int, q: Floats) -> float:
    """Give the squared distance of record i of tile t to q, as `distances` does."""
    d2 = 0.0
    for j in range(q.shape[0]):
        step = values[t, j, i] - q[j]
        d2 += step * step
    return d2


@kernel
def nearest(tiles: Tiles, q: Floats, near_d2: Floats, near: Ints) -> None:
    """Write the free records nearest to q, by distance and then index, as many as `near` has room for.

    Where fewer are free, the rest is NOBODY at an infinite distance.
    """
    near_d2[:] = np.inf
    near[:] = NOBODY
    nearest_from(tiles, q, -1, near_d2, near, -1.0)


@kernel
def nearest_from(tiles: Tiles, q: Floats, home: int, near_d2: Floats, near: Ints, enough: float) -> None:
    """Improve the list of records nearest to q, which lies in or near tile `home` if that is not -1.

    Stops early, soon after the whole list is no farther than `enough`: infinity asks for a look at `home` alone.
    """
    tree = tiles.tree
    values, record, filled, box = tiles.values, tiles.record, tiles.filled, tree.box
    bound, batch, lowest, middle, shadow = tree.bound, tree.batch, tree.lowest, tiles.middle, tiles.shadow
    scale = tiles.scale
    p = q.shape[0]
    rough, state = np.empty(SIZE, np.float32), np.empty(STATE, np.int64)
    begin(state, home, p)
    batch[0], count, worst = home, 1, near_d2[-1]
    opened = might = 0
    while True:
        if home < 0:
            if worst <= enough:
                break
            count = next_tiles(tree, q, -1.0, worst, near[-1], lowest, -1, state)
            might = filled.shape[0]
        home = -1
        if count == 0:
            break
        for n in range(count):
            t = batch[n]
            if count > 1 and bound[t] > worst:
                continue
            opened += 1
            limit = around(worst, box[1, p + 1, t], scale, p)
            if within(shadow, t, q, middle, scale, limit, rough):
                for i in range(filled[t]):
                    if rough[i] <= limit:
                        d2 = exactly(values, t, i, q)
                        if d2 <= worst:
                            insert(near_d2, near, d2, record[t, i])
                            worst = near_d2[-1]
    tiles.opened[0] += opened
    tiles.opened[1] += might


@kernel
def farthest(tiles: Tiles, q: Floats) -> int:
    """Give the free record farthest from q; -1 if none is free."""
    tree = tiles.tree
    values, record, filled, box, anchor = tiles.values, tiles.record, tiles.filled, tree.box, tiles.anchor
    bound, batch, lowest, middle, shadow = tree.bound, tree.batch, tree.lowest, tiles.middle, tiles.shadow
    scale = tiles.scale
    p = q.shape[0]
    margin = 1.0 - (p + 8) * _BLUR
    rough, state = np.empty(SIZE, np.float32), np.empty(STATE, np.int64)
    begin(state, -1, p)
    root = shift = 0.0
    for j in range(p):
        shift += (q[j] - anchor[j]) ** 2
    shift = np.sqrt(shift)
    best, best_d2 = np.int64(NOBODY), -np.inf
    opened = 0
    while True:
        count = next_tiles(tree, q, shift, -best_d2, best, lowest, -1, state)
        if count == 0:
            break
        for n in range(count):
            t = batch[n]
            if count > 1 and bound[t] > -best_d2:
                continue
            opened += 1
            away = 0.0
            for j in range(p):
                step = q[j] - middle[t, j]
                away += step * step
            reach = (root - _BLUR * (math.sqrt(away) + box[1, p + 1, t]) - GRAIN) * scale
            limit = np.float32(max(reach, 0.0) * reach * margin - _FAINT)
            if beyond(shadow, t, q, middle, scale, limit, rough) > SIZE - filled[t]:  # where nobody stands counts
                for i in range(filled[t]):
                    if rough[i] >= limit:
                        d2 = exactly(values, t, i, q)
                        if d2 > best_d2 or (d2 == best_d2 and record[t, i] < best):
                            best, best_d2 = record[t, i], d2
                            root = math.sqrt(best_d2)
    tiles.opened[0] += opened
    tiles.opened[1] += filled.shape[0]
    return int(best) if best_d2 >= 0.0 else -1


@kernel
def _apart_at_most(box: Floats, a: int, b: int, p: int) -> float:
    """No record of tile a is farther from one of tile b, squared: the sum of the same steps, each as long or longer."""
    d2 = 0.0
    for j in range(p):
        step = max(box[1, j, a] - box[0, j, b], box[1, j, b] - box[0, j, a])
        d2 += step * step
    return d2


@kernel
def farthest_pair(tiles: Tiles, outermost: Ints) -> int:
    """Give r, the lowest free record at an end of a longest pair; -1 if none is free.

    Tiles are paired by their reach, `outermost` first: once the anchor's bound falls below the longest pair, so does
    all that follows.
    """
    tree = tiles.tree
    values, record, filled, box, centre = tiles.values, tiles.record, tiles.filled, tree.box, tree.centre
    lowest = tree.lowest
    p = centre.shape[0]
    reach, radius = box[1, p] * SLACK + GRAIN, box[1, p + 1]
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
            if ((np.sqrt(between) + radius[a] + radius[b]) * SLACK + GRAIN) ** 2 < best_d2:
                continue
            # Pairs that are as long matter only if they have a lower record
            if lowest[a] >= best and lowest[b] >= best and _apart_at_most(box, a, b, p) <= best_d2:
                continue
            for i in range(filled[a]):
                if (values[a, p, i] * SLACK + reach[b]) ** 2 < best_d2:
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
def home_of(place: Ints, x: int) -> int:
    """Give the tile in which record x stands, or stood when it was taken; -1 if that is long ago."""
    return int(place[x] // SIZE if place[x] >= 0 else max(-1, -2 - place[x]))
