"""compare with a threshold, and with several importances: what is tried, which is taken, and how it is told."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import coterie as ct
from coterie.facts.comparison import Candidate, with_threshold

QUASI = {"role": "quasi", "kind": "numeric"}
RECIPE = {"k": 2, "columns": {"age": QUASI, "income": QUASI, "note": "identifier"}}


def table(n=80):
    rng = np.random.default_rng(9)
    columns = {"age": rng.normal(size=n), "income": rng.gamma(2, 1, n), "note": np.arange(n)}
    return pa.table({name: values.tolist() for name, values in columns.items()})


def test_the_best_is_the_least_loss_within_the_risk():
    """20 is the least k with 1/k <= 0.05; candidates at 5 and 10 lose less, and leave more."""
    found = ct.compare(table(), [5, 10], ["mdav", "auto"], risk=0.05, recipe=RECIPE)
    assert {c.k for c in found.candidates} == {5, 10, 20}
    within = [c for c in found.candidates if c.within_risk]
    assert {c.k for c in within} == {20}
    assert all(c.largest_risk <= 0.05 for c in within)
    assert found.best == min(within, key=lambda c: c.loss_percent)
    assert found.best.loss_percent > min(c.loss_percent for c in found.candidates)
    assert [c for c in found.candidates if c.chosen] == [found.best]
    words = f"Least loss with a largest re-identification risk of at most 0.05: {found.best.method}, k = 20"
    assert words in str(found)
    assert words in found.html()
    assert str(found).count("above the risk") == 4
    assert ct.compare(table(), risk=0.05, methods=["mdav"], recipe=RECIPE).candidates[0].k == 20
    assert ct.compare(table(), [3], ["mdav"], recipe=RECIPE).best is None


def test_a_smaller_k_that_keeps_it_by_chance_counts():
    """Every record is there six times: at k = 3 the classes have 6 records, so the risk is 1/6."""
    data = pa.table({"age": [float(i // 6) for i in range(48)], "income": [float(i // 6 % 3) for i in range(48)]})
    how = {"k": 2, "columns": {"age": QUASI, "income": QUASI}}
    found = ct.compare(data, [3, 4], ["mdav"], risk=0.17, recipe=how)
    assert [(c.k, c.largest_risk, c.within_risk) for c in found.candidates] == [
        (3, 1 / 6, True), (4, 1 / 4, False), (6, 1 / 6, True)
    ]  # fmt: skip
    assert found.best.k == 3  # both lose nothing: the first


def test_the_threshold_is_taken_exactly():
    """1/20 is the float 0.05, 1/3 lies above 0.3333; ties go to fewer links, then to the first."""
    some = [
        Candidate("a", 20, 9.0, 0.3, 1 / 20),
        Candidate("b", 20, 9.0, 0.2, 1 / 20),
        Candidate("c", 19, 1.0, 0.1, 1 / 19),
        Candidate("d", 20, not_possible="too few"),
        Candidate("e", 20, 9.0, 0.2, 1 / 20),
    ]
    marked = with_threshold(some, 20)
    assert [c.within_risk for c in marked] == [True, True, False, False, True]
    assert [c.method for c in marked if c.chosen] == ["b"]
    assert not any(c.chosen for c in with_threshold(some, 21))


def test_importance_is_varied():
    found = ct.compare(table(), [3, 5], ["mdav"], importance={"income": [1, 4, 100]}, recipe=RECIPE)
    assert [(c.k, c.importance) for c in found.candidates] == [
        (k, {"income": weight}) for k in (3, 5) for weight in (1.0, 4.0, 100.0)
    ]
    for k in (3, 5):
        losses = [c.column_losses_percent["income"] for c in found.candidates if c.k == k]
        assert losses == sorted(losses, reverse=True)
        assert losses[0] > losses[-1]
    one = found.candidates[1]
    columns = {**RECIPE["columns"], "income": {**QUASI, "importance": 4}}
    alone = ct.protect(table(), {"k": 3, "seed": 0, "method": "mdav", "columns": columns})
    loss = alone.measures.loss
    assert one.loss_percent == pytest.approx(loss.loss_percent)  # without the weights
    assert one.column_losses_percent["income"] == pytest.approx(loss.columns["income"].loss_percent)
    text, page = str(found), found.html()
    assert "importance of income" in text
    assert "loss of income" in text
    assert "gives all columns equal weight" in text
    assert "Importance of <bdi>income</bdi>" in page
    assert "mdav, income 4, k = 3" in page  # of the map
    assert "gives all columns equal weight" in page


def test_combinations_of_the_same_ratio_are_one():
    importance = {"age": [1, 2], "income": [1, 2]}
    found = ct.compare(table(), [3], ["mdav"], importance=importance, recipe=RECIPE)
    tried = [tuple(c.importance.values()) for c in found.candidates]
    assert tried == [(1.0, 1.0), (1.0, 2.0), (2.0, 1.0)]  # 2 and 2 are 1 and 1
    with pytest.raises(ct.RecipeError, match="Importance must differ"):
        ct.compare(table(), [3], ["mdav"], importance={"age": [2], "income": [2]}, recipe=RECIPE)


def test_importances_of_the_only_column_are_refused():
    alone = {"k": 2, "columns": {"age": QUASI, "income": "other", "note": "identifier"}}
    with pytest.raises(ct.CoterieError, match="only ratios matter"):
        ct.compare(table(), [3], ["mdav"], importance={"age": [1, 3]}, recipe=alone)


def test_part_by_part_it_is_the_same(tmp_path):
    pa.csv.write_csv(table(), tmp_path / "in.csv")
    how = {**RECIPE, "method": {"name": "mdav"}}
    said = {"importance": {"income": [1, 9]}, "risk": 0.2, "recipe": how}
    whole = ct.compare(tmp_path / "in.csv", [3], ["mdav"], **said)
    parts = ct.compare(tmp_path / "in.csv", [3], ["mdav"], engine="duckdb", **said)
    for one, other in zip(whole.candidates, parts.candidates, strict=True):
        assert (one.k, one.importance, one.chosen, one.within_risk) == (
            other.k, other.importance, other.chosen, other.within_risk
        )  # fmt: skip
        assert one.column_losses_percent == pytest.approx(other.column_losses_percent)
        assert one.loss_percent == pytest.approx(other.loss_percent)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"risk": 0}, "'risk' must be a number above 0 and at most 0.5"),
        ({"risk": "0.1"}, "'risk' must be a number above 0 and at most 0.5"),
        ({"importance": {"income": [0]}}, "'importance' must be a number above 0 and at most 1000"),
        ({"importance": {"income": []}}, "must be a list of numbers"),
        ({"importance": {"income": 3}}, "must be a list of numbers"),
        ({"importance": {"income": "1,3"}}, "must be a list of numbers"),
        ({"importance": {"incom": [1, 3]}}, "did you mean 'income'"),
        ({"importance": {"note": [1, 3]}}, "Only the importance of quasi-identifiers can be varied"),
        ({"importance": {}}, "must map columns to lists of numbers"),
        ({"importance": [1, 3]}, "must map columns to lists of numbers"),
        ({"importance": {"income": list(range(1, 999)), "age": [1, 2, 3]}}, "At most 1,000 candidates"),
        ({"methods": []}, "Give at least one k and one method"),
        ({"k": None}, "Give at least one k and one method"),
    ],
)
def test_what_cannot_be_tried_is_refused(said, words):
    with pytest.raises(ct.CoterieError, match=words):
        ct.compare(table(), **{"k": [3], "methods": ["mdav"], "recipe": RECIPE, **said})


def test_a_risk_in_the_recipe_is_replaced_as_its_k_is():
    how = {"promise": {"risk": 0.2}, "columns": RECIPE["columns"]}
    assert [c.k for c in ct.compare(table(), [3], ["mdav"], recipe=how).candidates] == [3]


def test_on_the_command_line(run, tmp_path):
    path = tmp_path / "in.csv"
    pa.csv.write_csv(table(), path)
    base = ("compare", path, "--quasi", "age,income", "--drop", "note", "--methods", "mdav")
    code, out, told = run(*base, "--risk", "0.05", "--importance", "income=1,3", "--json")
    assert code == 0, told
    facts = json.loads(out)
    assert [(c["k"], c["importance"]["income"]) for c in facts] == [(20, 1.0), (20, 3.0)]
    assert sum(c["chosen"] for c in facts) == 1
    assert "Least loss with a largest re-identification risk of at most 0.05" in told
    code, _, told = run(*base, "-k", "3", "--risk", "0.01")  # 100 records are not there
    assert code == 3, told
    assert "No candidate has a largest re-identification risk of at most 0.01" in told
    for more, words in (
        (("--risk", "0.9"), "above 0 and at most 0.5"),
        (("--importance", "income"), "--importance must be COLUMN=NUMBERS"),
        (("--importance", "income=1,x"), "--importance must be COLUMN=NUMBERS"),
        (("--importance", "=1"), "--importance must be COLUMN=NUMBERS"),
        (("--importance", "income="), "--importance must be COLUMN=NUMBERS"),
        (("--importance", "income=1", "--importance", "income=3"), "twice in --importance"),
        (("--importance", "income=1001"), "above 0 and at most 1000"),
        (("--importance", "note=2"), "Only the importance of quasi-identifiers can be varied"),
    ):
        code, _, told = run(*base, *more)
        assert code == 2, told
        assert words in told
