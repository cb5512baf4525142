"""Linkage looks at strips of points and blocks of originals: the sizes of these change nothing."""

from __future__ import annotations

import numpy as np
import pytest

from coterie.measures import linkage
from coterie.measures.linkage import distance_linkage
from coterie.tables.columns import Column


def tables(seed, n=300, k=4):
    """Records before and after: amounts, some with gaps, and categories, in groups of k along the first amount."""
    rng = np.random.default_rng(seed)
    before, after = [], []
    order = np.argsort(first := rng.normal(size=n))
    group = np.empty(n, np.int64)
    group[order] = np.minimum(np.arange(n) // k, n // k - 1)
    for j in range(4):
        x = np.round(first if j == 0 else rng.normal(size=n), 2 if seed % 2 else 9)
        means = np.bincount(group, x) / np.bincount(group)
        before.append(Column(f"x{j}", "numeric", np.where(rng.random(n) < 0.1 * (j == 3), np.nan, x)))
        after.append(Column(f"x{j}", "numeric", means[group]))
    for j in range(seed % 3):
        c = rng.integers(0, 3, n).astype(float)
        before.append(Column(f"c{j}", "nominal", c, ("a", "b", "c")))
        after.append(Column(f"c{j}", "nominal", c[order[group * k]], ("a", "b", "c")))
    return before, after


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("pairs", [10**9, 3_000])
def test_strips_and_blocks_change_nothing(monkeypatch, seed, pairs):
    before, after = tables(seed)
    whole = distance_linkage(before, after, pairs=pairs)
    assert whole.sampled is (pairs < 10**9)
    for strip, block in ((64, 7), (200, 50), (10**6, 1)):
        monkeypatch.setattr(linkage, "STRIP", strip)
        monkeypatch.setattr(linkage, "BLOCK", block)
        assert distance_linkage(before, after, pairs=pairs) == whole


@pytest.mark.parametrize("seed", range(6))
def test_small_blocks_find_all_links(monkeypatch, seed):
    monkeypatch.setattr(linkage, "STRIP", 64)
    monkeypatch.setattr(linkage, "BLOCK", 16)
    before, after = tables(seed)
    X, Y = (np.column_stack(points) for points in zip(*coordinates(before, after), strict=True))
    d2 = np.square(X[None] - Y[:, None]).sum(axis=2)
    ties = d2 <= d2.min(axis=1, keepdims=True) * (1 + 1e-9) + 1e-28
    expected = (np.diag(ties) / ties.sum(axis=1)).sum()
    assert distance_linkage(before, after).expected_correct == pytest.approx(expected)


def coordinates(before, after):
    """Both files in the space that the definition names."""
    for b, a in zip(before, after, strict=True):
        if b.is_ordered:
            middle, width = np.nanmean(b.numbers), np.nanstd(b.numbers, ddof=1)
            yield tuple(np.where(c.missing, 0.0, (c.numbers - middle) / width) for c in (b, a))
            yield b.missing.astype(float), a.missing.astype(float)
        else:
            for code in range(3):
                yield tuple((c.numbers == code) / np.sqrt(2) for c in (b, a))
