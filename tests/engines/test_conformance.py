"""Every engine gives the same released values, for every feature of a recipe. A new engine joins by its name."""

from __future__ import annotations

import functools
import os
import pickle
import tempfile

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coterie.engines import ENGINES
from coterie.engines.memory import MemoryEngine
from coterie.errors import CoterieError
from coterie.protection.plan import make_plan, needed_columns
from coterie.protection.solve import solve
from coterie.protection.survey import Survey
from coterie.recipe import Recipe
from coterie.release import tally
from coterie.release.bundle import make_in_parts
from coterie.release.cluster_bundle import Stage, make_on_cluster
from coterie.release.flow import planned, protect
from coterie.release.source import open_source, rules_of
from spark_sessions import spark  # noqa: F401

OTHERS = [engine for engine in ENGINES if engine != "memory"]
QUASI = {
    "age": {"kind": "integer"},
    "income": {"kind": "numeric"},
    "region": {"kind": "nominal"},
    "sex": {"kind": "nominal"},
    "school": {"kind": "ordinal", "order": ["low", "mid", "high"]},
    "smokes": {"kind": "boolean"},
}


@functools.cache
def people(n=260, gaps=False, seed=3):
    rng = np.random.default_rng(seed)
    columns = {
        "id": pa.array([f"{i:05d}" for i in range(n)]),
        "age": pa.array(rng.integers(18, 60, n)),
        "income": pa.array(np.round(rng.lognormal(10, 1, n), 2)),
        "region": pa.array(rng.choice(["north", "south", "east", "west"], n, p=[0.4, 0.4, 0.19, 0.01]).tolist()),
        "sex": pa.array(rng.choice(["f", "m", "x"], n, p=[0.5, 0.45, 0.05]).tolist()),
        "school": pa.array(rng.choice(["low", "mid", "high"], n).tolist()),
        "smokes": pa.array(rng.choice(["yes", "no"], n).tolist()),
        "illness": pa.array(rng.choice(["a", "b", "c", "d"], n).tolist()),
        "pay": pa.array(np.round(rng.normal(50, 10, n))),
        "weight": pa.array(rng.uniform(0.5, 2.0, n)),
        "note": pa.array([f"n{i}" for i in range(n)]),
    }
    person = np.random.default_rng(seed + 1).integers(0, n // 3, n)
    columns["person"] = pa.array([f"P{i}" if i else None for i in person.tolist()])
    for name in ("age", "income", "sex", "smokes") if gaps else ():
        missing = rng.random(n) < 0.08
        values = [None if gone else v for gone, v in zip(missing.tolist(), columns[name].to_pylist(), strict=True)]
        columns[name] = pa.array(values, columns[name].type)
    return pa.table(columns)


def recipe(
    name="mdav",
    blocks=40,
    quasi=tuple(QUASI),
    illness=None,
    pay=None,
    totals=None,
    importance=None,
    prepare=None,
    **more,
):
    rename = more.pop("rename", {})
    columns = {q: {"role": "quasi", **QUASI[q]} for q in quasi}
    columns |= {q: {**columns[q], "importance": weight} for q, weight in (importance or {}).items()}
    for q, asked in (totals or {}).items():
        columns[q] |= {"totals": True, **asked}
    columns |= {q: "identifier" for q in QUASI if q not in quasi}
    columns["illness"] = {"role": "confidential", "kind": "nominal", **(illness or {})}
    columns["pay"] = {"role": "confidential", "kind": "numeric", **(pay or {})}
    columns |= {"id": "identifier", "weight": "other", "note": "other", "person": "identifier"}
    for column, options in (prepare or {}).items():
        columns[column] = {**({"role": "other"} if columns[column] == "other" else columns[column]), **options}
    for old, new in rename.items():
        columns[old] = {**({"role": columns[old]} if isinstance(columns[old], str) else columns[old]), "rename": new}
    method = {"blocks": blocks} if name is None else {"name": name, "blocks": blocks}
    return Recipe(**{"k": 3, "seed": 11, "method": method, "columns": columns, "unit": "none", **more})


OWN_VALUE = {"policy": "own-value", "small": "merge"}
APART = {"a": {"quasi": ["age", "income", "smokes"], "k": 3}, "b": {"quasi": ["region", "sex", "school"], "k": 4}}
SHARED = {
    "a": {"quasi": ["age", "income", "smokes"], "k": 3},
    "b": {"quasi": ["age", "region", "sex", "school"], "k": 4},
}
FEATURES = {
    "plain": {},
    "a population": {"population": {"size": 5000}},
    "auto": {"name": "auto"},
    "mu-approx, which is random": {"name": "mu-approx"},
    "strata, merged": {"strata": {"within": ["region", "sex"], "small": "merge"}},
    "strata, suppressed": {"strata": {"within": ["region"], "small": "suppress"}},
    "strata of numbers, merged by weight": {"strata": {"within": ["age"], "small": "merge"}, "weights": "weight"},
    "missing values grouped": {"missing": "group"},
    "missing values of their own, merged": {"missing": OWN_VALUE},
    "missing values of their own, suppressed": {"missing": {"policy": "own-value", "small": "suppress"}},
    "strata and missing values": {"strata": {"within": ["region"], "small": "merge"}, "missing": OWN_VALUE},
    "l": {"illness": {"l": 2}},
    "entropy": {"illness": {"entropy": 1.8}},
    "t of numbers": {"pay": {"t": 0.25}},
    "t of categories": {"illness": {"t": 0.4}},
    "k-first": {"name": None, "illness": {"l": 3}, "guard": {"rule": "k-first"}},
    "t-first": {"name": None, "pay": {"t": 0.2}, "guard": {"rule": "t-first"}},
    "guards in strata that are suppressed": {
        "illness": {"l": 2},
        "pay": {"t": 0.4},
        "strata": {"within": ["region"], "small": "suppress"},
    },
    "noise": {"pay": {"noise": 0.5}, "quasi": ("age", "income")},
    "regroup": {"guard": {"regroup": True}, "quasi": ("age", "income")},
    "scenarios apart": {"scenarios": APART},
    "scenarios apart, noise": {"scenarios": APART, "pay": {"noise": 0.5}},
    "scenarios apart, missing values": {"scenarios": APART, "missing": OWN_VALUE},
    "scenarios that share a column": {"scenarios": SHARED},
    "weights": {"weights": "weight"},
    "medoids": {"centre": "medoid"},
    "medoids in merged strata": {"centre": "medoid", "strata": {"within": ["region"], "small": "merge"}},
    "medoids in merged strata, scenarios apart": {
        "centre": "medoid",
        "strata": {"within": ["region"], "small": "merge"},
        "scenarios": {"a": {"quasi": ["age", "income", "smokes"], "k": 3}, "b": {"quasi": ["sex", "school"], "k": 3}},
    },
    "importance": {"importance": {"income": 5, "sex": 0.2}},
    "importance, strata and missing values": {
        "importance": {"region": 9, "age": 4},
        "strata": {"within": ["region", "sex"], "small": "merge"},
        "missing": OWN_VALUE,
    },
    "importance, medoids in merged strata": {
        "importance": {"region": 9, "age": 4},
        "centre": "medoid",
        "strata": {"within": ["region", "school"], "small": "merge"},
    },
    "importance, scenarios apart": {"importance": {"income": 5}, "scenarios": APART, "illness": {"l": 2}},
    "importance, units, a bound": {
        "importance": {"income": 5},
        "unit": "person",
        "method": {"name": "mdav", "blocks": 60, "bound": "fast"},
    },
    "no numbers": {"quasi": ("region", "sex", "smokes")},
    "only ordered categories": {"quasi": ("school", "sex")},
    "a bound": {"method": {"name": "mdav", "blocks": 60, "bound": "fast"}},
    "blocks as small as can be": {"blocks": 6},
    "totals": {"totals": {"age": {}, "income": {"decimals": 0}}},
    "totals in merged strata, missing values": {
        "totals": {"age": {}, "income": {"decimals": -1}},
        "strata": {"within": ["region"], "small": "merge"},
        "missing": OWN_VALUE,
    },
    "totals by weights, scenarios apart": {
        "totals": {"age": {}, "income": {"decimals": 1}},
        "weights": "weight",
        "scenarios": APART,
    },
    "new names": {"rename": {"age": "pay", "pay": "age", "weight": "id", "region": "where do they live?"}},
    "pseudonyms": {
        "unit": {"column": "person", "release": "pseudonym", "key": "0f" * 16},
        "rename": {"person": "who"},
        "strata": {"within": ["region"], "small": "suppress"},
    },
    "units": {"unit": "person"},
    "units, searched": {"unit": "person", "name": "auto"},
    "units in blocks as small as can be": {"unit": "person", "blocks": 6},
    "units in merged strata": {"unit": "person", "strata": {"within": ["region", "sex"], "small": "merge"}},
    "units in suppressed strata": {"unit": "person", "strata": {"within": ["region", "sex"], "small": "suppress"}},
    "units, missing values of their own, merged": {"unit": "person", "missing": OWN_VALUE},
    "units, missing values of their own, suppressed": {
        "unit": "person",
        "missing": {"policy": "own-value", "small": "suppress"},
    },
    "units, missing values grouped": {"unit": "person", "missing": "group"},
    "units and guards": {"unit": "person", "illness": {"l": 2}, "pay": {"t": 0.3}},
    "units, k-first": {"unit": "person", "name": None, "illness": {"l": 3}, "guard": {"rule": "k-first"}},
    "units, scenarios apart": {"unit": "person", "scenarios": APART},
    "units, weights": {"unit": "person", "weights": "weight"},
    "units, medoids": {"unit": "person", "centre": "medoid"},
    "prepared numbers": {
        "prepare": {
            "age": {"bands": [0, 25, 40], "bottom": 0},
            "income": {"top": 60_000, "bottom": 5_000, "round": 500},
            "weight": {"kind": "numeric", "width": 0.3, "bands_as": "middle"},
            "pay": {"kind": "integer", "top": 60, "top_label": "60+", "l": 2},
        }
    },
    "prepared categories, rare ones over all batches": {
        "prepare": {
            "region": {"rare": 20, "others": "elsewhere"},
            "sex": {"recode": {"x": "m"}},
            "school": {"order": ["other", "high"], "recode": {"high": "high"}, "others": "other"},
            "illness": {"recode": {"a": "c"}, "l": 2},
            "note": {"kind": "nominal", "recode": {"n0": "zero"}},
        }
    },
    "prepared by a width, the range of which is that of all batches": {
        "prepare": {"age": {"width": 10}, "pay": {"width": 7, "top": 65, "top_label": "most"}},
        "strata": {"within": ["age"], "small": "merge"},
    },
    "prepared, missing values, rare by units": {
        "prepare": {"sex": {"rare": 30, "others": "m"}, "age": {"width": 20, "bottom": 20, "top": 80}},
        "unit": "person",
        "missing": OWN_VALUE,
    },
    "prepared, guarded by t": {
        "prepare": {"pay": {"bands": [0, 40, 50, 60], "t": 0.3}, "illness": {"recode": {"a": "b"}}}
    },
    "prepared, scenarios apart": {
        "prepare": {"income": {"top": 30_000}, "region": {"rare": 60, "others": "other"}, "age": {"width": 5}},
        "scenarios": APART,
    },
}


def has_gaps(more):
    return "missing" in more


def stored(folder, kind, data, row_group=70):
    path = folder / f"in.{kind}"
    if kind == "csv":
        pa.csv.write_csv(data, path)
    else:
        pa.parquet.write_table(data, path, row_group_size=row_group)
    return path


@pytest.fixture(autouse=True)
def _session(request):
    """Spark is there for its own tests alone."""
    if getattr(request.node, "callspec", None) is not None and request.node.callspec.params.get("engine") == "spark":
        request.getfixturevalue("spark")


def kind_for(engine, feature):
    """Spark reads no text."""
    return "parquet" if engine == "spark" or len(feature) % 2 else "csv"


def released(path, how, engine, rows=None):
    """The released records, in the order of a column that is kept, and what is said of the groups."""
    release = protect(path, how, engine=engine, memory="2GB")
    if engine == "memory":
        data = release.data
    elif engine == "spark":
        with tempfile.TemporaryDirectory(dir=path.parent) as place:
            make_on_cluster(release, Stage(path.parent, place), rows, False)
            data = pa.parquet.read_table(f"{place}/data")
    else:
        pieces = []
        make_in_parts(release, pieces.append, rows, False)
        data = pa.concat_tables(pieces)
    return data.sort_by("note"), release


# On Spark, every feature takes seconds: the others are campaigns there
EVERYWHERE = {
    "plain", "auto", "strata of numbers, merged by weight", "missing values of their own, merged", "t-first",
    "guards in strata that are suppressed", "scenarios apart, noise", "scenarios apart, missing values",
    "medoids in merged strata, scenarios apart", "a bound", "blocks as small as can be", "units, scenarios apart",
    "units, missing values of their own, merged", "prepared categories, rare ones over all batches",
    "prepared, scenarios apart",
}  # fmt: skip
FEATURES_ON = [
    pytest.param(
        feature,
        engine,
        id=f"{feature}-{engine}",
        marks=[pytest.mark.campaign] if engine == "spark" and feature not in EVERYWHERE else [],
    )
    for feature in FEATURES
    for engine in OTHERS
]


def test_features_that_run_everywhere_exist():
    assert set(FEATURES) >= EVERYWHERE


@pytest.mark.filterwarnings("ignore::coterie.errors.PrivacyWarning")
@pytest.mark.parametrize(("feature", "engine"), FEATURES_ON)
def test_the_same_values_on_every_engine(tmp_path, engine, feature):
    more = FEATURES[feature]
    how = recipe(**more)
    path = stored(tmp_path, kind_for(engine, feature), people(gaps=has_gaps(more)))
    expected, whole = released(path, how, "memory")
    assert expected.num_rows > 100
    for rows in (1, 100, 10_000) if engine != "spark" else (100,):
        data, parts = released(path, how, engine, rows)
        assert data.equals(expected)
    assert whole._unit_checks == () if how.unit_column is None else all(check.ok for check in whole._unit_checks)
    assert [(check.scenario, check.classes) for check in whole._unit_checks] == [
        (check.scenario, check.classes) for check in parts._unit_checks
    ]
    assert len(whole._tally.plan.divisions[-1].parts) > 1
    for one, other in zip(whole.facts.groupings, parts.facts.groupings, strict=True):
        assert (one.groups, one.sizes, one.constant_records) == (other.groups, other.sizes, other.constant_records)
        assert one.sse == pytest.approx(other.sse, rel=1e-9)
        assert one.sst == pytest.approx(other.sst, rel=1e-9)
        important = [g.loss_by_importance_percent for g in (one, other)]
        assert important == [None, None] or important[0] == pytest.approx(important[1], rel=1e-9)
    for one, other in zip(whole.facts.totals, parts.facts.totals, strict=True):
        assert (one.column, one.turned_groups, one.parts) == (other.column, other.turned_groups, other.parts)
        assert one.left == pytest.approx(other.left, abs=1e-6)
    assert whole.facts.output == parts.facts.output
    assert whole.facts.prepared == parts.facts.prepared
    assert whole.facts.shrunk == parts.facts.shrunk
    assert {one.name for one in whole.facts.prepared if one.changed} == set(more.get("prepare", ()))
    kept = [c for c in whole.facts.columns if c.role in ("quasi", "confidential")]
    assert kept == [c for c in parts.facts.columns if c.role in ("quasi", "confidential")]


@pytest.mark.parametrize("engine", ENGINES)
def test_record_numbers_are_unique_over_all_pieces(tmp_path, engine):
    """Records that are suppressed get none."""
    suppressed = {"strata": {"within": ["region"], "small": "suppress"}, "missing": OWN_VALUE}
    how = recipe(output={"number": "id"}, scenarios=APART, rename={"region": "where"}, **suppressed)
    path = stored(tmp_path, "parquet", people(gaps=True))
    expected = released(path, recipe(scenarios=APART, rename={"region": "where"}, **suppressed), "memory")[0]
    for rows in (1, 100) if engine == "duckdb" else (100,):
        data, release = released(path, how, engine, rows)
        assert data.column_names == ["id", *expected.column_names]
        assert data.drop_columns(["id"]).equals(expected)
        assert 100 < data.num_rows < 260
        numbers = data["id"].to_pylist()
        assert sorted(numbers) == list(range(1, data.num_rows + 1))
        assert numbers != sorted(numbers)
        assert (release.facts.output.number, release.facts.output.columns) == ("id", data.num_columns)


@pytest.mark.parametrize("engine", ["duckdb"])  # on Spark, test_spark_values.py
@pytest.mark.parametrize("feature", ["plain", "strata and missing values", "scenarios apart, noise", "k-first", "l"])
def test_threads_and_row_groups_change_nothing(tmp_path, monkeypatch, engine, feature):
    more = FEATURES[feature]
    data = people(gaps=has_gaps(more))
    expected, _ = released(stored(tmp_path, "parquet", data, 1000), recipe(**more), "memory")
    for threads, row_group in ((1, 13), (4, 260)):
        monkeypatch.setattr(os, "cpu_count", lambda threads=threads: threads)
        path = stored(tmp_path, "parquet", data, row_group)
        assert released(path, recipe(**more), engine, 150)[0].equals(expected)
        assert released(path, recipe(**more), "memory")[0].equals(expected)


@pytest.mark.parametrize("engine", OTHERS)
def test_blocks_are_written_into_the_recipe(tmp_path, engine):
    how = Recipe(**{k: v for k, v in recipe().as_dict().items() if k != "method"}, method="mdav")
    path = stored(tmp_path, "parquet", people())
    release = protect(path, how, engine=engine, memory="2GB")
    assert release.recipe.method.blocks == "auto"
    assert released(path, how, engine)[0].equals(released(path, release.recipe, "memory")[0])


@pytest.mark.parametrize("engine", OTHERS)
@pytest.mark.parametrize("type_", [pa.string(), pa.int16(), pa.dictionary(pa.int32(), pa.string()), pa.date32()])
def test_categories_of_records_that_are_elsewhere(tmp_path, engine, type_):
    """Groups of another scenario reach across pieces: a record gets a category that no record of its piece has."""
    rng, n = np.random.default_rng(5), 400
    plain = type_.value_type if pa.types.is_dictionary(type_) else type_
    place = pa.array(rng.integers(0, 300, n), pa.int32()).cast(plain)
    data = pa.table(
        {
            "place": place.dictionary_encode() if pa.types.is_dictionary(type_) else place,
            "school": rng.choice([f"s{i:02d}" for i in range(40)], n).tolist(),
            "smokes": np.where(rng.random(n) < 0.6, "N", "Y").tolist(),
            "x": rng.normal(0, 1, n),
            "note": [f"n{i:03d}" for i in range(n)],
        }
    )
    how = Recipe(
        k=3,
        seed=1,
        method={"name": "mdav", "blocks": 20},
        columns={
            "place": {"role": "quasi", "kind": "nominal"},
            "school": {"role": "quasi", "kind": "ordinal", "order": [f"s{i:02d}" for i in range(40)]},
            "smokes": {"role": "quasi", "kind": "boolean"},
            "x": {"role": "quasi", "kind": "numeric"},
            "note": "other",
        },
        scenarios={"a": {"quasi": ["place", "school", "smokes"], "k": 3}, "b": {"quasi": ["x"], "k": 3}},
    )
    path = stored(tmp_path, "parquet", data)
    expected, _ = released(path, how, "memory")
    assert expected["place"].null_count == 0
    for rows in (1, 60) if engine != "spark" else (60,):
        assert released(path, how, engine, rows)[0].to_pydict() == expected.to_pydict()


@pytest.mark.skipif(not hasattr(pa, "string_view"), reason="pyarrow has no views")
@pytest.mark.parametrize("engine", OTHERS)
def test_views_of_texts(tmp_path, engine):
    data = people()
    expected = released(stored(tmp_path, "parquet", data), recipe(), "memory")[0]
    for name in ("region", "illness", "id"):
        data = data.set_column(data.column_names.index(name), name, data[name].cast(pa.string_view()))
    path = stored(tmp_path, "parquet", data)
    assert pa.parquet.read_schema(path).field("region").type == pa.string_view()
    assert released(path, recipe(), engine, 100)[0].to_pydict() == expected.to_pydict()


@pytest.mark.parametrize("engine", OTHERS)
@pytest.mark.parametrize("seed", [2**64 - 1, 2**70])
def test_large_seeds_where_measures_are_of_a_sample(tmp_path, monkeypatch, engine, seed):
    monkeypatch.setattr(tally, "MEASURED", 100)
    path = stored(tmp_path, "parquet", people())
    release = released(path, recipe(seed=seed, scenarios=APART), engine)[1]
    assert 0 < release._tally.sample().records < 260
    assert release.facts.output.records == 260


@pytest.mark.parametrize("engine", ENGINES)
def test_noise_beyond_all_numbers(tmp_path, engine):
    data = people()
    data = data.set_column(data.column_names.index("pay"), "pay", pa.array(np.repeat([-1e299, 1e299], 130)))
    path = stored(tmp_path, "parquet", data)
    with pytest.raises(CoterieError, match="With noise, the numbers of 'pay' must be below"):
        released(path, recipe(pay={"noise": 1e10}), engine)


@pytest.mark.parametrize("engine", OTHERS)
@pytest.mark.parametrize("kind", ["nominal", "boolean"])
@pytest.mark.parametrize("among_suppressed", [False, True])
def test_t_of_a_column_without_values(tmp_path, engine, kind, among_suppressed):
    """Every group is like the whole, where all is missing, whatever records have that are left out."""
    data = people()
    few = [region == "west" and among_suppressed for region in data["region"].to_pylist()]
    empty = pa.array(["yes" if has else None for has in few], pa.string())
    data = data.set_column(data.column_names.index("illness"), "illness", empty)
    suppressed = {"within": ["region"], "small": "suppress"}
    how = recipe(illness={"kind": kind, "t": 0.2}, strata=suppressed, k=2 + few.count(True) if among_suppressed else 3)
    path = stored(tmp_path, "parquet", data)
    expected, whole = released(path, how, "memory")
    assert expected["illness"].null_count == expected.num_rows
    assert whole.verdict.ok
    assert released(path, how, engine, 60)[0].equals(expected)


@pytest.mark.parametrize("engine", OTHERS)
def test_what_cannot_be_kept_is_refused_alike(tmp_path, engine):
    path = stored(tmp_path, "parquet", people())
    for more in (
        {"strata": ["region"]},
        {"illness": {"l": 5}},
        {"pay": {"t": 0.0001}, "strata": {"within": ["sex"], "small": "suppress"}},
    ):
        said = []
        for place in ("memory", engine):
            with pytest.raises(CoterieError) as caught:
                released(path, recipe(**more), place)
            said.append((type(caught.value), str(caught.value)))
        assert said[0] == said[1]


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_a_survey_does_not_depend_on_pieces_or_their_order(data):
    """Surveys of pieces, merged in any order, lead to the plan of the whole."""
    features = ["plain", "strata and missing values", "t of numbers", "noise", "weights", "units in merged strata"]
    feature = data.draw(st.sampled_from(features))
    more = FEATURES[feature]
    table, how = people(gaps=has_gaps(more)), recipe(**more)
    source = open_source(table)
    whole = source.engine("memory", rules_of(how))
    _, expected = planned(whole, how)
    cuts = sorted(data.draw(st.sets(st.integers(1, table.num_rows - 1), max_size=6)))
    surveys = []
    for a, b in zip([0, *cuts], [*cuts, table.num_rows], strict=True):
        records = next(whole.scan(needed_columns(how))).take(np.arange(a, b))
        surveys.append(Survey(how, 1))
        surveys[-1].add(records)
    merged = Survey(how, 1)
    for survey in data.draw(st.permutations(surveys)):
        merged.merge(survey)
    plan = make_plan(how, merged, whole.gather)
    assert plan.whole.scales == expected.whole.scales
    assert plan.whole.steps == expected.whole.steps
    assert plan.whole.digits == expected.whole.digits
    for name, often in expected.whole.overall.items():
        assert plan.whole.categories[name] == expected.whole.categories[name]
        np.testing.assert_array_equal(plan.whole.overall[name], often)
    for one, other in zip(plan.divisions, expected.divisions, strict=True):
        assert one.parts == other.parts
        assert one.cells.cells == other.cells.cells


def test_a_part_can_be_solved_elsewhere():
    """`solve` knows nothing but the records of a part and the plan, which can be sent."""
    how = recipe(illness={"l": 2}, strata={"within": ["sex"], "small": "merge"})
    engine = open_source(people()).engine("memory", rules_of(how))
    assert isinstance(engine, MemoryEngine)
    _, plan = planned(engine, how)
    division = plan.divisions[0]
    sent = pickle.loads(pickle.dumps(plan))
    records = next(engine.scan(needed_columns(how)))
    cell = division.cells.of(records, how)
    rows = np.flatnonzero(cell == 0)
    part = division.parts[0]._replace(records=len(rows))
    here = solve(records.take(rows), part, division, plan)
    there = solve(records.take(rows), part, sent.divisions[0], sent)
    np.testing.assert_array_equal(here.labels, there.labels)
    for name, values in here.centres.items():
        np.testing.assert_array_equal(values, there.centres[name])
