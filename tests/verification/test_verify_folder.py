"""A release in many Parquet files in one folder is checked as the same records in one file are."""

from __future__ import annotations

import os

import pyarrow as pa
import pytest
from pyarrow import parquet

import coterie as ct
from coterie.errors import CoterieError
from coterie.verification import Claims, Guard, Scenario, verify, verify_claims
from coterie.verification.uniqueness import uniqueness
from verified_files import MARKER, assert_silent

TABLE = pa.table(
    {
        "age": [30, 30, 30, 41, 41, None, None, 41, 30],
        "x": [0.0, -0.0, 0.0, 1.5, 1.5, 2.0, 2.0, 1.5, -0.0],
        "ill": ["a", "A", "b", "a", "ä", "a", "b", "c", None],
    }
)
CLAIMS = Claims((Scenario("all", ("age", "x"), 2),), guards=(Guard("ill", "nominal", l=2, t=0.3),))


def folder_of(path, table, files):
    """The records of a table in so many files, the last of which may be empty."""
    path.mkdir()
    each = -(-len(table) // max(1, files - 1))
    for j in range(files):
        parquet.write_table(table.slice(j * each, each), path / f"part-{j:05}.parquet")
    return path


@pytest.mark.parametrize("files", [1, 3, 10])
def test_a_folder_is_as_one_file(tmp_path, files):
    folder = folder_of(tmp_path / "data", TABLE, files)
    whole = verify_claims(TABLE, CLAIMS)
    assert verify_claims(folder, CLAIMS).facts() == whole.facts()
    assert verify_claims(str(folder), CLAIMS).facts() == whole.facts()
    assert verify(folder, ["age", "x"], 2).facts() == verify(TABLE, ["age", "x"], 2).facts()
    sets = {"both": ["age", "ill"], "all": TABLE.column_names}
    assert uniqueness(folder, ["age", "ill"], sets) == uniqueness(TABLE, ["age", "ill"], sets)


def test_a_folder_holds_parquet_files_alone(tmp_path):
    folder = folder_of(tmp_path / "data", TABLE, 3)
    for make, words in [
        (lambda path: path.with_name("_SUCCESS").touch(), "1 other entry"),
        (lambda path: path.with_name("more.parquet").mkdir(), "1 other entry"),
        (lambda path: path.with_name("link.parquet").symlink_to(path), "1 other entry"),
        (lambda path: os.mkfifo(path.with_name("pipe.parquet")), "1 other entry"),
    ]:
        before = set(folder.iterdir())
        make(folder / "part-00000.parquet")
        with pytest.raises(CoterieError, match=words):
            verify(folder, ["age"], 2)
        (new,) = set(folder.iterdir()) - before
        new.rmdir() if new.is_dir() else new.unlink()
    (tmp_path / "empty").mkdir()
    with pytest.raises(CoterieError, match="no files"):
        verify(tmp_path / "empty", ["age"], 2)
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(CoterieError, match="a link"):
        verify(tmp_path / "link", ["age"], 2)


def test_files_of_a_folder_are_alike(tmp_path):
    folder = folder_of(tmp_path / "data", TABLE, 3)
    for other in (TABLE.drop_columns(["ill"]), TABLE.cast(TABLE.schema.set(0, pa.field("age", pa.int32())))):
        parquet.write_table(other, folder / "part-00002.parquet")
        with pytest.raises(CoterieError, match="same columns") as error:
            verify(folder, ["age"], 2)
        assert error.value.__context__ is None
    (folder / "part-00002.parquet").write_bytes(MARKER.encode())
    with pytest.raises(CoterieError, match="'data' cannot be read as parquet") as error:
        verify(folder, ["age"], 2)
    assert_silent(error.value)


def test_columns_of_a_folder(tmp_path):
    folder = folder_of(tmp_path / "data", TABLE, 3)
    released = Claims(CLAIMS.scenarios, released=("age", "x"))
    with pytest.raises(CoterieError, match="1 more"):
        verify_claims(folder, released)
    with pytest.raises(CoterieError, match="no 'income'"):
        verify(folder, ["income"], 2)


def test_verify_takes_a_folder_without_a_manifest_where_something_is_claimed(tmp_path):
    folder = folder_of(tmp_path / "data", TABLE, 3)
    assert ct.verify(folder, ["age"], 2).facts() == verify(TABLE, ["age"], 2).facts()
    kinds = {"age": ("quasi", "integer"), "x": ("quasi", "numeric"), "ill": ("confidential", "nominal")}
    recipe = {"k": 2, "columns": {name: {"role": role, "kind": kind} for name, (role, kind) in kinds.items()}}
    assert ct.verify(str(folder), recipe=recipe).records == len(TABLE)
    with pytest.raises(CoterieError, match=r"must have a manifest\.json"):
        ct.verify(folder)
    (folder / "manifest.json").write_text("{}")
    with pytest.raises(CoterieError, match="already states"):
        ct.verify(folder, ["age"], 2)
    with pytest.raises(CoterieError, match=r"must have a manifest\.json"):
        ct.verify(folder)
