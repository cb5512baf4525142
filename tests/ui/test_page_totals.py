"""Totals on the page of a column: asked of numbers alone, saved into the recipe, refused in the recipe's words."""

from __future__ import annotations

import pytest

from page_client import Visitor, words_of

pytest.importorskip("starlette")


def test_totals_are_asked_of_numbers_and_saved(tmp_path):
    lines = ["age,town,height"] + [f"{20 + i % 31},{'ABC'[i % 3]},{150 + i * 0.7:.1f}" for i in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with Visitor(tmp_path) as visitor:
        visitor.send("/open", {"path": "people.csv"})
        for number, kind in enumerate(("integer", "nominal", "numeric")):
            visitor.send(f"/columns/{number}", {"role": "quasi", "kind": kind})
        columns = visitor.session.document["columns"]
        assert "Keep the total" in words_of(visitor.get("/columns/0").text)
        assert "Keep the total" not in words_of(visitor.get("/columns/1").text)
        visitor.send("/columns/0", {"totals": "yes"})
        assert visitor.session.document["columns"]["age"] == {**columns["age"], "totals": True}
        assert not visitor.session.mistakes
        assert '<option value="yes" selected>' in visitor.get("/columns/0").text
        visitor.send("/columns/0", {"totals": "no"})
        assert visitor.session.document["columns"] == columns
        visitor.send("/columns/2", {"decimals": "", "totals": "yes"})
        assert "not rounded keep the total" in words_of(visitor.get("/columns/2").text)
        visitor.send("/columns/2", {"decimals": "0", "totals": "yes"})
        assert not visitor.session.mistakes
        assert visitor.get("/docs/totals.md").status_code == 200
