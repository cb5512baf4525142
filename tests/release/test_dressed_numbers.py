"""Numbers with thousands, a currency or a percent sign: asked about, then read alike everywhere, and checked."""

from __future__ import annotations

import csv
import io

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import coterie as ct
from coterie.tables.dress import Dress, undressed
from coterie.verification import verify as verify_file

N = 60
SECRET = "Xq7Secret"


def money(x, between=",", mark="."):
    return f"{x:,.2f}".replace(",", "\0").replace(".", mark).replace("\0", between)


def table(between=",", mark=".", before="$", after="%"):
    rng = np.random.default_rng(3)
    few = rng.choice(rng.lognormal(8, 1, 9), N)  # of a column that is kept, values must not tell who it is
    return {
        "age": [str(a) for a in rng.integers(20, 80, N)],
        "income": [before + money(x, between, mark) for x in rng.lognormal(8, 1, N)],
        "share": [f"{s:.1f}".replace(".", mark) + f" {after}" for s in rng.uniform(0, 100, N)],
        "debt": [("-" if i % 4 else "") + before + money(x, between, mark) for i, x in enumerate(few)],
        "note": [before + money(x, between, mark) for x in few],
    }


def saved(path, columns, delimiter=","):
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(
        [columns, *zip(*columns.values(), strict=True)]
    )
    path.write_text(text.getvalue(), encoding="utf-8")
    return path


def rows_of(path, delimiter=","):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def plain(text, between=",", mark="."):
    return float(text.strip("$%€ ").replace("-$", "-").replace(between, "").replace(mark, "."))


RECIPE = {
    "k": 3,
    "seed": 1,
    "method": {"name": "mdav", "blocks": 20},
    "columns": {
        "age": {"role": "quasi", "kind": "integer"},
        "income": {"role": "quasi", "kind": "numeric", "decimals": 2},
        "share": {"role": "quasi", "kind": "numeric"},
        "debt": {"role": "confidential", "kind": "numeric", "l": 2, "t": 0.6},
        "note": "other",
    },
    "file": {"thousands": ",", "prefix": "$", "suffix": "%"},
}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_the_same_release_as_of_plain_numbers(tmp_path, engine):
    dressed = saved(tmp_path / "dressed.csv", table())
    bare = {n: v if n in ("age", "note") else [repr(plain(t)) for t in v] for n, v in table().items()}
    ct.protect(dressed, RECIPE, engine=engine, memory="1GB").save(tmp_path / "a")
    ct.protect(saved(tmp_path / "bare.csv", bare), {**RECIPE, "file": {}}, engine=engine, memory="1GB").save(
        tmp_path / "b"
    )
    ours, theirs = rows_of(tmp_path / "a" / "data.csv"), rows_of(tmp_path / "b" / "data.csv")
    for name in ("age", "income", "share"):  # what is released for a group is a plain number
        assert [row[name] for row in ours] == [row[name] for row in theirs]
    assert [plain(row["debt"]) for row in ours] == [float(row["debt"]) for row in theirs]
    for name in ("debt", "note"):  # columns that are not masked are as they were
        assert sorted(row[name] for row in ours) == sorted(table()[name])
    assert ct.verify(tmp_path / "a").ok
    assert ct.verify(tmp_path / "a" / "data.csv", recipe=RECIPE).ok
    assert ct.replay(tmp_path / "a", dressed).same


def test_both_engines_release_the_same_values(tmp_path):
    path = saved(tmp_path / "d.csv", table())
    whole = ct.protect(path, {**RECIPE, "shuffle": False})
    whole.save(tmp_path / "memory")
    ct.protect(path, {**RECIPE, "shuffle": False}, engine="duckdb", memory="1GB").save(tmp_path / "duckdb")
    one, other = (sorted(map(str, rows_of(tmp_path / e / "data.csv"))) for e in ("memory", "duckdb"))
    assert one == other


def test_a_german_file(run, tmp_path):
    columns = table(between=".", mark=",", before="", after="%")
    columns["income"] = [text + " €" for text in columns["income"]]
    path = saved(tmp_path / "de.csv", columns, delimiter=";")
    roles = ("--quasi", "age,income,share", "--keep", "note,debt", "-k", "3")
    read = ("--read", "thousands=.", "--read", "suffix=€", "--read", "suffix=%")
    code, _, err = run("protect", path, *roles, *read, "-o", tmp_path / "out")
    assert code == 0, err
    assert "income numeric" in err
    written = rows_of(tmp_path / "out" / "data.csv", ";")
    was = np.mean([plain(text, ".", ",") for text in columns["income"]])
    assert np.mean([float(row["income"].replace(",", ".")) for row in written]) == pytest.approx(was)
    assert run("verify", tmp_path / "out")[0] == 0
    assert run("replay", tmp_path / "out", "--input", path)[0] == 0
    assert "suffix" in (tmp_path / "out" / "recipe.toml").read_text()


