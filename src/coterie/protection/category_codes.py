"""Short vectors that stand for the categories of a nominal column with many of them.

An indicator for each category puts any two at the same distance, but takes as many columns as there are categories.
Vectors of 128 signs, divided by 16, do nearly as well. Category i is the polynomial over the field of 128 elements that
has the digits of i to base 128 as its coefficients at x, x³, x⁵ and x⁷; its signs are the traces of its values. These
are the words of dual BCH codes, which are closed under addition, so that the squared distance of two categories is
known from the weight of a word:

- 1, if their numbers agree in all digits but the last: they are orthogonal;
- 7/8, 1 or 9/8 up to 16,384 categories (the three values of Gold's functions);
- 3/4 to 5/4 up to 2 million, 1/2 to 3/2 up to 268 million.

All have the squared length 1/2, as indicators times 1/sqrt(2) have: a missing value, at 0, is as far from each. All
values are multiples of 1/16, so that sums of them are exact.

Sources: R. Gold (1968), Maximal recursive sequences with 3-valued recursive cross-correlation functions, IEEE
Transactions on Information Theory 14(1), doi 10.1109/TIT.1968.1054106; F. J. MacWilliams, N. J. A. Sloane (1977), The
Theory of Error-Correcting Codes, chapters 9 (theorem 18, Carlitz and Uchiyama) and 15.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WIDTH = 128
_PERIOD = WIDTH - 1
_POWERS = (1, 3, 5, 7)  # one for each digit; no power of two times one is another, modulo the period
MOST_CATEGORIES = WIDTH ** len(_POWERS)


def category_codes(categories: Ints) -> Floats:
    """A row of WIDTH values for each of these categories, given by their numbers, which are below MOST_CATEGORIES."""
    bits = np.zeros((len(categories), WIDTH), np.uint8)
    rest = categories
    for power in _POWERS:
        if not rest.any():
            break
        bits ^= _words(power)[rest % WIDTH]
        rest = rest // WIDTH
    return np.where(bits, -1 / 16, 1 / 16)


def farthest(categories: int) -> float:
    """The largest squared distance of two codes of so many categories, where indicators have 1.

    An SSE is a sum of squared distances, so that by codes is at most so many times that by indicators, and a lower
    bound on it, divided by this, is one on the SSE by indicators.
    """
    if categories <= WIDTH:
        return 1.0
    return 9 / 8 if categories <= WIDTH**2 else 5 / 4 if categories <= WIDTH**3 else 3 / 2


@cache
def _words(power: int) -> NDArray[np.uint8]:
    """The traces of a x**power, a row for each a of the field, a column for each x.

    With g a generator, a = g**l and x = g**i, the trace is that of g**(l + power i). The traces of the powers of g (up
    to a common factor) are a sequence of the largest period, made by the recurrence of the polynomial x⁷ + x + 1.
    """
    sequence = [0, 0, 0, 0, 0, 0, 1]
    while len(sequence) < _PERIOD:
        sequence.append(sequence[-6] ^ sequence[-7])
    words = np.zeros((WIDTH, WIDTH), np.uint8)  # a = 0 and x = 0: the trace is 0
    i = np.arange(_PERIOD)
    words[1:, 1:] = np.array(sequence, np.uint8)[(i[:, None] + power * i[None]) % _PERIOD]
    return words
