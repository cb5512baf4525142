"""What the package exports: all that its functions give, raise and warn of, and all that the docs name."""

from __future__ import annotations

import importlib
import re
import typing

import pytest

import coterie as ct
from conftest import ROOT
from coterie import errors

GIVEN = {
    "assess": "Assessment",
    "compare": "Comparison",
    "microaggregate": "Result",
    "open_source": "Source",
    "protect": "Release",
    "replay": "Replayed",
    "verify": "Verdict",
}


@pytest.mark.parametrize(("function", "name"), GIVEN.items())
def test_functions_give_types_that_are_exported(function, name):
    module = importlib.import_module(getattr(ct, function).__module__)
    hints = {**vars(module), **{other: getattr(ct, other) for other in ct.__all__}}
    annotation = getattr(ct, function).__annotations__["return"]
    assert annotation.split("[")[0] == name
    assert name in ct.__all__
    assert eval(annotation.split("[")[0], hints) is getattr(ct, name)


def test_parts_of_results_are_exported():
    assert typing.get_type_hints(ct.Comparison)["candidates"] == tuple[ct.Candidate, ...]
    assert typing.get_type_hints(ct.Verdict)["checks"] == tuple[ct.Check, ...]
    assert ct.microaggregate([[1.0], [2.0], [4.0], [5.0]], 2, "mdav").bound().__class__ is ct.Bound


def test_errors_are_exported():
    own = {name for name, one in vars(errors).items() if isinstance(one, type) and one.__module__ == errors.__name__}
    assert own | {"RecipeError"} <= set(ct.__all__)
    with pytest.raises(ct.RecipeError):
        ct.Recipe(k=1, columns={})
    assert issubclass(ct.RecipeError, ct.CoterieError)


def test_names_of_the_docs_are_exported():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    named = set(re.findall(r"\b(?:ct|coterie)\.(\w+)", text)) - {"facts", "measures", "com", "sh"}
    python = {"ValueError", "TypeError", "KeyError", "DeprecationWarning", "__all__"}
    named |= set(re.findall(r"\b[A-Z][a-z]+(?:Error|Warning)\b", text))
    assert {"protect", "PromiseError", "PrivacyWarning"} <= named
    assert named - python <= set(ct.__all__)
