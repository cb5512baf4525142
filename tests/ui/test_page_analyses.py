"""Analyses on the page: they come with the recipe's text, and candidates show how far they hold."""

from __future__ import annotations

import numpy as np
import pytest

import coterie as ct
from page_client import Visitor, words_of

pytest.importorskip("starlette")


def test_candidates_show_the_least_overlap(tmp_path):
    rng = np.random.default_rng(4)
    lines = ["age,height,pay"]
    lines += [f"{a},{150 + h},{1000 + 20 * a + p}" for a, h, p in rng.integers(20, 60, (60, 3)).tolist()]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    columns = {name: {"role": "quasi", "kind": "integer"} for name in ("age", "height")}
    columns["pay"] = {"role": "confidential", "kind": "integer"}
    asked = {"wages": {"model": "pay ~ age + height"}, "mean": {"mean": "pay"}}
    with Visitor(tmp_path) as visitor:
        visitor.send("/open", {"path": "people.csv"})
        visitor.send("/recipe", {"text": ct.Recipe(k=3, columns=columns, analysis=asked).dumps()})
        assert visitor.session.document["analysis"] == asked
        visitor.send("/candidates", {"k": "3", "method": ["mdav"]})
        (tried,) = visitor.session.tried
        shown = words_of(visitor.get("/candidates").text)
        assert "Least overlap" in shown
        assert f"{tried.reached.least_overlap_share:.2f}" in shown
        visitor.send(f"/candidates/{tried.number}")
        closer = words_of(visitor.get(f"/candidates/{tried.number}").text)
        assert "Will the analyses still hold?" in closer
        assert "pay ~ age + height" in closer
        visitor.send("/columns/2", {"role": "identifier"})
        assert "This column is not released" in str(visitor.session.mistakes)
        assert visitor.get("/docs/analyses.md").status_code == 200
