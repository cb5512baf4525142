"""Record linkage and interval disclosure, against literal versions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.measures.intervals import rank_intervals, sd_intervals
from coterie.measures.linkage import distance_linkage
from coterie.measures.risk import class_risk, classes
from coterie.tables.columns import Column

NAN = math.nan


def column(values, kind="numeric", categories=()):
    return Column("x", kind, np.array(values, np.float64), tuple(categories))


def encoded(before, after):
    """Both files in the space that the definition names, indicators and all."""
    parts = []
    for b, a in zip(before, after, strict=True):
        both = np.concatenate([b.numbers, a.numbers])
        gone = np.isnan(both)
        if b.is_ordered:
            sd = np.nanstd(b.numbers, ddof=1) if (~b.missing).sum() > 1 else 0.0
            if sd > 0:
                parts.append(np.where(gone, 0.0, (both - np.nanmean(b.numbers)) / sd))
            parts.append(gone.astype(float))
        else:
            parts += [(both == c) / math.sqrt(2) for c in range(len(b.categories))] + [gone / math.sqrt(2)]
    Z = np.column_stack(parts)
    return Z[: len(Z) // 2], Z[len(Z) // 2 :]


def slow_linkage(before, after, units=None):
    X, Y = encoded(before, after)
    units = np.arange(len(X)) if units is None else np.where(units < 0, len(X) + np.arange(len(X)), units)
    total = 0.0
    for i, y in enumerate(Y):
        d2 = ((X - y) ** 2).sum(axis=1)
        ties = d2 <= d2.min() * (1 + 1e-9) + 1e-28
        total += ties[units == units[i]].sum() / ties.sum()
    return total


def test_units_are_linked_no_more_often_than_they_fill_their_classes():
    """A class is linked to the same originals, so it is right for one unit's records at most: above 1/k, maybe."""
    rng = np.random.default_rng(3)
    above = 0
    for _ in range(40):
        n = int(rng.integers(6, 60))
        units, group = rng.integers(0, max(1, n // 3), n), rng.integers(0, max(1, n // 6), n)
        x = np.round(rng.normal(size=(n, 2)), 1)
        means = np.array([x[group == g].mean(axis=0) for g in group])
        before, after = ([column(values[:, j]) for j in range(2)] for values in (x, means))
        found = distance_linkage(before, after, units=units)
        after_risk = class_risk(classes(after), 2, units)
        assert found.share <= after_risk.largest_unit_share + 1e-9
        assert after_risk.largest_risk <= after_risk.largest_unit_share + 1e-9
        above += found.share > after_risk.largest_risk
    assert above  # so the largest risk, which counts units, is no bound


def test_linkage_by_hand():
    # both records of the first group are as near to 1 as each other; 5 is nearest to 5 alone
    found = distance_linkage([column([0, 2, 5, 6, 4])], [column([1, 1, 5, 5, 5])])
    assert found.expected_correct == pytest.approx(0.5 + 0.5 + 1)
    assert found.share == pytest.approx(0.4)
    assert found.baseline_share == 0.2
    assert found.records == 5
    assert found.sampled is False


def test_equal_originals_are_all_tied():
    found = distance_linkage([column([3, 3, 3, 8])], [column([3, 3, 3, 8])])
    assert found.expected_correct == pytest.approx(3 / 3 + 1)


def test_a_mismatch_costs_as_much_as_one_standard_deviation():
    c = "ab"
    before = [column([0.0, 1.0, 2.0, 3.0]), column([0, 1, 0, 1], "nominal", c)]
    after = [column([0.0, 0.0, 3.0, 3.0]), column([0, 0, 1, 1], "nominal", c)]
    # the sd is 1.29, so a step of 1 costs 0.6, less than a mismatch
    assert distance_linkage(before, after).expected_correct == pytest.approx(2)


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 6), st.sampled_from([0.0, 0.2, 1.0]), st.booleans())
def test_linkage_is_that_of_all_pairs(seed, n, k, gaps, ties):
    rng = np.random.default_rng(seed)
    before, after = [], []
    for kind in ("numeric", "integer", "ordinal", "nominal", "boolean", "datetime"):
        if rng.random() < 0.5:
            continue
        names = {"ordinal": "abc", "nominal": "abcd", "boolean": "ny"}.get(kind, "")
        x = rng.integers(0, len(names) or 4, n).astype(float) if names or ties else rng.normal(5, 2, n)
        y = np.repeat(x[::k], k)[:n] if names else np.repeat([x[i : i + k].mean() for i in range(0, n, k)], k)[:n]
        for values, file in ((x, before), (y, after)):
            values = values.copy()
            values[rng.random(n) < gaps] = NAN
            file.append(column(values, kind, names))
    if before:
        units = rng.integers(-1, max(1, n // 3), n)
        of_units = distance_linkage(before, after, units=units)
        assert of_units.expected_correct == pytest.approx(slow_linkage(before, after, units))
        alone = np.where(units < 0, n + np.arange(n), units)
        assert of_units.baseline_share == pytest.approx(np.mean([np.mean(alone == u) for u in alone]))
        found = distance_linkage(before, after)
        assert found.expected_correct == pytest.approx(slow_linkage(before, after), abs=1e-9)


def test_outliers_and_close_neighbours():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.lognormal(0, 3, 400), rng.lognormal(0, 0.01, 400)])
    y = np.sort(x).reshape(-1, 4).mean(axis=1).repeat(4)
    x = np.sort(x)
    before, after = [column(x), column(x**2)], [column(y), column(y**2)]
    assert distance_linkage(before, after).expected_correct == pytest.approx(slow_linkage(before, after), abs=1e-9)


