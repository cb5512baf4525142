"""Microaggregator among scikit-learn's own."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import coterie as ct

X = np.random.default_rng(0).normal(size=(40, 3))
FRAME = pd.DataFrame(X, columns=["a", "b", "c"], index=range(100, 140))

# No expected failures.
ANY_TABLE = [m.name for m in ct.methods() if m.only_columns is None]
ESTIMATORS = [ct.Microaggregator(k=2, method=name) for name in ANY_TABLE] + [ct.Microaggregator()]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


def test_same_as_the_function():
    m = ct.Microaggregator(k=4, method="v-mdav", method_params={"gamma": 0.3}, centre="median", standardize=False)
    r = ct.microaggregate(X, 4, "v-mdav", gamma=0.3, centre="median", standardize=False)
    np.testing.assert_array_equal(m.fit_transform(X), r.data)
    np.testing.assert_array_equal(m.fit_predict(X), r.labels)
    assert m.result_.loss == r.loss


def test_set_output_and_names():
    m = ct.Microaggregator(k=4).set_output(transform="pandas")
    out = m.fit_transform(FRAME)
    assert list(out.columns) == ["a", "b", "c"]
    assert list(out.index) == list(range(100, 140))
    assert list(m.feature_names_in_) == ["a", "b", "c"]
    assert list(m.get_feature_names_out()) == ["a", "b", "c"]
    polars = ct.Microaggregator(k=4).set_output(transform="polars").fit_transform(FRAME)
    assert polars.columns == ["a", "b", "c"]


def test_clone_and_pickle():
    m = ct.Microaggregator(k=4, method="v-mdav", method_params={"gamma": 0.3}).fit(X)
    assert clone(m).get_params() == m.get_params()
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(m)).labels_, m.labels_)


def test_last_step_of_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), ct.Microaggregator(k=5))
    out = pipeline.fit_transform(X)
    assert np.unique(out, axis=0, return_counts=True)[1].min() >= 5
    assert not hasattr(pipeline, "transform")


@pytest.mark.parametrize(
    "bad",
    [
        pd.DataFrame({"n": ["Smith", "Jones"] * 4}),
        pd.DataFrame({"n": ["98765", "4321"] * 4}),
        pl.DataFrame({"n": ["Smith", "Jones"] * 4}),
        np.array([["Smith", 98765.0]] * 8, dtype=object),
        np.array([["98765"]] * 8),
        np.array([98765.0, 4321.0] * 4),
        np.array([[98765.0, np.nan]] * 8),
        np.array([[98765.0, np.inf]] * 8),
        np.array([[98765.0 + 1j]] * 8),
        pd.DataFrame({"d": pd.to_datetime(["2001-02-03"] * 8)}),
        pd.DataFrame({"b": [True, False] * 4}),
        pd.DataFrame({"c": pd.Categorical(["Smith", "Jones"] * 4)}),
        np.array(["2001-02-03"] * 8, dtype="datetime64[D]").reshape(-1, 1),
        np.ones((8, 2), bool),
        pd.DataFrame([[98765.0, 4321.0]] * 8, columns=["a", "a"]),
    ],
    ids=lambda bad: f"{type(bad).__name__}",
)
def test_bad_data_is_refused_without_a_value(bad):
    with pytest.raises(ct.CoterieError) as caught:
        ct.Microaggregator(k=2).fit(bad)
    message = str(caught.value)
    assert not any(value in message for value in ("Smith", "98765", "4321", "2001", "9.87"))
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_what_is_returned_is_the_callers_own():
    m = ct.Microaggregator(k=4)
    out = m.fit_transform(X)
    out[:] = 0
    assert m.result_.data.any()


def test_bad_parameters_are_coterie_errors():
    for bad in (
        {"k": 1},
        {"method": "mdva"},
        {"method_params": {"gamma": 1}, "method": "mdav"},
        {"centre": "x"},
        {"method_params": {"rounding": 0}},
        {"method_params": {"centre": "median"}},
    ):
        with pytest.raises(ct.CoterieError):
            ct.Microaggregator(**bad).fit(X)
