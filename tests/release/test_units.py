"""The unit is a person: every class holds k different ones, on every way from a table to a release."""

from __future__ import annotations

import json
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import coterie as ct
from coterie.errors import CoterieError, PrivacyWarning, PromiseError

QUASI = {
    "age": {"role": "quasi", "kind": "integer"},
    "income": {"role": "quasi", "kind": "numeric"},
    "town": {"role": "quasi", "kind": "nominal"},
}
COLUMNS = {
    "person": "identifier",
    **QUASI,
    "illness": {"role": "confidential", "kind": "nominal"},
    "visit": "other",
}


def episodes(persons=40, times=6, seed=0):
    """Persons with several records each that lie close together; `visit` numbers the records."""
    rng = np.random.default_rng(seed)
    who = np.repeat(np.arange(persons), times)
    n = len(who)
    order = rng.permutation(n)
    who = who[order]
    base = np.random.default_rng(1).normal(0, 1, (persons, 2))[who]
    return pa.table(
        {
            "person": [f"Person {i}" for i in who.tolist()],
            "age": (45 + 12 * base[:, 0] + rng.integers(0, 3, n)).astype(np.int64),
            "income": np.round(3000 + 800 * base[:, 1] + rng.normal(0, 60, n), 2),
            "town": [["Reus", "Valls", "Salou"][i % 3] for i in who.tolist()],
            "illness": rng.choice(["flu", "gout", "none"], n).tolist(),
            "visit": [f"v{i:04d}" for i in range(n)],
        }
    )


def recipe(**more):
    columns = {**COLUMNS, **more.pop("columns", {})}
    return {"k": 4, "seed": 2, "method": "mdav", "columns": columns, "unit": "person", **more}


def units_by_class(data, table, names, unit="person"):
    """How many persons each class has: rows are linked to persons by `visit`, which both tables have."""
    who = dict(zip(table["visit"].to_pylist(), table[unit].to_pylist(), strict=True))
    found = defaultdict(set)
    keys = zip(*(data[name].to_pylist() for name in names), strict=True)
    for key, visit in zip(keys, data["visit"].to_pylist(), strict=True):
        found[key] |= {who[visit]} - {None}
    return [len(persons) for persons in found.values()]


def test_records_alone_would_not_hide_a_person():
    """What was wrong: groups fill with one person's records, and the check of records passes."""
    release = ct.protect(episodes(), recipe(unit="none"))
    assert release.verdict.ok
    assert min(units_by_class(release.data, episodes(), QUASI)) < 4


@pytest.mark.parametrize("method", ["mdav", "auto", {"name": "mdav", "refine": "quick"}])
def test_every_class_holds_k_persons(method):
    release = ct.protect(episodes(), recipe(method=method))
    assert min(units_by_class(release.data, episodes(), QUASI)) >= 4
    assert "person" not in release.data.column_names
    check = release.verdict.checks[-1]
    assert (check.what, check.basis, check.wanted, check.ok) == ("k-anonymity of units", "input", 4, True)
    assert check.found == min(units_by_class(release.data, episodes(), QUASI))
    assert check.classes == len(units_by_class(release.data, episodes(), QUASI))


