"""Preparing on the page of a column: fields by its kind, saved into the recipe, refused in the recipe's words."""

from __future__ import annotations

import re

import pytest

from page_client import Visitor, words_of

pytest.importorskip("starlette")


def test_options_are_saved_into_the_recipe(tmp_path):
    lines = ["age,town,day,pay"]
    lines += [
        f"{20 + i % 31},{'ABC'[i % 3]},2024-{i % 12 + 1:02d}-{i % 28 + 1:02d},{150 + i * 0.7:.1f}" for i in range(60)
    ]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with Visitor(tmp_path) as visitor:
        visitor.send("/open", {"path": "people.csv"})
        for number, (role, kind) in enumerate(
            (("quasi", "integer"), ("confidential", "nominal"), ("confidential", "datetime"), ("other", ""))
        ):
            visitor.send(f"/columns/{number}", {"role": role, "kind": kind})
        before = visitor.session.document["columns"]
        assert "Bands that begin at" in words_of(visitor.get("/columns/0").text)
        assert "Join categories" in words_of(visitor.get("/columns/1").text)
        assert "Not before" in words_of(visitor.get("/columns/2").text)
        for number in range(4):
            page = visitor.get(f"/columns/{number}").text
            ids, labels = re.findall(r'\bid="([^"]*)"', page), re.findall(r'<label for="([^"]*)"', page)
            assert sorted(ids) == sorted(set(ids))
            assert set(labels) <= set(ids)

        visitor.send("/columns/0", {"bands": "0, 18 30;45"})
        visitor.send("/columns/1", {"rare": "20", "others": "other"})
        visitor.send("/columns/2", {"bottom": "2024-02-01", "top": "", "precision": "month"})
        visitor.send("/columns/3", {"top": "180", "round": "10"})
        columns = visitor.session.document["columns"]
        assert columns["age"]["bands"] == [0, 18, 30, 45]
        assert columns["town"]["rare"] == 20
        assert columns["day"]["precision"] == "month"
        assert columns["pay"] == {"role": "other", "kind": "numeric", "top": 180, "round": 10}
        assert not visitor.session.mistakes
        assert 'value="0, 18, 30, 45"' in visitor.get("/columns/0").text
        assert '<option value="month" selected>' in visitor.get("/columns/2").text

        visitor.send("/columns/3", {"top": "", "round": ""})
        assert visitor.session.document["columns"]["pay"] == before["pay"]
        visitor.send("/columns/0", {"bands": "18, 0"})
        assert "a list of increasing numbers" in words_of(visitor.get("/columns/0").text)
        assert visitor.get("/docs/preparing.md").status_code == 200
