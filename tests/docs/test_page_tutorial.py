"""The tutorial of the page, done step by step: the file, the columns of its table, and the bundle of its recipe."""

from __future__ import annotations

import re

import pytest

import coterie as ct
from conftest import ROOT

pytest.importorskip("starlette")
pytest.importorskip("sklearn")


@pytest.mark.slow
def test_the_tutorial_leads_to_a_verified_bundle_that_its_recipe_makes_too(tmp_path, monkeypatch):
    from page_client import Visitor

    text = (ROOT / "docs" / "tutorials" / "page.md").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(re.search(r"```python\n(.*?)```", text, re.DOTALL).group(1), {})
    recipe = re.search(r"```toml\n(.*?)```", text, re.DOTALL).group(1)
    asked = ct.Recipe.loads(recipe)
    with Visitor(tmp_path) as visitor:
        visitor.send("/open", {"path": "diabetes.csv"})
        for number, name in enumerate(visitor.session.opened.names):
            rule = asked.columns[name]
            row = next(line for line in text.splitlines() if line.startswith("|") and name in re.split(r"[| ,]+", line))
            assert {"quasi": "quasi-identifier"}.get(rule.role, rule.role) in row
            assert rule.kind in row
            visitor.send(f"/columns/{number}", {"role": rule.role, "kind": rule.kind})
        visitor.send("/columns", {"action": "confirm-all"})
        visitor.send("/promise", {"k": str(asked.k), "seed": str(asked.seed)})
        visitor.send("/candidates", {"k": "3, 5, 10", "method": ["mdav", "auto"]})
        assert len(visitor.session.tried) == 6
        chosen = next(t for t in visitor.session.tried if t.reached.method == "auto" and t.reached.k == 5)
        visitor.send("/candidates/choose", {"number": str(chosen.number)})
        visitor.send("/release", {"folder": "from-the-page"})
        visitor.send("/check", {"path": "from-the-page"})
        assert visitor.session.checked.verdict.ok
    ct.protect("diabetes.csv", asked).save("from-the-recipe")
    page, again = ((tmp_path / f"from-the-{name}" / "data.csv").read_bytes() for name in ("page", "recipe"))
    assert page == again