@pytest.mark.parametrize("memory", [None, "1GB"])
def test_the_shortcut_stops_and_says_where(run, tmp_path, monkeypatch, memory):
    columns = table()
    columns["age"][7] = SECRET
    columns["age"][11] = "a\nb"
    path = saved(tmp_path / "d.csv", columns)
    more = ()
    if memory:
        monkeypatch.setattr("coterie.release.source.needed", lambda _: 1 << 60)
        more = ("--memory", memory)
    roles = ("--quasi", "age,income,share", "--confidential", "debt", "--keep", "note", "-k", "3")
    code, _, err = run("protect", path, *roles, "-o", tmp_path / "out", *more)
    assert code == 2
    assert not (tmp_path / "out").exists()
    assert "2 that are not plain numbers, in lines 9 and 13." in err  # from 1, the header among them
    assert "60 that are not plain numbers, the first in lines 2, 3, 4, 5 and 6" in err
    for hint in ("--read thousands=,", "'prefix=$'", "--read suffix=%", "--read missing=NA", "--kind age=nominal"):
        assert hint in err
    assert SECRET not in err
    assert not any(text in err for text in columns["income"] + columns["share"] + columns["debt"])
    read = ("--read", "thousands=,", "--read", "prefix=$", "--read", "suffix=%", "--read", f"missing={SECRET}")
    code, _, err = run("protect", path, *roles, *read, "--missing", "group", "-o", tmp_path / "out", *more)
    assert code == 2
    assert "1 that are not plain numbers, in line 13." in err


def test_what_the_shortcut_does_not_ask_about(tmp_path):
    """Codes with leading zeros, categories of which few are numbers, and plain numbers."""
    path = saved(
        tmp_path / "d.csv",
        {
            "code": [f"{i % 7:03d}" for i in range(N)],
            "class": [["1", "2a", "3b", "other"][i % 4] for i in range(N)],
            "weight": [f"{i}.125" for i in range(N)],
            "size": [["12", "7.500", "8.25"][i % 3] for i in range(N)],
        },
    )
    found = ct.assess(path, quasi=["code", "class", "weight", "size"], kind={"size": "numeric"})
    assert found.records == N


def test_thousands_with_the_decimal_mark_are_asked_about(tmp_path, run):
    columns = {"people": [["950", "1.200", "87", "12.400"][i % 4] for i in range(N)], "x": ["a"] * N}
    path = saved(tmp_path / "d.csv", columns, ";")
    code, _, err = run("assess", path, "--quasi", "people")
    assert code == 2
    assert "30 numbers with three digits after it, and 30 whole ones below 1,000" in err
    assert "--read thousands=." in err
    assert "--kind people=numeric" in err
    assert ct.assess(path, quasi=["people"], read={"thousands": "."}, kind={"people": "integer"}).records == N
    only = saved(tmp_path / "e.csv", {"people": [["1,200", "12,400"][i % 2] for i in range(N)], "x": ["a"] * N}, ";")
    with pytest.raises(ct.CoterieError, match=r"comma is the decimal mark or the thousands separator.*thousands=,"):
        ct.assess(only, quasi=["people"])
    for mark, largest in ({"decimal": ","}, 12.4), ({"thousands": ","}, 12400.0):
        source = ct.protect(only, {**plain_recipe("people", "x"), "file": mark})
        assert max(float(v.replace(",", ".")) for v in source.data["people"].to_pylist()) == largest


def plain_recipe(quasi, other):
    return {"k": 2, "seed": 1, "columns": {quasi: {"role": "quasi", "kind": "numeric"}, other: "other"}}


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_two_currencies_are_not_averaged(tmp_path, engine):
    path = saved(tmp_path / "d.csv", {"pay": [f"{'$€'[i % 2]}{i + 1}" for i in range(N)], "x": ["a"] * N})
    recipe = {**plain_recipe("pay", "x"), "file": {"prefix": ["$", "€"]}}
    with pytest.raises(ct.CoterieError, match=r"must have a single unit.*more than one prefix"):
        ct.protect(path, recipe, engine=engine, memory="1GB").save(tmp_path / "out")
    alike = saved(tmp_path / "e.csv", {"pay": [f"${i + 1}" for i in range(N)], "x": [f"€{i % 5}" for i in range(N)]})
    ct.protect(alike, recipe, engine=engine, memory="1GB").save(tmp_path / "out")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"thousands": "x"}, "thousands separator must be"),
        ({"thousands": ",", "decimal": ","}, "must differ.*decimal="),
        ({"prefix": "1"}, "without digits"),
        ({"suffix": ["%", "%"]}, "named only once"),
        ({"suffix": 5}, "short string"),
        ({"prefix": "-"}, "without digits and signs"),
    ],
)
def test_marks_that_make_no_sense(tmp_path, options, match):
    with pytest.raises(ct.CoterieError, match=match):
        ct.assess(saved(tmp_path / "d.csv", table()), quasi=["age"], read=options)


