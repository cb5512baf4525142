"""Risk in the population, from a recipe, Python and the command line; in assess, and before and after in a release."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv

import coterie as ct
from coterie.errors import CoterieError
from coterie.recipe import RecipeError

COLUMNS = {
    "age": {"role": "quasi", "kind": "integer"},
    "region": {"role": "quasi", "kind": "nominal"},
    "w": {"role": "other"},
}


def survey(n=600, seed=0):
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(18, 60, n),
            "region": rng.choice(list("abcd"), n, p=[0.6, 0.25, 0.1, 0.05]),
            "w": np.round(rng.lognormal(3, 0.5, n), 3) + 1,
        }
    )


def recipe(**more):
    return {"k": 4, "seed": 1, "columns": COLUMNS, **more}


def test_before_and_after_with_a_fraction():
    table = survey()
    release = ct.protect(table, recipe(population={"fraction": 0.1}))
    (scenario,) = release.measures.risk.scenarios
    before, after = scenario.population_before, scenario.population_after
    assert (before.known_by, before.sampling_fraction, before.threshold) == ("fraction", 0.1, 0.25)
    assert before.population_size == pytest.approx(6000)
    assert before.prosecutor.records_at_risk == scenario.before.below_k > 0
    assert before.journalist.largest_risk == pytest.approx(0.1 * scenario.before.largest_risk)
    assert before.k_map.smallest == pytest.approx(10 * scenario.before.smallest)
    assert before.uniques.selected == "pitman"
    assert after.prosecutor.records_at_risk == 0
    assert after.prosecutor.largest_risk <= 0.25
    assert after.individual.expected_reidentifications < before.individual.expected_reidentifications
    assert (after.uniques.records, after.uniques.pitman.records) == (0.0, None)
    assessed = ct.assess(table, recipe(population={"fraction": 0.1})).scenarios[0].population
    assert assessed == before


def test_before_and_after_with_weights():
    table = survey()
    release = ct.protect(table, recipe(weights="w"))
    (scenario,) = release.measures.risk.scenarios
    before = scenario.population_before
    total = float(np.sum(table["w"].to_numpy()))
    assert before.known_by == "weights"
    assert before.population_size == pytest.approx(total)
    assert before.sampling_fraction == pytest.approx(600 / total)
    # the least sum of weights in a class, by pandas
    sums = table.to_pandas().groupby(["age", "region"]).w.sum()
    assert before.k_map.smallest == pytest.approx(sums.min())
    assert before.journalist.largest_risk == pytest.approx(1 / sums.min())
    by_name = ct.assess(table, quasi=["age", "region"], k=4, kind={"age": "integer"}, weights="w")
    assert by_name.scenarios[0].population.k_map == before.k_map
    masked = ct.assess(release.data, recipe(weights="w")).scenarios[0].population
    assert masked.k_map.smallest == pytest.approx(scenario.population_after.k_map.smallest)
    assert masked.uniques == scenario.population_after.uniques


def test_without_a_population_nothing_is_said():
    assert ct.assess(survey(), recipe()).scenarios[0].population is None
    (scenario,) = ct.protect(survey(), recipe()).measures.risk.scenarios
    assert (scenario.population_before, scenario.population_after) == (None, None)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"population": {}}, "neither"),
        ({"population": {"fraction": 0.0}}, "above 0 and below 1"),
        ({"population": {"fraction": 1.0}}, "above 0 and below 1"),
        ({"population": {"fraction": float("nan")}}, "above 0 and below 1"),
        ({"population": {"fraction": "0.1"}}, "above 0 and below 1"),
        ({"population": {"size": 0}}, "between 1 and"),
        ({"population": {"size": 10**400}}, "between 1 and"),
        ({"population": {"size": 1e6}}, "whole number"),
        ({"population": {"size": True}}, "whole number"),
        ({"population": {"share": 0.1}}, "not a recipe option"),
        ({"population": 0.1}, "section"),
        ({"population": {"fraction": 0.1, "size": 10_000}}, "only once"),
        ({"population": {"fraction": 0.1}, "weights": "w"}, "leave [population] out"),
        ({"population": {"fraction": 0.1}, "unit": "w"}, "drawn independently"),
    ],
)
def test_what_contradicts_is_refused(said, words):
    with pytest.raises(RecipeError) as error:
        ct.Recipe(**recipe(**said))
    assert words in str(error.value)
    assert len(error.value.mistakes) == 1


@pytest.mark.parametrize("size", [1, 599, 600])
def test_a_population_no_larger_than_the_table_is_refused(size):
    for run in (ct.assess, ct.protect):
        with pytest.raises(CoterieError, match="larger than the table"):
            run(survey(), recipe(population={"size": size}))
    with pytest.raises(CoterieError, match="at most 1e"):
        ct.assess(survey(), recipe(population={"fraction": 1e-300}))
    found = ct.assess(survey(), recipe(population={"size": 601})).scenarios[0].population
    assert found.sampling_fraction == pytest.approx(600 / 601)
    assert 0 <= found.uniques.records <= 601


def test_weights_that_say_nothing_of_a_population():
    table = survey()
    scaled = table.set_column(2, "w", pa.array(table["w"].to_numpy() / np.mean(table["w"].to_numpy()) * 0.999))
    assessed = ct.assess(scaled, recipe(weights="w"))
    assert assessed.scenarios[0].population is None
    assert "does not exceed the number of records" in assessed.notes[0]
    assert "does not exceed the number of records" in str(assessed)
    release = ct.protect(scaled, recipe(weights="w"))
    assert any("does not exceed the number of records" in note for note in release.facts.notes)
    vast = table.set_column(2, "w", pa.array([1e299] * 600))
    assert "more than 1e" in ct.assess(vast, recipe(weights="w")).notes[0]
    people = table.append_column("person", pa.array([str(i) for i in range(600)]))
    columns = {**COLUMNS, "person": {"role": "identifier"}}
    by_unit = ct.assess(people, {"k": 4, "columns": columns, "weights": "w", "unit": "person"})
    assert by_unit.scenarios[0].population is None
    assert "unit" in by_unit.notes[0]


def test_a_note_where_many_are_unique_in_the_population():
    rng = np.random.default_rng(2)
    table = pa.table({"age": rng.integers(0, 10**6, 300), "region": ["a"] * 150 + ["b"] * 150, "w": [2.0] * 300})
    assessed = ct.assess(table, recipe(population={"fraction": 0.5}))
    assert assessed.scenarios[0].population.uniques.share > 0.5
    assert "marketer are then far too low, and the classes of k-map far too large" in assessed.notes[0]
    assert any("far too low" in note for note in ct.protect(table, recipe(population={"fraction": 0.5})).facts.notes)


def test_reports_and_bundle(tmp_path):
    release = ct.protect(survey(), recipe(population={"size": 9000}))
    release.save(tmp_path / "out")
    internal = (tmp_path / "out" / "internal.html").read_text()
    public = (tmp_path / "out" / "report.html").read_text()
    assert "In the population" in internal
    assert "Journalist: largest risk" in internal
    assert "9,000 records" in internal
    for word in ("ournalist", "In the population", "Pitman"):
        assert word not in public
    assert "\npopulation        " in str(release)
    assert ct.Recipe.load(tmp_path / "out" / "recipe.toml").population.size == 9000


def test_larger_than_memory(tmp_path):
    pq.write_table(survey(3000), tmp_path / "survey.parquet")
    for said in ({"population": {"fraction": 0.02}}, {"weights": "w"}):
        there = ct.assess(tmp_path / "survey.parquet", recipe(**said), engine="memory")
        parts = ct.assess(tmp_path / "survey.parquet", recipe(**said), engine="duckdb")
        assert parts == there
        with_blocks = recipe(**said, method={"blocks": 500})
        release = ct.protect(tmp_path / "survey.parquet", with_blocks, engine="duckdb")
        release.rehearse()
        here = ct.protect(tmp_path / "survey.parquet", with_blocks, engine="memory")
        one, other = release.measures.risk.scenarios[0], here.measures.risk.scenarios[0]
        assert one.population_before.k_map == other.population_before.k_map
        assert one.population_after.prosecutor == other.population_after.prosecutor
        assert one.population_after.k_map.smallest == pytest.approx(other.population_after.k_map.smallest)


def test_on_a_sample_of_the_groups_before_is_not_known(tmp_path, monkeypatch):
    monkeypatch.setattr("coterie.release.tally.MEASURED", 1000)
    pq.write_table(survey(3000), tmp_path / "survey.parquet")
    release = ct.protect(tmp_path / "survey.parquet", recipe(population={"fraction": 0.02}), engine="duckdb")
    release.rehearse()
    (scenario,) = release.measures.risk.scenarios
    assert release.facts.output.measured < 3000
    assert scenario.population_before is None
    assert scenario.population_after.population_size == pytest.approx(150_000)
    assert scenario.population_after.prosecutor.records_at_risk == 0
    assert any("coterie assess uses all" in note for note in release.facts.notes)


QUASI = ["--quasi", "age,region", "-k", 4]


@pytest.fixture
def file(tmp_path):
    csv.write_csv(survey(), tmp_path / "survey.csv")
    return tmp_path / "survey.csv"


@pytest.mark.parametrize(
    ("said", "known"),
    [
        (["--population-fraction", 0.1], "fraction"),
        (["--population-size", 6000], "size"),
        (["--weights", "w"], "weights"),
    ],
)
def test_the_command_line(run, file, said, known):
    code, out, _ = run("assess", file, *QUASI, *said, "--json")
    assert code == 0
    (scenario,) = json.loads(out)["scenarios"]
    assert scenario["population"]["known_by"] == known
    code, _, err = run("assess", file, *QUASI, *said)
    assert code == 0
    for word in ("prosecutor", "journalist", "marketer", "individual", "k-map", "uniques"):
        assert word in err


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (["--population-fraction", 1.2], "above 0 and below 1"),
        (["--population-fraction", "x"], "--population-fraction"),
        (["--population-size", 10], "larger than the table"),
        (["--population-size", 6000, "--population-fraction", 0.1], "only once"),
        (["--population-size", 6000, "--weights", "w"], "leave [population] out"),
        (["--population-fraction", 0.1, "--unit", "w"], "drawn independently"),
        (["--weights", "v"], "must be a column"),
        (["--weights", "age"], "not masked"),
    ],
)
def test_wrong_options_of_the_command_line(run, file, said, words):
    code, out, err = run("assess", file, *QUASI, *said)
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())


def test_a_recipe_says_the_population_alone(run, file, tmp_path):
    (tmp_path / "r.toml").write_text(ct.Recipe(**recipe()).dumps())
    code, _, err = run("assess", file, "--recipe", tmp_path / "r.toml", "--population-size", 6000)
    assert code == 2
    assert "cannot be combined with --population-fraction or --population-size" in err


def test_weights_that_are_wrong():
    table = survey()
    for wrong in ([0.0], [-1.0], [None]):
        weights = pa.array([*wrong, *table["w"].to_pylist()[1:]], pa.float64())
        with pytest.raises(CoterieError, match="above 0"):
            ct.assess(table.set_column(2, "w", weights), recipe(weights="w"))
