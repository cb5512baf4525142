"""New names, record numbers and pseudonyms in a release: in the file, the bundle, the reports and the check."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import coterie as ct
from coterie.errors import CoterieError, PrivacyWarning, PromiseError
from coterie.recipe import Recipe
from coterie.release.replay import replay
from coterie.report.public import public
from coterie.report.public_view import public_view
from coterie.report.words import NONE

OLD = ("zzpatient", "zzage", "zzincome", "zzillness", "zzregion")


def people(n=120, seed=0):
    rng = np.random.default_rng(seed)
    person = [f"P{j // 2:03d}" for j in range(n)]
    person[5] = None
    return pd.DataFrame({
        "zzpatient": person,
        "zzage": rng.integers(18, 90, n),
        "zzincome": rng.normal(2000, 500, n).round(1),
        "zzillness": rng.choice(["a", "b", "c"], n),
        "zzregion": rng.choice(["n", "s"], n),
    })  # fmt: skip


def recipe(**more):
    columns = {
        "zzpatient": {"role": "identifier", "rename": "who"},
        "zzage": {"role": "quasi", "kind": "integer", "rename": "years"},
        "zzincome": {"role": "quasi", "kind": "numeric", "rename": "income"},
        "zzillness": {"role": "confidential", "kind": "nominal", "l": 2, "rename": "illness"},
        "zzregion": {"role": "quasi", "kind": "nominal", "rename": "region"},
    }
    document = {
        "k": 3,
        "seed": 4,
        "columns": columns,
        "strata": {"within": ["zzregion"]},
        "unit": {"column": "zzpatient", "release": "pseudonym"},
        "output": {"number": "record"},
    }
    return {**document, **more}


def quietly(function, *given, **named):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        return function(*given, **named)


def stored(folder, ending):
    path, table = folder / f"in{ending}", people()
    if ending == ".csv":
        table.to_csv(path, index=False)
    elif ending == ".parquet":
        parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), path)
    else:
        pyreadstat = pytest.importorskip("pyreadstat")
        write = pyreadstat.write_sav if ending == ".sav" else pyreadstat.write_dta
        table["zzregion"] = table["zzregion"].map({"n": 1.0, "s": 2.0})
        table["zzpatient"] = table["zzpatient"].fillna("")
        labels = {"zzregion": {1.0: "north", 2.0: "south"}}
        if ending == ".sav":  # labels of identifiers would tell who they are
            labels["zzpatient"] = {"P001": "Erika Mustermann"}
        write(table, path, column_labels=[f"label of {name}" for name in table], variable_value_labels=labels)
    return path


NEW = ["record", "who", "years", "income", "illness", "region"]


@pytest.mark.parametrize(
    ("ending", "engine"),
    [(".csv", "memory"), (".csv", "duckdb"), (".parquet", "duckdb"), (".sav", "memory"), (".dta", "memory")],
)
def test_a_bundle_from_the_file_to_the_replay(tmp_path, ending, engine):
    path = stored(tmp_path, ending)
    release = quietly(ct.protect, path, recipe(), engine=engine)
    folder = quietly(release.save, tmp_path / "bundle")
    assert ct.verify(folder).ok
    assert {"k-anonymity of units", "record numbers"} <= {c.what for c in ct.verify(folder).checks}
    assert replay(folder, path).same
    data = folder / f"data{ending}"
    table = _read(data, ending)
    assert list(table.columns) == NEW
    assert sorted(table["record"].astype(int)) == list(range(1, 121))
    assert sorted(table["who"].replace("", None).dropna().value_counts()) == [1, *[2] * 59]
    # of the file alone, by the recipe
    assert ct.verify(data, recipe=folder / "recipe.toml").ok
    assert json.loads((folder / "manifest.json").read_text())["names"] == NEW


def _read(path, ending):
    if ending == ".csv":
        return pd.read_csv(path)
    if ending == ".parquet":
        return pd.read_parquet(path)
    import pyreadstat

    table, about = (pyreadstat.read_sav if ending == ".sav" else pyreadstat.read_dta)(path)
    assert about.column_names_to_labels["years"] == "label of zzage"
    assert about.variable_value_labels["region"] == {1.0: "north", 2.0: "south"}
    assert "who" not in about.variable_value_labels
    return table


@pytest.mark.parametrize("make", [lambda t: t, pl.from_pandas, lambda t: pa.Table.from_pandas(t, preserve_index=False)])
def test_tables_of_all_sorts(make):
    release = quietly(ct.protect, make(people()), recipe())
    assert type(release.data) is type(make(people()))
    names = release.data.column_names if isinstance(release.data, pa.Table) else list(release.data.columns)
    assert names == NEW
    assert release.verdict.ok


def test_a_column_of_categories_becomes_one_of_pseudonyms():
    table = people()
    table["zzpatient"] = table["zzpatient"].astype("category")
    release = quietly(ct.protect, table, recipe())
    assert release.data["who"].nunique() == 60
    table["zzpatient"] = np.arange(120) // 2
    release = quietly(ct.protect, table, recipe())
    assert release.data["who"].str.fullmatch("p[0-9a-f]{20}").all()


def test_the_public_never_sees_an_old_name(tmp_path):
    """verify.json and the public report name columns as the release does; the internal one has both names."""
    rich = recipe(weights="zzweight")
    rich["columns"] = {**rich["columns"], "zzweight": {"role": "other", "rename": "weight"}}
    rich["columns"]["zzage"] = {**rich["columns"]["zzage"], "totals": True, "importance": 2, "top": 80}
    table = people()
    table["zzweight"] = np.random.default_rng(1).uniform(1, 2, 120).round(2)
    release = quietly(ct.protect, table, rich)
    folder = quietly(release.save, tmp_path / "bundle", format="csv")
    for name in ("report.html", "verify.json", "data.csv"):
        text = (folder / name).read_text()
        assert "years" in text
        assert [old for old in (*OLD, "zzweight") if old in text] == []
    internal = (folder / "internal.html").read_text()
    assert "zzage → years" in internal
    assert release.facts.columns[1].renamed == "years"
    key = release.recipe.unit.key
    assert key in (folder / "recipe.toml").read_text()
    assert [name for name in ("report.html", "verify.json", "data.csv") if key in (folder / name).read_text()] == []


def test_a_name_of_a_dropped_column_may_be_taken(tmp_path):
    """What is told of the column that has the name now is its own, wherever the dropped one stood."""
    table = people().drop(columns="zzpatient")
    for name, place in (("first", 0), ("last", len(table.columns))):
        given = table.copy()
        given.insert(place, "income", [f"text {i}" for i in range(len(given))])
        how = recipe(unit=None, output=None)
        how["columns"] = {column: how["columns"].get(column, "identifier") for column in given.columns}
        how["columns"]["zzincome"] |= {"importance": 3, "decimals": 0}
        release = quietly(ct.protect, given, how)
        told = public(release.facts)
        assert told.settings.rules["income"]["importance"] == 3
        page = quietly(release.save, tmp_path / name, format="csv") / "report.html"
        rows = [column for column in public_view(told)["columns"] if column["name"] == "income"]
        assert sorted((row["gone"], "decimals" in row["released"], row["loss"] == NONE) for row in rows) == [
            (False, True, False),
            (True, False, True),
        ]
        assert [row["name"] for row in public_view(told)["loss"]["table"]].count("income") == 1
        assert "income (3)" in page.read_text()


def test_pseudonyms_differ_in_each_release_and_a_key_keeps_them():
    first, second = (quietly(ct.protect, people(), recipe()) for _ in range(2))
    assert not set(first.data["who"].dropna()) & set(second.data["who"].dropna())
    keyed = recipe(unit={"column": "zzpatient", "release": "pseudonym", "key": first.recipe.unit.key})
    again = quietly(ct.protect, people(), keyed)
    assert again.data.equals(first.data)


def test_pseudonyms_come_with_their_warning():
    with pytest.warns(PrivacyWarning) as told:
        release = ct.protect(people(), recipe())
    said = [str(one.message) for one in told]
    assert sum("released as a pseudonym: it links all records" in text for text in said) == 1
    assert not any("holds the key" in text for text in said)
    assert any("released as a pseudonym" in note for note in release.facts.notes)
    with pytest.warns(PrivacyWarning) as told:
        ct.protect(people(), release.recipe)
    assert sum("holds the key of the pseudonyms" in str(one.message) for one in told) == 1


def test_units_are_counted_by_their_pseudonyms_and_a_broken_file_is_seen(tmp_path):
    release = quietly(ct.protect, people(), recipe())
    check = next(c for c in release.verdict.checks if c.what == "k-anonymity of units")
    assert (check.columns, check.basis, check.ok) == (("who",), "release", True)
    broken = release.data.copy()
    broken["who"] = broken["who"].where(broken["region"] != "n", "p1")
    how = release.recipe
    failed = [c.what for c in ct.verify(broken, recipe=how).checks if not c.ok]
    assert failed == ["k-anonymity of units"]
    broken = release.data.copy()
    broken.loc[0, "record"] = 2
    assert [c.what for c in ct.verify(broken, recipe=how).checks if not c.ok] == ["record numbers"]
    broken = release.data.rename(columns={"years": "zzage"})
    with pytest.raises(CoterieError):
        ct.verify(broken, recipe=how)
    _csv(tmp_path / "more.csv", release.data.assign(zzage=1))
    with pytest.raises(PromiseError, match="and no others"):
        ct.verify(tmp_path / "more.csv", recipe=how)


def _csv(path, table):
    csv.write_csv(pa.Table.from_pandas(table, preserve_index=False), path)


def test_a_file_without_names_is_checked_by_its_recipe(tmp_path):
    people().to_csv(tmp_path / "in.csv", index=False, header=False)
    how = recipe(file={"header": False, "names": list(OLD)})
    folder = quietly(quietly(ct.protect, tmp_path / "in.csv", how).save, tmp_path / "bundle")
    assert ct.verify(folder).ok
    assert ct.verify(folder / "data.csv", recipe=folder / "recipe.toml").ok
    assert replay(folder, tmp_path / "in.csv").same


def test_formulas_in_new_names(tmp_path):
    path = stored(tmp_path, ".csv")
    how = recipe()
    how["columns"]["zzregion"] = {**how["columns"]["zzregion"], "rename": "=region"}
    with pytest.raises(CoterieError, match="a spreadsheet runs as a formula"):
        quietly(ct.protect, path, how)
    for engine in ("memory", "duckdb"):
        harmless = {**how, "file": {"formulas": "neutralize"}, "output": {"number": "+n"}}
        folder = quietly(quietly(ct.protect, path, harmless, engine=engine).save, tmp_path / engine)
        assert (folder / "data.csv").read_text().startswith("'+n,who,years,income,illness,'=region\n")
        assert ct.verify(folder).ok
        assert replay(folder, path).same


@pytest.mark.parametrize("name", ["1st", "two words", "x" * 65])
def test_names_that_the_format_cannot_hold_are_refused_before_any_work(tmp_path, name):
    path = stored(tmp_path, ".sav")
    how = recipe(output={"number": name})
    with pytest.raises(CoterieError, match="must be a valid name in this file format"):
        quietly(ct.protect, path, how)
    how = recipe()
    how["columns"]["zzage"] = {**how["columns"]["zzage"], "rename": name}
    with pytest.raises(CoterieError, match="rename of 'zzage' must be a valid name in this file format"):
        quietly(ct.protect, path, how)


def test_names_beyond_the_encoding_of_a_file_are_refused(tmp_path):
    table = people()
    table["zzillness"] = table["zzillness"] + "ä"
    table.to_csv(tmp_path / "in.csv", index=False, encoding="cp1252", sep=";")
    how = recipe(file={"encoding": "cp1252"}, output={"number": "№"})
    with pytest.raises(CoterieError, match="that the encoding of the file has"):
        quietly(ct.protect, tmp_path / "in.csv", how)
    folder = quietly(
        quietly(ct.protect, tmp_path / "in.csv", {**how, "output": {"number": "n; ä"}}).save, tmp_path / "b"
    )
    assert (folder / "data.csv").read_bytes().startswith('"n; ä";who'.encode("cp1252"))
    assert ct.verify(folder).ok


def test_texts_for_missing_values_stay_where_columns_are_renamed(tmp_path):
    """Of a CSV file with several texts for missing values, kept columns hold each as it was."""
    table = people()
    table["zznote"] = np.where(np.arange(120) % 3 == 0, "NA", np.where(np.arange(120) % 3 == 1, "k.A.", "x"))
    table["zzpatient"] = table["zzpatient"].fillna("NA")
    table.to_csv(tmp_path / "in.csv", index=False)
    how = recipe(file={"missing": ["NA", "k.A."]})
    how["columns"]["zznote"] = {"role": "other", "rename": "note"}
    for engine in ("memory", "duckdb"):
        folder = quietly(quietly(ct.protect, tmp_path / "in.csv", how, engine=engine).save, tmp_path / engine)
        data = pd.read_csv(folder / "data.csv", keep_default_na=False)
        assert sorted(data["note"].value_counts().items()) == [("NA", 40), ("k.A.", 40), ("x", 40)]
        assert replay(folder, tmp_path / "in.csv").same


def test_a_recipe_in_the_bundle_is_the_one_that_was_given():
    release = quietly(ct.protect, people(), recipe())
    given = Recipe(**recipe())
    assert {**release.recipe.as_dict(), "unit": None} == {**given.as_dict(), "unit": None}
