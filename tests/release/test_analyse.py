"""Analyses of releases: in a recipe, of a bundle, of a file; what they need, what is refused, and who sees them."""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import jsonschema
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import coterie as ct
from conftest import ROOT
from coterie.facts import document
from coterie.report.html import render_compare, render_internal, render_public

SECRET = "Zz-secret-zZ"
COLUMNS = {
    "id": "identifier",
    "age": {"role": "quasi", "kind": "integer"},
    "edu": {"role": "quasi", "kind": "ordinal", "order": ["low", "mid", "high"]},
    "sex": {"role": "quasi", "kind": "nominal"},
    "born": {"role": "quasi", "kind": "datetime"},
    "income": {"role": "confidential", "kind": "numeric"},
    "ill": {"role": "confidential", "kind": "boolean"},
    "weight": "other",
    "code": "other",
    "place": "other",
}
ANALYSES = {
    "counts": {"rows": ["sex"], "columns": ["edu"]},
    "means": {"mean": "income", "by": ["edu", "place"]},
    "dates": {"mean": "born"},
    "sick": {"total": "ill", "by": "code"},
    "spread": {"quantiles": "age", "at": [0.1, 0.5]},
    "wages": {"model": "income ~ age + C(edu) + place"},
    "health": {"model": "ill ~ age + code", "family": "logistic"},
}


def people(n=200):
    rng = np.random.default_rng(5)
    age = rng.integers(18, 80, n)
    days = rng.integers(0, 20_000, n)
    return pa.table({
        "id": [f"{SECRET}{i}" for i in range(n)],
        "age": age,
        "edu": rng.choice(["low", "mid", "high"], n).tolist(),
        "sex": rng.choice(["f", "m"], n).tolist(),
        "born": [f"{np.datetime64('1950-01-01') + int(d)}" for d in days],
        "income": (1000 + 20 * age + rng.normal(0, 300, n)).round(1),
        "ill": rng.choice(["yes", "no"], n).tolist(),
        "weight": rng.choice([1.0, 2.5], n),
        "code": rng.integers(1, 4, n),
        "place": rng.choice(["=north", "south"], n).tolist(),
    })  # fmt: skip


def recipe(**changes):
    given = {"k": 4, "seed": 3, "method": "mdav", "columns": COLUMNS, "analysis": ANALYSES, "weights": "weight"}
    return {**given, "file": {"formulas": "neutralize"}, **changes}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("analyse")
    pyarrow.csv.write_csv(people(), folder / "people.csv")
    with pytest.warns(ct.PrivacyWarning):
        release = ct.protect(folder / "people.csv", recipe())
    release.save(folder / "bundle")
    return folder, release


def same(one, other):
    assert [a.name for a in one] == [a.name for a in other]
    for a, b in zip(one, other, strict=True):
        assert (a.kind, a.asked, a.records_before, a.records_after) == (
            b.kind,
            b.asked,
            b.records_before,
            b.records_after,
        )
        assert [e.name for e in a.estimates] == [e.name for e in b.estimates]
        for e, f in zip(a.estimates, b.estimates, strict=True):
            for side in ("before", "after"):
                x, y = getattr(e, side), getattr(f, side)
                assert (x is None) == (y is None)
                if x is None:
                    continue
                assert (x.estimate, x.standard_error, x.low) == pytest.approx((y.estimate, y.standard_error, y.low))


def test_a_recipe_with_analyses_makes_them(made):
    _, release = made
    found = {one.name: one for one in release.facts.analyses}
    assert list(found) == list(ANALYSES)
    assert all(one.problems == () for one in found.values())
    table = people()
    weights = table["weight"].to_numpy()
    counts = {e.name: e.before.estimate for e in found["counts"].estimates}
    is_f, is_low = (np.array(table[n].to_pylist()) == v for n, v in (("sex", "f"), ("edu", "low")))
    assert counts["sex = f, edu = low"] == weights[is_f & is_low].sum()
    # edu is ordinal, so that "low" comes first; place is a text, code a number
    assert [e.name for e in found["wages"].estimates] == [
        "Intercept", "age", "C(edu)[T.mid]", "C(edu)[T.high]", "place[T.south]",
    ]  # fmt: skip
    assert [e.name for e in found["health"].estimates] == ["Intercept", "age", "code"]
    assert [e.name for e in found["sick"].estimates] == ["code = 1", "code = 2", "code = 3"]
    days = [np.datetime64(text).astype(int) for text in table["born"].to_pylist()]
    assert found["dates"].estimates[0].before.estimate == pytest.approx(np.average(days, weights=weights))
    released = np.array([int(v) for v in release.data["age"].to_pylist()])
    order = np.argsort(released, kind="stable")
    share = np.cumsum(np.array([float(v) for v in release.data["weight"].to_pylist()])[order])
    assert found["spread"].estimates[1].after.estimate == released[order][np.searchsorted(share, share[-1] / 2)]
    assert found["wages"].least_overlap_share < 1


