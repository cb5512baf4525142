"""Importance on the page of a column, and a risk instead of k on the promise page: saved, and refused in words."""

from __future__ import annotations

import pytest

from coterie.recipe import Recipe
from page_client import Visitor, words_of

pytest.importorskip("starlette")


def opened(visitor, folder):
    lines = ["age,town,height"] + [f"{20 + i % 31},{'ABC'[i % 3]},{150 + i * 0.7:.1f}" for i in range(60)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    visitor.send("/open", {"path": "people.csv"})
    for number, kind in enumerate(("integer", "nominal", "numeric")):
        visitor.send(f"/columns/{number}", {"role": "quasi", "kind": kind})


def test_importance_is_asked_of_quasi_identifiers_and_saved(tmp_path):
    with Visitor(tmp_path) as visitor:
        opened(visitor, tmp_path)
        columns = visitor.session.document["columns"]
        assert "Importance" in words_of(visitor.get("/columns/1").text)
        visitor.send("/columns/1", {"importance": "2.5"})
        assert visitor.session.document["columns"]["town"] == {**columns["town"], "importance": 2.5}
        assert visitor.session.recipe.importance == {"town": 2.5}
        assert 'value="2.5"' in visitor.get("/columns/1").text
        for wrong in ("0", "1001", "much"):
            visitor.send("/columns/1", {"importance": wrong})
            assert "above 0 and at most 1000" in words_of(visitor.get("/columns/1").text)
        visitor.send("/columns/1", {"importance": ""})
        assert visitor.session.document["columns"] == columns
        visitor.send("/columns/1", {"role": "other"})
        assert "Importance" not in words_of(visitor.get("/columns/1").text)
        assert visitor.get("/docs/importance.md").status_code == 200


def test_a_risk_stands_in_place_of_k(tmp_path):
    with Visitor(tmp_path) as visitor:
        opened(visitor, tmp_path)
        visitor.send("/promise", {"k": "", "risk": "0.09", "stay": "yes"})
        assert visitor.session.document["promise"] == {"risk": 0.09}
        assert "k" not in visitor.session.document
        assert visitor.session.recipe.k == 12
        page = visitor.get("/promise").text
        assert 'name="risk" value="0.09"' in page
        assert "Here, k = 12" in words_of(page)
        visitor.send("/promise", {"k": "", "risk": "0.09", "centre": "medoid", "stay": "yes"})  # another setting
        assert (visitor.session.recipe.k, visitor.session.document["promise"]) == (12, {"risk": 0.09})
        visitor.send("/promise", {"k": "5", "risk": "0.09", "stay": "yes"})
        assert "either k or a risk" in words_of(visitor.get("/promise").text)
        visitor.send("/promise", {"k": "", "risk": "0.9", "stay": "yes"})
        assert "above 0 and at most 0.5" in words_of(visitor.get("/promise").text)
        visitor.send("/promise", {"k": "5", "risk": "", "stay": "yes"})
        assert visitor.session.document["k"] == 5
        assert "promise" not in visitor.session.document


def test_candidates_are_held_against_the_risk(tmp_path):
    with Visitor(tmp_path) as visitor:
        opened(visitor, tmp_path)
        visitor.send("/promise", {"k": "", "risk": "0.2", "stay": "yes"})
        visitor.send("/candidates", {"k": "3, 5", "method": "mdav"})
        visitor.wait()
        page = words_of(visitor.get("/candidates").text)
        assert "Least loss with a largest re-identification risk of at most 0.2: mdav, k = 5" in page
        assert page.count("above the risk") == 1
        assert page.count("least loss within the risk") == 1


def test_a_candidate_with_the_k_of_the_risk_keeps_it():
    from coterie.ui.edits import with_method

    document = {"promise": {"risk": 0.09}, "columns": {"age": {"role": "quasi", "kind": "integer"}}}
    assert with_method(document, 12, "mdav") == {**document, "method": {"name": "mdav"}}
    other = with_method(document, 5, "auto")
    assert (other["k"], "promise" in other) == (5, False)
    assert Recipe(**other).k == 5
