"""Spellings of one confidential value count once for l, entropy, t and in measures; what is kept stays as it was."""

from __future__ import annotations

import csv
from collections import Counter

import pytest

from coterie import CoterieError
from coterie.release.flow import protect
from coterie.tables.text_keys import text_key

SPELLINGS = {
    "case": ["HIV", "hiv"],
    "forms": ["Ménière", "Me\u0301nie\u0300re"],
    "zero-width": ["HIV", "H\u200bIV"],
    "numbers": ["1", "1.0"],
    "codes": ["01", "1"],
    "sharp s": ["Straße", "STRASSE"],
    "blanks": ["type 2", "type\u00a0 2"],
}


def written(path, pair, records=120):
    """Records with near neighbours in which only two spellings of one value come, and another one farther away."""
    rows = [(str(i // 4 * 10 + i % 4), pair[i % 2] if i % 8 < 6 else f"other {i % 3}", f"n{i}") for i in range(records)]
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([("age", "illness", "note"), *rows])
    return rows


def recipe(**guards):
    columns = {
        "age": {"role": "quasi", "kind": "numeric"},
        "illness": {"role": "confidential", "kind": "nominal", **guards},
        "note": {"role": "other"},
    }
    return {"k": 3, "seed": 1, "columns": columns, "method": {"name": "mdav", "blocks": 60}}


def released(folder):
    with open(folder / "data.csv", encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("pair", SPELLINGS.values(), ids=SPELLINGS)
def test_every_class_has_l_values_that_differ(pair, engine, tmp_path):
    rows = written(tmp_path / "in.csv", pair)
    release = protect(tmp_path / "in.csv", recipe(l=2, entropy=1.3), engine=engine)
    release.save(tmp_path / "out")
    classes = {}
    for row in released(tmp_path / "out"):
        classes.setdefault(row["age"], set()).add(text_key(row["illness"]))
    assert min(map(len, classes.values())) >= 2
    assert Counter((r["illness"], r["note"]) for r in released(tmp_path / "out")) == Counter(r[1:] for r in rows)
    assert release.verdict.ok
    (risk,) = release.measures.risk.confidential
    (check,) = [c for c in release.verdict.checks if c.what == "distinct l-diversity"]
    assert risk.least_distinct == check.found == min(map(len, classes.values()))
    assert risk.constant_classes == 0


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_measures_and_the_check_count_alike_where_nothing_is_guarded(engine, tmp_path):
    written(tmp_path / "in.csv", ["HIV", "hiv"])
    release = protect(tmp_path / "in.csv", recipe(), engine=engine)
    release.save(tmp_path / "out")
    (risk,) = release.measures.risk.confidential
    (check,) = [c for c in release.verdict.checks if c.what == "constant confidential values"]
    assert risk.constant_classes == check.found > 0
    assert risk.constant_records == check.offending_records


def test_engines_give_the_same_with_t(tmp_path):
    written(tmp_path / "in.csv", ["HIV", "hiv"])
    data = []
    for engine in ("memory", "duckdb"):
        release = protect(tmp_path / "in.csv", recipe(t=0.5), engine=engine)
        release.save(tmp_path / engine)
        data.append(sorted(map(tuple, (row.values() for row in released(tmp_path / engine)))))
    assert data[0] == data[1]


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("missing", [["n/a"], ["n/a", ""]])
def test_spellings_of_a_missing_text_are_no_values(engine, missing, tmp_path):
    written(tmp_path / "in.csv", ["N/A", "n/a "])
    document = {**recipe(l=2), "file": {"missing": missing}}
    release = protect(tmp_path / "in.csv", document, engine=engine)
    release.save(tmp_path / "out")
    classes = {}
    for row in released(tmp_path / "out"):
        classes.setdefault(row["age"], set()).add(text_key(row["illness"]))
    assert min(len(values - {"n/a"}) for values in classes.values()) >= 2


def test_l_that_only_spellings_would_reach_is_refused(tmp_path):
    (tmp_path / "in.csv").write_text(
        "age,illness,note\n" + "".join(f"{i},{t},x\n" for i, t in enumerate(["A", "a"] * 6))
    )
    with pytest.raises(CoterieError, match="cannot be met"):
        protect(tmp_path / "in.csv", recipe(l=2))


def test_an_order_names_each_confidential_value_once():
    columns = {
        "age": {"role": "quasi", "kind": "numeric"},
        "stage": {"role": "confidential", "kind": "ordinal", "order": ["1", "1.0", "2"]},
    }
    import pyarrow as pa

    table = pa.table({"age": [1.0, 2.0], "stage": ["1", "2"]})
    with pytest.raises(CoterieError, match="must name each value once"):
        protect(table, {"k": 2, "columns": columns})


def test_a_quasi_identifier_goes_by_what_is_written(tmp_path):
    """A class is all that look the same to the byte, so spellings are told apart, and each group gets one of them."""
    rows = "".join(f"{i // 6},{['Oslo', 'oslo', 'OSLO'][i % 3]}\n" for i in range(36))
    (tmp_path / "in.csv").write_text("age,town\n" + rows)
    columns = {"age": {"role": "quasi", "kind": "integer"}, "town": {"role": "quasi", "kind": "nominal"}}
    release = protect(tmp_path / "in.csv", {"k": 4, "seed": 1, "columns": columns})
    assert min(Counter(map(tuple, (r.values() for r in release.data.to_pylist()))).values()) >= 4


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("role", ["identifier", "other"])
@pytest.mark.filterwarnings("ignore:The unit 'person' is released")
def test_two_spellings_are_one_unit(engine, role, tmp_path):
    """Near neighbours are records of one person, written in four ways; some say that nobody knows whose they are."""
    spellings = ["P{}", "p{}", "P{}\u200b", " p{}"]
    rows = [
        (i, "n/a" if i % 20 == 0 else "N/A " if i % 20 == 1 else spellings[i % 4].format(i // 4)) for i in range(160)
    ]
    text = "age,person\n" + "".join(f"{age},{person}\n" for age, person in rows)
    (tmp_path / "in.csv").write_text(text, encoding="utf-8")
    columns = {"age": {"role": "quasi", "kind": "integer"}, "person": {"role": role}}
    recipe = {"k": 3, "seed": 1, "columns": columns, "unit": "person", "file": {"missing": ["n/a"]}}
    release = protect(tmp_path / "in.csv", recipe, engine=engine)
    release.save(tmp_path / "out")
    assert release.verdict.ok
    (check,) = [c for c in release.verdict.checks if c.what == "k-anonymity of units"]
    assert check.found >= 3
    if role == "other":
        classes = {}
        for row in released(tmp_path / "out"):
            classes.setdefault(row["age"], set()).add(text_key(row["person"]))
        assert min(len(units - {"n/a"}) for units in classes.values()) == check.found