def test_a_bundle_a_file_and_a_release_give_the_same(made):
    folder, release = made
    wanted = release.facts.analyses
    same(ct.analyse(folder / "bundle", folder / "people.csv").analyses, wanted)
    same(ct.analyse(folder / "bundle" / "data.csv", folder / "people.csv", recipe=recipe()).analyses, wanted)
    same(ct.analyse(release).analyses, wanted)


@pytest.mark.filterwarnings("ignore::coterie.PrivacyWarning")
def test_a_table_in_memory():
    table = people().to_pandas()
    release = ct.protect(table, recipe(file={}, analysis=None))
    assert release.facts.analyses is None
    asked = {"m": {"model": "income ~ age"}, "c": {"rows": "code"}}
    one = ct.analyse(release, analyses=asked)
    same(ct.analyse(release.data, table, asked, recipe=release.recipe).analyses, one.analyses)
    again = ct.analyse(release, recipe=replace_analysis(release.recipe, asked))
    same(again.analyses, one.analyses)


def replace_analysis(recipe, analyses):
    return ct.Recipe(**{**recipe.as_dict(), "analysis": analyses})


def test_weights_are_used_where_they_are_released(made):
    folder, _ = made
    asked = {"a": {"mean": "income"}, "b": {"mean": "income", "weighted": False}}
    weighted, plain = ct.analyse(folder / "bundle", folder / "people.csv", asked).analyses
    income, w = people()["income"].to_numpy(), people()["weight"].to_numpy()
    assert weighted.estimates[0].before.estimate == pytest.approx(np.average(income, weights=w))
    assert plain.estimates[0].before.estimate == pytest.approx(income.mean())
    assert (weighted.weighted, plain.weighted) == (True, False)
    dropped = recipe(columns={**COLUMNS, "weight": "identifier"}, analysis={"a": {"mean": "income"}})
    with pytest.warns(ct.PrivacyWarning):
        (one,) = ct.protect(folder / "people.csv", dropped).facts.analyses
    assert not one.weighted


def test_records_that_were_suppressed_are_not_in_the_release():
    table = people(60)
    rare = table["edu"].to_pylist()
    rare[0] = "rare"
    table = table.set_column(2, "edu", pa.array(rare))
    columns = {**COLUMNS, "edu": {"role": "quasi", "kind": "nominal"}}
    asked = {"c": {"rows": "edu", "weighted": False}, "m": {"mean": "income", "by": "edu"}}
    how = recipe(columns=columns, strata={"within": ["edu"], "small": "suppress"}, analysis=asked, file={})
    with pytest.warns(ct.PrivacyWarning):
        counts, means = ct.protect(table, how).facts.analyses
    assert (counts.records_before, counts.records_after) == (60, 59)
    gone = {e.name: e for e in counts.estimates}["edu = rare"]
    assert (gone.before.estimate, gone.after.estimate) == (1.0, 0.0)
    assert {e.name: e for e in means.estimates}["edu = rare"].after is None


def test_who_sees_them(made):
    folder, release = made
    facts = release.facts
    assert "Will the analyses still hold" in render_internal(facts)
    assert "C(edu)[T.mid]" in (folder / "bundle" / "internal.html").read_text()
    public = (folder / "bundle" / "report.html").read_text()
    assert public == render_public(facts) == render_public(replace(facts, analyses=None))
    assert "still hold" not in public
    line = next(line for line in str(release).splitlines() if line.startswith("analyses"))
    assert "7 before and after" in line
    assert "least overlap of confidence intervals" in line
    assert "T." not in line
    report = ct.analyse(folder / "bundle", folder / "people.csv")
    assert SECRET not in str(report)
    schema = json.loads((ROOT / "docs" / "schemas" / "analyses.json").read_text())
    jsonschema.validate(report.as_dict(), schema)
    jsonschema.validate(document(facts), json.loads((ROOT / "docs" / "schemas" / "release.json").read_text()))


