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


def test_names_of_bounds_bands_and_categories(tmp_path):
    lines = [
        "age,town,grade,size",
        *(f"{20 + i % 31},{'ABC'[i % 3]},{['low', 'mid', 'high'][i % 3]},{i}" for i in range(60)),
    ]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    with Visitor(tmp_path) as visitor:
        visitor.send("/open", {"path": "people.csv"})
        visitor.send("/columns/0", {"role": "confidential", "kind": "integer"})
        visitor.send("/columns/1", {"role": "confidential", "kind": "nominal"})
        visitor.send("/columns/2", {"role": "confidential", "kind": "ordinal"})
        visitor.send("/columns/3", {"role": "quasi", "kind": "integer"})

        visitor.send("/columns/0", {"top": "45", "top_label": "45+", "bottom_label": ""})
        visitor.send("/columns/1", {"recode": "A = north\r\nB=south", "others": "elsewhere"})
        visitor.send("/columns/2", {"recode": "mid = low", "order": "low\nhigh"})
        columns = visitor.session.document["columns"]
        assert {"top": 45, "top_label": "45+"}.items() <= columns["age"].items()
        assert "bottom_label" not in columns["age"]
        assert columns["town"]["recode"] == {"A": "north", "B": "south"}
        assert columns["grade"]["recode"] == {"mid": "low"}
        assert not visitor.session.mistakes
        assert "A = north\nB = south" in visitor.get("/columns/1").text

        visitor.send("/columns/0", {"top": "", "top_label": "", "width": "5", "bands_as": "middle"})
        assert visitor.session.document["columns"]["age"]["bands_as"] == "middle"
        assert '<option value="middle" selected>' in visitor.get("/columns/0").text

        visitor.send("/columns/1", {"recode": "A north"})
        assert [mistake.path[-1] for mistake in visitor.session.mistakes] == ["recode"]
        assert "a table of old and new names" in words_of(visitor.get("/columns/1").text)


def test_names_that_hold_the_sign_stay_as_the_recipe_has_them(tmp_path):
    (tmp_path / "people.csv").write_text("town\n" + "a=b\nc\n" * 30, encoding="utf-8")
    with Visitor(tmp_path) as visitor:
        visitor.send("/open", {"path": "people.csv"})
        visitor.send("/columns/0", {"role": "confidential", "kind": "nominal"})
        document = visitor.session.document
        rule = {**document["columns"]["town"], "recode": {"a=b": "c", " d": "e"}}
        visitor.session.edit("recoded", {**document, "columns": {"town": rule}})
        visitor.send("/columns/0", {"recode": "a=b = c\r\n d = e", "rare": "5", "others": "other"})
        assert visitor.session.document["columns"]["town"]["recode"] == {"a=b": "c", " d": "e"}
        assert visitor.session.document["columns"]["town"]["rare"] == 5
        visitor.send("/columns/0", {"recode": ""})
        assert "recode" not in visitor.session.document["columns"]["town"]
