"""A bundle is made once more from its source, byte for byte, or what differs is said."""

from __future__ import annotations

import json
import os
import shutil
import stat

import numpy as np
import pyarrow as pa
import pytest

import coterie as ct
from bundles import MAKERS, RECIPE, coterie, forged, listing, people, written_people
from coterie.errors import CoterieError
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


@pytest.mark.parametrize("suffix", MAKERS)
def test_replayed_byte_for_byte(tmp_path, suffix):
    path = tmp_path / f"people{suffix}"
    MAKERS[suffix](people(), path)
    saved = protect(path, RECIPE).save(tmp_path / "out")
    assert ct.verify(saved).ok
    again = ct.replay(saved, path)
    assert again.same
    assert str(again) == "The data are the same, byte for byte."
    MAKERS[suffix](people().slice(1), path)
    other = ct.replay(saved, path)
    assert (other.same, other.differs) == (False, ("the input is a different file",))


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_labels_of_values_that_are_gone(tmp_path, suffix):
    """In a masked column, they would tell that somebody had them; elsewhere they stay."""
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = people().select(["age", "name"]).to_pandas().assign(town=[7] + [1, 2, 2] * 13, ill=[1, 3] * 20)
    labels = {"town": {1: "Reus", 2: "Valls", 7: "Tiny Hamlet"}, "ill": {1: "flu", 3: "gout", 9: "nobody had it"}}
    path = tmp_path / f"in{suffix}"
    getattr(pyreadstat, {".sav": "write_sav", ".dta": "write_dta"}[suffix])(
        frame, str(path), variable_value_labels=labels
    )
    town, age = ({"role": "quasi", "kind": kind} for kind in ("nominal", "integer"))
    roles = {"age": age, "name": "identifier", "town": town, "ill": {"role": "confidential", "kind": "nominal"}}
    saved = protect(path, {"k": 4, "seed": 1, "columns": roles}).save(tmp_path / "out")
    for file in saved.iterdir():
        assert b"Tiny Hamlet" not in file.read_bytes(), file.name
    _, about = getattr(pyreadstat, {".sav": "read_sav", ".dta": "read_dta"}[suffix])(str(saved / f"data{suffix}"))
    assert about.variable_value_labels == {"town": {1: "Reus", 2: "Valls"}, "ill": {1: "flu", 3: "gout"}}
    assert ct.verify(saved).ok
    assert ct.replay(saved, path).same


@pytest.mark.skipif(os.name == "nt", reason="locks of POSIX")
def test_what_a_killed_replay_leaves_is_removed_by_the_next(saved, source, tmp_path, monkeypatch):
    spare = tmp_path / "spare"
    spare.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(spare))
    kept = []

    def killed(*_, **__):
        (folder,) = spare.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "data.csv").write_text("x")
        shutil.copytree(folder, spare / f"{folder.name[:-8]}leftleft")
        os.utime(spare / f"{folder.name[:-8]}leftleft", (0, 0))
        kept.append(folder)
        raise CoterieError("Stopped.")

    with monkeypatch.context() as patch:
        patch.setattr("coterie.release.flow.opened", killed)
        with pytest.raises(CoterieError, match="Stopped"):
            ct.replay(saved, source)
    assert len(kept) == len(listing(spare)) == 1
    assert ct.replay(saved, source).same
    assert listing(spare) == []


@pytest.mark.parametrize("format", ["csv", "parquet", "feather"])
def test_tables_in_memory_are_replayed(tmp_path, format):
    saved = protect(people(), RECIPE).save(tmp_path / "out", format=format)
    assert ct.replay(saved, people()).same
    other = people().set_column(1, "age", pa.array(range(40)))
    assert ct.replay(saved, other).differs == ("the bytes of the data",)


def test_what_differs_is_said(saved, source):
    good = (saved / "recipe.toml").read_text()
    (saved / "recipe.toml").write_text(good.replace("seed = 1", "seed = 2"))
    assert ct.replay(saved, source).differs == ("the recipe was changed",)
    (saved / "recipe.toml").write_text(good)
    data = (saved / "data.csv").read_bytes()
    (saved / "data.csv").write_bytes(data[:-2] + b"9\n")
    assert ct.replay(saved, source).differs == ("the data file was changed since it was written",)
    (saved / "data.csv").write_bytes(data)
    manifest = json.loads((saved / "manifest.json").read_text())
    forged(saved, versions={**manifest["versions"], "numpy": "1.0"})
    again = ct.replay(saved, source)
    assert again.same
    assert again.differs == (f"numpy was 1.0, is {np.__version__}",)
    ran = coterie("replay", saved, "--input", source, "--json")
    assert (ran.returncode, json.loads(ran.stdout)["same"]) == (0, True)