@pytest.mark.parametrize(
    "more",
    [
        {"columns": {"illness": {"role": "confidential", "kind": "nominal", "l": 3}}},
        {"columns": {"illness": {"role": "confidential", "kind": "nominal", "t": 0.3}}},
        {
            "columns": {"illness": {"role": "confidential", "kind": "nominal", "l": 2}},
            "method": {},
            "guard": "k-first",
        },
        {"strata": ["town"]},
        {"strata": {"within": ["age"], "small": "merge"}},
        {"strata": {"within": ["age"], "small": "suppress"}},
        {"method": {"name": "mdav", "blocks": 20}},
        {"centre": "medoid"},
        {"scenarios": {"a": {"quasi": ["age", "town"], "k": 4}, "b": {"quasi": ["income"], "k": 7}}},
        {"scenarios": {"a": {"quasi": ["age", "town"], "k": 4}, "b": {"quasi": ["town", "income"], "k": 6}}},
    ],
    ids=str,
)
def test_together_with_other_promises(more):
    release = ct.protect(episodes(), recipe(**more))
    assert release.verdict.ok
    for scenario in release.recipe.promises.values():
        names = list(dict.fromkeys([*scenario.quasi, *release.recipe.within]))
        assert min(units_by_class(release.data, episodes(), names)) >= scenario.k


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_random_tables_and_recipes(data):
    n = data.draw(st.integers(12, 90))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    who = rng.integers(0, data.draw(st.integers(3, n)), n)
    if data.draw(st.booleans()):
        who[rng.random(n) < 0.4] = 0
    known = rng.random(n) > data.draw(st.sampled_from([0.0, 0.2]))
    gaps = data.draw(st.sampled_from(["refuse", "group", "own-value:merge", "own-value:suppress"]))
    there = rng.random((n, 2)) > (0.0 if gaps == "refuse" else 0.15)
    table = pa.table(
        {
            "person": [f"p{i}" if is_known else None for i, is_known in zip(who.tolist(), known, strict=True)],
            "age": [int(v) if has else None for v, has in zip(rng.integers(20, 30, n), there[:, 0], strict=True)],
            "income": [float(v) if has else None for v, has in zip(rng.normal(0, 1, n), there[:, 1], strict=True)],
            "town": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]).tolist(),
            "illness": rng.choice(["x", "y", "z"], n).tolist(),
            "visit": [f"v{i}" for i in range(n)],
        }
    )
    policy, _, small = gaps.partition(":")
    strata = data.draw(st.sampled_from([None, "merge", "suppress"]))
    how = recipe(
        k=data.draw(st.integers(2, 5)),
        method=data.draw(st.sampled_from(["mdav", "auto", {"name": "mdav", "blocks": 20}])),
        missing={"policy": policy, **({"small": small} if small else {})},
        **({} if strata is None else {"strata": {"within": ["town"], "small": strata}}),
    )
    try:
        release = ct.protect(table, how)
    except PromiseError:
        assume(False)
    assert min(units_by_class(release.data, table, QUASI)) >= how["k"]
    alone = table.append_column("unit", table["person"])
    again = ct.protect(alone, {**how, "unit": "unit", "columns": {**how["columns"], "unit": "identifier"}})
    assert again.data.equals(release.data)


def test_few_units_are_refused():
    few = episodes(persons=3, times=30)
    with pytest.raises(PromiseError, match=r"at least k = 4 different values of 'person' to release. Got: 3 different"):
        ct.protect(few, recipe())
    with pytest.raises(PromiseError, match="Every stratum must have at least k different values of 'person'"):
        ct.protect(episodes(), recipe(strata=["age"]))


def test_missing_units_count_as_nobody():
    table = episodes()
    nobody = pa.array([None if i % 3 else name for i, name in enumerate(table["person"].to_pylist())])
    table = table.set_column(0, "person", nobody)
    release = ct.protect(table, recipe())
    assert min(units_by_class(release.data, table, QUASI)) >= 4
    assert release.facts.unit.unknown == nobody.null_count
    blank = table.set_column(0, "person", nobody.fill_null("  "))
    assert ct.protect(blank, recipe()).data.equals(release.data)


def test_texts_that_look_the_same_are_one_person():
    table = episodes()
    names = [[str.upper, str.lower, str.title][i % 3](n) for i, n in enumerate(table["person"].to_pylist())]
    written = table.set_column(0, "person", pa.array(names))
    assert ct.protect(written, recipe()).data.equals(ct.protect(table, recipe()).data)


def test_units_that_have_one_record_each_change_nothing():
    table = episodes().set_column(0, "person", pa.array([f"p{i}" for i in range(240)]))
    plain = {name: value for name, value in recipe(method="auto").items() if name != "unit"}
    assert ct.protect(table, recipe(method="auto")).data.equals(ct.protect(table, plain).data)


def test_a_kept_unit_is_a_warning_and_is_checked_in_the_file(tmp_path):
    columns = {"person": "other"}
    with pytest.warns(PrivacyWarning, match="'person' is released: it links all records"):
        release = ct.protect(episodes(), recipe(columns=columns))
    assert any("links all records" in note for note in release.facts.notes)
    folder = release.save(tmp_path / "out")
    checks = {check.what: check for check in ct.verify(folder).checks}
    assert (checks["k-anonymity of units"].basis, checks["k-anonymity of units"].ok) == ("release", True)
    for page in ("report.html", "internal.html"):
        assert "links" in (folder / page).read_text()


def test_verify_counts_units_in_a_file():
    table = pa.table({"age": [30] * 4 + [40] * 4, "person": ["a", "a", "b", "A", *"cdef"]})
    assert ct.verify(table, ["age"], 4).ok
    found = ct.verify(table, ["age"], 4, unit="person")
    assert not found.ok
    assert found.checks[1].found == 2
    assert (found.checks[1].offending_classes, found.checks[1].offending_records) == (1, 4)
    with pytest.raises(CoterieError, match="cannot make the classes"):
        ct.verify(table, ["age"], 4, unit="age")


# A bundle whose units are not released