def test_replay_makes_no_analyses(made, monkeypatch):
    folder, _ = made
    monkeypatch.setattr("coterie.analysis.models.find_spec", lambda _: None)
    assert ct.replay(folder / "bundle", folder / "people.csv").same


def test_candidates_are_held_against_them(made):
    folder, _ = made
    found = ct.compare(folder / "people.csv", [3, 20], ["mdav"], recipe=recipe()).candidates
    assert all(0 <= c.least_overlap_share < 1 for c in found)
    few = recipe(analysis={"m": {"model": "income ~ age"}})
    three, many = ct.compare(folder / "people.csv", [3, 100], ["mdav"], recipe=few).candidates
    assert three.least_overlap_share > many.least_overlap_share
    shown = str(ct.compare(folder / "people.csv", [3], ["mdav"], recipe=few))
    assert "least overlap" in shown.splitlines()[0]
    assert f"{three.least_overlap_share:.2f}" in shown.splitlines()[1]
    assert "Least overlap" in render_compare([three, many])
    without = ct.compare(folder / "people.csv", [3], ["mdav"], recipe=recipe(analysis=None))
    assert without.candidates[0].least_overlap_share is None
    assert "overlap" not in str(without)
    assert "Least overlap" not in render_compare(without.candidates)


def test_part_by_part_they_are_refused_before_any_work(made, monkeypatch):
    folder, _ = made
    pyarrow.parquet.write_table(people(), folder / "people.parquet")
    monkeypatch.setattr("coterie.release.flow.planned", None)
    for work in (ct.protect, lambda t, r, engine: ct.compare(t, [3], ["mdav"], recipe=r, engine=engine)):
        with pytest.raises(ct.CoterieError, match=r"whole table in memory.*engine duckdb"):
            work(folder / "people.parquet", recipe(file={}), engine="duckdb")
    with pytest.raises(ct.CoterieError, match="the limit is 0 MiB"):
        ct.analyse(folder / "bundle", folder / "people.csv", memory=1000)


def test_without_the_libraries(made, monkeypatch):
    folder, _ = made
    monkeypatch.setattr("coterie.analysis.models.find_spec", lambda name: None if name == "statsmodels" else name)
    with pytest.raises(ct.CoterieError, match=r"no statsmodels.*pip install 'coterie\[analysis\]'"):
        ct.protect(folder / "people.csv", recipe())
    (one,) = ct.analyse(folder / "bundle", folder / "people.csv", {"a": {"mean": "income"}}).analyses
    assert one.least_overlap_share == pytest.approx(1.0)


def test_libraries_are_loaded_for_models_alone(made):
    import subprocess

    folder, _ = made
    code = "import sys, coterie as ct; ct.analyse(*sys.argv[1:], {'a': {'mean': 'income'}}); print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, str(folder / "bundle"), str(folder / "people.csv")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert not {name.split(".")[0] for name in ran.stdout.split()} & {"statsmodels", "formulaic"}


BAD = [
    ({}, "An analysis must be of exactly one type"),
    ({"rows": "sex", "mean": "income"}, "rows and mean"),
    ({"mean": "id"}, "This column is not released"),
    ({"model": "income ~ id"}, "This column is not released"),
    ({"mean": "incme"}, "did you mean 'income'"),
    ({"mean": "sex"}, "numeric column"),
    ({"total": "born"}, "date column has no total"),
    ({"rows": "income"}, "column of categories"),
    ({"rows": ["sex", "sex"]}, "twice"),
    ({"rows": []}, "name of a column"),
    ({"rows": "sex", "columns": "sex"}, "one in both"),
    ({"rows": "sex", "by": "edu"}, "'by' is for mean and total and quantiles"),
    ({"mean": "income", "columns": "sex"}, "'columns' is for rows"),
    ({"mean": "income", "at": [0.5]}, "'at' is for quantiles"),
    ({"mean": "age", "by": "age"}, "cannot also define the groups"),
    ({"quantiles": "age", "at": [0.5, 0.1]}, "from lowest to highest"),
    ({"quantiles": "age", "at": [0, 1]}, "above 0 and below 1"),
    ({"quantiles": "age", "at": 0.5}, "list of numbers"),
    ({"mean": "age", "family": "linear"}, "'family' is for model"),
    ({"model": "income ~ age", "family": "poisson"}, '"linear" or "logistic"'),
    ({"model": "income ~ age.sum()"}, "formula"),
    ({"model": "income ~ log(sex)"}, "numeric column"),
    ({"model": "income ~ C(born)"}, "column of categories"),
    ({"model": 3}, "a text"),
    ({"mean": "age", "weighted": "yes"}, "true or false"),
    ({"median": "age"}, "not a recipe option"),
]


