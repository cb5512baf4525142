"""Loss and utility: each measure against a case done by hand, and against sdcMicro's formula where it has one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coterie.facts.measures import CategoryCounts, Eigenvalues
from coterie.measures import loss, utility
from coterie.measures.histogram import histogram, round_edges
from coterie.measures.propensity import propensity
from coterie.measures.standard_units import gram, product
from coterie.tables.columns import Column

NAN = math.nan


def column(values, kind="numeric", name="x", categories=()):
    return Column(name, kind, np.array(values, np.float64), tuple(categories))


def codes(text, kind="nominal", name="c", categories="abc"):
    """A column of one-letter categories; a dot is a missing value."""
    return column([NAN if c == "." else categories.index(c) for c in text], kind, name, categories)


# Means, variances, quantiles


def test_means_variances_and_quantiles_by_hand():
    x, y = np.array([1.0, 2, 3, 4, 10]), np.array([2.0, 2, 2, 7, 7])
    sd = math.sqrt(12.5)  # squares about the mean 4: 9 + 4 + 1 + 0 + 36 = 50, over 4
    assert utility.mean_change(x, y) == pytest.approx(0.0, abs=1e-15)
    assert utility.mean_change(x, y + 1) == pytest.approx(1 / sd)
    assert utility.variance_ratio(x, y) == pytest.approx(7.5 / 12.5)  # 3 * 4 + 2 * 9 = 30, over 4
    assert utility.quantile_changes(x, y, (0, 0.25, 0.5, 0.625, 1)) == pytest.approx(
        (1 / sd, 0, -1 / sd, (4.5 - 3.5) / sd, -3 / sd)
    )


def test_missing_values_are_left_out_of_each_side():
    x, y = np.array([1.0, 3, NAN, 5]), np.array([2.0, NAN, 2, 4])
    assert utility.mean_change(x, y) == pytest.approx((8 / 3 - 3) / 2)
    assert utility.variance_ratio(x, y) == pytest.approx((4 / 3) / 4)


@pytest.mark.parametrize("x", [[3.0, 3, 3], [NAN, NAN, NAN], [1.0, NAN, NAN], [0.1, 0.1, 0.1]])
def test_without_spread_nothing_is_defined(x):
    x = np.array(x)
    y = np.array([1.0, 2, 3])
    assert utility.mean_change(x, y) is None
    assert utility.variance_ratio(x, y) is None
    assert utility.quantile_changes(x, y) is None
    assert utility.il1s([column(x)], [column(y)]) == (None, None)
    assert loss.column_loss(column(x), column(y)) is None


@pytest.mark.parametrize(("scale", "offset"), [(1e300, 0), (1e-300, 0), (1.0, 1e9)])
def test_units_and_offsets_make_no_difference(scale, offset):
    rng = np.random.default_rng(1)
    x = rng.standard_normal(200)
    y = x + 0.1 * rng.standard_normal(200)
    a, b = x * scale + offset, y * scale + offset
    near = {"rel": 1e-6}
    assert utility.mean_change(a, b) == pytest.approx(utility.mean_change(x, y), **near)
    assert utility.variance_ratio(a, b) == pytest.approx(utility.variance_ratio(x, y), **near)
    assert loss.column_loss(column(a), column(b)) == pytest.approx(loss.column_loss(column(x), column(y)), **near)


# IL1s


def test_il1s_by_hand():
    # S = 1 (ddof 1), distances 0.5, 0, 0.5
    mean, total = utility.il1s([column([1, 2, 3])], [column([1.5, 2, 2.5])])
    assert total == pytest.approx(1 / math.sqrt(2))
    assert mean == pytest.approx(1 / math.sqrt(2) / 3)


def test_il1s_is_the_sum_of_sdcmicro_and_the_mean_of_the_handbook():
    rng = np.random.default_rng(2)
    x = rng.lognormal(size=(50, 3))
    y = x + rng.normal(size=x.shape)
    a = np.empty_like(x)
    for i in range(x.shape[1]):  # a[[i]] <- abs(x[[i]] - xm[[i]]) / (sd(x[[i]]) * sqrt(2)); sum(a)
        a[:, i] = np.abs(x[:, i] - y[:, i]) / (np.std(x[:, i], ddof=1) * math.sqrt(2))
    mean, total = utility.il1s([column(v) for v in x.T], [column(v) for v in y.T])
    assert total == pytest.approx(a.sum())
    assert mean == pytest.approx(a.sum() / (50 * 3))


def test_il1s_takes_cells_present_in_both_and_no_codes():
    x, y = column([1, 2, 3, NAN, 9]), column([1, NAN, 3, 4, 8])
    s = np.std([1, 2, 3, 9], ddof=1)
    mean, total = utility.il1s([x, codes("abcab")], [y, codes("aaaaa")])
    assert total == pytest.approx(1 / (math.sqrt(2) * s))
    assert mean == pytest.approx(total / 3)


# Loss


def test_loss_by_hand():
    before = {"x": column([0, 2, 4, 6]), "c": codes("aabb")}
    after = {"x": column([1, 1, 5, 5]), "c": codes("aaab")}
    # x: variance 5 (ddof 0), steps of 1: SSE 4/5, SST 4. c: one mismatch; two records differ from the first mode, a
    found = loss.sums(before, after, ["x", "c"])
    assert found.sse == pytest.approx(0.8 + 1)
    assert found.sst == pytest.approx(4 + 2)
    assert found.loss_percent == pytest.approx(30)
    sde = 3 * math.sqrt(0.2) + math.sqrt(1.2)
    sdt = math.sqrt(9 / 5) + math.sqrt(1 / 5) + math.sqrt(1 / 5 + 1) + math.sqrt(9 / 5 + 1)
    assert found.loss_euclidean_percent == pytest.approx(100 * sde / sdt)
    assert loss.column_loss(before["x"], after["x"]) == pytest.approx(20)
    assert loss.column_loss(before["c"], after["c"]) == pytest.approx(50)
    assert loss.mismatch(before["c"], after["c"]) == 0.25


def test_loss_of_means_is_that_of_the_partition(companies):
    import coterie as ct

    X = np.asarray(companies.X, np.float64)
    r = ct.microaggregate(X, k=3, method="mdav")
    before = {str(j): column(X[:, j], name=str(j)) for j in range(X.shape[1])}
    after = {str(j): column(np.asarray(r.data)[:, j], name=str(j)) for j in range(X.shape[1])}
    found = loss.sums(before, after, list(before))
    assert found.sse == pytest.approx(r.sse)
    assert found.sst == pytest.approx(r.sst)
    assert found.loss_euclidean_percent == pytest.approx(r.loss_euclidean)
    for name in before:  # what means lose in variance is what the column lost
        ratio = utility.variance_ratio(before[name].numbers, after[name].numbers)
        assert 100 * (1 - ratio) == pytest.approx(loss.column_loss(before[name], after[name]))


def test_weights_count_like_repeated_records():
    rng = np.random.default_rng(4)
    x, y, c, d = rng.normal(size=20), rng.normal(size=20), rng.integers(0, 3, 20), rng.integers(0, 3, 20)
    w = rng.integers(1, 5, 20)

    def tables(times):
        return (
            {"x": column(np.repeat(x, times)), "c": column(np.repeat(c, times), "nominal", categories="abc")},
            {"x": column(np.repeat(y, times)), "c": column(np.repeat(d, times), "nominal", categories="abc")},
        )

    weighted = loss.sums(*tables(1), ["c"], w.astype(np.float64))
    repeated = loss.sums(*tables(w), ["c"])
    assert weighted == pytest.approx(repeated)
    # the unit of x is the unweighted standard deviation in one and the repeated in the other: a quotient has none
    assert loss.sums(*tables(1), ["x"], w.astype(np.float64)).loss_percent == pytest.approx(
        loss.sums(*tables(w), ["x"]).loss_percent
    )


def test_loss_leaves_out_missing_cells():
    before, after = {"x": column([0, 2, 4, 6, NAN, 7])}, {"x": column([1, 1, 5, 5, 3, NAN])}
    assert loss.sums(before, after, ["x"]).loss_percent == pytest.approx(20)


# Categories


def test_category_counts_name_only_what_was_released():
    before, after = codes("aaabbc."), codes("aaaabb.")
    counts = utility.category_counts(before, after)
    assert counts == CategoryCounts(("a", "b", "(other)"), before=(3, 2, 1), after=(4, 2, 0))
    assert utility.total_variation(before, after) == pytest.approx(0.5 * (1 / 6 + 0 + 1 / 6))


def test_long_lists_of_categories_are_cut():
    names = [f"n{i:03}" for i in range(100)]
    x = np.repeat(np.arange(100.0), np.arange(1, 101))
    counts = utility.category_counts(*[column(x, "nominal", categories=names)] * 2, limit=5)
    assert counts.names == ("n096", "n097", "n098", "n099", "(other)")
    assert counts.after == (97, 98, 99, 100, 5050 - 394)


def test_no_category_at_all():
    assert utility.total_variation(codes("..."), codes("...")) is None
    assert utility.category_counts(codes("..."), codes("...")) == CategoryCounts((), (), ())


# Correlations and eigenvalues


def test_correlations_by_hand():
    found = utility.correlations(
        [column([1, 2, 3], name="x"), column([1, 2, 4], name="y"), column([5, 5, 5], name="z")],
        [column([1, 2, 3], name="x"), column([3, 2, 1], name="y"), column([5, 5, 5], name="z")],
    )
    r = 3 / math.sqrt(2 * 14 / 3)  # covariance 3; squares 2 and 14/3
    assert found.before[0][1] == pytest.approx(r)
    assert found.after[1][0] == pytest.approx(-1)
    assert found.mean_change == found.largest_change == pytest.approx(r + 1)
    assert found.before[2] == (None, None, None)


@given(st.integers(0, 10_000), st.floats(0, 0.5))
def test_correlations_over_pairs_present(seed, gaps):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 3)) + 1e6
    X[rng.random(X.shape) < gaps] = NAN
    found = utility.correlation_matrix([column(v) for v in X.T])
    for i in range(3):
        for j in range(3):
            both = ~np.isnan(X[:, i]) & ~np.isnan(X[:, j])
            if both.sum() > 2:
                assert found[i, j] == pytest.approx(np.corrcoef(X[both, i], X[both, j])[0, 1], abs=1e-6)


def test_eigenvalues_as_in_sdcmicro():
    rng = np.random.default_rng(5)
    x = rng.standard_normal((80, 4)) @ rng.standard_normal((4, 4))
    y = x + 0.5 * rng.standard_normal(x.shape)

    def values(m):  # eigen(var(scale(x)))$values
        scaled = (m - m.mean(axis=0)) / m.std(axis=0, ddof=1)
        return np.sort(np.linalg.eigvalsh(np.cov(scaled.T)))[::-1]

    e1, e2 = values(x), values(y)
    found = utility.eigenvalues(*(utility.correlation_matrix([column(v) for v in m.T]) for m in (x, y)))
    assert found.before == pytest.approx(tuple(e1))
    assert found.after == pytest.approx(tuple(e2))
    assert found.change == pytest.approx(np.sum(np.abs(e1 - e2) / e1))


def test_eigenvalues_that_are_nothing():
    twice = utility.correlation_matrix([column([1, 2, 4]), column([2, 4, 8])])
    assert utility.eigenvalues(twice, twice).change is None
    assert utility.eigenvalues(np.zeros((0, 0)), np.zeros((0, 0))) == Eigenvalues((), (), None)


def test_products_by_blocks():
    rng = np.random.default_rng(6)
    A, B = rng.standard_normal((5000, 30)), rng.standard_normal((5000, 20))
    assert gram(A, B) == pytest.approx(A.T @ B)
    assert product(A, B[:30]) == pytest.approx(A @ B[:30])


# Histograms


def test_a_histogram_by_hand():
    before = column([-100, 0.5, 1, 2.2, 3.9, 5000, NAN])
    after = column([0.75, 0.75, 0.75, 3.2, 3.2, 3.2, NAN])
    found = histogram(before, after, bins=5)
    assert found.edges == (0, 1, 2, 3, 4)
    assert found.before == (2, 1, 1, 2)  # the extremes are in the end bins
    assert found.after == (3, 0, 0, 3)


@given(
    st.floats(-1e12, 1e12).filter(lambda x: x == 0 or abs(x) > 1e-6),
    st.floats(1e-3, 1e12),
    st.sampled_from([5, 20]),
)
def test_edges_are_round_and_span_the_released_values(low, span, bins):
    high = low + span
    edges = round_edges(low, high, bins)
    assert edges[0] <= low
    assert edges[-1] >= high
    assert 2 <= len(edges) <= bins + 2
    step = edges[1] - edges[0]
    mantissa = step / 10 ** math.floor(math.log10(step) + 1e-6)
    if span > 1e-6 * abs(low):
        assert min(abs(mantissa - m) for m in (1, 2, 5, 10)) < 1e-3
        assert np.abs(edges / step - np.round(edges / step)).max() < 1e-3
        assert edges[1] > low
        assert edges[-2] <= high


def test_edges_come_from_the_release_alone():
    after = column(np.repeat([10.0, 20, 30], 5))
    near, far = (histogram(column(np.linspace(0, top, 15)), after).edges for top in (40, 1e9))
    assert near == far
    assert near[0] == 10
    assert near[-1] == 30
    assert 0.3 in round_edges(0.0, 0.9, 10).tolist()


def test_bins_of_whole_numbers_hold_one_each():
    found = histogram(column([1, 2, 3, 3, 9], "integer"), column([2, 2, 3, 3, 3], "integer"))
    assert found.edges == (2, 3, 4)
    assert found.before == (2, 3)


def test_edges_of_moments_are_those_of_the_calendar():
    days = np.arange("2024-01-17", "2025-03-02", dtype="datetime64[D]").astype("datetime64[us]").astype(np.float64)
    found = histogram(column(days, "datetime"), column(days, "datetime"))
    edges = np.array(found.edges).astype("datetime64[us]").astype("datetime64[D]").astype(str).tolist()
    assert edges[0] == "2024-01-01"
    assert edges[-1] == "2025-04-01"
    assert len(edges) == 16
    assert sum(found.before) == len(days)
    one = histogram(column([5e6], "datetime"), column([5e6], "datetime"))
    assert one.edges == (5e6, 5e6 + 1)


@pytest.mark.parametrize("value", [0.0, -3.0, 1e-30, 1e300, 7.25])
def test_a_histogram_of_one_value(value):
    found = histogram(column([value, value]), column([value, value]))
    assert sum(found.after) == 2
    assert np.all(np.diff(found.edges) > 0)
    assert histogram(column([value]), column([NAN])) is None


# Propensity


def test_propensity_of_one_category_by_hand():
    before, after = codes("a" * 6 + "b" * 4), codes("a" * 4 + "b" * 6)
    found = propensity([before], [after])
    assert found.pmse == pytest.approx(0.01, rel=1e-4)  # 4 of 10 with a are released, 6 of 10 with b
    assert found.expected == pytest.approx(1 / 320 * 2)  # (2-1) (1/2)² (1/2) / 20
    assert found.ratio == pytest.approx(1.6, rel=1e-4)
    assert found.records == 10
    assert "2 parameters" in found.model


def test_propensity_is_the_logistic_regression():
    linear_model = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(7)
    x, y = rng.normal(size=300), rng.normal(0.3, 1.4, size=300)
    c, d = rng.integers(0, 3, 300), rng.integers(0, 2, 300)
    z = np.concatenate([x, y])
    k = np.concatenate([c, d])
    Z = np.column_stack([z, z * z, k == 1, k == 2])
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    model = linear_model.LogisticRegression(C=1e9, tol=1e-10, max_iter=1000).fit(Z, np.repeat([0, 1], 300))
    p = model.predict_proba(Z)[:, 1]
    found = propensity(
        [column(x), column(c, "nominal", categories="abc")], [column(y), column(d, "nominal", categories="abc")]
    )
    assert found.pmse == pytest.approx(np.mean((p - 0.5) ** 2), rel=1e-4)
    assert "5 parameters" in found.model


def test_propensity_of_records_drawn_from_the_original_is_as_expected():
    rng = np.random.default_rng(8)
    X = rng.standard_normal((400, 3))
    drawn = [X[rng.integers(0, 400, 400)] for _ in range(60)]
    ratios = [propensity([column(v) for v in X.T], [column(v) for v in Y.T]).ratio for Y in drawn]
    assert np.mean(ratios) == pytest.approx(1, abs=0.25)


def test_propensity_when_a_column_tells_all():
    x = np.linspace(0, 1, 50)
    found = propensity([column(x)], [column(x + 10)])
    assert 0.24 < found.pmse <= 0.25


def test_propensity_counts_equal_columns_once():
    rng = np.random.default_rng(9)
    x, y = column(rng.normal(size=100)), column(rng.normal(1, 1, size=100))
    once, thrice = propensity([x], [y]), propensity([x] * 3, [y] * 3)
    assert thrice.expected == once.expected
    assert thrice.pmse == pytest.approx(once.pmse, rel=1e-3)


def test_propensity_sees_missing_values():
    x = np.arange(40.0)
    gone = x.copy()
    gone[:20] = NAN
    assert propensity([column(x)], [column(gone)]).pmse > 0.05
    assert propensity([column(x)], [column(x)]).pmse == pytest.approx(0, abs=1e-12)


def test_propensity_of_a_sample_and_of_nothing():
    x = np.random.default_rng(10).normal(size=500)
    found = propensity([column(x)], [column(x + 1)], limit=100, seed=1)
    assert found.records == 100
    assert found == propensity([column(x)], [column(x + 1)], limit=100, seed=1)
    assert propensity([column([1, 1])], [column([1, 1])]).pmse is None
    assert propensity([], []).ratio is None
