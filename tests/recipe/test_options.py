"""Every option of a recipe changes what comes out, in a case of its own; a new option must bring one."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pyarrow as pa
import pytest

import coterie as ct
from coterie.recipe import recipe as recipe_
from coterie.recipe import sections


def table(n=48):
    rng = np.random.default_rng(6)
    gaps = rng.random(n) < 0.1
    return pa.table(
        {
            "age": rng.integers(20, 80, n),
            "income": rng.normal(30, 9, n),
            "level": [["lo", "mid", "hi"][i] for i in rng.integers(0, 3, n)],
            "town": ["Alone" if i < 2 else ["Reus", "Valls"][i % 2] for i in range(n)],
            "day": [f"{i % 11 + 1:02d}.{i % 12 + 1:02d}.2024" for i in range(n)],
            "gap": pa.array(np.where(gaps, 0.0, rng.normal(size=n)), mask=gaps),
            "illness": [["flu", "cold", "gout"][i] for i in np.minimum(rng.integers(0, 9, n), 2)],
            "cost": np.where(np.arange(n) % 7 == 0, rng.normal(size=n).round(1), 1.0),
            "weight": rng.uniform(1, 9, n),
            "member": [["ja", "nein"][i % 2] for i in range(n)],
        }
    )


KEPT = dict.fromkeys(table().column_names, "other")
AGE, INCOME = {"role": "quasi", "kind": "integer"}, {"role": "quasi", "kind": "numeric"}
ILL, COST = {"role": "confidential", "kind": "nominal"}, {"role": "confidential", "kind": "numeric"}


def doc(columns=None, **more):
    base = {**KEPT, "age": AGE, "income": INCOME, **(columns or {})}
    return {"k": 3, "seed": 1, "method": "mdav", "columns": base, **more}


NUMBER = {"role": "other", "kind": "numeric"}
LEVEL, TOWN = {"role": "quasi", "kind": "ordinal"}, {"role": "quasi", "kind": "nominal"}
MEMBER = {"role": "quasi", "kind": "boolean"}
DAY, GAP = {"role": "quasi", "kind": "datetime"}, {"role": "quasi", "kind": "numeric"}
STRATA = {"within": ["town"], "small": "merge"}
TWO = {"a": {"quasi": ["age"], "k": 3}, "b": {"quasi": ["income"], "k": 3}}

# The option, a recipe, and another that differs in it: they must give different releases, or one of them none.
CASES = {
    "k": (doc(), doc(k=4)),
    "centre": (doc(), doc(centre="medoid")),
    "shuffle": (doc(), doc(shuffle=False)),
    "seed": (doc(), doc(seed=2)),
    "columns.role": (doc(), doc({"weight": "identifier"})),
    "columns.kind": (doc(), doc({"age": INCOME})),
    "columns.order": (
        doc({"level": {**LEVEL, "order": ["lo", "mid", "hi"]}}),
        doc({"level": {**LEVEL, "order": ["mid", "lo", "hi"]}}),
    ),
    "columns.decimals": (doc(), doc({"income": {**INCOME, "decimals": 1}})),
    "columns.format": (doc({"day": {**DAY, "format": "%d.%m.%Y"}}), doc({"day": {**DAY, "format": "%m.%d.%Y"}})),
    "columns.true": (
        doc({"member": {**MEMBER, "true": ["ja"], "false": ["nein"]}}),
        doc({"member": {**MEMBER, "true": ["JA", "ja"], "false": ["nein"]}}),
    ),
    "columns.false": (
        doc({"member": {**MEMBER, "true": ["ja"], "false": ["nein"]}}),
        doc({"member": {**MEMBER, "true": ["ja"], "false": ["NEIN", "nein"]}}),
    ),
    "columns.l": (doc({"illness": ILL}), doc({"illness": {**ILL, "l": 2}})),
    "columns.entropy": (doc({"illness": ILL}), doc({"illness": {**ILL, "entropy": 1.5}})),
    "columns.t": (doc({"illness": ILL}), doc({"illness": {**ILL, "t": 0.2}})),
    "columns.totals": (doc(k=4), doc({"age": {**AGE, "totals": True}}, k=4)),
    "columns.noise": (doc({"cost": COST}), doc({"cost": {**COST, "noise": 0.5}})),
    "columns.top": (doc(), doc({"age": {**AGE, "top": 60}})),
    "columns.bottom": (doc(), doc({"weight": {**NUMBER, "bottom": 4}})),
    "columns.top_label": (
        doc({"weight": {**NUMBER, "top": 4}}),
        doc({"weight": {**NUMBER, "top": 4, "top_label": "4+"}}),
    ),
    "columns.bottom_label": (
        doc({"age": {**AGE, "bands": [20, 40, 60], "bottom": 20}}),
        doc({"age": {**AGE, "bands": [20, 40, 60], "bottom": 20, "bottom_label": "young"}}),
    ),
    "columns.bands": (doc({"age": {**AGE, "bands": [0, 50]}}), doc({"age": {**AGE, "bands": [0, 40, 60]}})),
    "columns.width": (doc({"age": {**AGE, "width": 10}}), doc({"age": {**AGE, "width": 20}})),
    "columns.bands_as": (
        doc({"weight": {**NUMBER, "width": 2}}),
        doc({"weight": {**NUMBER, "width": 2, "bands_as": "middle"}}),
    ),
    "columns.round": (doc(), doc({"cost": {**COST, "round": 0.5}})),
    "columns.precision": (
        doc({"day": {**DAY, "format": "%d.%m.%Y"}}),
        doc({"day": {**DAY, "role": "other", "format": "%d.%m.%Y", "precision": "quarter"}}),
    ),
    "columns.recode": (doc({"illness": ILL}), doc({"illness": {**ILL, "recode": {"flu": "cold"}}})),
    "columns.others": (
        doc({"illness": {**ILL, "recode": {"flu": "cold"}}}),
        doc({"illness": {**ILL, "recode": {"flu": "cold"}, "others": "rest"}}),
    ),
    "columns.rare": (doc({"town": TOWN}), doc({"town": {**TOWN, "rare": 3, "others": "Reus"}})),
    "columns.rename": (doc(), doc({"age": {**AGE, "rename": "years"}})),
    "output.number": (doc(), doc(output={"number": "record"})),
    "columns.importance": (doc(), doc({"income": {**INCOME, "importance": 5}})),
    "promise.risk": (doc(), {**doc(promise={"risk": 0.25}), "k": None}),
    "method.name": (doc(), doc(method="v-mdav")),
    "method.refine": (doc(), doc(method={"name": "mdav", "refine": "quick"})),
    "method.bound": (doc(), doc(method={"name": "mdav", "bound": "fast"})),
    "method.blocks": (doc(), doc(method={"name": "mdav", "blocks": 12})),
    "method.params": (doc(method={"name": "v-mdav", "gamma": 0.2}), doc(method={"name": "v-mdav", "gamma": 2.0})),
    "strata.within": (doc({"town": TOWN}), doc({"town": TOWN}, strata=STRATA)),
    "strata.small": (doc({"town": TOWN}, strata=STRATA), doc({"town": TOWN}, strata={**STRATA, "small": "suppress"})),
    "missing.policy": (doc({"gap": GAP}, missing="group"), doc({"gap": GAP}, missing="own-value")),
    "missing.small": (
        doc({"gap": GAP}, k=7, missing={"policy": "own-value", "small": "merge"}),
        doc({"gap": GAP}, k=7, missing={"policy": "own-value", "small": "suppress"}),
    ),
    "weights.column": (doc(), doc(weights="weight")),
    "unit.column": (doc({"illness": "identifier"}, unit="none"), doc({"illness": "identifier"}, unit="illness")),
    "guard.rule": (
        doc({"illness": {**ILL, "l": 2}}),
        {**doc({"illness": {**ILL, "l": 2}}, guard="k-first"), "method": "auto"},
    ),
    "guard.split": (
        doc({"illness": {**ILL, "t": 0.25}}),
        doc({"illness": {**ILL, "t": 0.25}}, guard={"split": False}),
    ),
    "guard.regroup": (doc({"cost": COST}), doc({"cost": COST}, guard={"regroup": True})),
    "scenarios.quasi": (
        doc(scenarios=TWO),
        doc(scenarios={"a": {"quasi": ["age", "income"], "k": 3}, "b": TWO["b"]}),
    ),
    "scenarios.risk": (doc(scenarios=TWO), doc(scenarios={**TWO, "b": {"quasi": ["income"], "risk": 0.17}})),
    "scenarios.k": (doc(scenarios=TWO), doc(scenarios={**TWO, "b": {"quasi": ["income"], "k": 6}})),
}
# of files: test_spreadsheets.py, test_custodian_files.py; of Spark: test_spark_release.py; of units: test_output.py
ELSEWHERE = {"file.formulas", "file.options", "file.key", "unit.release", "unit.key"}
# they change what is said of the release: test_population_risk.py
ELSEWHERE |= {"population.fraction", "population.size"}
# of bundles: test_previous.py
ELSEWHERE |= {f"previous.{name}" for name in ("releases", "by", "rows", "groups", "small")}

SECTIONS = {
    "": recipe_._Whole,
    "promise.": sections.PromiseRule,
    "columns.": sections.ColumnRule,
    "method.": sections.MethodRule,
    "strata.": sections.StrataRule,
    "missing.": sections.MissingRule,
    "weights.": sections.WeightsRule,
    "population.": sections.PopulationRule,
    "unit.": sections.UnitRule,
    "guard.": sections.GuardRule,
    "scenarios.": sections.ScenarioRule,
    "previous.": sections.PreviousRule,
    "file.": sections.FileRule,
    "output.": sections.OutputRule,
}


def test_every_option_has_a_case():
    options = {start + f.name for start, section in SECTIONS.items() for f in fields(section)}
    assert options == set(CASES) | ELSEWHERE
    assert set(recipe_._SECTIONS) <= {start[:-1] for start in SECTIONS}


def outcome(document):
    try:
        release = ct.protect(table(), document)
    except ct.CoterieError as error:
        return str(error)
    assert release.verdict.ok
    return release.data.to_pylist(), release.facts.groupings


@pytest.mark.parametrize("option", CASES)
def test_every_option_has_an_effect(option):
    one, other = CASES[option]
    first, second = outcome(one), outcome(other)
    assert not isinstance(first, str), first
    assert not isinstance(second, str), second
    if option == "method.bound":  # it is about what is said of the groups
        assert (first[1][0].bound is None) is not (second[1][0].bound is None)
    else:
        assert first[0] != second[0]


@pytest.mark.parametrize(
    "document",
    [
        doc({"weight": {"role": "other", "kind": "numeric"}}),
        doc({"weight": {"role": "identifier", "kind": "numeric"}}),
        doc({"weight": {"role": "other", "noise": 1.0}}),
        doc({"income": {**INCOME, "decimals": 1}}, centre="medoid"),
        doc({"age": {**AGE, "decimals": 1}}),
        doc({"age": {**AGE, "order": ["1"]}}),
        doc({"age": {**AGE, "format": "%Y"}}),
        doc({"age": {**AGE, "l": 2}}),
        doc({"cost": {**COST, "noise": 1.0, "l": 2}}),
        doc({"cost": {**COST, "noise": 1.0, "t": 0.3}}),
        doc({"illness": {**ILL, "noise": 1.0}}),
        doc({"illness": {**ILL, "l": 2}}, guard={"regroup": True}),
        doc(guard={"regroup": True}),
        doc(guard={"split": False}),
        doc(guard="k-first"),
        doc({"illness": {**ILL, "l": 2}}, guard="k-first"),  # with a method
        doc(centre="medoid", weights="weight"),
        doc(centre="medoid", missing="group"),
        doc(missing={"policy": "group", "small": "merge"}),
        doc(method={"name": "mdav", "gamma": 0.2}),
        doc(file={"delimiter": ";"}),  # of a table in memory
        doc({"level": {**LEVEL, "order": ["lo", "mid", "hi"], "format": "%Y"}}),
        doc(scenarios={"a": {"quasi": ["age"], "k": 3}}),
        doc(scenarios={"a": {"quasi": ["age", "income"], "k": 2}}),
        doc(threads=4),
        doc({"age": {**AGE, "rename": "age"}}),
        doc({"weight": {"role": "identifier", "rename": "w"}}),
        doc(output={"number": "record"}, shuffle=False),
        doc({"illness": "identifier"}, unit={"column": "illness", "key": "0" * 32}),
        doc({"weight": {"role": "other", "importance": 2}}),
        doc({"weight": {"role": "identifier", "importance": 1}}),
        doc({"cost": {**COST, "importance": 2}}),
        doc({"age": {**AGE, "importance": 3}, "income": {**INCOME, "importance": 3}}),
        doc({"income": "other", "age": {**AGE, "importance": 3}}),
        doc({"age": {**AGE, "importance": 3}}, scenarios=TWO),
        doc({"town": {**TOWN, "importance": 3}}, strata={"within": ["town"], "small": "suppress"}),
        doc(population={"fraction": 0.1, "size": 480}),
        doc(population={"fraction": 0.1}, weights="weight"),
        doc(population={"fraction": 0.1}, unit="member"),
        doc(population={"size": 48}),  # no more than the table
        doc(population={}),
        doc(promise={"risk": 0.2}),  # and k
        doc(k=None, promise={"risk": 0.25}, scenarios={"a": {"quasi": ["age", "income"], "risk": 0.3, "k": 4}}),
        doc(k=None, promise={"risk": 0.25}, scenarios={"a": {"quasi": ["age", "income"], "risk": 0.4}}),  # less than k
    ],
)
def test_what_would_have_no_effect_is_refused(document):
    with pytest.raises(ct.CoterieError):
        ct.protect(table(), document)