@pytest.mark.parametrize(("given", "words"), BAD, ids=[words for _, words in BAD])
def test_what_a_recipe_may_not_ask(given, words):
    with pytest.raises(ct.RecipeError) as error:
        ct.Recipe(**recipe(analysis={"mine": given}))
    assert words in str(error.value)
    assert "analysis.mine" in str(error.value)


def test_weights_that_nobody_has():
    for changes, words in (
        ({"weights": None}, "needs sampling weights"),
        ({"columns": {**COLUMNS, "weight": "identifier"}}, "weights that are dropped"),
    ):
        for weighted in (True, False):
            with pytest.raises(ct.RecipeError) as error:
                ct.Recipe(**recipe(analysis={"a": {"mean": "income", "weighted": weighted}}, **changes))
            assert words in str(error.value) or "never used" in str(error.value)


def test_a_recipe_with_analyses_is_written_and_read_again():
    one = ct.Recipe(**recipe())
    assert ct.Recipe.loads(one.dumps()) == one
    assert ct.Recipe(**one.as_dict()) == one


def test_what_analyse_refuses(made, tmp_path):
    folder, release = made
    bundle, source = folder / "bundle", folder / "people.csv"
    mean = {"a": {"mean": "income"}}
    other = tmp_path / "other.csv"
    pyarrow.csv.write_csv(people(50), other)
    plain = replace_analysis(release.recipe, None)
    for given, more, words in (
        ((bundle,), {}, "The input must be given"),
        ((folder / "nothing", source, mean), {}, "which does not exist"),
        ((bundle, other, mean), {}, "the file that the bundle was made from"),
        ((bundle / "data.csv", source, mean), {}, "a recipe must give"),
        ((bundle / "data.csv", source), {"recipe": plain}, "There must be at least one analysis"),
        ((bundle, source, {}), {}, "There must be at least one analysis"),
        ((bundle, source, "mean income"), {}, "must be a mapping from names"),
        ((bundle, source, 5), {}, "Got: an object of type int. Hint: such as"),
        ((bundle, source, ["income"]), {}, "Got: an object of type list"),
        ((bundle, source, [{"mean": "income"}]), {}, "Got: an object of type list"),
        ((bundle, source, []), {}, "Got: an object of type list"),
        ((bundle, source, {5: {"mean": "income"}}), {}, "must be a string. Got: one of type int"),
        ((bundle, source, {"a": "mean income"}), {}, "a section with options"),
        ((release, source, mean), {}, "knows its input"),
        ((bundle / "data.csv", bundle / "data.csv", mean), {"recipe": plain}, "column that the recipe names"),
        ((other, source, {"a": {"mean": "income"}}), {"recipe": plain}, None),
        ((bundle, source, {"a": {"mean": "place"}}), {}, "must hold numbers"),
        ((bundle, source, {"a": {"model": "place ~ age"}}), {}, "must hold numbers"),
        ((bundle, source, {"a": {"model": "edu ~ age", "family": "logistic"}}), {}, "two values"),
    ):
        if words is None:  # another file with these columns is a table like any other
            assert ct.analyse(*given, **more).analyses[0].records_after == 50
            continue
        with pytest.raises(ct.CoterieError) as error:
            ct.analyse(*given, **more)
        assert words in str(error.value)
        assert SECRET not in str(error.value)
        assert "north" not in str(error.value)
    short = tmp_path / "short.csv"
    pyarrow.csv.write_csv(people(50).drop_columns(["income"]), short)
    with pytest.raises(ct.CoterieError, match="no 'income' in it"):
        ct.analyse(short, source, mean, recipe=plain)


