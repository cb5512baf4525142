"""The public report tells the loss by importance under the rule for the loss of several columns, and no more."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import coterie as ct
from coterie.report.public import public

QUASI = {"role": "quasi", "kind": "numeric"}


def facts_of(columns, n=1500):
    rng = np.random.default_rng(3)
    data = {"age": rng.normal(size=n), "pay": rng.gamma(2, 1, n), "sex": rng.choice(["f", "m"], n)}
    table = pa.table({name: data[name].tolist() for name in columns})
    return ct.protect(table, {"k": 5, "seed": 1, "method": "mdav", "columns": columns}).facts


def test_it_is_shown_rounded_where_all_columns_are_told():
    facts = facts_of({"age": {**QUASI, "importance": 6}, "pay": QUASI})
    shown = public(facts)
    exact = facts.measures.loss.loss_by_importance_percent
    step = 100 * shown.rounded_to_share
    loss = shown.measures.loss.loss_by_importance_percent
    assert loss == pytest.approx(exact, abs=step / 2)
    assert loss / step == pytest.approx(round(loss / step))
    assert shown.groupings[0].loss_by_importance_percent == pytest.approx(
        facts.groupings[0].loss_by_importance_percent, abs=step / 2
    )
    assert shown.settings.rules["age"] == {"importance": 6.0}
    assert shown.measures.loss.loss_percent != loss


def test_it_is_hidden_beside_a_column_of_categories():
    """Of few values, it would be one more equation for the counts."""
    facts = facts_of({"age": {**QUASI, "importance": 6}, "sex": {"role": "quasi", "kind": "nominal"}})
    assert facts.measures.loss.loss_by_importance_percent is not None
    shown = public(facts)
    assert shown.measures.loss.loss_by_importance_percent is None
    assert shown.groupings[0].loss_by_importance_percent is None


def test_without_importance_there_is_none():
    shown = public(facts_of({"age": QUASI, "pay": QUASI}))
    assert shown.measures.loss.loss_by_importance_percent is None
    assert shown.measures.loss.loss_percent is not None
