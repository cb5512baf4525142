"""Every method: the contract, and the partition of its literal twin."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import coterie as ct
from coterie.algorithms import free
from coterie.algorithms.limits import Limits
from coterie.algorithms.registry import METHODS, Found
from coterie.measures import loss
from reference import TWINS
from strategies import KINDS, problems, table

# those whose groups, and not only what they cost, are compared here; the others have a file of tests of their own
PLAIN = ("md", "mdav", "mdav1", "mdav+", "mdav*", "m-d")


def run(name, X, k, **own):
    method = METHODS[name]
    own = method.check(own)
    if method.compares:
        own["loss"] = lambda labels: loss.distortion(X, labels)
    if method.randomized:
        own["rng"] = np.random.default_rng(0)
    if method.limited:
        own["limits"] = Limits()
    found = method.load()(X, k, **own)
    return numbered(found.labels if isinstance(found, Found) else found)


def numbered(labels):
    """Groups by first appearance, the way in which results number them."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].reshape(labels.shape)


def test_every_method_but_auto_has_a_twin():
    assert set(TWINS) == set(METHODS) - {"auto"}  # that of exact tries all partitions


@pytest.fixture(params=[10**9, 0], ids=["scan", "tiles"])
def small(request, monkeypatch):
    """Small tables are scanned; the kernels for large ones must give the same groups."""
    monkeypatch.setattr(free, "FEW", request.param)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", PLAIN)
@given(problem=problems())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_same_partition_as_the_literal_twin(name, problem):
    X, k = problem
    np.testing.assert_array_equal(run(name, X, k), numbered(TWINS[name](X, k)))


@pytest.mark.usefixtures("small")
@given(problem=problems(), gamma=st.sampled_from([0.0, 0.1, 0.2, 0.7, 1.0, 1.1, 2.0, 100.0]))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_v_mdav_is_its_twin_for_every_gamma(problem, gamma):
    X, k = problem
    np.testing.assert_array_equal(run("v-mdav", X, k, gamma=gamma), numbered(TWINS["v-mdav"](X, k, gamma)))


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", ["mdav", "mdav1", "mdav+", "v-mdav", "mdav*", "md"])
@given(
    kind=st.sampled_from(KINDS),
    n=st.integers(65, 200),
    p=st.integers(1, 20),
    k=st.integers(2, 40),
    seed=st.integers(0, 9**9),
)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_same_partition_where_bounds_decide(name, kind, n, p, k, seed):
    """More than one tile, so that some stay closed."""
    X = table(kind, max(n if name != "md" else min(n, 110), 2 * k), p, seed)
    own = {"gamma": 0.7} if name == "v-mdav" else {}
    np.testing.assert_array_equal(run(name, X, k, **own), numbered(TWINS[name](X, k, *own.values())))


@pytest.mark.parametrize(
    ("name", "own"), [("mdav", {}), ("mdav1", {}), ("mdav+", {}), ("v-mdav", {"gamma": 0.5}), ("mdav*", {})]
)
@pytest.mark.parametrize("kind", KINDS)
def test_scans_give_the_groups_of_tiles(name, own, kind, monkeypatch):
    X = table(kind, 2500, 3, seed=4)
    monkeypatch.setattr(free, "FEW", 0)
    in_tiles = run(name, X, 4, **own)
    monkeypatch.setattr(free, "FEW", 10**9)
    monkeypatch.setattr(free, "_LOOKS", 10**6)  # in several pieces
    np.testing.assert_array_equal(run(name, X, 4, **own), in_tiles)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mdav", "mdav+"])
def test_the_tree_leads_where_all_tiles_lead(name, monkeypatch):
    """200,000 records, clusters and ties among them: searches that walk down the tree, and that bound every tile."""
    X = table("normal", 200_000, 3, seed=1)
    X[::3] = 0.01 * X[::3] + X[np.arange(0, len(X), 3) % 50]
    X[1::3] = X[1::3].round(1)
    by_tree = run(name, X, 5)
    monkeypatch.setattr(free, "LOOSE", -1.0)
    np.testing.assert_array_equal(run(name, X, 5), by_tree)


def tiny(n, scale, seed=0):
    return np.random.default_rng(seed).standard_normal((n, 1)) * scale


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", ["md", "mdav", "mdav1", "mdav+", "mdav*"])
@pytest.mark.parametrize(
    "X",
    [
        np.vstack([[[1.0]], [[-1.0]], tiny(75, 2e-163), -tiny(75, 2e-163)]),
        np.vstack([np.ones((3, 1)), tiny(147, 2e-162)]),
        np.vstack([np.full((6, 1), 1e140), tiny(144, 1e-20)]),
        tiny(150, 1e-155),
        1e15 + tiny(150, 1.0).round(1),
        np.vstack([tiny(75, 1e-3), 1e9 + tiny(75, 1e-3)]),
    ],
    ids=["squares vanish", "squares vanish beside ones", "far magnitudes", "small", "ulps", "two far clusters"],
)
def test_distances_at_the_edge_of_what_a_double_holds(name, X):
    np.testing.assert_array_equal(run(name, X, 3), numbered(TWINS[name](X, 3)))


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["mdav", "mdav1", "mdav+", "mdav*"])
def test_same_partition_over_many_tiles(name, kind):
    """Enough records that tiles fill, empty and are filled anew."""
    X = table(kind, 700, 3, seed=5)
    np.testing.assert_array_equal(run(name, X, 3), numbered(TWINS[name](X, 3)))


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", KINDS)
def test_v_mdav_and_md_over_many_tiles(kind):
    X = table(kind, 300, 3, seed=6)
    np.testing.assert_array_equal(run("v-mdav", X, 3, gamma=0.5), numbered(TWINS["v-mdav"](X, 3, 0.5)))
    X = table(kind, 200, 2, seed=7)
    np.testing.assert_array_equal(run("md", X, 3), numbered(TWINS["md"](X, 3)))


