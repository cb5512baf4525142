"""The bundle on the disk: what is in it, and where it may go."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
from pathlib import Path

import pyarrow as pa
import pytest

import coterie as ct
from bundles import FILES, PUBLIC, RECIPE, listing, people, sha256, written_people
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


# What is there


def test_files(saved, tmp_path):
    assert listing(saved) == FILES
    assert listing(tmp_path) == ["out"]


@pytest.mark.parametrize(
    ("umask", "folder", "public"), [(0o022, 0o755, 0o644), (0o077, 0o700, 0o600), (0o002, 0o775, 0o664)]
)
def test_modes_follow_the_umask(release, tmp_path, umask, folder, public):
    old = os.umask(umask)
    try:
        saved = release.save(tmp_path / "out")
    finally:
        os.umask(old)
    assert stat.S_IMODE(saved.stat().st_mode) == folder
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in saved.iterdir()}
    assert modes == {name: public if name in PUBLIC else 0o600 for name in FILES}


def test_the_manifest_tells_the_truth(saved, source):
    manifest = json.loads((saved / "manifest.json").read_text())
    assert sorted([*manifest["files"], "manifest.json"]) == FILES
    for name, facts in manifest["files"].items():
        assert facts["sha256"] == sha256(saved / name)
        assert facts["bytes"] == (saved / name).stat().st_size
        assert facts["audience"] == ("public" if name in PUBLIC else "internal")
    assert manifest["input"] == {"name": "people.csv", "records": 40, "columns": 5, "sha256": sha256(source)}
    assert manifest["output"]["records"] == 40
    assert manifest["versions"]["pyarrow"] == pa.__version__
    text = (saved / "manifest.json").read_text()
    assert not any(value in text for value in ("Reus", "flu", "00017"))


def test_the_seed_is_internal(release, tmp_path):
    seeded = protect(people(), {**RECIPE, "seed": 7340981})
    saved = seeded.save(tmp_path / "out")
    assert "7340981" in (saved / "internal.html").read_text()
    for name in ("data.parquet", "report.html", "verify.json"):
        assert b"7340981" not in (saved / name).read_bytes()
    assert release.recipe.seed == 1


def test_the_seed_that_was_drawn_is_kept(tmp_path):
    drawn = protect(people(), {**RECIPE, "seed": None})
    saved = drawn.save(tmp_path / "out")
    assert ct.Recipe.load(saved / "recipe.toml").seed == drawn.recipe.seed is not None
    assert ct.replay(saved, people()).same


# Where it goes


def test_an_existing_bundle_is_replaced_by_force_only(release, saved, tmp_path):
    with pytest.raises(CoterieError, match="exists already"):
        release.save(saved)
    other = protect(people(), {**RECIPE, "k": 5})
    other.save(saved, force=True)
    assert "data.parquet" in listing(saved)
    assert "data.csv" not in listing(saved)
    assert ct.verify(saved).ok
    assert listing(tmp_path) == ["out"]


def test_an_empty_folder_is_replaced(release, tmp_path):
    (tmp_path / "out").mkdir()
    release.save(tmp_path / "out", force=True)
    assert listing(tmp_path / "out") == FILES


@pytest.mark.parametrize("name", ["thesis.tex", "manifest.json", "package/manifest.json", "bundle"])
def test_what_is_not_ours_is_never_replaced(release, saved, tmp_path, name):
    """A folder with files of another program, even one with a manifest.json, or a bundle with something else in it."""
    folder = saved if name == "bundle" else tmp_path / "theirs"
    mine = folder / ("notes.txt" if name == "bundle" else name)
    mine.parent.mkdir(exist_ok=True, parents=True)
    mine.write_text('{"name": "my extension", "files": {}, "output": {}, "format": {}, "input": {}, "names": []}')
    with pytest.raises(CoterieError, match="holds other files"):
        release.save(folder, force=True)
    assert mine.is_file()
    assert sorted(p.name for p in tmp_path.iterdir() if p.name.startswith(".")) == []


def test_files_links_and_missing_places(release, tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    release.save(tmp_path / "real")
    (tmp_path / "alias").symlink_to(tmp_path / "real")
    for name in ("file", "link", "alias"):
        with pytest.raises(CoterieError, match="not a folder"):
            release.save(tmp_path / name, force=True)
    for place in (tmp_path / "no" / "such", tmp_path / "file" / "out"):
        with pytest.raises(CoterieError, match="parent folder of the bundle must exist"):
            release.save(place)
    assert (tmp_path / "file").read_text() == "mine"
    assert listing(tmp_path) == ["alias", "file", "link", "real"]


def test_names_that_are_patterns(release, tmp_path):
    (tmp_path / "a").mkdir()
    for name in ("[a]*?", "ü ö", "-o", ".hidden"):
        assert ct.verify(release.save(tmp_path / name)).ok


@contextlib.contextmanager
def nobody(folder, release):
    """Be somebody who may not do everything; root may. All modules are loaded before: theirs may be out of reach."""
    folder.mkdir(parents=True, exist_ok=True)
    release.save(folder / "first")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if os.geteuid() == 0:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
        try:
            yield folder
        finally:
            os.seteuid(0)
    else:
        yield folder


@pytest.fixture
def open_folder():
    """A place that anybody may enter, which pytest's is not."""
    folder = Path(f"/tmp/coterie-test-{os.getpid()}")
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.skipif(os.name == "nt", reason="rights of POSIX")
def test_no_permission(release, open_folder):
    with nobody(open_folder, release) as folder:
        (folder / "locked").mkdir(mode=0o500)
        (folder / "closed").mkdir(mode=0o000)
        (folder / "in.csv").write_text("a\n1\n2\n3\n")
        (folder / "in.csv").chmod(0)
        for place in ("locked", "closed"):
            with pytest.raises(CoterieError, match="must be writable"):
                release.save(folder / place / "out")
        with pytest.raises(CoterieError, match="Permission denied"):
            protect(folder / "in.csv", {"k": 2, "columns": {"a": {"role": "quasi", "kind": "integer"}}})
        for name in ("locked", "closed"):
            (folder / name).chmod(0o700)
            assert listing(folder / name) == []


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="needs two users")
def test_remains_of_somebody_else_are_no_obstacle(release, open_folder):
    with nobody(open_folder, release) as folder:
        folder.chmod(0o777)
        left = folder / ".out.abcdefgh.part"
    left.mkdir(mode=0o700)
    with nobody(open_folder / "x", release):
        release.save(open_folder / "out")
    assert left.is_dir()
    assert listing(open_folder / "out") == FILES


def test_a_file_that_changes_while_it_is_read(source, tmp_path, monkeypatch):
    from coterie.release import source as sources

    path = shutil.copy(source, tmp_path / "people.csv")
    real = sources.read_file

    def meanwhile(*args):
        read = real(*args)
        with open(path, "a", encoding="utf-8") as file:
            file.write("late,1,Reus,flu,1\n")
        return read

    monkeypatch.setattr(sources, "read_file", meanwhile)
    with pytest.raises(CoterieError, match="must not change while it is read"):
        protect(path, RECIPE)
