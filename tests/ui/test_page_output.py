"""New names, record numbers and pseudonyms on the page: saved, kept by other settings, and refused in words."""

from __future__ import annotations

import pytest

from page_client import Visitor, words_of

pytest.importorskip("starlette")


def opened(visitor, folder):
    lines = ["person,age,town"] + [f"P{i // 2},{20 + i % 31},{'ABC'[i % 3]}" for i in range(60)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    visitor.send("/open", {"path": "people.csv"})
    for number, (role, kind) in enumerate((("identifier", ""), ("quasi", "integer"), ("quasi", "nominal"))):
        visitor.send(f"/columns/{number}", {"role": role, "kind": kind})


def test_a_new_name(tmp_path):
    with Visitor(tmp_path) as visitor:
        opened(visitor, tmp_path)
        columns = visitor.session.document["columns"]
        visitor.send("/columns/1", {"rename": "years"})
        assert visitor.session.document["columns"]["age"] == {**columns["age"], "rename": "years"}
        assert 'value="years"' in visitor.get("/columns/1").text
        visitor.send("/columns/1", {"role": "other"})
        assert visitor.session.document["columns"]["age"] == {"role": "other", "rename": "years"}
        visitor.send("/columns/1", {"role": "quasi", "kind": "integer"})
        visitor.send("/columns/1", {"rename": "town"})
        assert "a name of its own" in words_of(visitor.get("/columns/1").text)
        visitor.send("/columns/1", {"rename": ""})
        assert visitor.session.document["columns"] == columns
        assert "Name in the release" not in words_of(visitor.get("/columns/0").text)
        assert visitor.get("/docs/output.md").status_code == 200


def test_numbers_and_pseudonyms(tmp_path):
    with Visitor(tmp_path) as visitor:
        opened(visitor, tmp_path)
        said = {"k": "3", "unit": "0", "unit-release": "pseudonym", "output-number": "record", "stay": "yes"}
        visitor.send("/promise", said)
        assert visitor.session.document["unit"] == {"column": "person", "release": "pseudonym"}
        assert visitor.session.document["output"] == {"number": "record"}
        assert visitor.session.recipe.pseudonym == "person"
        page = visitor.get("/promise").text
        assert 'name="output-number" value="record"' in page
        assert '<option value="pseudonym" selected>' in page
        assert "Name in the release" in words_of(visitor.get("/columns/0").text)
        visitor.send("/columns", {"action": "unit", "unit": "0"})  # says what holds already
        assert visitor.session.document["unit"] == {"column": "person", "release": "pseudonym"}
        visitor.send("/promise", {**said, "output-number": "age"})
        assert "a name of its own" in words_of(visitor.get("/promise").text)
        visitor.send("/promise", {**said, "unit": "none", "output-number": ""})
        assert "A pseudonym replaces the identifier" in words_of(visitor.get("/promise").text)
        visitor.send("/promise", {**said, "unit-release": "", "output-number": ""})
        assert visitor.session.document["unit"] == {"column": "person"}
        assert "output" not in visitor.session.document
