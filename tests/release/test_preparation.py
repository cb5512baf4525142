"""Releases whose columns were prepared: files, frames, checks, replay, risk before, and what is told."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import coterie
from coterie.errors import CoterieError, PrivacyWarning
from coterie.facts import document
from coterie.recipe import ColumnRule, Recipe
from coterie.release.preparation import done_to

N = 300


def people(seed=5):
    rng = np.random.default_rng(seed)
    job = rng.choice(["nurse", "doctor", "teacher", "pilot"], N, p=[0.4, 0.3, 0.28, 0.02])
    return pa.table(
        {
            "age": pa.array(rng.integers(0, 100, N)),
            "income": pa.array(np.round(rng.lognormal(8, 1, N), 2)),
            "job": pa.array(job.tolist()),
            "born": pa.array(rng.integers(-7_000, 12_000, N), pa.int32()).cast(pa.date32()),
            "pay": pa.array(rng.integers(500, 9_000, N)),
            "town": pa.array(rng.choice(["A", "B", "C"], N).tolist()),
        }
    )


COLUMNS = {
    "age": {"role": "quasi", "kind": "integer", "bands": [0, 18, 30, 45, 65]},
    "income": {"role": "quasi", "kind": "numeric", "top": 10_000, "round": 100},
    "job": {"role": "quasi", "kind": "nominal", "rare": 20, "others": "other"},
    "born": {"role": "other", "kind": "datetime", "precision": "month"},
    "pay": {"role": "confidential", "kind": "integer", "round": 500, "top": 8_000, "bottom": 1_000},
    "town": {"role": "other", "kind": "nominal", "recode": {"A": "north"}, "others": "elsewhere"},
}


def recipe(columns=(), **more):
    return Recipe(**{"k": 5, "seed": 1, "columns": {**COLUMNS, **dict(columns)}, **more})


@pytest.fixture
def stored(tmp_path):
    path = tmp_path / "people.csv"
    people().to_pandas().to_csv(path, index=False)
    return path


@pytest.fixture
def bundle(tmp_path, stored):
    coterie.protect(stored, recipe()).save(tmp_path / "release")
    return tmp_path / "release"


def test_the_release_holds_prepared_values(bundle):
    data = pd.read_csv(bundle / "data.csv")
    assert set(data["age"]) <= {"0-17", "18-29", "30-44", "45-64", "65+"}
    assert data["income"].max() <= 10_000
    assert set(data["job"]) <= {"nurse", "doctor", "teacher", "other"}
    assert data["born"].str.endswith("-01").all()
    assert (data["pay"] % 500 == 0).all()
    assert data["pay"].between(1_000, 8_000).all()
    assert set(data["town"]) == {"north", "elsewhere"}


def test_means_are_those_of_prepared_values():
    """One group of all: the mean of the prepared numbers, which need not be a multiple."""
    table = pa.table({"x": [101, 149, 151, 399], "y": [0, 0, 0, 0]})
    how = {
        "x": {"role": "quasi", "kind": "numeric", "round": 100, "top": 300},
        "y": {"role": "quasi", "kind": "integer"},
    }
    release = coterie.protect(table, {"k": 4, "columns": how})
    assert release.data["x"].to_pylist() == [175.0] * 4  # (100 + 100 + 200 + 300) / 4
    (fact,) = release.facts.prepared
    assert (fact.name, fact.values, fact.changed, fact.changed_share) == ("x", 4, 4, 1.0)
    assert fact.done == ("values above 300 set to 300", "rounded to multiples of 100")


def test_strata_by_bands():
    how = recipe({"income": {"role": "quasi", "kind": "numeric"}}, strata={"within": ["age"], "small": "merge"})
    release = coterie.protect(people(), how)
    assert set(release.data["age"].to_pylist()) <= {"0-17", "18-29", "30-44", "45-64", "65+"}
    assert release.verdict.ok


def test_the_bundle_has_the_recipe_as_it_was_written_and_replays(bundle, stored):
    kept = Recipe.load(bundle / "recipe.toml")
    assert kept.columns["age"].bands == (0, 18, 30, 45, 65)
    assert kept.columns["job"].rare == 20
    assert coterie.replay(bundle, stored).same
    assert coterie.verify(bundle).ok


@pytest.mark.parametrize(
    ("column", "value"),
    [("pay", "8500"), ("pay", "1250"), ("pay", "500"), ("born", "1970-05-17"), ("town", "A"), ("age", "12")],
)
def test_a_file_that_was_tampered_with_fails(bundle, column, value, tmp_path):
    data = pd.read_csv(bundle / "data.csv", dtype=str)
    other = tmp_path / "other.csv"
    data.to_csv(other, index=False)
    assert coterie.verify(other, recipe=recipe()).ok
    data.loc[data[column].notna(), column] = value
    data.to_csv(other, index=False)
    found = coterie.verify(other, recipe=recipe())
    assert not found.ok
    assert any(column in check.columns for check in found.checks if not check.ok)


@pytest.mark.parametrize(
    ("rule", "raw"),
    [
        ({"width": 500}, "1234"),
        ({"width": 500, "top": 7_800}, "7500-7999"),  # its band is called 7500+
        ({"width": 500, "bands_as": "middle"}, "1255"),
        ({"width": 500, "bottom": 700, "bands_as": "middle"}, "699"),
        ({"bands": [0, 2_000, 5_000], "top": 9_000, "bands_as": "middle"}, "1001"),
    ],
)
@pytest.mark.parametrize("kind", ["integer", "numeric"])
def test_a_kept_number_that_is_in_no_band_is_found(rule, raw, kind, tmp_path):
    """Whatever bounds are known: the edges may depend on the column, what bands look like does not."""
    how = recipe({"pay": {"role": "confidential", "kind": kind, **rule}})
    release = coterie.protect(people(), how)
    assert release.verdict.ok
    data = release.data.to_pandas().astype({"pay": str})
    data.to_csv(tmp_path / "kept.csv", index=False)
    assert coterie.verify(tmp_path / "kept.csv", recipe=how).ok
    data.loc[3, "pay"] = raw
    data.to_csv(tmp_path / "broken.csv", index=False)
    found = coterie.verify(tmp_path / "broken.csv", recipe=how)
    assert [check.columns for check in found.checks if not check.ok] == [("pay",)]


def test_risk_before_is_that_of_the_original_values(stored):
    """Bands make classes of prepared values; before, everybody was alone."""
    release = coterie.protect(stored, recipe())
    plain = coterie.assess(stored, recipe())
    (scenario,) = release.measures.risk.scenarios
    assert scenario.before == plain.scenarios[0].classes
    assert scenario.before.unique == N
    before = release._tally.sample().before
    assert len(np.unique(np.array([before[n].numbers for n in ("age", "income", "job")]), axis=1).T) < N


def test_assess_tells_the_table_as_it_is_and_once_prepared(stored):
    table = pa.table({"age": [1, 2, 3, 30, 31, 32, 33, 99]})
    how = {"k": 3, "columns": {"age": {"role": "quasi", "kind": "integer", "bands": [0, 18, 65]}}}
    found = coterie.assess(table, how)
    assert found.scenarios[0].classes.unique == 8
    assert any("original table" in note for note in found.notes)
    assert any("1 records would be unique, and 1 in classes of fewer than 3" in note for note in found.notes)
    assert not coterie.assess(table, quasi=["age"], k=3).notes
    assert coterie.assess(stored, recipe(), engine="duckdb").notes == coterie.assess(stored, recipe()).notes


def test_nothing_is_prepared_in_columns_that_no_option_names(stored):
    how = recipe({name: {"role": "other"} for name in ("born", "town")} | {"pay": {"role": "other"}})
    data = coterie.protect(stored, how).data.to_pandas()
    before = pd.read_csv(stored, dtype=str)
    for name in ("born", "town", "pay"):
        assert sorted(data[name]) == sorted(before[name])


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames(library):
    table = people()
    if library == "pandas":
        frame = table.to_pandas()
        frame["town"] = frame["town"].astype("category")
        frame["job"] = frame["job"].astype("category")
        frame["pay"] = frame["pay"].astype("Int64")
    elif library == "polars":
        frame = pl.from_arrow(table).with_columns(
            pl.col("town").cast(pl.Enum(["A", "B", "C"])), pl.col("job").cast(pl.Categorical)
        )
    else:
        frame = table.set_column(5, "town", table["town"].dictionary_encode())
    release = coterie.protect(frame, recipe())
    assert isinstance(release.data, type(frame))
    data = pa.table(release.data) if library == "pyarrow" else release.data
    town = list(data["town"].to_pylist() if library == "pyarrow" else data["town"])
    assert set(town) == {"north", "elsewhere"}
    job = list(data["job"].to_pylist() if library == "pyarrow" else data["job"])
    assert set(job) <= {"nurse", "doctor", "teacher", "other"}
    if library == "pandas":
        assert str(data["pay"].dtype) == "Int64"
        assert set(data["town"].cat.categories) == {"north", "elsewhere"}
    if library == "polars":
        assert data.schema["age"] == pl.String


def test_the_share_of_changed_values_is_told():
    release = coterie.protect(people(), recipe())
    by_name = {fact.name: fact for fact in release.facts.prepared}
    job, pay = people()["job"].to_pylist(), people()["pay"].to_pylist()
    assert by_name["job"].changed == job.count("pilot")
    assert by_name["pay"].changed == sum(p % 500 != 0 or not 1_000 <= p <= 8_000 for p in pay)
    assert by_name["age"].changed_share == 1.0
    assert release.facts.recipe["columns"]["age"]["bands"] == [0, 18, 30, 45, 65]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"round": 1_234_567}, "multiples of 1234567"),
        ({"round": 0.05}, "multiples of 0.05"),
        ({"width": 1_234_567}, "width 1234567"),
        ({"bands": [0, 1_234_567.5, 20_000_000]}, "begin at 0, 1234567.5, 20000000"),
    ],
)
def test_large_numbers_are_told_in_all_their_digits(options, words):
    rule = ColumnRule("other", "numeric", **options)
    assert any(words in done for done in done_to(rule, recipe()))


def test_rare_counts_units_where_there_are_some():
    """Sixty records of one person are one person."""
    table = people()
    person = [f"p{i}" for i in range(N)]
    job = table["job"].to_pylist()
    person = ["one" if j == "doctor" else p for j, p in zip(job, person, strict=True)]
    table = table.append_column("person", pa.array(person))
    columns = {"person": "identifier", "job": {"role": "other", "kind": "nominal", "rare": 20, "others": "other"}}
    release = coterie.protect(table, recipe(columns, unit="person"))
    assert set(release.data["job"].to_pylist()) == {"nurse", "teacher", "other"}
    release = coterie.protect(table, recipe(columns, unit="none"))
    assert set(release.data["job"].to_pylist()) == {"nurse", "doctor", "teacher", "other"}


def test_a_recode_of_nothing_is_warned_of():
    for others in ({}, {"others": "elsewhere"}):
        how = recipe({"town": {"role": "other", "kind": "nominal", "recode": {"Z": "north", "Y": "south"}, **others}})
        with pytest.warns(
            coterie.PrivacyWarning, match=r"No record has any of the categories that recode names for 'town'"
        ):
            coterie.protect(people(), how)


@pytest.mark.parametrize("kind", ["integer", "datetime"])
def test_strata_that_are_merged_are_means_of_prepared_values(kind):
    """Seen: a bundle was refused as a bug, since means of rounded strata are no multiples."""
    rng = np.random.default_rng(3)
    days = pa.array(rng.integers(0, 2_000, 150), pa.int32()).cast(pa.date32())
    table = pa.table(
        {"s": pa.array(rng.integers(0, 90, 150)) if kind == "integer" else days, "x": rng.normal(size=150)}
    )
    own = {"round": 5} if kind == "integer" else {"precision": "month"}
    columns = {"s": {"role": "quasi", "kind": kind, **own}, "x": {"role": "quasi", "kind": "numeric"}}
    how = Recipe(k=5, seed=1, columns=columns, strata={"within": ["s"], "small": "merge"})
    release = coterie.protect(table, how)
    assert release.verdict.ok
    assert any("strata were merged" in note for note in release.facts.notes)


def test_a_rare_category_in_the_file_is_found():
    job = {"role": "other", "kind": "nominal", "rare": 20, "others": "other"}
    how = recipe({"job": job})
    data = coterie.protect(people(), how).data
    said = [check.sentence for check in coterie.verify(data, recipe=how).checks if check.what == "prepared values"]
    assert any("in a category of at least 20 records, but for the one that rare ones were joined to" in s for s in said)
    texts = data["job"].to_pylist()
    column = data.column_names.index("job")
    broken = data.set_column(column, "job", pa.array(["pilot", *texts[1:]]))
    verdict = coterie.verify(broken, recipe=how)
    assert not verdict.ok
    assert any("1 in a category of too few records" in check.sentence for check in verdict.checks)
    suppressing = recipe({"job": job}, strata={"within": ["age"], "small": "suppress"})
    assert all("too few records" not in c.sentence for c in coterie.verify(broken, recipe=suppressing).checks)


def test_another_spelling_of_a_recoded_category_is_refused():
    table = people().set_column(5, "town", pa.array(["A", "a ", "B"] * (N // 3)))
    how = recipe({"town": {"role": "other", "kind": "nominal", "recode": {"A": "north"}}})
    with pytest.raises(CoterieError, match=r"must name all spellings.*100 values"):
        coterie.protect(table, how)
    both = recipe({"town": {"role": "other", "kind": "nominal", "recode": {"A": "north", "a ": "north"}}})
    assert set(coterie.protect(table, both).data["town"].to_pylist()) == {"north", "B"}


def test_what_cannot_be_prepared_leaves_nothing_behind(tmp_path, stored):
    for columns, words in (
        ({"age": {"role": "quasi", "kind": "integer", "bands": [18, 30]}}, "below the first edge"),
        ({"pay": {"role": "other", "kind": "numeric", "width": 0.01}}, "at most 4,096 bands"),
        ({"town": {"role": "other", "kind": "integer", "top": 3}}, "must hold numbers"),
        ({"town": {"role": "other", "kind": "datetime", "precision": "year"}}, "must hold dates"),
    ):
        for engine in ("memory", "duckdb"):
            with pytest.raises(CoterieError, match=words) as error:
                coterie.protect(stored, recipe(columns), engine=engine).save(tmp_path / "out")
            assert "'A'" not in str(error.value)
            assert not (tmp_path / "out").exists()


def test_dry_runs_and_comparisons(stored):
    for engine in ("memory", "duckdb"):
        release = coterie.protect(stored, recipe(), engine=engine)
        release.rehearse()
        assert [fact.name for fact in release.facts.prepared] == list(COLUMNS)
        found = coterie.compare(stored, [3, 5], ["mdav"], recipe=recipe(), engine=engine)
        assert [candidate.k for candidate in found.candidates] == [3, 5]
        assert all(candidate.not_possible is None for candidate in found.candidates)


def test_missing_values_stay_missing_each_as_it_was_written(tmp_path):
    path = tmp_path / "gaps.csv"
    rows = [f"{i % 50},{['NA', '', str(i)][i % 3]},{['-', 'x', 'y'][i % 3]}" for i in range(90)]
    path.write_text("q,pay,word\n" + "\n".join(rows) + "\n")
    how = {
        "k": 3,
        "seed": 1,
        "file": {"missing": ["", "NA", "-"]},
        "columns": {
            "q": {"role": "quasi", "kind": "integer", "width": 10},
            "pay": {"role": "other", "kind": "integer", "top": 50},
            "word": {"role": "other", "kind": "nominal", "recode": {"x": "z"}},
        },
    }
    out = {}
    for engine in ("memory", "duckdb"):
        coterie.protect(path, how, engine=engine).save(tmp_path / engine)
        out[engine] = sorted((tmp_path / engine / "data.csv").read_text().splitlines()[1:])
        assert coterie.verify(tmp_path / engine).ok
        assert coterie.replay(tmp_path / engine, path).same
    fields = [line.split(",") for line in out["memory"]]
    assert [f[1] for f in fields].count("NA") == [f[1] for f in fields].count("") == 30
    assert [f[2] for f in fields].count("-") == 30
    assert "x" not in {f[2] for f in fields}
    assert [f[1:] for f in fields if f] == [line.split(",")[1:] for line in out["memory"]]
    assert sorted(line.split(",", 1)[1] for line in out["memory"]) == sorted(
        line.split(",", 1)[1] for line in out["duckdb"]
    )


def test_the_facts_are_json():
    facts = json.loads(json.dumps(document(coterie.protect(people(), recipe()).facts), default=str))
    assert facts["prepared"][0]["name"] == "age"


def test_labels_and_declared_gaps_of_spss(tmp_path):
    """No label of a code that went away, no declaration that would make a gap of a prepared value."""
    pyreadstat = pytest.importorskip("pyreadstat")
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 95, 120).astype(float),
            "job": rng.integers(1, 4, 120).astype(float),
            "pay": rng.integers(0, 5_000, 120).astype(float),
        }
    )
    frame.loc[:4, "pay"] = 3_000.0  # means missing, and is what others would be rounded to
    frame.loc[5:8, "job"] = 99.0
    labels = {"job": {1: "nurse", 2: "doctor", 3: "pilot", 99: "refused"}, "pay": {0: "none"}}
    path = tmp_path / "in.sav"
    pyreadstat.write_sav(
        frame, path, variable_value_labels=labels, missing_ranges={"pay": [{"lo": 3_000, "hi": 3_000}], "job": [99]}
    )
    how = {
        "k": 4,
        "seed": 1,
        "columns": {
            "age": {"role": "quasi", "kind": "integer", "bands": [0, 30, 50, 70]},
            "job": {"role": "confidential", "kind": "nominal", "recode": {"3": "2"}},
            "pay": {"role": "other", "kind": "integer", "round": 1_000, "top": 4_000},
        },
    }
    with pytest.warns(PrivacyWarning, match="'pay' have labels"):
        coterie.protect(path, how).save(tmp_path / "out")
    assert coterie.verify(tmp_path / "out").ok
    assert coterie.replay(tmp_path / "out", path).same
    data, about = pyreadstat.read_sav(tmp_path / "out" / "data.sav", user_missing=True)
    assert about.variable_value_labels == {"job": {1.0: "nurse", 2.0: "doctor"}}
    assert not about.missing_ranges
    assert (data["pay"].isna().sum(), data["job"].isna().sum()) == ((frame["pay"] == 3_000).sum(), 4)
    assert (data["pay"] == 3_000).any()
    assert set(data["age"]) <= {"0-29", "30-49", "50-69", "70+"}


@pytest.mark.parametrize(
    "options", [{"recode": {"1": "99"}}, {"rare": 5, "others": "99"}, {"rare": 5, "others": "97.0"}]
)
def test_a_new_code_that_means_missing_in_spss_is_refused(options, tmp_path):
    """It would be released as a value, with the label that says why an answer is missing."""
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"age": np.arange(20.0), "job": [1.0, 2.0] * 9 + [3.0, 99.0]})
    declared = {"job": [{"lo": 97, "hi": 97}, 99]}
    pyreadstat.write_sav(frame, tmp_path / "in.sav", variable_value_labels={"job": {99: "no"}}, missing_ranges=declared)
    columns = {"age": {"role": "quasi", "kind": "integer"}, "job": {"role": "other", "kind": "nominal", **options}}
    with pytest.raises(CoterieError, match="declares as missing"):
        coterie.protect(tmp_path / "in.sav", {"k": 4, "columns": columns})
    columns["job"] |= {"others": "9"} if "rare" in options else {"recode": {"1": "9"}}
    coterie.protect(tmp_path / "in.sav", {"k": 4, "columns": columns})


def test_dressed_numbers_and_a_decimal_comma(tmp_path):
    path = tmp_path / "in.csv"
    rows = [f"{i};{1_000 + 37 * i:,}".replace(",", ".") + f",50 €;{['k.A.', '1,5', '-3,3'][i % 3]}" for i in range(60)]
    path.write_text("q;pay;mark\n" + "\n".join(rows) + "\n", encoding="utf-8")
    how = {
        "k": 4,
        "seed": 1,
        "file": {
            "delimiter": ";", "decimal": ",", "thousands": ".", "suffix": ["€"], "missing": ["", "k.A."],
        },
        "columns": {
            "q": {"role": "quasi", "kind": "integer"},
            "pay": {"role": "confidential", "kind": "numeric", "top": 2_000},
            "mark": {"role": "other", "kind": "numeric", "bands": [-5, 0, 2]},
        },
    }  # fmt: skip
    for engine in ("memory", "duckdb"):
        coterie.protect(path, how, engine=engine).save(tmp_path / engine)
        assert coterie.verify(tmp_path / engine).ok
        lines = [line.split(";") for line in (tmp_path / engine / "data.csv").read_text().splitlines()[1:]]
        pay = [line[1] for line in lines]
        assert pay.count("2000") == sum(1_000.5 + 37 * i > 2_000 for i in range(60))
        assert "1.000,50 €" in pay  # as it was
        assert {line[2] for line in lines} == {"k.A.", "from -5 to <0", "0 to <2"}
