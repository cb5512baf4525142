"""What is checked on a bundle afterwards: every byte, the manifest, the columns, and the count itself."""

from __future__ import annotations

import json
import random

import pyarrow as pa
import pytest

import coterie as ct
from bundles import FILES, MAKERS, RECIPE, coterie, forged, listing, people, written_people
from coterie.errors import CoterieError, PromiseError
from coterie.formats import write
from coterie.release import bundle
from coterie.release.flow import protect


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    return written_people(tmp_path_factory.mktemp("in"))


@pytest.fixture(scope="module")
def release(source):
    return protect(source, RECIPE)


@pytest.fixture
def saved(release, tmp_path):
    return release.save(tmp_path / "out")


@pytest.mark.parametrize("name", FILES)
def test_any_byte_that_changes_is_found(saved, name):
    path = saved / name
    good = path.read_bytes()
    rng = random.Random(name)
    for at in {0, len(good) - 1, *(rng.randrange(len(good)) for _ in range(6))}:
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        with pytest.raises(CoterieError):
            ct.verify(saved)
    path.write_bytes(good + b"\n")
    with pytest.raises(CoterieError):
        ct.verify(saved)
    path.unlink()
    with pytest.raises(CoterieError):
        ct.verify(saved)
    path.write_bytes(good)
    assert ct.verify(saved).ok


def test_a_forger_does_not_deceive_the_count(saved):
    text = (saved / "data.csv").read_text().splitlines()
    first = text[1].split(",")
    (saved / "data.csv").write_text("\n".join([text[0], ",".join(["19", *first[1:]]), *text[2:], ""]))
    forged(saved)
    verdict = ct.verify(saved)
    assert not verdict.ok
    ran = coterie("verify", saved)
    assert ran.returncode == 3
    assert "19" not in ran.stderr.replace("1 of", "")


def test_a_verdict_that_was_forged(saved):
    facts = json.loads((saved / "verify.json").read_text())
    facts["checks"][0]["found"] = 99
    (saved / "verify.json").write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n")
    forged(saved)
    with pytest.raises(PromiseError, match=r"verify\.json"):
        ct.verify(saved)


@pytest.mark.parametrize("way", ["one more", "one less", "one twice"])
def test_other_columns_than_the_recipe_releases(saved, way):
    """An identifier that comes along breaks no class, and gives everybody away."""
    rows = [line.split(",") for line in (saved / "data.csv").read_text().splitlines()]
    names = rows[0]
    assert names[-1] not in ("age", "town")
    more = [["name" if way == "one more" else names[-1]], *([f"Secret{i}"] for i in range(1, len(rows)))]
    rows = [row[:-1] if way == "one less" else row + extra for row, extra in zip(rows, more, strict=True)]
    (saved / "data.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    forged(saved)
    with pytest.raises(PromiseError, match="columns that are to be released") as caught:
        ct.verify(saved)
    assert "Secret" not in str(caught.value)


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".sav", ".dta", ".xpt"])
def test_a_writer_that_lets_a_column_slip_in(tmp_path, monkeypatch, suffix):
    pytest.importorskip("pyreadstat")
    path = tmp_path / f"in{suffix}"
    MAKERS[suffix](people(), path)

    def broken(table, format, path):
        write(table.append_column("more", pa.array([f"Secret{i}" for i in range(len(table))])), format, path)

    monkeypatch.setattr(bundle, "write_file", broken)
    with pytest.raises(PromiseError, match="1 more"):
        protect(path, RECIPE).save(tmp_path / "out")
    assert listing(tmp_path) == [path.name]


def test_a_file_beside_those_of_the_manifest(saved):
    (saved / "originals.csv").write_text("x\n1\n")
    with pytest.raises(PromiseError, match=r"'originals\.csv'"):
        ct.verify(saved)
    assert coterie("verify", saved).returncode == 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{",
        "null",
        '{"coterie": "0.1.0"}',
        '{"files": [], "output": {}, "format": {}, "input": {}}',
        "[" * 9999,
    ],
)
def test_manifests_that_are_none(saved, text):
    (saved / "manifest.json").write_text(text)
    for use in (lambda: ct.verify(saved), lambda: ct.replay(saved, people())):
        with pytest.raises(CoterieError, match="manifest"):
            use()


def test_a_manifest_that_leads_elsewhere(saved, tmp_path):
    (tmp_path / "other.csv").write_text("x\n1\n")
    manifest = json.loads((saved / "manifest.json").read_text())
    files = {**manifest["files"], "../other.csv": manifest["files"]["data.csv"]}
    (saved / "manifest.json").write_text(json.dumps({**manifest, "files": files}))
    with pytest.raises(CoterieError, match="manifest"):
        ct.verify(saved)