def test_a_sample_of_points_is_near_the_whole_and_repeats():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((6000, 2))
    X = X[np.argsort(X[:, 0])]
    Y = X.reshape(-1, 3, 2).mean(axis=1).repeat(3, axis=0)
    before, after = [column(v) for v in X.T], [column(v) for v in Y.T]
    whole = distance_linkage(before, after)
    some = distance_linkage(before, after, pairs=300_000, seed=5)
    assert some.sampled
    assert not whole.sampled
    assert 300 < some.records < 5000
    assert some.share == pytest.approx(whole.share, abs=0.05)
    assert some == distance_linkage(before, after, pairs=300_000, seed=5)
    assert some != distance_linkage(before, after, pairs=300_000, seed=6)


def test_nothing_to_link():
    assert distance_linkage([], []).share is None
    assert distance_linkage([column([])], [column([])]).share is None
    assert distance_linkage([column([7, 7])], [column([7, 7])]).share == 0.5


# Intervals


def d_risk(x, xm, k, allowed):
    """sdcMicro's dRisk: sds <- apply(xm, 2, sd); rowSums(x < xm - k * sds | x > xm + k * sds) %in% 0:1."""
    sds = np.nanstd(xm, axis=0, ddof=1)
    outside = ((x < xm - k * sds) | (x > xm + k * sds)).sum(axis=1)
    return np.mean(np.isin(outside, np.arange(allowed + 1)))


def test_sd_intervals_by_hand():
    before, after = [column([1, 0, 3.5, 4])], [column([1.0, 2.0, 3.0, 4.0])]
    sd = math.sqrt(5 / 3)  # 1.29: the steps are 0, 1.55, 0.39 and 0 of it
    assert sd_intervals(before, after, [0.3, 0.5, 2 / sd + 1e-9]).share == pytest.approx((0.5, 0.75, 1))


@given(st.integers(0, 10_000), st.floats(0, 1), st.integers(0, 1))
def test_sd_intervals_as_in_sdcmicro(seed, width, allowed):
    rng = np.random.default_rng(seed)
    x = rng.normal(100, 3, (30, 3))
    y = x + rng.standard_normal(x.shape)
    found = sd_intervals([column(v) for v in x.T], [column(v) for v in y.T], [width], outside=allowed)
    assert found.share == pytest.approx((d_risk(x, y, width, allowed),))


def test_missing_cells_are_neither_inside_nor_outside():
    before = [column([1, 5, NAN, NAN]), column([1, NAN, NAN, 9])]
    after = [column([1, 1, 3, NAN]), column([1, 5, 3, 5])]
    # the third record has no cell in both; of the second only a 5 released as 1, of the fourth a 9 released as 5
    assert sd_intervals(before, after, [0.01]).share == pytest.approx((1 / 3,))
    assert rank_intervals(before, after, [0.01]).share == pytest.approx((1 / 3,))


def slow_ranks(x, y, width):
    n = len(y)
    ranked = sorted(y)
    inside = []
    for a, b in zip(x, y, strict=True):
        places = [i for i, v in enumerate(ranked) if v == b]
        r = sum(places) / len(places)
        near = [v for i, v in enumerate(ranked) if r - width * n - 1e-9 <= i <= r + width * n + 1e-9] or [b]
        inside.append(min(*near, b) <= a <= max(*near, b))
    return inside


def test_rank_intervals_by_hand():
    # one rank to each side: 20 to 30 for 20 (as the lowest), 20 to 40 for 30, 30 to 40 for 40
    before, after = [column([25, 15, 42, 31])], [column([20, 30, 40, 30])]
    assert rank_intervals(before, after, [0.25]).share == (0.25,)
    assert rank_intervals([column([25, 25, 39, 31])], after, [0.5]).share == (1.0,)


@given(st.integers(0, 10_000), st.integers(1, 30), st.floats(0, 0.5))
def test_rank_intervals_are_those_of_the_definition(seed, n, width):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 20, (2, n)).astype(float)
    y = np.clip(x + rng.integers(-3, 4, x.shape), 0, 12)
    inside = np.all([slow_ranks(a, b, width) for a, b in zip(x, y, strict=True)], axis=0)
    found = rank_intervals([column(v) for v in x], [column(v) for v in y], [width])
    assert found.share == pytest.approx((inside.mean(),))


def test_no_numbers_no_intervals():
    assert sd_intervals([], []).share == (None,) * 4
    assert rank_intervals([column([NAN])], [column([NAN])]).share == (None,) * 4
