"""Units of odd types, with odd names and odd texts: k different ones in every class, or a refusal that says why."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import coterie as ct
from coterie.errors import CoterieError, PromiseError
from coterie.release.manifest import sealed
from coterie.tables.identities import NO_NAMES
from coterie.verification.claims import NAMELESS

pytestmark = pytest.mark.filterwarnings("ignore::coterie.errors.PrivacyWarning")  # that a kept unit links records

RECORDS = 60
WHO = np.random.default_rng(0).integers(0, 12, RECORDS).tolist()
KNOWN = [None if person == 0 else person for person in WHO]  # where the first one is nobody


def table(unit, name="unit"):
    """Persons with several records that lie close together; `row` numbers the records."""
    rng = np.random.default_rng(1)
    a = [5 * person + noise for person, noise in zip(WHO, rng.integers(0, 3, RECORDS).tolist(), strict=True)]
    b = rng.normal(0, 1, RECORDS).round(2)
    return pa.table({"row": list(range(RECORDS)), "a": a, "b": b, name: unit})


def recipe(role="identifier", name="unit", **more):
    quasi = {"a": {"role": "quasi", "kind": "integer"}, "b": {"role": "quasi", "kind": "numeric"}}
    return {"k": 4, "seed": 1, "columns": {name: role, "row": "other", **quasi}, "unit": name, **more}


def least_units(data, who):
    """The fewest persons of a class, counted without Coterie."""
    found = defaultdict(set)
    for a, b, row in zip(*(data[name].to_pylist() for name in ("a", "b", "row")), strict=True):
        found[a, b] |= {who[int(row)]} - {None}
    return min(map(len, found.values()))


@pytest.mark.parametrize("role", ["identifier", "other"])
@pytest.mark.parametrize("word", ["NA", "nan", " N/A ", "NULL", "None", "<NA>", "—", "?"])
def test_a_word_for_missing_is_nobody(role, word, tmp_path):
    """R writes NA where nothing is known: as a person, it would fill every class up."""
    texts = table([word if person is None else f"p{person}" for person in KNOWN])
    release = ct.protect(texts, recipe(role))
    assert least_units(release.data, KNOWN) >= 4
    assert (release.facts.unit.units, release.facts.unit.unknown) == (11, WHO.count(0))
    pyarrow.csv.write_csv(texts, tmp_path / "in.csv")
    for engine in ("memory", "duckdb"):
        ct.protect(tmp_path / "in.csv", recipe(role), engine=engine).save(tmp_path / engine)
        assert least_units(pyarrow.csv.read_csv(tmp_path / engine / "data.csv"), KNOWN) >= 4


@pytest.mark.parametrize("word", NAMELESS)
def test_the_verifier_takes_the_same_words_for_nobody(word):
    data = pa.table({"a": [1, 1, 1], "who": ["p1", "p2", word]})
    assert not ct.verify(data, ["a"], 3, unit="who")
    assert ct.verify(data, ["a"], 2, unit="who")


def test_both_sides_know_the_same_words():
    assert set(NAMELESS) == set(NO_NAMES)


@pytest.mark.parametrize("role", ["identifier", "other"])
def test_not_a_number_in_a_dictionary_is_nobody(role):
    values = pa.array([float("nan"), *(float(i) for i in range(1, 12))])
    unit = pa.DictionaryArray.from_arrays(pa.array(WHO, pa.int32()), values)
    assert least_units(ct.protect(table(unit), recipe(role)).data, KNOWN) >= 4


@pytest.mark.parametrize("role", ["identifier", "other"])
def test_views_of_texts(role):
    unit = pa.array([f"p{person}" for person in WHO]).cast(pa.string_view())
    assert least_units(ct.protect(table(unit), recipe(role)).data, WHO) >= 4


@pytest.mark.parametrize("role", ["identifier", "other"])
@pytest.mark.parametrize(
    "unit",
    [
        pa.array([[person] for person in WHO]),
        pa.array([{"x": person} for person in WHO]),
        pa.array([uuid.UUID(int=person).bytes for person in WHO], pa.binary(16)),
        pa.compute.run_end_encode(pa.array(WHO)),
    ],
    ids=lambda unit: str(unit.type),
)
def test_what_cannot_be_counted_is_refused_in_plain_words(role, unit):
    with pytest.raises(CoterieError, match="'unit' must hold simple values"):
        ct.protect(table(unit), recipe(role))


@pytest.mark.parametrize("role", ["identifier", "other"])
def test_a_column_called_none_is_not_passed_over(role):
    """`none` means that each record is a unit: a column of that name would silently not be counted."""
    with pytest.raises(CoterieError, match="'none'"):
        ct.protect(table(WHO, "none"), recipe(role, "none"))


@pytest.mark.parametrize("name", ["None", "a b", 'unit"x', "[x]", "ünit", "k0", "size", "v", "w", "raw", "n"])
def test_names_that_mean_something_elsewhere(name):
    for role in ("identifier", "other"):
        assert least_units(ct.protect(table(WHO, name), recipe(role, name)).data, WHO) >= 4


@pytest.mark.parametrize("word", ["=x", "--", "+n"])
def test_nobody_is_nobody_where_formulas_are_made_harmless(word, tmp_path):
    """The file has '=x for =x: the verifier must not take that for a person."""
    texts = table([word if person is None else f"p{person}" for person in KNOWN])
    pyarrow.csv.write_csv(texts, tmp_path / "in.csv")
    file = {"missing": ["", "=x", "+n"], "formulas": "neutralize"}
    ct.protect(tmp_path / "in.csv", recipe("other", file=file)).save(tmp_path / "out")
    assert least_units(pyarrow.csv.read_csv(tmp_path / "out" / "data.csv"), KNOWN) >= 4
    few = tmp_path / "few.csv"
    few.write_text(
        "row,a,b,unit\n" + "".join(f"{i},1,1,{who}\n" for i, who in enumerate(["p1", "p2", "p3", f"'{word}"]))
    )
    assert not ct.verify(few, recipe=tmp_path / "out" / "recipe.toml").ok
    few.write_text("row,a,b,unit\n" + "".join(f"{i},1,1,{who}\n" for i, who in enumerate(["p1", "p2", "p3", "p4"])))
    assert ct.verify(few, recipe=tmp_path / "out" / "recipe.toml").ok


@pytest.mark.parametrize(
    "change",
    [
        {"what": "k-anonymity"},
        {"columns": ["a"]},
        {"offending_classes": 1},
        {"found": 1},
        {"found": "many"},
        {"ok": "yes"},
        {"basis": "no"},
    ],
    ids=str,
)
def test_a_bundle_must_say_that_units_were_counted_and_nothing_else(change, tmp_path):
    """A bundle whose verify.json was rewritten, and sealed again."""
    folder = tmp_path / "out"
    ct.protect(table(WHO), recipe()).save(folder)
    said = json.loads((folder / "verify.json").read_text())
    said["checks"][-1] |= change
    (folder / "verify.json").write_text(json.dumps(said))
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"]["verify.json"]["sha256"] = hashlib.sha256((folder / "verify.json").read_bytes()).hexdigest()
    (folder / "manifest.json").write_text(sealed({n: v for n, v in manifest.items() if n != "seal"}))
    with pytest.raises(PromiseError, match="must record that they were counted"):
        ct.verify(folder)
