"""Earlier releases in the recipe that a page works on: they stay in its text, and lie below the root."""

from __future__ import annotations

import shutil

import pytest

import coterie as ct
from conftest import ROOT
from page_client import Visitor, words_of

pytest.importorskip("starlette")

SECTION = '[previous]\nrows = true\ngroups = "stable"\nreleases = [{{ bundle = "{}", input = "companies.csv" }}]\n'


@pytest.fixture
def visitor(tmp_path):
    shutil.copy(ROOT / "examples" / "companies.csv", tmp_path)
    with Visitor(tmp_path) as visitor:
        visitor.send("/open", {"path": "companies.csv"})
        visitor.send("/columns", {"action": "confirm-all"})
        yield visitor


def test_a_second_release_beside_the_first(visitor, tmp_path):
    visitor.send("/release", {"folder": "first"})
    text = visitor.session.recipe.dumps()
    visitor.send("/recipe", {"text": text + SECTION.format("first")})
    assert visitor.session.recipe.previous.releases[0]["bundle"] == str(tmp_path / "first")
    assert "[previous]" in visitor.get("/recipe").text
    visitor.send("/release", {"folder": "second"})
    assert "✓ Checked" in words_of(visitor.get("/release").text)
    found = ct.difference(
        tmp_path / "second",
        tmp_path / "companies.csv",
        before=[(tmp_path / "first", tmp_path / "companies.csv")],
    )
    assert found.ok


def test_places_outside_of_the_root_are_refused(visitor, tmp_path_factory):
    text = visitor.session.recipe.dumps()
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    for place in (elsewhere, "../elsewhere", "none"):
        answer = visitor.post("/recipe", {"text": text + SECTION.format(place)})
        assert answer.status_code == 422, place
        assert visitor.session.recipe.previous is None
