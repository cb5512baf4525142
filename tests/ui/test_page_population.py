"""A sample of a population, on the promise page: saved, refused in words, and told when the file is assessed."""

from __future__ import annotations

import pytest

from page_client import Visitor, words_of

pytest.importorskip("starlette")


def test_the_population_is_saved_and_told(tmp_path):
    lines = ["age,town"] + [f"{20 + i * i % 31},{'ABC'[i % 3]}" for i in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with Visitor(tmp_path) as visitor:
        visitor.send("/open", {"path": "people.csv"})
        for number, kind in enumerate(("integer", "nominal")):
            visitor.send(f"/columns/{number}", {"role": "quasi", "kind": kind})
        visitor.send("/promise", {"k": "3", "population-fraction": "0.1", "stay": "yes"})
        assert visitor.session.document["population"] == {"fraction": 0.1}
        assert 'name="population-fraction" value="0.1"' in visitor.get("/promise").text
        visitor.send("/promise", {"k": "3", "population-fraction": "5 %", "stay": "yes"})
        assert "above 0 and below 1" in words_of(visitor.get("/promise").text)
        visitor.send("/promise", {"k": "3", "population-fraction": "0.1", "population-size": "900", "stay": "yes"})
        assert "only once" in words_of(visitor.get("/promise").text)
        visitor.send("/promise", {"k": "3", "population-size": "900", "stay": "yes"})
        assert visitor.session.recipe.population.size == 900
        visitor.send("/promise/assess", {})
        visitor.wait()
        words = words_of(visitor.get("/promise").text)
        assert "900 records by its size" in words
        assert "prosecutor" in words
        visitor.send("/promise", {"k": "3", "stay": "yes"})
        assert "population" not in visitor.session.document