def keeps_the_contract(name, X, k):
    """Groups of at least k, the same twice, and X left alone."""
    X = np.ascontiguousarray(X[:, : METHODS[name].only_columns])
    before = X.copy()
    own = {"gamma": (0.1, 1.0)} if name == "v-mdav" else {}
    labels = run(name, X, k, **own)
    assert labels.shape == (X.shape if name == "individual-ranking" else (len(X),))
    assert labels.dtype == np.int64
    for column in labels.reshape(len(X), -1).T:
        assert np.unique(column, return_counts=True)[1].min() >= k
    np.testing.assert_array_equal(labels, run(name, X, k, **own))
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("name", list(METHODS))
@given(problem=problems(most=200))
@settings(max_examples=40)
def test_contract(name, problem):
    X, k = problem
    if name == "exact":  # what takes many seconds to prove has no place here
        X, k = X[:24], min(k, 4)
    keeps_the_contract(name, X, METHODS[name].only_k or k)


@pytest.mark.campaign
@given(problem=problems(most=200))
@settings(max_examples=40)
def test_contract_where_proofs_take_long(problem):
    X, k = problem
    keeps_the_contract("exact", X[:40], min(k, 4))


def test_gamma_zero_is_mdav_plus():
    X = table("normal", 500, 4, seed=1)
    np.testing.assert_array_equal(run("v-mdav", X, 4, gamma=0.0), run("mdav+", X, 4))


def test_gamma_auto_keeps_the_least_loss_of_the_grid():
    X = ct.datasets.make_simc(seed=3).X[:400]
    each = {g / 10: ct.microaggregate(X, 4, "v-mdav", gamma=g / 10).loss for g in range(21)}
    best = ct.microaggregate(X, 4, "v-mdav")
    assert best.loss == min(each.values())
    assert best.params["gamma"] == min(each, key=each.get)
    assert best.params["tried"] == tuple(each)
    assert len(set(each.values())) > 3


def test_gamma_grid_and_number():
    X = table("normal", 200, 2, seed=2)
    some = ct.microaggregate(X, 3, "v-mdav", gamma=[0.5, 0.1])
    assert some.params["tried"] == (0.5, 0.1)
    assert some.loss == min(ct.microaggregate(X, 3, "v-mdav", gamma=g).loss for g in (0.5, 0.1))
    assert ct.microaggregate(X, 3, "v-mdav", gamma=np.float64(0.5)).params == {"gamma": 0.5}


def test_gamma_is_chosen_by_the_distortion_asked_for():
    """On this set, the best gamma differs between squared and plain distances."""
    X = table("skewed", 120, 2, seed=11)

    def least(measure):
        losses = {g / 10: getattr(ct.microaggregate(X, 3, "v-mdav", gamma=g / 10), measure) for g in range(21)}
        return min(losses, key=losses.get)

    squared = ct.microaggregate(X, 3, "v-mdav").params["gamma"]
    plain = ct.microaggregate(X, 3, "v-mdav", distortion="euclidean").params["gamma"]
    assert (squared, plain) == (least("loss"), least("loss_euclidean"))
    assert squared != plain


@pytest.mark.parametrize(("alias", "name"), [("mdav-plus", "mdav+"), ("mdav-star", "mdav*")])
def test_shell_safe_aliases(alias, name):
    X = table("normal", 100, 2, seed=3)
    r = ct.microaggregate(X, 3, alias)
    assert r.method == name
    np.testing.assert_array_equal(r.labels, ct.microaggregate(X, 3, name).labels)


def test_papers_examples():
    line = ct.datasets.load_line11().X
    assert ct.microaggregate(line, 3, "v-mdav", gamma=1, standardize=False).sse == pytest.approx(258.8, abs=1e-9)
    star = ct.microaggregate(line, 3, "mdav*", standardize=False)
    assert star.sse == pytest.approx(21.2, abs=1e-9)
    assert star.sst == pytest.approx(17966)
    assert list(star.labels) == [0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    # figure 1 of v-mdav-2006: with groups of three, MDAV must leave a scattered one of four
    points = ct.datasets.load_points13().X
    assert sorted(ct.microaggregate(points, 3, "mdav").sizes) == [3, 3, 3, 4]
    assert ct.microaggregate(points, 3, "v-mdav", gamma=1.1).loss < 0.5 * ct.microaggregate(points, 3, "mdav").loss


@pytest.mark.parametrize(
    ("compiled", "columns", "times"), [(True, 3, 1), (False, 3, 16), (False, 10, 8), (False, 300, 1)]
)
def test_scans_are_for_larger_tables_until_tiles_are_compiled(compiled, columns, times, monkeypatch):
    """In few columns: in many, they take seconds."""
    monkeypatch.setattr(free, "at_hand", lambda _: compiled)
    X = np.empty((2, columns))
    assert free.may_be_scanned(X, times * free.FEW // 2, None)
    assert not free.may_be_scanned(X, times * free.FEW // 2 + 1, None)