def test_a_bundle_that_was_changed_is_refused(made, tmp_path):
    import shutil

    folder, _ = made
    shutil.copytree(folder / "bundle", tmp_path / "bundle")
    with (tmp_path / "bundle" / "data.csv").open("a") as file:
        file.write("x\n")
    with pytest.raises(ct.PromiseError, match="was changed"):
        ct.analyse(tmp_path / "bundle", folder / "people.csv", {"a": {"mean": "income"}})


PREPARED = {
    "age": {"role": "quasi", "kind": "integer", "bands": [18, 40, 60]},
    "kids": {"role": "quasi", "kind": "integer", "top": 2},
    "job": {"role": "quasi", "kind": "nominal", "recode": {"nurse": "health", "doctor": "health"}, "rename": "work"},
    "income": {"role": "confidential", "kind": "numeric", "round": 100, "rename": "net income"},
    "visits": {"role": "other", "kind": "integer", "top": 3},
    "day": {"role": "other", "kind": "datetime", "precision": "year"},
}


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    rng, n = np.random.default_rng(9), 120
    folder = tmp_path_factory.mktemp("prepared")
    table = pa.table({
        "age": rng.integers(18, 80, n),
        "kids": rng.integers(0, 5, n),
        "job": rng.choice(["nurse", "doctor", "cook"], n).tolist(),
        "income": rng.normal(3000, 500, n).round(),
        "visits": rng.integers(0, 6, n),
        "day": [f"{np.datetime64('2020-01-01') + int(d)}" for d in rng.integers(0, 700, n)],
    })  # fmt: skip
    pyarrow.csv.write_csv(table, folder / "in.csv")
    asked = {
        "bands": {"rows": ["age", "job"]},
        "kids": {"rows": "kids"},
        "visits": {"rows": "visits"},
        "pay": {"mean": "income", "by": "age"},
        "days": {"mean": "day"},
        "all": {"model": "income ~ C(age) + kids + job + visits"},
    }
    how = {"k": 4, "seed": 2, "columns": PREPARED, "analysis": asked}
    release = ct.protect(folder / "in.csv", how)
    release.save(folder / "out")
    return folder, table, how, release


def test_prepared_and_renamed_columns(prepared):
    """Numbers are compared with what they were, categories with what they have become."""
    folder, table, how, release = prepared
    found = {one.name: one for one in release.facts.analyses}
    bands = {e.name: e.before.estimate for e in found["bands"].estimates}
    age, job = table["age"].to_numpy(), np.array(table["job"].to_pylist())
    assert bands["age = 18-39, job = health"] == np.count_nonzero((age < 40) & (job != "cook"))
    visits = {e.name: (e.before.estimate, e.after.estimate) for e in found["visits"].estimates}
    counts = np.bincount(table["visits"].to_numpy(), minlength=6)
    assert visits["visits = 3"] == (counts[3], counts[3:].sum())
    assert visits["visits = 5"] == (counts[5], 0)
    assert {e.name: e.before.estimate for e in found["kids"].estimates}["kids = 4"] == np.count_nonzero(
        table["kids"].to_numpy() == 4
    )
    young = found["pay"].estimates[0]
    assert young.before.estimate == pytest.approx(table["income"].to_numpy()[age < 40].mean())
    assert found["days"].estimates[0].after.estimate < found["days"].estimates[0].before.estimate
    assert found["all"].problems == ()
    for again in (
        ct.analyse(folder / "out", folder / "in.csv"),
        ct.analyse(folder / "out" / "data.csv", folder / "in.csv", recipe=how),
        ct.analyse(release),
    ):
        same(again.analyses, release.facts.analyses)
    assert ct.compare(folder / "in.csv", [4], ["mdav"], recipe=how).candidates[0].least_overlap_share == 0.0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"mean": "age"}, "numeric column"),
        ({"model": "income ~ log(age)"}, "numeric column"),
        ({"rows": "income"}, "column of categories"),
        ({"rows": "day"}, "column of categories"),
        ({"total": "day"}, "date column has no total"),
        ({"mean": "work"}, "must name columns of the table"),
    ],
)
def test_what_prepared_columns_are_not(prepared, given, words):
    folder, _, how, _ = prepared
    with pytest.raises(ct.CoterieError) as error:
        ct.analyse(folder / "out", folder / "in.csv", {"mine": given})
    assert words in str(error.value)
    with pytest.raises(ct.CoterieError) as error:
        ct.protect(folder / "in.csv", {**how, "analysis": {"mine": given}})
    assert words in str(error.value)
