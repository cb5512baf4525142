"""From a table to a checked release: strata, gaps, weights, scenarios; nothing leaked, nothing ignored."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pyarrow as pa
import pytest

import coterie as ct
from conftest import ROOT
from coterie.errors import CoterieError, PromiseError
from coterie.release.flow import protect
from release_tables import ROLES, SECRET, classes, numbers, recipe, sixty_people


@pytest.fixture(scope="module")
def people():
    return sixty_people()


def simple(table, k=3, **more):
    kinds = {n: "nominal" if pa.types.is_string(table.column(n).type) else "numeric" for n in table.column_names}
    columns = {n: {"role": "quasi", "kind": kind} for n, kind in kinds.items()}
    return {"k": k, "seed": 1, "method": "mdav", "columns": columns, **more}


def test_a_release(people):
    release = protect(people, recipe())
    data = release.data
    assert data.column_names == ["age", "town", "income", "illness", "note"]
    assert min(classes(data, ["age", "town", "income"]).values()) >= 4
    assert data.schema.field("age").type == pa.int64()
    assert sorted(data.column("note").to_pylist()) == people.column("note").to_pylist()
    assert data.column("note").to_pylist() != people.column("note").to_pylist()  # shuffled
    assert release.verdict.ok
    assert 0 < release.loss < 100
    assert SECRET not in str(release)
    assert SECRET not in repr(release.facts)
    with pytest.raises(TypeError):
        pickle.dumps(release)


def test_kept_columns_stay_with_their_record(people):
    release = protect(people, recipe(shuffle=False))
    assert release.data.column("note").to_pylist() == people.column("note").to_pylist()
    assert release.data.column("illness").to_pylist() == people.column("illness").to_pylist()
    shuffled = protect(people, recipe()).data
    by_note = {row["note"]: row for row in release.data.to_pylist()}
    assert all(by_note[row["note"]] == row for row in shuffled.to_pylist())


def test_the_same_seed_gives_the_same_release_and_none_another(people):
    assert protect(people, recipe()).data.equals(protect(people, recipe()).data)
    drawn = {k: v for k, v in recipe().items() if k != "seed"}
    one, two = protect(people, drawn), protect(people, drawn)
    assert one.recipe.seed != two.recipe.seed
    assert one.data.column("note").to_pylist() != two.data.column("note").to_pylist()


@pytest.mark.parametrize("method", ["auto", "mdav*", "v-mdav", "m-d", "mu-approx", "path", "exact"])
def test_any_method(people, method):
    assert protect(people, recipe(method=method)).verdict.ok


def test_strata_are_not_mixed(people):
    release = protect(people, recipe(strata={"within": ["town"]}, shuffle=False))
    assert release.data.column("town").to_pylist() == people.column("town").to_pylist()
    assert min(classes(release.data, ["age", "town", "income"]).values()) >= 4


def small_stratum(people):
    towns = people.column("town").to_pylist()
    towns[5] = towns[9] = "Alone"
    return people.set_column(2, "town", pa.array(towns))


def test_small_strata(people):
    table = small_stratum(people)
    within = {"within": ["town"]}
    with pytest.raises(PromiseError, match="1 of 4 with fewer than k = 4, 2 records"):
        protect(table, recipe(strata=within))
    suppressed = protect(table, recipe(strata={**within, "small": "suppress"}))
    assert suppressed.data.num_rows == 58
    assert "Alone" not in suppressed.data.column("town").to_pylist()
    assert suppressed.facts.output.suppressed == 2
    assert any("2 records were suppressed" in note for note in suppressed.facts.notes)
    merged = protect(table, recipe(strata={**within, "small": "merge"}))
    assert merged.data.num_rows == 60
    assert "Alone" not in merged.data.column("town").to_pylist()


def test_small_strata_and_few_gaps_have_each_their_rule(people):
    table = small_stratum(people)
    ages = table.column("age").to_pylist()
    ages[0] = ages[1] = None  # too few with this gap, in any stratum
    table = table.set_column(table.column_names.index("age"), "age", pa.array(ages))
    gaps = {"policy": "own-value", "small": "suppress"}
    with pytest.raises(PromiseError, match="1 of 4 with fewer than k = 4, 2 records"):
        protect(table, recipe(strata={"within": ["town"]}, missing=gaps))
    merged = protect(table, recipe(strata={"within": ["town"], "small": "merge"}, missing=gaps))
    assert merged.data.num_rows == 58  # those with gaps are left out, and nobody else
    assert "Alone" not in merged.data.column("town").to_pylist()
    assert protect(table, recipe(strata={"within": ["town"], "small": "suppress"}, missing=gaps)).data.num_rows == 56


def with_gaps(people, share=0.2):
    rng = np.random.default_rng(1)
    for i, name in enumerate(people.column_names):
        if name in ("age", "town", "income", "illness"):
            mask = pa.array(rng.random(people.num_rows) < share)
            values = pa.compute.if_else(mask, pa.scalar(None, people.column(name).type), people.column(name))
            people = people.set_column(i, name, values)
    return people


def test_gaps(people):
    table = with_gaps(people)
    with pytest.raises(PromiseError, match="Quasi-identifiers must not have missing values"):
        protect(table, recipe())
    filled = protect(table, recipe(missing="group")).data
    assert sum(filled.column(n).null_count for n in ("age", "town", "income")) == 0
    with pytest.raises(PromiseError, match="Every pattern of missing values needs at least k"):
        protect(table, recipe(missing="own-value"))
    own = protect(table, recipe(missing={"policy": "own-value", "small": "merge"}, shuffle=False))
    names = ["age", "town", "income"]
    assert min(classes(own.data, names).values()) >= 4
    assert own.facts.output.blanked > 0
    for name in names:  # what was missing stays so
        was, now = (np.array(t.column(name).is_null().to_pylist()) for t in (table, own.data))
        assert (now | ~was).all()
    fewer = protect(table, recipe(missing={"policy": "own-value", "small": "suppress"}))
    assert fewer.data.num_rows < 60
    assert fewer.facts.output.blanked == 0


def test_a_group_of_gaps_only():
    table = numbers(a=[2.0, 2.0, 2.0, None, None, None], b=[0.0, 0.0, 0.0, 9.0, 9.0, 9.0])
    data = protect(table, simple(table, missing="group", shuffle=False)).data
    assert data.column("a").to_pylist() == [2.0] * 3 + [None] * 3


def test_weights_make_weighted_means():
    table = numbers(a=[0.0, 10.0, 20.0], w=[1.0, 1.0, 8.0])
    document = {"k": 3, "seed": 0, "columns": {"a": {"role": "quasi", "kind": "numeric"}, "w": "other"}}
    assert set(protect(table, document).data.column("a").to_pylist()) == {10.0}
    weighted = protect(table, {**document, "weights": "w"})
    assert set(weighted.data.column("a").to_pylist()) == {17.0}
    assert weighted.facts.groupings[0].loss_weighted_percent == pytest.approx(100.0)
    with pytest.raises(CoterieError, match="Weights must be numbers above 0"):
        protect(numbers(a=[0.0, 1.0, 2.0], w=[1.0, 0.0, 8.0]), {**document, "weights": "w"})


def test_scenarios(people):
    scenarios = {"a": {"quasi": ["age"], "k": 6}, "b": {"quasi": ["town", "income"], "k": 4}}
    release = protect(people, recipe(scenarios=scenarios))
    assert len(release.facts.groupings) == 2
    assert min(classes(release.data, ["age"]).values()) >= 6
    assert min(classes(release.data, ["town", "income"]).values()) >= 4
    assert any("protected separately" in note for note in release.facts.notes)
    overlapping = {"a": {"quasi": ["age", "town"], "k": 6}, "b": {"quasi": ["town", "income"], "k": 4}}
    joined = protect(people, recipe(scenarios=overlapping))
    assert len(joined.facts.groupings) == 1
    assert min(classes(joined.data, ["age", "town", "income"]).values()) >= 6
    assert [c.wanted for c in joined.facts.verdict.checks if c.what == "k-anonymity"] == [6, 4]


def test_medoids_are_observed_records(people):
    release = protect(people, recipe(centre="medoid"))
    names = ["age", "town", "income"]
    assert set(classes(release.data, names)) <= set(classes(people, names))
    assert min(classes(release.data, names).values()) >= 4


def merged_years():
    rng = np.random.default_rng(3)
    years, jobs = [1990] * 9 + [2000] * 9 + [2010] * 2, ["a", "b", "c", "d"] * 5
    table = pa.table({"year": years, "pay": rng.normal(size=20), "job": jobs})
    columns = {name: {"role": "quasi", "kind": kind} for name, kind in
               {"year": "integer", "pay": "numeric", "job": "nominal"}.items()}  # fmt: skip
    return table, {"k": 4, "seed": 1, "columns": columns, "strata": {"within": ["year"], "small": "merge"}}


def test_medoids_of_merged_strata_are_observed_too():
    table, how = merged_years()
    names = ["year", "pay", "job"]
    whole = protect(table, {**how, "centre": "medoid"})
    assert set(classes(whole.data, names)) <= set(classes(table, names))
    assert min(classes(whole.data, names).values()) >= 4
    scenarios = {"one": {"quasi": ["pay"], "k": 4}, "two": {"quasi": ["job"], "k": 4}}
    apart = protect(table, {**how, "centre": "medoid", "scenarios": scenarios})
    assert set(apart.data.column("year").to_pylist()) <= {1990, 2000, 2010}
    assert any("scenario's quasi-identifiers, but for strata" in note for note in apart.facts.notes)


def test_merged_strata_are_told():
    from coterie.report.guidance import done
    from coterie.report.public import public

    table, how = merged_years()
    facts = protect(table, how).facts
    assert facts.columns[0].released == "merged strata"
    assert "3 strata were merged into 2, because some had too few records." in facts.notes
    assert "No group mixes different values of year, except where too few records shared a value." in done(
        public(facts)
    )
    large = protect(table.slice(0, 18), how).facts
    assert large.columns[0].released == "as it was"
    assert "No group mixes different values of year." in done(public(large))


def test_bounds(people):
    facts = protect(people, recipe(method={"name": "mdav", "refine": "quick", "bound": "fast"})).facts.groupings[0]
    assert facts.bound.sse <= facts.sse
    assert "No groups of at least 4 lose less" in facts.bound.sentence
    assert "whether or not" not in facts.bound.sentence


def test_a_bound_says_what_it_is_a_bound_of(people):
    from coterie.report import guidance

    how = {"name": "mdav", "bound": "tight"}
    (facts,) = protect(people, recipe(strata={"within": ["town"]}, method=how)).facts.groupings
    assert "No groups of at least 4 that cross no stratum lose less" in facts.bound.sentence
    assert "that cross no stratum" in guidance.bound(facts)


def test_large_groups_are_not_called_optimal():
    """Two clusters of 2k: split, they are optimal; as they are, they are not."""
    from coterie.protection.proving import ProvenPart, bound_facts

    parts = [ProvenPart(1.0, "optimal"), ProvenPart(2.0, "optimal")]
    assert bound_facts(parts, 3, 3.0, 10.0, "").kind == "optimal"
    assert bound_facts(parts, 3, 4.0, 10.0, "").kind == "column generation"
    assert bound_facts(parts, 3, 4.0, 10.0, "", ["the guards"]).sentence.endswith(
        "whether or not they meet the guards."
    )


def test_too_few_records():
    table = numbers(a=[1.0, 2.0])
    with pytest.raises(PromiseError, match="at least k = 3 records"):
        protect(table, simple(table))


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_come_back_as_they_were(people, library):
    module = pytest.importorskip(library)
    frame = people.to_pandas() if library == "pandas" else module.from_arrow(people)
    if library == "pandas":
        frame["level"] = module.Categorical(["lo", "hi"] * 30, categories=["lo", "hi", "rare"], ordered=True)
        frame["when"] = module.date_range("2024-01-01", periods=60, tz="Europe/Madrid")
        frame["many"] = module.array([1, None] * 30, dtype="Int64")
    else:
        frame = frame.with_columns(level=module.Series(["lo", "hi"] * 30, dtype=module.Categorical))
    more = {n: "other" for n in frame.columns if n not in ROLES}
    more["level"] = {"role": "quasi", "kind": "ordinal", "order": ["lo", "hi"]}
    out = protect(frame, recipe(columns=more)).data
    assert type(out) is type(frame)
    assert list(out.columns) == [c for c in frame.columns if c != "name"]
    kept = [c for c in out.columns if c not in ("level",)]
    assert [str(out[c].dtype) for c in kept] == [str(frame[c].dtype) for c in kept]
    if library == "pandas":
        assert list(out["level"].cat.categories) == ["lo", "hi"]
        assert out.index.equals(module.RangeIndex(60))


def test_a_type_that_cannot_be_shuffled(people):
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([people.num_rows], pa.int32()), pa.array(["x"]))
    columns = {**recipe()["columns"], "runs": {"role": "other"}}
    with pytest.raises(CoterieError, match=r"'runs' must have a type.*run_end_encoded"):
        protect(people.append_column("runs", runs), recipe(columns=columns))


def test_an_index_may_hold_something(people):
    frame = people.to_pandas()
    protect(frame[frame["age"] > 0], recipe())
    with pytest.raises(CoterieError, match="reset_index"):
        protect(frame.set_index("note", drop=False), recipe())
    with pytest.raises(CoterieError, match="reset_index"):
        protect(frame.rename_axis("who"), recipe())


def test_suppressed_records_leave_no_level_behind(people):
    table = small_stratum(people)
    notes = ["rare" if i in (5, 9) else "usual" for i in range(60)]
    table = table.set_column(5, "note", pa.array(notes).dictionary_encode())
    data = protect(table, recipe(strata={"within": ["town"], "small": "suppress"})).data
    assert data.column("note").combine_chunks().dictionary.to_pylist() == ["usual"]


def test_undeclared_and_lacking_columns(people):
    with pytest.raises(CoterieError) as caught:
        protect(people.append_column("extra", people.column("age")).drop_columns(["note"]), recipe())
    assert "extra" in str(caught.value)
    assert "note" in str(caught.value)


def test_public_names():
    assert ct.protect is protect
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("Recipe", "verify", "Release", "assess", "compare", "replay", "draft_recipe"):
            assert callable(getattr(ct, name))


def test_the_examples():
    release = protect(ROOT / "examples" / "patients.csv", ROOT / "examples" / "patients.toml")
    assert release.verdict.ok
    assert release.data.num_rows == 240
