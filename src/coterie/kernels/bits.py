"""Sets of columns as bits: column j is bit 63 - j % 64 of word j // 64, so that words sort as the columns do."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._jit import kernel

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]


@kernel
def bits_in(x: np.uint64) -> int:
    """The number of bits that are set."""
    x -= (x >> np.uint64(1)) & np.uint64(0x5555555555555555)
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def comes_before(words: Words, a: int, b: int) -> bool:
    """Whether set a sorts before set b: a column that is not in the set comes first."""
    for w in range(words.shape[1]):
        if words[a, w] != words[b, w]:
            return bool(words[a, w] < words[b, w])
    return False


@kernel
def cheapest_partner(words: Words, sizes: Ints, alive: Ints, a: int, k: int) -> tuple[int, int]:
    """Give the pattern that a is joined with, and how many of its records come along, so that fewest cells are lost.

    A record of a loses a cell for each column that is only in the other's set, and each that comes along for each that
    is only in a's. None comes along if there is no such column; else as many as a lacks, where the other keeps k; else
    all. Ties go to the pattern that sorts first.
    """
    size, need = sizes[a], k - sizes[a]
    partner, least, come = -1, np.int64(0), np.int64(0)
    for b in alive:
        if b == a:
            continue
        own, its = 0, 0
        for w in range(words.shape[1]):
            own += bits_in(words[b, w] & ~words[a, w])
            its += bits_in(words[a, w] & ~words[b, w])
        lent = np.int64(0)
        if its > 0:
            lent = need if sizes[b] - need >= k else sizes[b]
        cells = size * own + lent * its
        if partner < 0 or cells < least or (cells == least and comes_before(words, b, partner)):
            partner, least, come = b, cells, lent
    return partner, int(come)
