"""Rows of which most values are 0: only the others are held, in the order of their columns.

Row s is columns[starts[s] : starts[s] + counts[s]], and the values at the same places. Leaving out a zero changes no
sum: the results are, bit for bit, those of full rows.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@kernel
def nearest_row(a: int, alive: Ints, starts: Ints, counts: Ints, columns: Ints, values: Floats) -> int:
    """Give the row nearest to row a, of the others that are alive, listed in order; ties go to the lowest index.

    Squared differences are summed column by column. None of them is negative, so a row is left as soon as its sum is as
    large as the least.
    """
    nearest, least = -1, np.inf
    first, end = starts[a], starts[a] + counts[a]
    for b in alive:
        if b == a:
            continue
        i, j, stop, total = first, starts[b], starts[b] + counts[b], 0.0
        while (i < end or j < stop) and total < least:
            if j == stop or (i < end and columns[i] < columns[j]):
                d = values[i]
                i += 1
            elif i == end or columns[j] < columns[i]:
                d = values[j]
                j += 1
            else:
                d = values[j] - values[i]
                i += 1
                j += 1
            total += d * d
        if total < least or nearest < 0:
            nearest, least = b, total
    return nearest


@kernel
def add_rows(columns: Ints, values: Floats, others: Ints, theirs: Floats, out: Ints, sums: Floats) -> int:
    """Write the sum of two rows; give how many values it holds."""
    i, j, n = 0, 0, 0
    while i < len(columns) or j < len(others):
        if j == len(others) or (i < len(columns) and columns[i] < others[j]):
            out[n], sums[n] = columns[i], values[i]
            i += 1
        elif i == len(columns) or others[j] < columns[i]:
            out[n], sums[n] = others[j], theirs[j]
            j += 1
        else:
            out[n], sums[n] = columns[i], values[i] + theirs[j]
            i += 1
            j += 1
        n += 1
    return n
