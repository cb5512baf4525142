"""Risk: classes, what they hold, and all measures together."""

from __future__ import annotations

import json
import math
import re
from dataclasses import fields

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from conftest import ROOT
from coterie.errors import CoterieError
from coterie.facts import as_json, schema
from coterie.facts.measures import CategoryUtility, ClassRisk, ConfidentialRisk, Linkage, Measures, NumberUtility
from coterie.measures import risk
from coterie.measures.measure import measure
from coterie.measures.risk import Scenario
from coterie.tables.columns import KINDS, Column
from coterie.verification import verify

NAN = math.nan


def column(values, kind="numeric", name="x", categories=()):
    return Column(name, kind, np.array(values, np.float64), tuple(categories))


# Classes


def test_a_missing_value_is_a_value_of_its_own():
    x, y = column([1, 1, NAN, NAN, 2, NAN]), column([5, 5, 5, 5, 5, NAN])
    found = risk.classes([x, y])
    assert found.dtype == np.int64
    assert found.tolist() == [0, 0, 2, 2, 1, 3]
    assert risk.classes([column([-0.0, 0.0])]).tolist() == [0, 0]


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 5), st.integers(1, 4))
def test_classes_are_those_of_equal_rows(seed, n, p, values):
    X = np.random.default_rng(seed).integers(0, values, (n, p)).astype(np.float64)
    X[X == 3] = NAN
    found = risk.classes([column(v) for v in X.T])
    rows = [tuple(map(str, row)) for row in X.tolist()]
    assert [[a == b for a in rows] for b in rows] == (found[:, None] == found).tolist()
    assert set(found.tolist()) == set(range(len(set(rows))))


def test_classes_of_many_columns_with_many_values():
    X = np.random.default_rng(0).standard_normal((2000, 12))  # 2000**12 combinations leave no room in an integer
    assert len(set(risk.classes([column(v) for v in X.T]).tolist())) == 2000


def test_class_risk_by_hand():
    labels = np.array([0, 0, 0, 1, 1, 2])
    found = risk.class_risk(labels, 3)
    assert found == ClassRisk(
        records=6,
        classes=3,
        unique=1,
        below_k=3,
        smallest=1,
        largest_risk=1.0,
        mean_risk=pytest.approx((3 / 3 + 2 / 2 + 1) / 6),
        expected_reidentifications=3.0,
        sizes={"1": 1, "2": 1, "3": 1},
    )
    assert (found.unique_percent, found.below_k_percent) == (pytest.approx(100 / 6), 50.0)


def test_class_sizes_are_counted_in_bins():
    sizes = [1, 1, 9, 10, 19, 20, 49, 50, 99, 100, 199, 200, 1234]
    assert risk.class_sizes(np.array(sizes)) == {
        "1": 2, "9": 1, "10-19": 2, "20-49": 2, "50-99": 2, "100-199": 2, "200-499": 1, "1000-1999": 1,
    }  # fmt: skip


def test_class_risk_of_units_by_hand():
    """Class 0: persons 0, 0, 1; class 1: persons 1, 2, 3 and nobody; class 2: person 3 alone."""
    classes, units = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2]), np.array([0, 0, 1, 1, 2, 3, -1, 3, 3])
    found = risk.class_risk(classes, 3, units)
    assert found == ClassRisk(
        records=9,
        classes=3,
        unique=1,
        below_k=3,  # all but person 2
        smallest=1,
        largest_risk=1.0,
        mean_risk=pytest.approx((1 / 2 + 1 / 2 + 1 / 3 + 1) / 4),
        expected_reidentifications=pytest.approx(1 / 2 + 1 / 2 + 1 / 3 + 1),
        sizes={"1": 1, "2": 1, "3": 1},
        units=4,
        largest_unit_share=1.0,  # of class 2
    )
    assert risk.class_risk(classes[:7], 2, units[:7]).largest_unit_share == pytest.approx(2 / 3)  # of class 0
    assert (found.unique_percent, found.below_k_percent, found.noun) == (25.0, 75.0, "units")
    assert risk.singling_out([classes], [np.zeros(9, np.int64)], units).records_before == 1
    was = risk.linkability(classes, Linkage(9, False, 1.0, 1 / 9, 1 / 9), units).share_before
    assert was == pytest.approx((2 * 2 / 3 + 1 / 3 + 4 * 1 / 4 + 2) / 9)


