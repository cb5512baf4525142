"""Histograms of the smallest numbers there are, and of moments beyond every calendar."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.measures.histogram import BINS, histogram, round_edges
from coterie.tables.columns import Column


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (0.0, 7e-320), (1e-320, 7e-320), (-3e-320, 4e-322), (0.0, 5e-324), (5e-324, 1e-323), (0.0, 1e-322),
        (1e-320, 1e-320), (0.0, 1e-310), (1e-300, 2e-300), (0.0, 2.3e-308), (-1e-320, 1e300), (-1e300, 1e300),
        (0.0, 1.0),
        (1.0, 1.0 + 2e-16),
    ],
)  # fmt: skip
def test_round_edges(low, high):
    edges = round_edges(low, high)
    assert np.all(np.diff(edges) > 0)
    assert edges[0] <= low
    assert edges[-1] >= high
    assert 2 <= len(edges) <= BINS + 2  # one more where a rounding error asks for it


@pytest.mark.parametrize("days", [2**31 - 1, -(2**31), 53_375_995, 106_751_991])
def test_days_beyond_every_calendar(days):
    """Days as microseconds; numpy counts those of 292,000 years."""
    moments = (days - np.sign(days) * np.arange(12)) * 86_400e6
    column = Column("day", "datetime", moments)
    made = histogram(column, column)
    assert sum(made.before) == sum(made.after) == 12
    assert np.all(np.diff(made.edges) > 0)
    assert made.edges[0] <= moments.min()
    assert made.edges[-1] > moments.max()


def test_moments_within_the_calendar_have_its_edges():
    column = Column("day", "datetime", np.array([0.0, 365 * 86_400e6 * 10]))
    assert histogram(column, column).edges[1] in (184 * 86_400e6 - 3 * 86_400e6, 181 * 86_400e6)  # half a year
