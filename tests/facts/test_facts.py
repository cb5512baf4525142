"""Facts: types, the JSON made of them and its schema, and the keys of the dictionaries that they were."""

from __future__ import annotations

import importlib.util
import json
import math
import tempfile
import typing
from collections.abc import Mapping
from dataclasses import FrozenInstanceError, fields, is_dataclass
from pathlib import Path

import numpy as np
import pytest
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError

import coterie as ct
from conftest import ROOT
from coterie.facts import VERSION, as_json, document, schema
from coterie.facts.bundle_facts import SealedManifest
from coterie.facts.comparison import Candidate, with_frontier
from coterie.facts.compat import Keyed
from coterie.facts.release_facts import ReleaseFacts
from coterie.facts.result_facts import ResultFacts
from coterie.report import public
from coterie.verification.verdict import VerdictFacts
from release_facts import candidates, categories_only, patients, recipe, release_facts, two_scenarios, wide


def schemas():
    spec = importlib.util.spec_from_file_location("schemas", ROOT / "docs" / "schemas.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def validate(name, facts):
    committed = json.loads((ROOT / "docs" / "schemas" / f"{name}.json").read_text(encoding="utf-8"))
    Draft202012Validator.check_schema(committed)
    shown = json.loads(as_json(facts))
    Draft202012Validator(committed).validate(shown)
    assert shown["version"] == VERSION
    return shown


# JSON and its schema


def test_the_committed_schemas_are_those_of_the_code():
    script = schemas()
    assert {path.stem for path in script.FOLDER.glob("*.json")} == set(script.DOCUMENTS)
    for name, text in script.texts().items():
        assert (script.FOLDER / f"{name}.json").read_text(encoding="utf-8") == text, f"{name}: make schemas"


@pytest.mark.parametrize("make", [release_facts, two_scenarios, categories_only, lambda: wide(1)])
def test_real_releases_are_as_the_schema_says(make):
    facts = make()
    shown = validate("release", facts)
    assert shown["groupings"][0]["loss_percent"] == facts.groupings[0].loss_percent
    validate("public", public(facts))
    validate("verdict", facts.verdict)


def test_results_assessments_and_comparisons_are_as_the_schema_says():
    X = np.random.default_rng(0).normal(size=(30, 3))
    for method in ("mdav", "exact", "mu-approx"):
        validate("result", ct.microaggregate(X, 3, method).facts)
    found = ct.assess(patients(), quasi=["age", "town"], confidential=["diagnosis"])
    assert validate("assessment", found) == found.as_dict()
    for candidate in candidates():
        validate("candidate", candidate)
    assert [one["version"] for one in document(candidates())] == [VERSION] * 12


def test_manifests_are_as_the_schema_says():
    with tempfile.TemporaryDirectory() as folder:
        ct.protect(patients(), recipe()).save(Path(folder) / "out")
        shown = json.loads((Path(folder) / "out" / "manifest.json").read_text(encoding="utf-8"))
        verdict = json.loads((Path(folder) / "out" / "verify.json").read_text(encoding="utf-8"))
    Draft202012Validator(schema(SealedManifest)).validate(shown)
    Draft202012Validator(schema(VerdictFacts)).validate(verdict)


def test_a_schema_refuses_what_is_not_said():
    checked = Draft202012Validator(schema(Candidate))
    shown = document(candidates()[0])
    checked.validate(shown)
    for broken in (
        {**shown, "gap": 1.0},
        {**shown, "k": "3"},
        {**shown, "loss_percent": "much"},
        {**shown, "version": VERSION + 1},
        {name: value for name, value in shown.items() if name != "method"},
    ):
        with pytest.raises(ValidationError):
            checked.validate(broken)


def test_json_knows_no_infinity():
    shown = document(Candidate("mdav", 3, loss_percent=math.inf, linked_share=math.nan))
    assert (shown["loss_percent"], shown["linked_share"]) == (None, None)


# Types


def types_in(cls, found):
    if cls not in found:
        found.add(cls)
        pending = list(typing.get_type_hints(cls).values())
        while pending:
            hint = pending.pop()
            pending += typing.get_args(hint)
            if is_dataclass(hint):
                types_in(hint, found)
    return found


def test_facts_are_frozen_and_name_their_units():
    found = set()
    for cls in schemas().DOCUMENTS.values():
        types_in(cls, found)
    assert len(found) > 40
    for cls in found:
        assert cls.__dataclass_params__.frozen, cls
        names = {field.name for field in fields(cls)}
        assert not names & {"loss", "gap", "percent", "value", "baseline", "time", "risk_share"} - MEANT.get(
            cls.__name__, set()
        ), cls


MEANT = {"Measures": {"loss"}, "PublicMeasures": {"loss"}}  # where the name is that of a part, not of a number


def test_facts_do_not_change():
    with pytest.raises(FrozenInstanceError):
        release_facts().output.records = 3


def test_every_number_is_pythons_own():
    def check(value):
        if is_dataclass(value):
            for field in fields(value):
                check(getattr(value, field.name))
        elif isinstance(value, Mapping):
            for inside in value.values():
                check(inside)
        elif isinstance(value, (tuple, list)):
            for inside in value:
                check(inside)
        else:
            assert type(value) in (int, float, str, bool, type(None)), type(value)

    check(release_facts())


def test_the_frontier_holds_whom_nobody_beats():
    some = [
        Candidate("a", 3, 10.0, 0.2),
        Candidate("b", 3, 10.0, 0.1),
        Candidate("c", 3, 5.0, 0.3),
        Candidate("d", 3, 5.0, 0.3),
        Candidate("e", 9, not_possible="too few records"),
    ]
    assert [c.on_frontier for c in with_frontier(some)] == [False, True, True, True, False]


# Keys of the dictionaries that facts were: they go on working for one version


def old(read):
    with pytest.warns(DeprecationWarning, match="is deprecated: use"):
        return read()


def test_old_keys_of_a_release():
    facts = release_facts()
    (grouping,) = facts.groupings
    assert old(lambda: facts["groupings"])[0] is grouping
    assert old(lambda: facts["groupings"][0]["loss"]) == grouping.loss_percent
    assert old(lambda: facts["groupings"][0]["bound"]["gap"]) == grouping.bound.gap_percent
    assert old(lambda: facts["measures"]["risk"]["linkage"]["baseline"]) == facts.measures.risk.linkage.baseline_share
    assert old(lambda: facts["measures"]["utility"]["columns"]["age"]["mean_change"]) is not None
    assert old(lambda: facts["verdict"]["checks"][0]["what"]) == "k-anonymity"
    assert old(lambda: grouping["sizes"]) == {str(size): n for size, n in grouping.sizes.items()}
    assert old(lambda: facts["recipe"]["k"]) == 5
    assert old(lambda: facts.get("notes")) == facts.notes
    assert facts.get("nothing", 3) == 3
    assert "output" in facts
    assert "nothing" not in facts
    assert "loss" in grouping
    assert set(grouping) == set(grouping.keys()) > {"loss", "loss_weighted", "sse", "sst", "sizes"}
    assert old(lambda: dict(grouping))["loss"] == grouping.loss_percent
    assert old(lambda: list(grouping.values()))[0] == "all"
    assert old(lambda: dict(grouping.items()))["k"] == 5
    with pytest.raises(KeyError):
        facts["nothing"]


def test_old_keys_name_fields_and_new_ones_hide_none():
    for cls in types_in(ReleaseFacts, set()) | types_in(ResultFacts, set()) | {Candidate}:
        if issubclass(cls, Keyed):
            names = {field.name for field in fields(cls)}
            assert set(cls.old.values()) <= names, cls
            assert not set(cls.old) & names, cls


def test_old_ways_to_ask_for_facts():
    verdict = ct.verify(patients(0, 0), ["town"], 3)
    assert isinstance(verdict.facts, VerdictFacts)
    shown = verdict.facts()
    assert shown == json.loads(json.dumps(shown))
    assert (shown["ok"], shown["records"], len(shown["checks"])) == (verdict.ok, 400, 1)
    assert verdict.facts.checks == verdict.checks
    assert set(verdict.facts) == set(verdict.facts.keys()) == {"ok", "records", "checks"}
    assert old(lambda: verdict.facts["checks"]) == old(lambda: verdict.facts.get("checks")) == shown["checks"]
    assert verdict.facts.get("nothing", 3) == 3
    result = ct.microaggregate(np.random.default_rng(0).normal(size=(30, 3)), 3, "exact")
    shown = result.facts()
    assert shown["loss"] == result.facts.loss_percent == result.loss
    assert (shown["bound"]["gap"], shown["bound"]["kind"]) == (result.bound().gap, "optimal")
    assert result.facts.bound.gap_percent == 100 * result.bound().gap
    assert shown["sizes"] == result.facts.sizes
