"""Information loss, by the model of Thaeter and Reischuk (2018), section 1, doi 10.18420/sicherheit2018_05.

The distortion of a release is the sum of the distances between the records and the centres released in their
place (definition 1.4); the diversity of the data, against which it is held, the sum of the distances to the
centre of all, or over all pairs of records. Their quotient is the information loss (definition 1.5). With means and
squared distances these are SSE, SST and L_SSE = 100 SSE / SST; with distances not squared, L_E = 100 SDE / SDT
(Domingo-Ferrer, Sebé, Solanas 2008, section 6).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ..aggregate import centre_of_each

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def distortion(X: Floats, labels: Ints, centre: str = "mean", distance: str = "squared") -> float:
    """Sum of the distances of the records to their groups' centres."""
    steps = X - centre_of_each(X, labels, centre)
    d2 = np.einsum("ij,ij->i", steps, steps)
    return float(np.sum(d2 if distance == "squared" else np.sqrt(d2)))


def diversity(X: Floats, centre: str = "mean", distance: str = "squared", about: str = "centre") -> float:
    """Sum of the distances of the records to the centre of all (about="centre"), or over all pairs ("pairwise").

    Pairs of squared distances sum up to n times those to the mean; pairs of plain ones take O(n² p) time.
    """
    one_group = np.zeros(len(X), np.int64)
    if about == "centre":
        return distortion(X, one_group, centre, distance)
    if distance == "squared":
        return len(X) * distortion(X, one_group)
    from ..kernels.pairs import distances_after

    sums = np.empty(len(X))
    distances_after(X, sums)
    return math.fsum(sums)


def percent(part: float, whole: float) -> float:
    """100 part / whole; 0 where there is nothing to lose."""
    return 100.0 * part / whole if whole > 0 else 0.0
