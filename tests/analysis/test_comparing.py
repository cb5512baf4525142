"""Estimates and their comparison, against cases worked out by hand."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from coterie import CoterieError
from coterie.analysis import comparing, estimates
from coterie.analysis.columns_used import Analysed
from coterie.analysis.overlap import overlap, pair
from coterie.facts.analysis_facts import AnalysisEstimate
from coterie.recipe.sections import AnalysisRule
from coterie.report.analysis_view import analyses_line, analyses_view, as_text
from coterie.tables.columns import Column

ONE = np.zeros(4, np.int64)


def rule(**given):
    return AnalysisRule(**given)


def category(name, texts):
    every = tuple(sorted({t for t in texts if t is not None}))
    codes = [np.nan if t is None else float(every.index(t)) for t in texts]
    return Column(name, "nominal", np.array(codes), every)


def table(numbers=None, categories=None, weights=None):
    numbers = {name: np.array(values, float) for name, values in (numbers or {}).items()}
    columns = {name: category(name, texts) for name, texts in (categories or {}).items()}
    records = len(next(iter([*numbers.values(), *(c.numbers for c in columns.values())])))
    return Analysed(numbers, columns, None if weights is None else np.array(weights, float), records)


def interval(low, high):
    return AnalysisEstimate((low + high) / 2, (high - low) / 3.92, low, high)


@pytest.mark.parametrize(
    ("one", "other", "wanted"),
    [
        ((0, 10), (5, 15), 0.5),  # (5 / 10 + 5 / 10) / 2
        ((0, 10), (8, 12), 0.35),  # (2 / 10 + 2 / 4) / 2
        ((0, 10), (2, 4), 0.6),  # (2 / 10 + 2 / 2) / 2
        ((0, 10), (0, 10), 1.0),
        ((0, 10), (11, 12), 0.0),  # disjoint: Karr's formula would give (-1 / 10 - 1 / 1) / 2
        ((0, 10), (10, 20), 0.0),
        ((3, 3), (0, 10), 0.5),  # a point inside: all of the one, nothing of the other
        ((3, 3), (3, 3), 1.0),
        ((3, 3), (4, 4), 0.0),
    ],
)
def test_overlap_of_intervals(one, other, wanted):
    assert overlap(interval(*one), interval(*other)) == pytest.approx(wanted, abs=1e-12)
    assert overlap(interval(*other), interval(*one)) == pytest.approx(wanted, abs=1e-12)


def test_what_is_on_one_side_alone():
    there = interval(0, 1)
    assert overlap(there, None) == 0.0
    assert overlap(None, there) is None
    assert overlap(AnalysisEstimate(1.0, None, None, None), there) is None


def test_signs_significance_and_standardized_difference():
    found = pair("x", AnalysisEstimate(2.0, 0.5, 1.0, 3.0), AnalysisEstimate(-0.5, 1.0, -2.5, 1.5), tested=True)
    assert found.standardized_difference == -5.0  # (-0.5 - 2) / 0.5
    assert (found.sign_changed, found.significance_changed) == (True, True)
    same = pair("x", AnalysisEstimate(1e-17, 0.5, -1.0, 1.0), AnalysisEstimate(-1e-17, 0.5, -1.0, 1.0), tested=False)
    assert (same.sign_changed, same.significance_changed) == (False, None)


def test_a_weighted_mean_of_four_records():
    y, w = np.array([1.0, 3.0, 5.0, 7.0]), np.array([3.0, 1.0, 1.0, 3.0])
    (mean,) = estimates.means(y, w, ONE, 1)
    assert mean.estimate == 4.0  # (3 + 3 + 5 + 21) / 8
    # w (y - 4) = -9, -1, 1, 9: squares 164; 4 / 3 * 164 / 8^2
    assert mean.standard_error == pytest.approx(math.sqrt(4 / 3 * 164 / 64))
    assert mean.low == pytest.approx(4 - 1.959964 * mean.standard_error, abs=1e-5)


def test_an_unweighted_mean_has_the_usual_error():
    y = np.array([1.0, 3.0, 5.0, 7.0])
    (mean,) = estimates.means(y, np.ones(4), ONE, 1)
    assert (mean.estimate, mean.standard_error) == (4.0, pytest.approx(np.std(y, ddof=1) / 2))
    alone, none = estimates.means(np.array([2.0]), np.ones(1), np.zeros(1, np.int64), 2)
    assert alone == AnalysisEstimate(2.0, None, None, None)
    assert none is None


def test_a_weighted_total():
    y, w = np.array([1.0, 3.0, 5.0, 7.0]), np.full(4, 2.0)
    (total,) = estimates.totals(y, w, ONE, 1)
    # w y = 2, 6, 10, 14: 8 on average, squares 36 + 4 + 4 + 36 = 80; 4 / 3 * 80
    assert (total.estimate, total.standard_error) == (32.0, pytest.approx(math.sqrt(4 / 3 * 80)))


def test_a_quantile_with_woodruffs_interval():
    found = estimates.quantile(np.arange(1.0, 101.0), np.ones(100), 0.5)
    # the share up to 50 is 0.5, its error sqrt(100 / 99 * 100 * 0.25 / 100^2) = 0.050252, half an interval 0.098492;
    # so the quantiles at 0.401508 and 0.598492: the 41st and the 60th value
    assert (found.estimate, found.low, found.high) == (50.0, 41.0, 60.0)
    assert found.standard_error == pytest.approx(19 / (2 * 1.959964), abs=1e-5)
    weighted = estimates.quantile(np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 8.0]), 0.5)
    assert weighted.estimate == 3.0


def test_a_table_of_two_by_two():
    sex, job = list("aaaaabbbbb"), list("xxxxyxxyyy")  # 4, 1, 2, 3
    before = table(categories={"sex": sex, "job": job})
    after = table(categories={"sex": sex[:-1], "job": job[:-1]})  # the last record was suppressed
    found = comparing.compared("t", rule(rows=("sex",), columns=("job",)), before, after)
    assert [(e.name, e.before.estimate, e.after.estimate) for e in found.estimates] == [
        ("sex = a, job = x", 4.0, 4.0),
        ("sex = a, job = y", 1.0, 1.0),
        ("sex = b, job = x", 2.0, 2.0),
        ("sex = b, job = y", 3.0, 2.0),
    ]
    # n / (n - 1) * n p (1 - p) = 10 / 9 * 10 * 0.4 * 0.6
    assert found.estimates[0].before.standard_error == pytest.approx(math.sqrt(10 / 9 * 2.4))
    assert found.estimates[3].standardized_difference == pytest.approx(-1 / math.sqrt(10 / 9 * 2.1))
    assert (found.records_before, found.records_after) == (10, 9)
    weighted = table(categories={"sex": sex, "job": job}, weights=[2] * 10)
    again = comparing.compared("t", rule(rows=("sex",), columns=("job",)), weighted, weighted)
    assert [e.before.estimate for e in again.estimates] == [8.0, 2.0, 4.0, 6.0]


def test_a_cell_that_is_gone_or_new_counts_as_none():
    before, after = table(categories={"a": list("xxxy")}), table(categories={"a": list("xxxz")})
    found = {e.name: e for e in comparing.compared("t", rule(rows=("a",)), before, after).estimates}
    assert found["a = y"].after == AnalysisEstimate(0.0, 0.0, 0.0, 0.0)
    assert found["a = z"].before.estimate == 0.0
    means = {
        e.name: e
        for e in comparing.compared(
            "m", rule(mean="v", by=("a",)), table({"v": [1, 2, 3, 4]}, {"a": list("xxyy")}),
            table({"v": [1, 2, 3, 4]}, {"a": list("xxzz")}),
        ).estimates
    }  # fmt: skip
    assert (means["a = y"].after, means["a = y"].overlap_share) == (None, 0.0)
    assert (means["a = z"].before, means["a = z"].overlap_share) == (None, None)


def test_too_many_cells_are_refused_without_a_value():
    texts = [f"secret{i}" for i in range(comparing.MOST_CELLS + 1)]
    with pytest.raises(CoterieError, match="2,001 by a") as error:
        comparing.compared("t", rule(rows=("a",)), *[table(categories={"a": texts})] * 2)
    assert "secret" not in str(error.value)


def test_a_linear_model_of_five_points():
    points = table({"x": [1, 2, 3, 4, 5], "y": [2, 4, 5, 4, 5]})
    found = comparing.compared("m", rule(model="y ~ x"), points, points)
    intercept, slope = (e.before for e in found.estimates)
    # slope 6 / 10, intercept 4 - 0.6 * 3; squares of residuals 2.4, so s^2 = 2.4 / 3 = 0.8
    assert (slope.estimate, intercept.estimate) == (pytest.approx(0.6), pytest.approx(2.2))
    assert slope.standard_error == pytest.approx(math.sqrt(0.8 / 10))
    assert intercept.standard_error == pytest.approx(math.sqrt(0.8 * (1 / 5 + 9 / 10)))
    assert slope.high == pytest.approx(0.6 + 3.182446 * math.sqrt(0.08), abs=1e-6)  # Student's t with 3 degrees
    assert [e.name for e in found.estimates] == ["Intercept", "x"]
    assert (found.kind, found.least_overlap_share, found.significance_changed) == ("linear", 1.0, 0)


FOUR = {"x": [1] * 15 + [0] * 12, "y": [1] * 10 + [0] * 5 + [1] * 4 + [0] * 8}  # 10, 5; 4, 8


@pytest.mark.parametrize("as_categories", [False, True])
def test_a_logistic_model_of_a_table(as_categories):
    cells = table(FOUR)
    if as_categories:
        cells = table(categories={n: ["no" if v == 0 else "yes" for v in values] for n, values in FOUR.items()})
    found = comparing.compared("m", rule(model="y ~ x", family="logistic"), cells, cells)
    odds = found.estimates[1].before
    assert odds.estimate == pytest.approx(math.log(10 * 8 / (5 * 4)))
    assert odds.standard_error == pytest.approx(math.sqrt(1 / 10 + 1 / 5 + 1 / 4 + 1 / 8))
    assert found.estimates[1].name == ("x[T.yes]" if as_categories else "x")


def test_weighted_models_of_an_intercept_are_weighted_means():
    y, w = [1, 3, 5, 7], [3, 1, 1, 3]
    cells = table({"y": y}, weights=w)
    (linear,) = comparing.compared("m", rule(model="y ~ 1"), cells, cells).estimates
    assert (linear.before.estimate, linear.before.standard_error) == pytest.approx((4.0, math.sqrt(4 / 3 * 164 / 64)))
    cells = table({"y": [0, 1, 1, 0]}, weights=w)
    (share,) = estimates.means(cells.numbers["y"], cells.weights, ONE, 1)  # 1 / 4
    (odds,) = comparing.compared("m", rule(model="y ~ 1", family="logistic"), cells, cells).estimates
    assert odds.before.estimate == pytest.approx(math.log(0.25 / 0.75))
    assert odds.before.standard_error == pytest.approx(share.standard_error / (0.25 * 0.75))  # the delta method


def test_missing_values_are_left_out_of_each_analysis_and_counted():
    holes = table({"y": [1, 2, np.nan, 4, 5], "x": [1, np.nan, 3, 4, 6]}, {"g": ["a", "a", "b", None, "b"]})
    whole = table({"y": [1, 2, 3, 4, 5], "x": [1, 2, 3, 4, 6]}, {"g": list("aabab")})
    mean = comparing.compared("m", rule(mean="y", by=("g",)), holes, whole)
    assert (mean.records_before, mean.missing_before, mean.records_after, mean.missing_after) == (3, 2, 5, 0)
    model = comparing.compared("m", rule(model="y ~ x"), holes, whole)
    assert (model.records_before, model.missing_before) == (3, 2)
    negative = table({"y": [1, 2, 3, 4, 5], "x": [1, 2, -3, 4, 0]})
    logged = comparing.compared("m", rule(model="y ~ log(x)"), negative, whole)
    assert (logged.records_before, logged.missing_before) == (3, 2)  # log(-3) is not defined, log(0) not finite


@pytest.mark.parametrize(
    ("before", "after", "given", "problem"),
    [
        ({"y": [1, 2, 4, 4], "x": [1, 2, 3, 4]}, {"y": [1, 2, 3, 4], "x": [2] * 4}, {"model": "y ~ x"}, "dependent"),
        ({"y": [1, 2, 4, 4], "x": [1, 2, 3, 4]}, {"y": [1, 2], "x": [1, 3]}, {"model": "y ~ x"}, "too few"),
        ({"y": [1, 2, 4, 4], "x": [1, 2, 3, 4]}, {"y": [2] * 4, "x": [1, 2, 3, 4]}, {"model": "y ~ x"}, "the same in"),
        ({"y": [0, 1, 0, 1], "x": [1, 2, 3, 4]}, {"y": [0, 0, 1, 1], "x": [1, 2, 3, 4]},
         {"model": "y ~ x", "family": "logistic"}, "separate"),
        ({"y": [0, 1, 0, 1], "x": [1, 2, 3, 4]}, {"y": [0, 2, 1, 1], "x": [1, 2, 3, 4]},
         {"model": "y ~ x", "family": "logistic"}, "0 or 1"),
        ({"y": [1, 2, 4, 4], "x": [1, 2, 3, 4]}, {"y": [np.nan] * 4, "x": [1] * 4}, {"model": "y ~ x"}, "no record"),
    ],
)  # fmt: skip
def test_models_that_cannot_be_fitted_are_told(before, after, given, problem):
    found = comparing.compared("m", rule(**given), table(before), table(after))
    assert len(found.problems) == 1
    assert found.problems[0].startswith("After: ")
    assert problem in found.problems[0]
    assert all(e.after is None and e.overlap_share == 0.0 for e in found.estimates)
    assert found.least_overlap_share == 0.0


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e9, 1e20])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_scale_of_a_column_changes_nothing_but_its_coefficient(scale, weighted):
    """Squares of populations, or amounts in cents: beside the intercept, such columns are 1e16 times as large."""
    rng = np.random.default_rng(1)
    x = rng.uniform(1.0, 3.0, 200)
    y, z = 3.0 + x + rng.normal(size=200), (rng.random(200) < 1 / (1 + np.exp(2.0 - x))).astype(float)
    weights = rng.integers(1, 9, 200) if weighted else None
    plain, other = (table({"x": x * by, "y": y, "z": z}, weights=weights) for by in (1.0, scale))
    for given in ({"model": "y ~ x + I(x ** 2)"}, {"model": "z ~ x", "family": "logistic"}):
        wanted = comparing.compared("m", rule(**given), plain, plain).estimates
        found = comparing.compared("m", rule(**given), other, other).estimates
        for power, (one, scaled) in enumerate(zip(wanted, found, strict=True)):
            assert scaled.before.estimate * scale**power == pytest.approx(one.before.estimate, rel=1e-6)
            assert scaled.before.standard_error * scale**power == pytest.approx(one.before.standard_error, rel=1e-6)


def test_a_record_far_out_does_not_separate_the_outcomes():
    """Its outcome is all but certain, yet the likelihood has a maximum."""
    x = [0, 1, 2, 3, 4, 5, 6, 7, 1e5]
    far = table({"x": x, "y": [0, 0, 1, 0, 1, 0, 1, 1, 1]})
    near = table({"x": x[:-1], "y": [0, 0, 1, 0, 1, 0, 1, 1]})
    given = rule(model="y ~ x", family="logistic")
    one, other = (comparing.compared("m", given, data, data) for data in (far, near))
    assert one.problems == other.problems == ()
    for name in ("estimate", "standard_error"):  # a record that is certain says nothing of the coefficients
        for a, b in zip(one.estimates, other.estimates, strict=True):
            assert getattr(a.before, name) == pytest.approx(getattr(b.before, name), rel=1e-6)


def test_a_record_far_on_the_wrong_side_does_not_stop_the_others():
    rng = np.random.default_rng(2)
    x = rng.normal(size=40_000)
    y = (rng.random(40_000) < 1 / (1 + np.exp(-x))).astype(float)
    data = table({"x": [*x, 60.0], "y": [*y, 0.0]})  # by the model, a probability of about e^-60
    found = comparing.compared("m", rule(model="y ~ x", family="logistic"), data, data)
    assert found.problems == ()
    slope = found.estimates[1].before
    odds = slope.estimate * np.array([*x, 60.0]) + found.estimates[0].before.estimate
    pull = np.array([*x, 60.0]) @ (np.array([*y, 0.0]) - 1 / (1 + np.exp(-odds)))
    assert abs(pull) < 1e-6  # the slope of the likelihood


def test_separation_shows_with_any_weights_and_no_fit_is_made_up():
    logistic = rule(model="y ~ g", family="logistic")
    g, y = [0] * 8 + [1, 1], [0, 1, 0, 0, 1, 1, 0, 1, 1, 1]  # all of group 1 have the outcome
    for weight in (1e-7, 1e-3, 1.0, 1e5):
        parted = table({"g": g, "y": y}, weights=[1.0] * 8 + [weight] * 2)
        assert "separate" in comparing.compared("m", logistic, parted, parted).problems[0]
    # statsmodels calls coefficients of 1e15 the result here, at which the likelihood is far from its maximum
    g, y = [1, 4, 4, 5, 1, 1, 5, 5, 5], [1, 0, 1, 1, 1, 1, 0, 0, 1]
    astray = table({"g": g, "y": y}, weights=[100, 0.001, 1000, 0.01, 0.001, 1000, 0.1, 0.001, 0.1])
    assert comparing.compared("m", logistic, astray, astray).problems[0] == "Before: it did not converge."


def test_of_a_model_that_was_not_made_nothing_else_is_said():
    odd = table({"y": [1, 2, 4, 3], "x": [-1, -2, -3, -4]})
    fine = table({"y": [1, 2, 4, 3], "x": [1, 2, 3, 4]})
    logistic, logged = rule(model="y ~ x", family="logistic"), rule(model="y ~ log(x)")
    for asked, before, after, reason, told in (
        (logistic, odd, odd, "must be 0 or 1", "It could not be computed."),
        (logged, odd, odd, "no record has all values, or they are not defined", "It could not be computed."),
        (logged, fine, odd, "no record has all values, or they are not defined", "It could not be computed after."),
        (logged, odd, fine, "no record has all values, or they are not defined", "It could not be computed before."),
    ):
        found = comparing.compared("m", asked, before, after)
        text, (view,) = as_text([found]), analyses_view([found])
        assert reason in text
        assert told in text
        assert view["changed"] == told
        assert ("least overlap" in text) == bool(view["overlap"]) == bool(found.estimates)
        assert "No sign" not in text
        assert "changed" not in analyses_line([found])[0][2]
    made = comparing.compared("m", rule(model="y ~ x"), fine, fine)
    assert "least overlap 1.00, mean 1.00. No sign changed, and no significance at 5 %." in as_text([made])


def test_what_is_not_defined_is_not_called_missing():
    some = table({"y": [1, 2, 4, 3, 6], "x": [-1, 2, 3, 4, 5]})
    text = as_text([comparing.compared("m", rule(model="y ~ log(x)"), some, some)])
    assert "(1 left out: a value is missing or not defined)" in text
    holes = table({"y": [1, 2, 4, 3, 6], "x": [np.nan, 2, 3, 4, 5]})
    for asked in (rule(model="y ~ x"), rule(mean="x")):
        assert "(1 left out: a value is missing)" in as_text([comparing.compared("m", asked, holes, holes)])


def test_both_sides_compare_with_the_same_category():
    y = [1.0, 2.0, 4.0, 3.0, 5.0, 9.0]
    before = table({"y": y}, {"g": ["a", "b", "b", "c", "c", "a"]})
    after = table({"y": y}, {"g": ["b", "b", "b", "c", "c", "c"]})  # no a any more
    found = comparing.compared("m", rule(model="y ~ C(g)"), before, after)
    assert [e.name for e in found.estimates] == ["Intercept", "C(g)[T.a]", "C(g)[T.c]"]
    assert found.estimates[1].after is None
    nothing = table({"y": y}, {"g": ["u", "u", "u", "v", "v", "v"]})
    apart = comparing.compared("m", rule(model="y ~ C(g)"), before, nothing)
    assert "No category of 'g'" in apart.problems[0]
    assert apart.estimates == ()


def test_categories_that_look_like_numbered_variables_keep_their_names():
    data = table({"y": [1.0, 2.0, 4.0, 3.0, 5.0, 9.0]}, {"v0": ["v1", "v1", "k0", "k0", "[T.v0]", "[T.v0]"]})
    found = comparing.compared("m", rule(model="y ~ v0"), data, data)
    assert [e.name for e in found.estimates] == ["Intercept", "v0[T.k0]", "v0[T.v1]"]


def test_a_model_of_very_many_coefficients_is_not_made():
    texts = [f"secret{i % 300}" for i in range(900)]
    data = table({"y": np.arange(900) % 7}, {"g": texts})
    found = comparing.compared("m", rule(model="y ~ C(g)"), data, data)
    assert len(found.problems) == 2
    assert "secret" not in str(found.problems)


RULES = [
    {"rows": ("g",), "columns": ("h",)},
    {"mean": "y", "by": ("g",)},
    {"total": "y"},
    {"quantiles": "y", "at": (0.1, 0.5, 0.9), "by": ("h",)},
    {"model": "y ~ x * C(g)"},
    {"model": "z ~ x + h", "family": "logistic"},
]


@pytest.mark.parametrize("given", RULES, ids=[next(iter(r)) for r in RULES])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_same_records_in_another_order_agree(given, weighted):
    """Records, not rows: an overlap of 1, and nothing changed."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        n = 80
        x, order = rng.normal(size=n), rng.permutation(n)
        numbers = {"x": x, "y": x + rng.normal(size=n), "z": (rng.random(n) < 0.5).astype(float)}
        texts = {"g": rng.choice(list("abc"), n), "h": rng.choice(list("uv"), n)}
        weights = rng.integers(1, 9, n) if weighted else None
        one = table(numbers, {k: v.tolist() for k, v in texts.items()}, weights)
        other = table(
            {k: v[order] for k, v in numbers.items()},
            {k: v[order].tolist() for k, v in texts.items()},
            None if weights is None else weights[order],
        )
        found = comparing.compared("a", rule(**given), one, other)
        assert found.least_overlap_share == pytest.approx(1.0)
        assert found.signs_changed == 0
        assert not found.significance_changed
        assert all(abs(e.standardized_difference) < 1e-9 for e in found.estimates)
        assert found.problems == ()


def test_coefficients_are_those_of_another_fit():
    """Against numpy's least squares, with an interaction, on random data."""
    rng, random_ = np.random.default_rng(3), random.Random(3)
    x, g = rng.normal(size=60), [random_.choice("ab") for _ in range(60)]
    y = rng.normal(size=60)
    data = table({"x": x, "y": y}, {"g": g})
    is_b = np.array([text == "b" for text in g], float)
    matrix = np.column_stack([np.ones(60), x, is_b, x * is_b])
    wanted = np.linalg.lstsq(matrix, y, rcond=None)[0]
    found = comparing.compared("m", rule(model="y ~ x * g"), data, data)
    assert [e.name for e in found.estimates] == ["Intercept", "x", "g[T.b]", "x:g[T.b]"]
    assert [e.before.estimate for e in found.estimates] == pytest.approx(wanted.tolist())
