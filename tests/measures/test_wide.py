"""Tables of very many columns: costly measures look at some of them, and say so; nothing costs columns squared."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

import coterie as ct
from coterie.algorithms.refine import steps_of
from coterie.measures import propensity as model
from coterie.measures import utility
from coterie.measures.measure import measure
from coterie.measures.propensity import TERMS, propensity
from coterie.measures.risk import Scenario
from coterie.measures.standard_units import gram
from coterie.measures.utility import CORRELATED, correlated
from coterie.tables.columns import Column
from coterie.tables.frames import FrameTable


def columns(X, kind="numeric"):
    return [Column(f"c{j}", kind, x) for j, x in enumerate(X.T)]


def test_products_of_many_columns():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(230, 150)), rng.normal(size=(230, 70))
    np.testing.assert_allclose(gram(A, B), A.T @ B, atol=1e-10)
    assert gram(np.zeros((0, 3)), np.zeros((0, 2))).tolist() == [[0.0, 0.0]] * 3


def test_propensity_looks_at_as_many_columns_as_its_terms_have_room_for():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, TERMS))
    seen = propensity(columns(X), columns(X + rng.normal(size=X.shape)), seed=3)
    assert seen.columns == TERMS // 2  # each has a term and its square
    few = propensity(columns(X[:, : TERMS // 2]), columns(X[:, : TERMS // 2] + 1), seed=3)
    assert few.columns == TERMS // 2  # all


def test_correlations_of_very_many_columns_are_of_some():
    names = [f"c{j}" for j in range(CORRELATED + 50)]
    drawn = correlated(names, 7)
    assert len(drawn) == CORRELATED
    assert drawn == [name for name in names if name in set(drawn)] == correlated(names, 7)
    assert correlated(names, 8) != drawn
    assert correlated(names[:CORRELATED], 7) == names[:CORRELATED]


def test_six_hundred_columns_are_measured_in_seconds():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 600))
    before = {c.name: c for c in columns(X)}
    after = {c.name: c for c in columns(X.round(0))}
    began = time.process_time()
    found = measure(before, after, scenarios=[Scenario("all", tuple(before), 5)])
    assert time.process_time() - began < 60  # it took minutes
    assert len(found.utility.correlations.names) == CORRELATED
    assert found.utility.propensity.columns == TERMS // 2
    assert len(found.loss.columns) == 600


def test_search_makes_fewer_steps_where_each_takes_longer():
    assert steps_of(1000, 5, "quick", 200) == steps_of(1000, 5, "quick", 2) == steps_of(1000, 5, "quick")
    assert steps_of(1000, 5, "quick", 1000) == steps_of(1000, 5, "quick") // 5


def test_building_a_frame_looks_at_each_type_once(monkeypatch):
    """The schema of a frame looks at all columns: asked for each of them, it takes columns squared."""
    import narwhals as nw
    import pyarrow as pa

    frame = pd.DataFrame({f"c{j}": [1.0, 2.0] for j in range(20)})
    table = FrameTable(nw.from_native(frame, eager_only=True))
    asked = []
    schema = nw.DataFrame.schema.fget
    monkeypatch.setattr(nw.DataFrame, "schema", property(lambda self: asked.append(1) or schema(self)))
    masked = {name: pa.array([3.0, 4.0]) for name in frame.columns}
    assert table.build(list(frame.columns), masked, np.array([1, 0])).shape == (2, 20)
    assert len(asked) < 3


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_note_says_what_was_measured_on_some_columns(engine, tmp_path, monkeypatch):
    monkeypatch.setattr(utility, "CORRELATED", 12)
    monkeypatch.setattr(model, "TERMS", 20)
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(rng.normal(size=(40, 30)).round(2), columns=[f"c{j}" for j in range(30)])
    frame.to_csv(tmp_path / "in.csv", index=False)
    recipe = {"k": 3, "seed": 1, "method": "mdav", "columns": {c: {"role": "quasi", "kind": "numeric"} for c in frame}}
    release = ct.protect(tmp_path / "in.csv", recipe, engine=engine)
    release.save(tmp_path / "out")
    (note,) = [note for note in release.facts.notes if "drawn at random" in note]
    assert "12 of 30 columns" in note
    assert "10 of 30 columns" in note
    assert note in (tmp_path / "out" / "internal.html").read_text()
