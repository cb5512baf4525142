"""Groups of different units: MDAV against its literal version, and the search that keeps to the rule."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from coterie.algorithms import refine as room
from coterie.algorithms.limits import Limits
from coterie.algorithms.refine import refine
from coterie.algorithms.unit_mdav import groups_of_units, mdav_of_units, units_in_groups
from coterie.measures.loss import distortion
from strategies import problems, table


def same_groups(a, b):
    return len(set(zip(a.tolist(), b.tolist(), strict=True))) == len(set(a.tolist())) == len(set(b.tolist()))


@st.composite
def with_units(draw, most=60):
    """A table, a k, and at least k units: few large ones, many, one that has most records, some not known."""
    X, k = draw(problems(most))
    n = len(X)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    units = rng.integers(0, draw(st.integers(k, n)), n)
    if draw(st.booleans()):
        units[rng.random(n) < 0.5] = 0
    if draw(st.booleans()):
        units[rng.random(n) < 0.2] = -1
    units[rng.permutation(n)[:k]] = np.arange(k)
    return X, k, units


def least(labels, units):
    """The fewest different units of a group, counted one by one."""
    return min(len({u for u, label in zip(units, labels, strict=True) if label == g and u >= 0}) for g in set(labels))


@given(with_units())
@settings(max_examples=150)
def test_as_the_literal_version(problem):
    X, k, units = problem
    labels = mdav_of_units(X, k, units)
    assert same_groups(labels, reference.mdav_of_units(X.tolist(), k, units.tolist()))
    assert least(labels.tolist(), units.tolist()) >= k
    np.testing.assert_array_equal(units_in_groups(labels, units).min(), least(labels.tolist(), units.tolist()))


@given(with_units(most=90), st.integers(0, 99))
@settings(max_examples=100)
def test_the_search_keeps_to_the_rule_and_is_never_worse(problem, seed):
    X, k, units = problem
    start = mdav_of_units(X, k, units)
    found = groups_of_units(X, k, units, "quick", np.random.default_rng(seed), Limits())
    assert least(found.labels.tolist(), units.tolist()) >= k
    before, after = (distortion(X, labels, "mean", "squared") for labels in (start, found.labels))
    assert after <= before * (1 + 1e-12)
    again = groups_of_units(X, k, units, "quick", np.random.default_rng(seed), Limits())
    np.testing.assert_array_equal(found.labels, again.labels)


def panel(persons=60, times=8, seed=0):
    """Persons whose records lie close together, as in real panels."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.standard_normal((persons, 3)), times, axis=0) + 0.3 * rng.standard_normal((persons * times, 3))
    return np.ascontiguousarray(X), np.repeat(np.arange(persons), times)


def test_much_less_is_lost_than_by_merging():
    """What merging groups of too few units loses, more than the rule itself costs."""
    from coterie.algorithms.confidential.guarded import guarded_part
    from coterie.algorithms.confidential.guards import Condition, watch_of
    from coterie.algorithms.run import groups_of

    X, units = panel()
    free = groups_of(X, 5, "auto", {}, "none", np.random.default_rng(0))[0]
    assert units_in_groups(free, units).min() < 5
    merged = guarded_part(X, 5, free, watch_of([Condition(False, 5)], [units], [None]), "merge", False)
    found = groups_of_units(X, 5, units, "quick", np.random.default_rng(0), Limits()).labels
    lost = {name: distortion(X, labels, "mean", "squared") for name, labels in locals().items() if name in LABELS}
    assert lost["free"] < lost["found"] < 0.6 * lost["merged"]


LABELS = ("free", "merged", "found")


def test_a_unit_with_most_records():
    X, units = panel()
    units[: len(units) // 2] = 0
    labels = mdav_of_units(X, 5, units)
    assert units_in_groups(labels, units).min() >= 5
    assert np.bincount(labels).max() >= 10  # its records go where they must
    found = groups_of_units(X, 5, units, "quick", np.random.default_rng(0), Limits()).labels
    assert units_in_groups(found, units).min() >= 5


def test_exactly_k_units():
    X = table("normal", 40, 2, 0)
    units = np.arange(40) % 5
    labels = mdav_of_units(X, 5, units)
    assert int(labels.max()) + 1 == 8
    assert (units_in_groups(labels, units) == 5).all()


def test_a_k_too_large_for_the_search_is_grouped_all_the_same():
    X, units = panel(300, 2)
    found = groups_of_units(X, 260, units, "quick", np.random.default_rng(0), Limits())
    assert units_in_groups(found.labels, units).min() >= 260
    assert found.chosen["steps"] == 0


def test_the_search_stops_when_told(monkeypatch):
    X, units = panel()
    limits = Limits(seconds=0.0)
    monkeypatch.setattr(room, "steps_of", lambda *_: 10**9)
    found = refine(
        X, mdav_of_units(X, 5, units), 5, effort="quick", rng=np.random.default_rng(0), limits=limits, units=units
    )
    assert limits.cut_short == "seconds"
    assert units_in_groups(found.labels, units).min() >= 5


def test_numbers_of_units_may_have_holes():
    X, units = panel(20, 4)
    assert same_groups(mdav_of_units(X, 3, units), mdav_of_units(X, 3, units * 1000 + 7))
