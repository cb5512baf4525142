"""Options by either name, one table of constraints, and results that keep no copy of the table."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import coterie as ct
from coterie import constraints
from coterie.algorithms import auto
from coterie.algorithms.limits import Limits
from coterie.measures.loss import distortion
from coterie.microaggregation import options

X = np.random.default_rng(4).normal(size=(60, 3))


def test_every_option_is_in_the_table():
    elsewhere = {"X", "labels", "method", "params", "blocks", "threads"}  # the data, the registry, check_blocks
    for function in (ct.microaggregate, ct.refine):
        names = set(inspect.signature(function).parameters) - elsewhere - set(options.SPELLINGS)
        assert names <= set(options.CONSTRAINTS)
    bound = set(inspect.signature(ct.Result.bound).parameters) - {"self"}
    assert bound - {"effort"} <= set(options.CONSTRAINTS)
    assert set(options.SPELLINGS.values()) <= set(options.CONSTRAINTS)


def test_center_is_centre():
    british, american = (
        ct.microaggregate(X, 3, "mdav", centre="median"),
        ct.microaggregate(X, 3, "mdav", center="median"),
    )
    np.testing.assert_array_equal(british.data, american.data)
    assert american.options["centre"] == "median"
    assert not np.array_equal(american.data, ct.microaggregate(X, 3, "mdav").data)
    with pytest.raises(ct.CoterieError, match="'centre' must be 'mean' or 'median'"):
        ct.microaggregate(X, 3, "mdav", center="mode")


def test_seed_is_random_state():
    def labels(**given):
        return ct.microaggregate(X, 3, "mu-approx", **given).labels

    np.testing.assert_array_equal(labels(seed=5), labels(random_state=5))
    assert not np.array_equal(labels(seed=5), labels())
    start = ct.microaggregate(X, 3, "mu-approx").labels
    np.testing.assert_array_equal(ct.refine(X, start, 3, seed=7).labels, ct.refine(X, start, 3, random_state=7).labels)
    assert ct.microaggregate(X, 3, "mu-approx", seed=None).sse > 0


@pytest.mark.parametrize("both", [{"centre": "mean", "center": "median"}, {"random_state": 0, "seed": 0}])
def test_two_names_of_one_option_are_too_many(both):
    with pytest.raises(ct.CoterieError, match="are the same option"):
        ct.microaggregate(X, 3, "mdav", **both)


def test_the_estimator_takes_center():
    pytest.importorskip("sklearn")
    found = ct.Microaggregator(3, "mdav", center="median").fit_transform(X)
    np.testing.assert_array_equal(found, ct.microaggregate(X, 3, "mdav", centre="median").data)
    with pytest.raises(ct.CoterieError, match="are the same option"):
        ct.Microaggregator(3, "mdav", center="mean", centre="median").fit(X)


def test_one_form_of_error():
    with pytest.raises(ct.CoterieError) as caught:
        constraints.check("colour", constraints.one_of("red", "green", "blue"), "gren")
    error = caught.value
    assert error.what == "'colour' must be 'red', 'green' or 'blue'."
    assert (error.got, error.hint) == ("colour = 'gren' (str)", "did you mean 'green'?")
    with pytest.raises(ct.CoterieError) as caught:
        constraints.check("colour", constraints.whole(2), X)
    assert caught.value.got == "an object of type ndarray"


def owned(result):
    """The bytes of the arrays that a result holds, but for its labels and the released table."""
    seen, size, todo = {id(result.labels), id(result.data)}, 0, [vars(result)]
    while todo:
        what = todo.pop()
        if id(what) in seen:
            continue
        seen.add(id(what))
        if isinstance(what, np.ndarray):
            size += what.nbytes
        elif isinstance(what, dict):
            todo.extend(what.values())
        elif isinstance(what, (list, tuple)):
            todo.extend(what)
        elif hasattr(what, "__dict__"):
            todo.append(vars(what))
    return size


@pytest.mark.parametrize("standardize", [True, False])
def test_a_result_keeps_no_copy_of_the_table(standardize):
    result = ct.microaggregate(X, 3, "mdav", standardize=standardize)
    assert result._records.table is X
    assert owned(result) == X.nbytes  # the caller's own
    assert owned(pickle.loads(pickle.dumps(result))) == 0


TABLES = {
    "array": lambda x: x,
    "float32": lambda x: x.astype(np.float32),
    "integers": lambda x: (x * 100).astype(np.int32),
    "columns first": np.asfortranarray,
    "list": lambda x: x.tolist(),
    "pandas": lambda x: pd.DataFrame(x, columns=["a", "b", "c"]),
    "polars": lambda x: pl.DataFrame(x, schema=["a", "b", "c"]),
    "pyarrow": lambda x: pa.table({name: x[:, j] for j, name in enumerate("abc")}),
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("standardize", [True, False])
def test_bounds_of_any_table(kind, standardize):
    made = TABLES[kind](X.copy())
    result = ct.microaggregate(made, 3, "mdav", standardize=standardize)
    wanted = ct.microaggregate(np.array(made, np.float64), 3, "mdav", standardize=standardize).bound()
    assert result.bound().sse == wanted.sse > 0


def test_no_bound_for_a_table_that_has_changed():
    mine = X.copy()
    result = ct.microaggregate(mine, 3, "mdav")
    proven = result.bound()
    mine[7, 1] += 1.0
    with pytest.raises(ct.CoterieError, match="has changed since") as caught:
        result.bound()
    assert caught.value.hint
    mine[7, 1] = X[7, 1]
    assert result.bound().sse == proven.sse
    frame = pd.DataFrame(X.copy(), columns=["a", "b", "c"])
    result = ct.microaggregate(frame, 3, "mdav")
    frame.loc[3, "b"] = 0.0
    with pytest.raises(ct.CoterieError, match="has changed since"):
        result.bound()


@pytest.mark.parametrize("n", [60, 2000])
def test_any_change_is_noticed(n):
    rng = np.random.default_rng(n)
    table = rng.normal(size=(n, 3))
    result = ct.microaggregate(table, 3, "mdav+")
    for _ in range(20):
        before = table.copy()
        i, j = rng.integers(n), rng.integers(3)
        table[i, j] = np.nextafter(table[i, j], np.inf)
        with pytest.raises(ct.CoterieError, match="has changed since"):
            result.bound()
        table[:] = before[::-1]  # the same records
        with pytest.raises(ct.CoterieError, match="has changed since"):
            result.bound()
        table[:] = before
    assert result.bound().sse > 0


def test_the_estimator_keeps_no_copy_of_a_frame():
    pytest.importorskip("sklearn")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    fitted = ct.Microaggregator(3, "mdav").fit(frame)
    assert fitted.result_._records.table is frame
    assert fitted.result_.bound().sse == ct.microaggregate(X, 3, "mdav").bound().sse


def test_auto_measures_every_partition_once():
    seen = []

    def loss(labels):
        seen.append(labels)
        return distortion(X, labels)

    found = auto.auto(X, 3, loss=loss, rng=np.random.default_rng(0), limits=Limits())
    assert len(seen) == 3
    assert distortion(X, found.labels) == min(map(distortion, [X] * 3, seen))