@pytest.fixture
def bundle(tmp_path):
    pa.csv.write_csv(episodes(), tmp_path / "in.csv")
    return ct.protect(tmp_path / "in.csv", recipe()).save(tmp_path / "out"), tmp_path / "in.csv"


def test_the_bundle_says_that_units_were_counted(bundle):
    folder, _ = bundle
    said = json.loads((folder / "verify.json").read_text())["checks"]
    assert [check["basis"] for check in said if check["what"] == "k-anonymity of units"] == ["input"]
    verdict = ct.verify(folder)
    assert verdict.ok
    assert "--input FILE repeats it" in verdict.checks[-1].sentence


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_units_are_counted_again_from_the_input(tmp_path, engine):
    pa.csv.write_csv(episodes(), tmp_path / "in.csv")
    folder = ct.protect(tmp_path / "in.csv", recipe(), engine=engine).save(tmp_path / "out")
    verdict = ct.verify(folder, input=tmp_path / "in.csv")
    assert verdict.ok
    assert verdict.checks[-1].sentence.endswith("Counted before 'person' was dropped.")
    rows = episodes().set_column(0, "person", pa.array([f"Person {i % 40}" for i in range(240)]))
    pa.csv.write_csv(rows, tmp_path / "other.csv")
    with pytest.raises(PromiseError, match="only if the input gives the same release"):
        ct.verify(folder, input=tmp_path / "other.csv")


def test_a_bundle_that_does_not_say_it_is_refused(bundle, monkeypatch):
    from coterie.release import check

    folder, _ = bundle
    whole = check._verdict_in
    monkeypatch.setattr(check, "_verdict_in", lambda path: (whole(path)[0], []))
    with pytest.raises(PromiseError, match="must record that they were counted"):
        ct.verify(folder)


def test_the_count_before_dropping_finds_what_is_wrong(monkeypatch):
    """Groups of too few units, by whatever mistake, are not released."""
    from coterie.protection import solve

    monkeypatch.setattr(solve, "_units", lambda *_: None)
    with pytest.raises(PromiseError, match=r"classes hold fewer than 4 different values of 'person'"):
        ct.protect(episodes(), recipe())


# Where nobody said what k counts


def test_an_identifier_that_repeats_is_refused():
    how = {name: value for name, value in recipe().items() if name != "unit"}
    with pytest.raises(CoterieError) as caught:
        ct.protect(episodes(), how)
    said = str(caught.value)
    assert "'person': 40 of 40 values occur in 2 to 6 records" in said
    assert '[unit] column = "person"' in said
    assert '[unit] column = "none"' in said
    assert "Person " not in said  # a name
    assert ct.protect(episodes(), {**how, "unit": "none"}).verdict.ok


def test_weights_that_are_dropped_are_no_identifier():
    table = episodes().append_column("w", pa.array([1.5] * 240)).drop_columns(["person"])
    columns = {name: rule for name, rule in COLUMNS.items() if name != "person"}
    how = {"k": 4, "seed": 1, "columns": {**columns, "w": "identifier"}, "weights": "w", "method": "mdav"}
    assert ct.protect(table, how).verdict.ok


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ({"unit": "nobody"}, "The unit must be a column"),
        ({"unit": "town"}, "cannot be microaggregated"),
        ({"method": "mdav*"}, "methods that count units can be used: auto or mdav"),
        ({"guard": {"regroup": True}}, "counts records, not units"),
        (
            {
                "columns": {"income": {"role": "confidential", "kind": "numeric", "t": 0.3}},
                "method": {},
                "guard": "t-first",
            },
            "ignores units",
        ),
        ({"unit": {"column": "person", "of": 3}}, "not a recipe option"),
        ({"weights": "visit", "unit": "visit"}, "both the unit and the weights"),
    ],
)
def test_what_cannot_be_is_refused_at_the_start(more, what):
    with pytest.raises(CoterieError, match=what):
        ct.Recipe(**recipe(**more))


def test_the_section_and_its_short_form_are_the_same():
    assert ct.Recipe(**recipe(unit={"column": "person"})) == ct.Recipe(**recipe())
    assert ct.Recipe.loads(ct.Recipe(**recipe()).dumps()) == ct.Recipe(**recipe())


# Risk, compare, assess


def test_risk_counts_persons():
    release = ct.protect(episodes(), recipe())
    (risk,) = release.measures.risk.scenarios
    counts = units_by_class(release.data, episodes(), QUASI)
    assert (risk.after.units, risk.after.smallest, risk.after.below_k) == (40, min(counts), 0)
    assert risk.after.largest_risk == 1 / min(counts)
    assert sum(risk.after.sizes.values()) == len(counts)
    assert release.measures.risk.singling_out.records_after == 0
    assert "units were alone" in release.measures.risk.singling_out.sentence


