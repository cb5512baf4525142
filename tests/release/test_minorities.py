"""Where one category stands for a group, minorities shrink: the custodian is told, with counts from all records."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import coterie as ct
from coterie.facts.release_facts import ShrunkFacts
from coterie.release.minorities import CategoryCounts, told_of_minorities

NUMBERS = ("age", "pay", "rent", "debt")


def table(n=418, men=44):
    rng = np.random.default_rng(8)
    sex = np.array(["secret-man"] * men + ["secret-woman"] * (n - men))
    rng.shuffle(sex)
    return pa.table({"sex": sex.tolist(), **{name: rng.normal(size=n).tolist() for name in NUMBERS}})


def recipe(**more):
    columns = {"sex": {"role": "quasi", "kind": "nominal"}}
    columns |= {name: {"role": "quasi", "kind": "numeric"} for name in NUMBERS}
    return {"k": 8, "seed": 1, "method": "mdav", "shuffle": False, "columns": columns} | more


def counts(data):
    return data["sex"].to_pylist().count("secret-man")


def test_what_shrinks_is_told_without_names(tmp_path):
    release = ct.protect(table(), recipe())
    men = counts(release.data)
    assert men < 0.9 * 44
    assert release.facts.shrunk == (ShrunkFacts("sex", 2, 1, 0, 44, men),)
    (note,) = [note for note in release.facts.notes if "Small categories shrink" in note]
    assert f"1 of 2 categories of 'sex' (the one that lost most records kept {100 * men / 44:.0f} %)" in note
    assert "importance" in note
    assert "stratum" in note
    assert note in str(release)
    assert "secret" not in str(release)
    release.save(tmp_path / "bundle")
    assert "Small categories shrink" in (tmp_path / "bundle" / "internal.html").read_text(encoding="utf-8")
    public = (tmp_path / "bundle" / "report.html").read_text(encoding="utf-8")
    assert "Small categories shrink" not in public
    assert "lost most records" not in public


@pytest.mark.parametrize("remedy", ["importance", "strata"])
def test_the_remedies_help(remedy):
    how = recipe() if remedy == "importance" else recipe(strata=["sex"])
    if remedy == "importance":
        how["columns"]["sex"] = {**how["columns"]["sex"], "importance": 50}
    release = ct.protect(table(), how)
    assert counts(release.data) >= 40
    assert release.facts.shrunk == ()
    assert not any("Small categories shrink" in note for note in release.facts.notes)


def test_the_same_from_a_file_part_by_part(tmp_path):
    """Counts are of all records, not of the sample that measures are taken from; a boolean column counts as well."""
    data = table(900, 90).append_column("well", [[i % 9 > 0 for i in range(900)]])
    pa.csv.write_csv(data, tmp_path / "in.csv")
    how = recipe(method={"name": "mdav", "blocks": 200})
    how["columns"]["well"] = {"role": "quasi", "kind": "boolean"}
    whole = ct.protect(tmp_path / "in.csv", how)
    parts = ct.protect(tmp_path / "in.csv", how, engine="duckdb", memory="2GB")
    parts.rehearse()
    assert [one.column for one in whole.facts.shrunk] == ["sex", "well"]
    assert parts.facts.shrunk == whole.facts.shrunk


def test_a_tenth_is_not_more_than_a_tenth():
    found = CategoryCounts()
    found.counts = {
        "kept": np.array([[10, 20, 0], [9, 21, 0]]),  # 9 is not below 9
        "less": np.array([[100, 20, 30], [89, 0, 61]]),  # 89 < 90; 20 to 0 loses more records than 100 to 89
    }
    assert found.shrunk() == (ShrunkFacts("less", 3, 2, 1, 20, 0),)
    assert (
        "2 of 3 categories of 'less' (1 gone, the one that lost most records kept 0 %)"
        in told_of_minorities(found.shrunk())[0]
    )


def test_many_columns_make_one_sentence():
    (words,) = told_of_minorities([ShrunkFacts(f"c{i}", 4, 1, 0, 50, 20) for i in range(9)])
    assert "'c4'" in words
    assert "'c5'" not in words
    assert "and so in 4 more columns" in words