def test_units_of_one_record_each_are_records():
    rng = np.random.default_rng(0)
    classes = rng.integers(0, 9, 60)
    by_record, by_unit = risk.class_risk(classes, 5), risk.class_risk(classes, 5, rng.permutation(60))
    assert by_unit.units == 60
    same = ("records", "classes", "unique", "below_k", "smallest", "largest_risk", "sizes")
    assert [getattr(by_unit, name) for name in same] == [getattr(by_record, name) for name in same]
    assert by_unit.mean_risk == pytest.approx(by_record.mean_risk)
    assert by_unit.expected_reidentifications == pytest.approx(by_record.expected_reidentifications)


# What classes hold


def test_diversity_by_hand():
    labels = np.array([0, 0, 0, 0, 1, 1])
    held = risk.contents(labels, np.array([0, 0, 1, 2, 1, 1]))
    assert risk.distinct_values(held).tolist() == [3, 1]
    # shares 1/2, 1/4, 1/4: entropy 3/2 log 2
    assert risk.entropy_l(held) == pytest.approx([2**1.5, 1])


def test_closeness_of_nine_salaries_by_hand():
    """Of 3k to 11k: {3, 4, 5} leaves ninths 2 4 6 5 4 3 2 1 0 in the sums, {6, 8, 11} leaves 1 2 3 1 2 0 1 2 0."""
    salaries = np.arange(3, 12)
    labels = np.array([0, 0, 0, 1, 2, 1, 2, 2, 1])
    found = risk.closeness(risk.contents(labels, salaries - 3), ordered=True)
    assert found[:2] == pytest.approx([0.375, 1 / 6])


def test_closeness_reaches_the_published_bound():
    """Soria-Comas et al. 2015: no group of k among n different values is closer than (n+k)(n-k)/(4n(n-1)k)."""
    n, k = 15, 3
    labels = np.zeros(n, np.int64)
    labels[[2, 7, 12]] = 1  # the middle of every third
    found = risk.closeness(risk.contents(labels, np.arange(n)), ordered=True)
    assert found[1] == pytest.approx((n + k) * (n - k) / (4 * n * (n - 1) * k))


def slow_closeness(labels, numbers, ordered):
    m = numbers.max() + 1
    q = np.bincount(numbers, minlength=m) / len(numbers)
    out = []
    for c in range(labels.max() + 1):
        p = np.bincount(numbers[labels == c], minlength=m) / np.sum(labels == c)
        if not ordered:
            out.append(0.5 * np.abs(p - q).sum())
        else:
            out.append(np.abs(np.cumsum(p - q)).sum() / (m - 1) if m > 1 else 0.0)
    return out


@given(st.integers(0, 10_000), st.integers(1, 60), st.integers(1, 12), st.integers(1, 80), st.booleans())
def test_closeness_is_the_earth_movers_distance(seed, n, groups, values, ordered):
    rng = np.random.default_rng(seed)
    labels = np.unique(rng.integers(0, groups, n), return_inverse=True)[1]
    numbers = np.unique(rng.integers(0, values, n), return_inverse=True)[1]
    found = risk.closeness(risk.contents(labels, numbers), ordered)
    assert found == pytest.approx(slow_closeness(labels, numbers, ordered), abs=1e-12)


def test_confidential_risk_by_hand():
    labels = np.array([0, 0, 1, 1, 2, 2, 3, 3, 3])
    found = risk.confidential_risk(column([0, 0, 0, 1, NAN, NAN, 1, 1, NAN], "nominal", "ill", "ny"), labels)
    assert found == ConfidentialRisk(
        scenario="all",
        name="ill",
        kind="nominal",
        classes=4,
        constant_classes=3,  # one value, none, one and a gap
        constant_records=7,
        least_distinct=0,
        least_entropy_l=0.0,
        largest_t=pytest.approx(2 / 3),  # only missing ones, against a third
    )
    found = risk.confidential_risk(column([0, 1, NAN, NAN], "nominal", "ill", "ny"), np.zeros(4, np.int64))
    assert (found.least_distinct, found.least_entropy_l) == (2, pytest.approx(2.0))


VALUES = st.sampled_from([NAN, 0.0, 1.0, 2.0])


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(0, 4), VALUES), min_size=4, max_size=40))
def test_classes_tell_what_verify_says_of_them(rows):
    """What is promised of a confidential column, what is reported and what is remedied is counted alike."""
    from coterie.protection.grouping import constant_groups

    group, values = (np.array(part) for part in zip(*rows, strict=True))
    told = column(values, "nominal", "v", "abc")
    labels = np.unique(group, return_inverse=True)[1]
    found = risk.confidential_risk(told, labels)
    guard = {"kind": "nominal", "l": 2, "entropy": 1.5}
    table = pa.table({"g": group, "v": pa.array(values, from_pandas=False)})
    _, distinct, entropy, constant = verify(table, ["g"], 2, confidential={"v": guard}).checks
    assert (found.least_distinct, found.least_entropy_l) == (distinct.found, pytest.approx(entropy.found))
    assert found.constant_classes == constant.offending_classes
    assert (
        found.constant_records == constant.offending_records == np.count_nonzero(constant_groups(labels, told)[labels])
    )