def test_reports_speak_of_units(tmp_path):
    release = ct.protect(episodes(), recipe())
    folder = release.save(tmp_path / "out")
    said = str(release)
    assert "unique units" in said
    assert "fewest units" in said
    assert "records of at least 3 other units" in said
    internal = (folder / "internal.html").read_text()
    assert "Fewest units of a class" in internal
    assert "Largest share of a unit" in internal
    assert "This exceeds 1/k where a unit has several records in a class" in internal
    assert "at most 1/k can be re-identified" not in internal
    assert "records of at least 3 other units" in (folder / "report.html").read_text()
    plain = str(ct.protect(episodes(), recipe(unit="none")))
    assert "unique records" in plain
    assert "unit" not in plain


def test_links_beyond_one_in_k_are_explained():
    """Two persons have most of the records: links are right more often than 1/k, and the text says how far they can."""
    table = episodes(12, 4)
    more = episodes(2, 80, seed=1)
    table = pa.concat_tables([table, more.set_column(0, "person", [[f"Q {p}" for p in more["person"].to_pylist()]])])
    release = ct.protect(table, recipe(k=3, seed=1))
    (scenario,), linked = release.measures.risk.scenarios, release.measures.risk.linkage.share
    assert scenario.after.largest_risk < linked <= scenario.after.largest_unit_share
    assert "of the records of a class" in str(release)


def test_public_counts_are_surely_of_k_persons():
    """Four persons of six records each have 24; so 24 records may be those of fewer than five."""
    from coterie.report.public import public

    release = ct.protect(episodes(), recipe(k=5))
    assert release.facts.unit.records_of_k == 25
    assert public(release.facts).suppressed_below == 50
    assert public(ct.protect(episodes(), recipe(k=5, unit="none")).facts).suppressed_below == 5
    nobody = episodes().set_column(0, "person", pa.array([None] * 10 + episodes()["person"].to_pylist()[10:]))
    assert ct.protect(nobody, recipe(k=5)).facts.unit.records_of_k == 35


def test_where_not_all_units_are_held_no_count_is_told(monkeypatch):
    from coterie.protection import unit_counts
    from coterie.tables.identities import Repeats

    monkeypatch.setattr(
        unit_counts.UnitSurvey, "__init__", lambda self: self.__dict__.update(units=Repeats(most=8), unknown=0)
    )
    assert ct.protect(episodes(), recipe(k=5)).facts.unit.records_of_k == 240


def test_assess_counts_persons():
    by_unit = ct.assess(episodes(), recipe()).scenarios[0].classes
    by_record = ct.assess(episodes(), recipe(unit="none")).scenarios[0].classes
    assert (by_unit.units, by_record.units) == (40, None)
    assert by_unit.unique == 40  # each has a record that no other has
    assert by_record.unique > 200
    assert by_unit.expected_reidentifications == pytest.approx(40)


def test_compare_with_several_k_counts_units_for_each():
    """The survey of all candidates must know units up to the largest k."""
    table, how = episodes(), recipe(strata={"within": ["age"], "small": "merge"})
    found = ct.compare(table, [2, 4, 8], ["mdav"], recipe=how, seed=2)
    for candidate in found.candidates:
        alone = ct.protect(table, {**how, "k": candidate.k})
        assert candidate.loss_percent == pytest.approx(alone.measures.loss.loss_percent)
        assert candidate.largest_risk == alone.measures.risk.scenarios[0].after.largest_risk <= 1 / candidate.k


# The command line


def test_on_the_command_line(run, tmp_path):
    pa.csv.write_csv(episodes(), tmp_path / "in.csv")
    shared = ["--quasi", "age,income,town", "--confidential", "illness", "--keep", "visit"]
    file, out = tmp_path / "in.csv", tmp_path / "out"
    code, _, err = run("protect", file, "-k", 4, *shared, "--drop", "person", "-o", out)
    assert code == 2
    assert "--unit person" in err
    assert "--unit none" in err
    code, _, err = run("protect", file, "-k", 4, *shared, "--unit", "person", "--seed", 1, "-o", out)
    assert code == 0, err
    code, _, err = run("verify", out, "--input", file)
    assert code == 0
    assert "different values of 'person'" in err
    code, shown, err = run("assess", file, "-k", 4, *shared, "--unit", "person")
    assert code == 0
    assert "units           40" in shown + err
    code, _, err = run("compare", file, "--k", "3,4", *shared, "--unit", "person")
    assert code == 0, err
    code, _, _ = run("verify", out / "data.csv", "-k", 4, "--quasi", "age,income,town", "--unit", "visit")
    assert code == 0
