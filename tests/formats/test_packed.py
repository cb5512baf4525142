"""CSV files that are packed: read on every engine, never unpacked to disk, and no bomb goes off."""

from __future__ import annotations

import gzip
import io
import tempfile
import zipfile

import pytest

import coterie as ct
from coterie.formats import packed, read
from format_files import SECRET, refused, saved

N = 90
TEXT = "id;sex;age;note\n" + "".join(f"{i};{'mf'[i % 2]};{20 + i % 37};{'é' * (i % 3)}\n" for i in range(N))
RECIPE = {
    "k": 3,
    "seed": 1,
    "method": {"name": "mdav", "blocks": 30},
    "columns": {
        "id": "identifier",
        "sex": {"role": "quasi", "kind": "nominal"},
        "age": {"role": "quasi", "kind": "integer"},
        "note": "other",
    },
}


def zipped(*members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


FILES = {
    "people.csv.gz": lambda data: gzip.compress(data),
    "people.tsv.gz": lambda data: gzip.compress(data.replace(b";", b"\t")),
    "people.zip": lambda data: zipped(("folder/", b""), ("folder/people.csv", data), ("__MACOSX/._people.csv", b"x")),
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_the_same_release_as_of_the_file_unpacked(run, tmp_path, monkeypatch, name, engine):
    path = saved(tmp_path, FILES[name](TEXT.encode()), name)
    bare = saved(tmp_path, TEXT.encode().replace(b";", b"\t" if ".tsv" in name else b";"), "bare.csv")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    ct.protect(path, RECIPE, engine=engine, memory="1GB").save(tmp_path / "out")
    ct.protect(bare, RECIPE, engine=engine, memory="1GB").save(tmp_path / "bare")
    data = tmp_path / "out" / ("data.tsv" if ".tsv" in name else "data.csv")
    assert data.read_bytes() == (tmp_path / "bare" / "data.csv").read_bytes()
    assert ct.verify(tmp_path / "out").ok
    assert ct.replay(tmp_path / "out", path).same
    assert ct.draft_recipe(path) == ct.draft_recipe(bare)
    assert run("assess", path, "--quasi", "sex,age")[0] == 0
    assert not list((tmp_path / "tmp").iterdir())


def test_lines_of_a_packed_file_are_told(tmp_path):
    text = TEXT.replace("\n5;f;25;", f'\n"5\n";f;{SECRET};').encode()
    path = saved(tmp_path, gzip.compress(text), "people.csv.gz")
    with pytest.raises(ct.CoterieError, match=r"must hold numbers. Got: 1 that are none, in line 7\."):
        ct.protect(path, RECIPE)


REFUSED = {
    "two files": ("a.zip", zipped(("a.csv", b"x,y\n1,2\n"), ("b.csv", b"x\n")), "exactly one file. Got: 2 .*unpack"),
    "no file": ("a.zip", zipped(), "exactly one file. Got: 0"),
    "no text": ("a.zip", zipped(("a.xlsx", b"x")), "must contain a text file.*unpack it first"),
    "no zip": ("a.zip", b"PK" + SECRET.encode(), "cannot be read as a zip file"),
    "no gzip": ("a.csv.gz", b"\x1f\x8b" + SECRET.encode(), "cannot be (read|unpacked).*damaged"),
    "half of a gzip": ("a.csv.gz", gzip.compress(TEXT.encode())[:-20], "cannot be (read|unpacked).*damaged"),
    "no name": ("a.gz", gzip.compress(b"x"), "data.csv.gz"),
    "nothing": ("a.csv.gz", gzip.compress(b""), "must not be empty"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_packed_files_that_are_refused(tmp_path, case):
    name, data, match = REFUSED[case]
    path = saved(tmp_path, data, name)
    refused(read, path, match=match)
    refused(ct.draft_recipe, path, match=match)


@pytest.mark.parametrize("name", ["a.csv.gz", "a.zip"])
def test_a_bomb_is_refused_and_does_not_go_off(tmp_path, name, monkeypatch):
    monkeypatch.setattr(packed, "_SMALL", 1 << 20)
    data = b"x,y\n" + b"1,2\n" * (1 << 20)
    path = saved(tmp_path, gzip.compress(data) if name.endswith("gz") else zipped(("a.csv", data)), name)
    monkeypatch.setattr(packed, "_RATIO", 20)
    refused(read, path, match="more than 20 times its size.*unpack it first")
    refused(ct.draft_recipe, path, match="more than 20 times its size")


def test_a_packed_file_larger_than_memory_is_read_part_by_part(tmp_path):
    rows = "".join(f"{i};{'mf'[i % 2]};{20 + i % 37};x{i * 7919 % 13}\n" for i in range(40_000))
    path = saved(tmp_path, gzip.compress(("id;sex;age;note\n" + rows).encode()), "large.csv.gz")
    release = ct.protect(path, {**RECIPE, "method": {"name": "mdav", "blocks": 5000}}, memory="6MB", engine="memory")
    assert not release._source.fits
    ct.protect(path, {**RECIPE, "method": {"name": "mdav", "blocks": 5000}}, memory="600MB", engine="duckdb").save(
        tmp_path / "out"
    )
    assert ct.verify(tmp_path / "out").ok
