"""The information loss of any column, and of all together, goes from 0 to 100 %, whatever the kinds of the columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import coterie as ct
from coterie.measures import loss
from coterie.tables.columns import Column

LEVELS = ("low", "middle", "high", "top")


def column(values, kind="numeric", categories=()):
    return Column("x", kind, np.asarray(values, np.float64), tuple(categories))


def test_of_categories_it_is_one_minus_lambda():
    """Goodman and Kruskal: errors of prediction with the groups, against those without."""
    before = column([0, 0, 0, 0, 1, 1, 2], "nominal", "abc")
    after = column([0, 0, 0, 0, 1, 1, 1], "nominal", "abc")
    assert loss.column_loss(before, after) == pytest.approx(100 * 1 / 3)  # without, 3 of 7 are wrong
    assert loss.mismatch(before, after) == pytest.approx(1 / 7)


def test_of_ordered_categories_it_is_by_absolute_ranks_about_the_median():
    before = column([0, 1, 1, 2, 3, 3], "ordinal", LEVELS)
    after = column([1, 1, 1, 3, 3, 3], "ordinal", LEVELS)
    assert loss.column_loss(before, after) == pytest.approx(100 * 2 / 6)  # about 1: 1 + 0 + 0 + 1 + 2 + 2


def test_of_rounded_means_it_is_about_the_rounded_mean_of_all():
    """Two of five are 1: the mean 0.4 becomes 0, for each group and for all. By the variance, it would be 167 %."""
    before, after = column([0, 0, 0, 1, 1] * 2, "integer"), column([0.0] * 10, "integer")
    assert loss.column_loss(before, after) == pytest.approx(100)
    tenths = column([0.1, 0.1, 0.2, 0.2, 0.2] * 2), column([0.2] * 10)
    assert loss.column_loss(*tenths, step=0.1) == pytest.approx(100)
    assert loss.column_loss(*tenths) > 100  # who does not say that means were rounded


def frame(seed, n, few):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "amount": rng.normal(size=n).round(1),
            "count": rng.integers(0, 1 + few, n),
            "level": np.array(LEVELS)[np.minimum(rng.geometric(0.5, n), 4) - 1],
            "town": np.array(list("abcdefgh"))[np.minimum(rng.geometric(0.6, n), 8) - 1],
            "flag": rng.random(n) < 0.1,
            "day": pd.to_datetime("2020-01-01") + pd.to_timedelta(rng.integers(0, 2 + few, n), "D"),
            "w": rng.integers(1, 9, n) / 2,
        }
    )


COLUMNS = {
    "amount": {"role": "quasi", "kind": "numeric", "decimals": 0},
    "count": {"role": "quasi", "kind": "integer"},
    "level": {"role": "quasi", "kind": "ordinal", "order": list(LEVELS)},
    "town": {"role": "quasi", "kind": "nominal"},
    "flag": {"role": "quasi", "kind": "boolean"},
    "day": {"role": "quasi", "kind": "datetime"},
    "w": "other",
}


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(12, 60), st.integers(1, 4), st.integers(2, 6), st.booleans())
def test_no_column_loses_more_than_all_it_has(seed, n, few, k, weighted):
    recipe = {"k": k, "seed": 1, "method": "mdav", "columns": COLUMNS} | ({"weights": "w"} if weighted else {})
    found = ct.protect(frame(seed, n, few), recipe).measures.loss
    everything = [found.loss_weighted_percent] if weighted else [found.loss_percent]
    if not weighted:  # of weighted means, it is the weighted loss that has this limit
        everything += [of.loss_percent for of in found.columns.values()]
        assert found.loss_percent == pytest.approx(100 * found.sse / found.sst if found.sst else 0)
    assert all(0 <= percent <= 100 + 1e-9 for percent in everything if percent is not None)


def test_the_same_on_both_engines(tmp_path):
    path = tmp_path / "in.csv"
    frame(3, 90, 3).to_csv(path, index=False)
    recipe = {"k": 4, "seed": 1, "method": {"name": "mdav", "blocks": "auto"}, "columns": COLUMNS, "weights": "w"}
    found = []
    for engine in ("memory", "duckdb"):
        release = ct.protect(path, recipe, engine=engine)
        release.save(tmp_path / engine)
        found.append(release.measures.loss)
    assert found[0].loss_percent == pytest.approx(found[1].loss_percent, rel=1e-12)
    assert found[0].loss_weighted_percent == pytest.approx(found[1].loss_weighted_percent, rel=1e-12)
    assert {n: of.loss_percent for n, of in found[0].columns.items()} == pytest.approx(
        {n: of.loss_percent for n, of in found[1].columns.items()}, rel=1e-12
    )


def test_the_loss_of_a_release_is_the_one_that_is_printed():
    release = ct.protect(frame(5, 60, 3), {"k": 3, "seed": 1, "method": "mdav", "columns": COLUMNS})
    assert release.loss == release.facts.measures.loss.loss_percent
    shown = next(line for line in str(release).splitlines() if line.startswith("information loss"))
    assert f"{release.loss:.2f}" in shown