def test_guesses_by_hand():
    labels = np.array([0, 0, 0, 1, 1, 1])
    found = risk.guesses(column([0, 0, 1, 1, 1, 2], "nominal", categories="abc"), labels)
    assert found == ("right guesses", pytest.approx(4 / 6), 0.5)
    found = risk.guesses(column([1, 2, 3, 7, 8, 9]), labels)
    # squares about the means of the classes: 2 + 2; about 5: 16 + 9 + 4 + 4 + 9 + 16 = 58
    assert found == ("variance explained", pytest.approx(1 - 4 / 58), pytest.approx(0.2))


def test_guesses_of_amounts_by_lot_are_the_baseline():
    rng = np.random.default_rng(1)
    x, labels = column(rng.standard_normal(3000)), np.arange(3000) // 5
    found = risk.guesses(x, labels)
    assert found.share == pytest.approx(found.baseline_share, abs=0.03)
    assert risk.guesses(column([2.0, 2.0]), np.array([0, 0])).share is None


def test_singling_out_counts_records_alone_in_any_scenario():
    found = risk.singling_out([np.array([0, 0, 1]), np.array([0, 1, 1])], [np.array([0, 0, 0])] * 2)
    assert (found.records_before, found.records_after) == (2, 0)
    assert found.sentence.startswith("2 of 3 records")


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0.00 %"), (1, "100.0 %"), (0.00001, "less than 0.01 %"), (0.99996, "more than 99.9 %"), (0.2, "20.0 %")],
)
def test_shares_are_not_rounded_to_nothing(share, text):
    assert risk._share(share) == text


def test_inference_names_the_column_that_is_told_most():
    labels = [np.array([0, 0, 1, 1])]
    ill = column([1, 1, 0, 1], "boolean", "ill", ("false", "true"))
    cost = column([1, 2, 3, 4], name="cost")
    found = risk.inference([cost, ill], labels)
    assert "'ill' has at most one value in the equivalence class of 50.0 % of the records" in found.sentence
    assert found.columns["cost"].constant_share == 0
    assert risk.inference([cost], labels).sentence.startswith("No equivalence class")
    assert risk.inference([], labels).sentence == "No column is confidential."


# The whole

CATEGORIES = {"ordinal": "abcd", "nominal": "abcd", "boolean": ("false", "true")}


def table(rng, n, gaps):
    """A column of each kind, and what groups of five would get."""
    labels = np.minimum(np.arange(n) // 5, max(n // 5 - 1, 0))
    before, after = {}, {}
    for kind in KINDS:
        names = tuple(CATEGORIES.get(kind, ()))
        x = rng.integers(0, len(names), n).astype(float) if names else rng.normal(50, 10, n)
        x = np.round(x) if kind == "integer" else x * 1e15 if kind == "datetime" else x
        x[rng.random(n) < gaps] = NAN
        y = np.full(n, NAN)
        for g in np.unique(labels):
            mine = labels == g
            if (~np.isnan(x[mine])).any():
                y[mine] = np.nanmedian(x[mine]) if not names else x[mine][~np.isnan(x[mine])][0]
        before[kind], after[kind] = (Column(kind, kind, v, names) for v in (x, y))
    secret = column(rng.integers(0, 3, n), "nominal", "secret", "pqr")
    before["secret"] = after["secret"] = secret
    return before, after


SCENARIOS = [Scenario("all", KINDS, 5), Scenario("few", ("nominal", "integer"), 3)]

SHAPE = Draft202012Validator(schema(Measures))


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(0, 40), st.sampled_from([0.0, 0.2, 1.0]), st.booleans())
def test_measures_of_any_table_are_json(seed, n, gaps, weighted):
    rng = np.random.default_rng(seed)
    before, after = table(rng, n, gaps)
    weights = rng.uniform(1, 9, n) if weighted else None
    found = measure(before, after, scenarios=SCENARIOS, confidential=["secret"], weights=weights)
    SHAPE.validate(json.loads(as_json(found)))
    assert (found.loss.loss_weighted_percent is None) == (weights is None)
    if gaps == 0 and n >= 5:
        assert all(s.after.smallest >= 5 for s in found.risk.scenarios)
        assert found.risk.linkage.share <= 0.2 + 1e-12  # one original in five is the nearest
        assert found.risk.singling_out.records_after == 0


