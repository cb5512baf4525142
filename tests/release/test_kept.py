"""Columns that are released unchanged: unique records are counted and told, columns of unique values warned of."""

from __future__ import annotations

import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

import coterie as ct
from command_files import save_recipe
from coterie.errors import PrivacyWarning
from coterie.release.replay import replay
from coterie.report import as_text, public, render_internal, render_public
from release_tables import recipe, sixty_people

ENGINES = ("memory", "duckdb")


def people(n=90, seed=0):
    """Whose visits are few, whose bills all differ, and of whose comments most are missing."""
    rng = np.random.default_rng(seed)
    comments = np.where(rng.random(n) < 0.1, [f"comment {i}" for i in range(n)], "")
    return pd.DataFrame(
        {
            "age": rng.integers(20, 60, n),
            "town": np.array(["Reus", "Valls", "Salou"])[rng.integers(0, 3, n)],
            "visits": rng.integers(0, 12, n),
            "bill": rng.normal(1000, 200, n).round(2),
            "comment": comments,
            "sex": np.array(["f", "m"])[rng.integers(0, 2, n)],
        }
    )


COLUMNS = {
    "age": {"role": "quasi", "kind": "integer"},
    "town": {"role": "quasi", "kind": "nominal"},
    "visits": {"role": "confidential", "kind": "integer"},
    "bill": {"role": "confidential", "kind": "numeric"},
    "comment": "other",
    "sex": "other",
}
RECIPE = {"k": 4, "seed": 3, "method": {"name": "mdav", "blocks": "auto"}, "columns": COLUMNS}


def once(rows):
    counts = Counter(rows)
    return sum(counts[row] == 1 for row in rows)


def saved(frame, how, engine, folder, suffix=".csv"):
    path = folder / f"in{suffix}"
    frame.to_csv(path, index=False) if suffix == ".csv" else frame.to_parquet(path)
    release = ct.protect(path, how, engine=engine)
    release.save(folder / engine)
    return release


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("engine", ENGINES)
def test_unique_records_are_counted_as_by_hand(engine, suffix, tmp_path):
    frame = people()
    release = saved(frame, RECIPE, engine, tmp_path, suffix)
    kept = release.measures.risk.kept
    assert kept.records == 90
    names = [name for name in COLUMNS if name not in ("age", "town")]
    assert [column.name for column in kept.columns] == names
    for column in kept.columns:
        values = (
            [v for v in frame[column.name].tolist() if v != ""] if suffix == ".csv" else frame[column.name].tolist()
        )
        values = [v for v in values if v != ""]  # blank is missing
        assert (column.present, column.different, column.once) == (len(values), len(set(values)), once(values))
    assert kept.unique == once(list(frame[names].itertuples(index=False, name=None)))
    few = {**RECIPE, "columns": {**COLUMNS, "bill": "identifier", "comment": "identifier"}}
    (tmp_path / "few").mkdir()
    kept = saved(frame, few, engine, tmp_path / "few", suffix).measures.risk.kept
    assert kept.unique == once(list(frame[["visits", "sex"]].itertuples(index=False, name=None))) < 90
    read = pd.read_csv if suffix == ".csv" else pd.read_parquet
    data = read(next((tmp_path / "few" / engine).glob("data.*")))
    assert kept.unique_with_masked == once(list(data.itertuples(index=False, name=None)))


@pytest.mark.parametrize("engine", ENGINES)
def test_a_kept_column_of_unique_values_is_warned_of_by_name(engine, tmp_path):
    with pytest.warns(PrivacyWarning, match="'bill', 'comment' differ") as caught:
        release = saved(people(), RECIPE, engine, tmp_path)
    (warning,) = [w for w in caught if "Nearly all" in str(w.message)]
    assert "'sex'" not in str(warning.message)
    assert "'visits'" not in str(warning.message)
    assert str(warning.message) in release.facts.notes
    internal = (tmp_path / engine / "internal.html").read_text()
    assert "Nearly all values of" in internal
    assert "Columns that are not masked" in internal


@pytest.mark.parametrize("engine", ENGINES)
def test_the_command_line_warns_and_counts(engine, tmp_path, run):
    people().to_csv(tmp_path / "in.csv", index=False)
    recipe_file = save_recipe(tmp_path / "in.toml", **RECIPE)
    code, _, err = run(
        "protect", tmp_path / "in.csv", "--recipe", recipe_file, "--engine", engine, "-o", tmp_path / "out"
    )
    assert code == 0
    assert "coterie: warning: Nearly all values of 'bill', 'comment' differ" in err
    assert "unmasked          90 of 90 records unique" in err


def test_where_values_repeat_nothing_is_warned_of():
    frame = people().drop(columns=["bill", "comment"])
    how = {**RECIPE, "columns": {n: rule for n, rule in COLUMNS.items() if n in frame}}
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        release = ct.protect(frame, how)
    assert not any("Nearly all" in note for note in release.facts.notes)
    assert "unchanged" in as_text(release.facts)


def test_replay_does_not_warn_again(tmp_path):
    release = saved(people(), RECIPE, "memory", tmp_path)
    assert release.verdict.ok
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyWarning)
        assert replay(tmp_path / "memory", tmp_path / "in.csv").same


def test_nothing_of_it_is_public(tmp_path):
    release = ct.protect(sixty_people(), recipe())
    release.save(tmp_path / "out")
    assert release.measures.risk.kept.unique == 60
    assert "kept" not in vars(public(release.facts).measures)
    page = render_public(release.facts)
    assert "Columns that are not masked" in render_internal(release.facts)
    assert "Columns that are not masked" not in page
    assert "Nearly all values" not in page
    assert "unique" not in (tmp_path / "out" / "verify.json").read_text()


def test_a_dry_run_part_by_part_and_no_kept_column_count_nothing(tmp_path):
    people().to_csv(tmp_path / "in.csv", index=False)
    release = ct.protect(tmp_path / "in.csv", RECIPE, engine="duckdb")
    release.rehearse()
    assert release.measures.risk.kept is None
    assert "unmasked  " not in as_text(release.facts)
    nothing = {n: rule if n in ("age", "town") else "identifier" for n, rule in COLUMNS.items()}
    assert ct.protect(people(), {**RECIPE, "unit": "none", "columns": nothing}).measures.risk.kept is None


def test_values_with_parts_are_not_counted():
    table = sixty_people().append_column("parts", pa.array([[i] for i in range(60)]))
    release = ct.protect(table, recipe(columns={"parts": "other"}))
    assert release.measures.risk.kept is None
    assert release.verdict.ok
