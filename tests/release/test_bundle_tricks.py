"""Bundles that hold more, less or something else than they say: names that systems use, links, flags, NULs."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pytest

import coterie as ct
from bundles import MAKERS, RECIPE, coterie, forged, people, written_people
from coterie.errors import CoterieError, PromiseError
from coterie.formats import streams

ENGINES = ["memory", "duckdb"]


@pytest.fixture
def source(tmp_path):
    return written_people(tmp_path)


@pytest.fixture
def saved(source, tmp_path):
    ct.protect(source, RECIPE).save(tmp_path / "out")
    return tmp_path / "out"


@pytest.mark.parametrize("name", [".DS_Store", "Thumbs.db", "desktop.ini"])
@pytest.mark.parametrize("where", ["file", "folder", "link"])
def test_no_name_is_let_pass(source, saved, name, where):
    """Seen: the original under a name that systems use."""
    if where == "file":
        shutil.copy(source, saved / name)
    elif where == "link":
        (saved / name).symlink_to(source)
    else:
        (saved / name).mkdir()
        shutil.copy(source, saved / name / "people.csv")
    with pytest.raises(PromiseError, match=name.replace(".", r"\.")):
        ct.verify(saved)
    ran = coterie("verify", saved)
    assert ran.returncode == 3
    assert "delete files that the system creates" in ran.stderr


@pytest.mark.parametrize("name", ["data.csv", "manifest.json", "recipe.toml", "report.html", "verify.json"])
def test_links_instead_of_files_are_refused(source, saved, tmp_path, name):
    """The bytes are right here and now; where the bundle is copied to, or a day later, they may be others."""
    shutil.move(saved / name, tmp_path / "elsewhere")
    (saved / name).symlink_to(tmp_path / "elsewhere")
    for use in (lambda: ct.verify(saved), lambda: ct.replay(saved, source)):
        with pytest.raises(PromiseError, match="lead elsewhere"):
            use()
    with pytest.raises(CoterieError, match="holds other files"):
        ct.protect(source, RECIPE).save(saved, force=True)
    assert (tmp_path / "elsewhere").exists()


def test_a_link_to_a_bundle_is_a_way_to_it(saved, tmp_path):
    (tmp_path / "link").symlink_to(saved)
    assert ct.verify(tmp_path / "link").ok


@pytest.mark.parametrize("said", [False, None, "true", 1])
def test_a_bundle_that_says_it_was_not_checked(saved, said):
    forged(saved, verified=said)
    with pytest.raises(PromiseError, match="must have passed its check"):
        ct.verify(saved)
    assert coterie("verify", saved).returncode == 3


# A NUL in a column that is not masked


def with_nul(place):
    table = people()
    if place == "name":
        return table.rename_columns([*table.column_names[:-1], "no\0te"])
    return table.set_column(4, "note", pa.array(["a\0b" if i == 7 else f"{i:05d}" for i in range(len(table))]))


def recipe_for(place):
    roles = {("no\0te" if n == "note" and place == "name" else n): r for n, r in RECIPE["columns"].items()}
    return {**RECIPE, "columns": roles}


@pytest.mark.parametrize("place", ["value", "name"])
@pytest.mark.parametrize("frame", [lambda t: t, pa.Table.to_pandas], ids=["arrow", "pandas"])
def test_a_nul_is_not_written_as_csv(tmp_path, place, frame):
    release = ct.protect(frame(with_nul(place)), recipe_for(place))
    with pytest.raises(CoterieError, match="cannot contain NUL") as told:
        release.save(tmp_path / "out", format="csv")
    assert "a\0b" not in str(told.value)
    assert "'note'" in str(told.value) or r"'no\x00te'" in str(told.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("far", [False, True])
def test_a_nul_in_a_csv_file_is_refused(tmp_path, monkeypatch, engine, far):
    """Also where only the beginning is looked at before."""
    if far:
        monkeypatch.setattr(streams, "_HEAD", 200)
    path = tmp_path / "in.csv"
    MAKERS[".csv"](with_nul("value"), path)
    with pytest.raises(CoterieError) as told:
        ct.protect(path, RECIPE, engine=engine).save(tmp_path / "out")
    assert "NUL" in str(told.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("engine", ENGINES)
def test_parquet_holds_a_nul_as_any_other_sign(tmp_path, engine):
    path = tmp_path / "in.parquet"
    MAKERS[".parquet"](with_nul("value"), path)
    ct.protect(path, RECIPE, engine=engine).save(tmp_path / "out")
    assert "a\0b" in pd.read_parquet(tmp_path / "out" / "data.parquet")["note"].tolist()
    assert ct.verify(tmp_path / "out").ok
    assert ct.replay(tmp_path / "out", path).same


# The input changes while it is read


def replaced(path, way):
    """Another file of the same size, with as many records."""
    before, new = path.stat(), path.read_bytes().replace(b"Reus", b"Rota")
    assert new != path.read_bytes()
    if way == "written over":
        path.write_bytes(new)
    else:
        other = path.with_suffix(".new")
        other.write_bytes(new)
        os.replace(other, path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


WAYS = ["written over", "replaced"]


@pytest.mark.parametrize("way", WAYS)
def test_a_file_that_changes_while_it_is_read_whole(source, monkeypatch, way):
    from coterie.release import source as sources

    real = sources.read_file

    def meanwhile(*args):
        replaced(source, way)
        return real(*args)

    monkeypatch.setattr(sources, "read_file", meanwhile)
    monkeypatch.setattr(sources, "_state_of", lambda _: None)  # as on a file system that tells nothing
    with pytest.raises(CoterieError, match="must not change while it is read"):
        ct.protect(source, RECIPE)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("when", ["scan", "chunks"])
def test_a_file_that_changes_while_it_is_read_part_by_part(source, tmp_path, monkeypatch, way, when):
    from coterie.engines.duckdb import DuckDBEngine

    real, done = getattr(DuckDBEngine, when), []

    def meanwhile(*args):
        if not done:
            done.append(replaced(source, way))
        return real(*args)

    monkeypatch.setattr(DuckDBEngine, when, meanwhile)
    with pytest.raises(CoterieError, match="must not change while it is read"):
        ct.protect(source, RECIPE, engine="duckdb").save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("what", ["assess", "compare", "draft"])
def test_so_do_looks_at_it(tmp_path, monkeypatch, what):
    from coterie.engines.duckdb import DuckDBEngine

    rng = np.random.default_rng(0)
    path = tmp_path / "big.csv"
    pa.csv.write_csv(pa.table({"a": rng.integers(0, 9, 40_000), "b": ["Reus", "Vals"] * 20_000}), path)
    source = ct.open_source(path, memory=1 << 20 if what == "draft" else None)
    source.memory = 1 << 30
    real, done = DuckDBEngine.scan, []

    def meanwhile(*args):
        if not done:
            done.append(replaced(path, "replaced"))
        return real(*args)

    monkeypatch.setattr(DuckDBEngine, "scan", meanwhile)
    roles = {"a": {"role": "quasi", "kind": "integer"}, "b": {"role": "quasi", "kind": "nominal"}}
    use = {
        "assess": lambda: ct.assess(source, {"k": 3, "columns": roles}, engine="duckdb"),
        "compare": lambda: ct.compare(source, [3], ["mdav"], recipe={"k": 3, "columns": roles}, engine="duckdb"),
        "draft": lambda: ct.draft_recipe(source),
    }
    if what == "draft":
        source.__dict__["fits"] = False
    with pytest.raises(CoterieError, match="must not change while it is read"):
        use[what]()