def test_the_measures_of_a_table():
    before, after = table(np.random.default_rng(2), 200, 0.05)
    found = measure(before, after, scenarios=SCENARIOS, confidential=["secret"])
    assert set(found.loss.columns) == set(KINDS)  # the confidential one is as it was
    assert found.loss.columns["nominal"].mismatch_share > 0
    assert found.loss.columns["numeric"].il1s > 0
    numeric, nominal = (found.utility.columns[kind] for kind in ("numeric", "nominal"))
    assert isinstance(numeric, NumberUtility)
    assert len(numeric.quantile_changes.p) == len(numeric.quantile_changes.change_sd)
    assert numeric.largest_quantile_change_sd == max(map(abs, numeric.quantile_changes.change_sd))
    assert len(numeric.histogram.edges) == len(numeric.histogram.before) + 1
    assert isinstance(nominal, CategoryUtility)
    assert found.utility.correlations.names == ("numeric", "integer", "ordinal", "datetime")
    assert found.utility.eigenvalues.change > 0
    assert found.utility.propensity.records == 200
    first = found.risk.scenarios[0]
    assert (first.name, first.quasi, first.k, first.after.below_k) == ("all", KINDS, 5, 0)
    assert found.risk.linkage.times_guessing == pytest.approx(200 * found.risk.linkage.share)
    assert {c.scenario for c in found.risk.confidential} == {"all", "few"}
    for heading in (found.risk.singling_out, found.risk.linkability, found.risk.inference):
        assert heading.sentence
        assert heading.does_not_show
        assert "anonym" not in as_json(heading)


def test_nothing_changed():
    before, _ = table(np.random.default_rng(3), 60, 0.1)
    found = measure(before, before, scenarios=SCENARIOS, confidential=["secret"])
    assert found.loss.loss_percent == found.loss.il1s_sum == 0
    assert found.utility.columns["numeric"].variance_ratio == pytest.approx(1)
    assert found.utility.correlations.largest_change == 0
    assert found.utility.propensity.pmse == pytest.approx(0, abs=1e-12)
    assert found.risk.linkage.share == 1
    assert found.risk.intervals.sd.share == (1.0,) * 4
    assert found.risk.intervals.rank.share == (1.0,) * 4


def test_columns_that_differ_are_measured_and_others_not():
    before = {"q": column([1, 2, 3, 4], name="q"), "s": column([1, 2, 3, 4], name="s"), "t": column([1, 2, 3, 5])}
    after = {"q": column([1.5, 1.5, 3.5, 3.5], name="q"), "s": column([1, 2, 3, 4.5], name="s"), "t": before["t"]}
    found = measure(before, after, scenarios=[Scenario("one", ("q",), 2)], confidential=["s"])
    assert set(found.loss.columns) == set(found.utility.columns) == {"q", "s"}
    assert found.loss.sse == pytest.approx(0.8)  # of q alone: steps of 1/2, variance 5/4


def test_without_scenarios_there_is_no_risk_to_measure():
    before = {"x": column([1, 2, 3])}
    found = measure(before, before, scenarios=[], confidential=["x"])
    assert found.risk.scenarios == found.risk.confidential == ()
    assert found.risk.linkage.share is None
    SHAPE.validate(json.loads(as_json(found)))


def test_what_cannot_be_compared_is_refused():
    x, short = {"x": column([1, 2, 3])}, {"x": column([1, 2])}
    with pytest.raises(CoterieError, match="no 'y'"):
        measure(x, x, scenarios=[Scenario("one", ("y",), 2)])
    with pytest.raises(CoterieError, match="columns of 2 and 3 records"):
        measure(x, short, scenarios=[Scenario("one", ("x",), 2)])
    with pytest.raises(CoterieError, match="at least one quasi-identifier"):
        measure(x, x, scenarios=[Scenario("none", (), 2)])


def test_every_measure_has_a_page():
    folder = ROOT / "docs" / "measures"
    index = (folder / "README.md").read_text(encoding="utf-8")
    assert set(re.findall(r"\]\(([a-z0-9-]+\.md)\)", index)) == {p.name for p in folder.glob("*.md")} - {"README.md"}
    for page in folder.glob("*.md"):
        text = page.read_text(encoding="utf-8")
        assert all((folder / target).exists() for target in re.findall(r"\]\(([^)#]+)\)", text)), page.name
        assert page.name == "README.md" or "ource.**" in text, page.name
    before, after = table(np.random.default_rng(4), 30, 0.0)
    found = measure(before, after, scenarios=SCENARIOS, confidential=["secret"])
    pages = "".join(page.read_text(encoding="utf-8") for page in folder.glob("*.md"))
    for part in (found.loss, found.utility, found.risk, found.risk.scenarios[0].after):
        for field in fields(part):
            assert field.name in pages, field.name