def test_the_verifier_reads_them_by_itself(tmp_path):
    """Three values that are one number count once, and a text that is none is refused."""
    path = saved(tmp_path / "d.csv", {"age": ["1"] * 4 + ["2"] * 4, "debt": ["$1,000", "1000", "1000.0 %", "-$5"] * 2})
    dress = {"kind": "numeric", "l": 2, "thousands": ",", "prefix": ["$"], "suffix": ["%"]}
    assert verify_file(path, ["age"], 4, confidential={"debt": dress}).ok
    counted = verify_file(path, ["age"], 4, confidential={"debt": {**dress, "l": 3}})
    assert not counted.ok
    assert counted.checks[1].found == 2
    with pytest.raises(ct.CoterieError, match="6 values that can't be read"):
        verify_file(path, ["age"], 4, confidential={"debt": {"kind": "numeric"}})
    with pytest.raises(ct.CoterieError, match="Only numbers have a prefix"):
        verify_file(path, ["age"], 4, confidential={"debt": {**dress, "kind": "nominal"}})


@given(
    st.floats(-1e12, 1e12).map(lambda x: round(x, 2)),
    st.sampled_from([(",", "."), (".", ","), (" ", ","), ("'", "."), ("_", ".")]),
    st.sampled_from(["", "$", "EUR", "R$"]),
    st.sampled_from(["", "%", "€", "kr."]),
    st.booleans(),
)
def test_any_dress_comes_off(x, marks, before, after, blank):
    between, mark = marks
    sign = "-" if x < 0 else ""
    text = f"{sign}{before}{' ' if blank else ''}{money(abs(x), between, mark)}{' ' if blank else ''}{after}"
    dress = Dress(mark, between, ("$", "EUR", "R$"), ("%", "€", "kr."))
    bare = undressed(pa.array([text, "n/a", None]), dress).to_pylist()
    assert float(bare[0].replace(mark, ".")) == x
    assert bare[1:] == ["n/a", None]
    odd = [text + "x", f"1{between}23", f"1{between}2345", f"1{between}{between}234"]
    assert undressed(pa.array(odd), dress).to_pylist() == odd


def test_researchers_files(run, tmp_path):
    path = saved(tmp_path / "d.csv", {"a": [f"$1,{i:03d}" for i in range(9)], "b": [f"{i}%" for i in range(9)]})
    read = ("--read", "thousands=,", "--read", "prefix=$", "--read", "suffix=%")
    code, _, err = run("microaggregate", path, "-k", "3", *read, "-o", tmp_path / "out.csv")
    assert code == 0, err
    assert sum(float(row["a"]) for row in rows_of(tmp_path / "out.csv")) == sum(1000 + i for i in range(9))


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_together_with_weights_noise_missing_values_and_scenarios(tmp_path, engine):
    columns = table()
    columns["share"][3] = columns["share"][9] = columns["share"][20] = "NA"
    columns["note"] = [f"${1 + i % 4},000" for i in range(N)]
    columns["debt"] = ["$1,200.50"] * (N - 6) + ["-$300"] * 6
    recipe = {
        **RECIPE,
        "columns": {
            **RECIPE["columns"],
            "debt": {"role": "confidential", "kind": "numeric", "noise": 0.5},
            "note": "identifier",
        },
        "weights": "note",
        "missing": {"policy": "own-value"},
        "scenarios": {"a": {"quasi": ["age", "income"], "k": 3}, "b": {"quasi": ["share"], "k": 3}},
        "file": {**RECIPE["file"], "missing": ["", "NA"]},
    }
    path = saved(tmp_path / "d.csv", columns)
    ct.protect(path, recipe, engine=engine, memory="1GB").save(tmp_path / "out")
    assert ct.verify(tmp_path / "out").ok
    assert ct.replay(tmp_path / "out", path).same
    rows = rows_of(tmp_path / "out" / "data.csv")
    assert sum(row["share"] == "" for row in rows) == 3
    assert all(float(row["income"]) > 0 for row in rows)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_strata_of_dressed_numbers(tmp_path, engine):
    columns = {**table(), "note": [f"${1 + i % 2},000" for i in range(N)]}
    roles = {**RECIPE["columns"], "note": {"role": "quasi", "kind": "integer"}, "debt": "other"}
    path = saved(tmp_path / "d.csv", columns)
    recipe = {**RECIPE, "columns": roles, "strata": ["note"]}
    ct.protect(path, recipe, engine=engine, memory="1GB").save(tmp_path / "out")
    assert ct.verify(tmp_path / "out").ok
    rows = rows_of(tmp_path / "out" / "data.csv")
    assert sorted({plain(row["note"]) for row in rows}) == [1000, 2000]
