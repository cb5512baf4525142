"""The bundle is there whole or not at all, whoever kills the run, fills the disk or breaks the data."""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import stat
import subprocess
import sys

import pyarrow as pa
import pytest

import coterie as ct
from bundles import FILES, PUBLIC, RECIPE, coterie, killed, listing, sha256, written_people
from coterie.errors import CoterieError, PromiseError
from coterie.formats import write
from coterie.release import bundle
from coterie.release import place as placing
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


# Killed, at any moment


@pytest.mark.slow
@pytest.mark.parametrize("kills", [4, pytest.param(14, marks=pytest.mark.campaign)])
@pytest.mark.parametrize("force", [False, True], ids=["new", "replaced"])
def test_killed_at_random_moments(source, tmp_path, force, kills):
    folder, kept = tmp_path / "out", source.parent / "kept"
    old = None
    if force:
        protect(source, {**RECIPE, "k": 4}).save(kept)
        shutil.copytree(kept, folder)
        old = sha256(folder / "data.csv")
    words, usual = killed(source, folder, force)
    assert words == ["started", "protected", "done"]
    new = sha256(folder / "data.csv")
    random_, seen = random.Random(5), {"none": 0, "old": 0, "new": 0}
    for i in range(kills):
        shutil.rmtree(folder, ignore_errors=True)
        if force:
            shutil.copytree(kept, folder)
        if i % 7 == 0:
            killed(source, folder, force, "started", random_.random())
        else:  # most of them towards the end, where the folder is moved
            moment = random_.random() if i % 2 else 0.8 + 0.3 * random_.random()
            killed(source, folder, force, "protected", usual * moment)
        if not folder.exists():
            seen["none"] += 1
            assert not force  # what was there before is there, or the new one is
        else:
            assert ct.verify(folder).ok
            digest = sha256(folder / "data.csv")
            seen["new" if digest == new else "old"] += 1
            assert digest in (new, old)
            assert listing(folder) == FILES
        for left in tmp_path.glob(".*"):
            closed = stat.S_IMODE(left.stat().st_mode) == 0o700
            internal = [path for path in left.iterdir() if path.name not in PUBLIC]
            assert closed or all(stat.S_IMODE(path.stat().st_mode) == 0o600 for path in internal)
    if folder.exists() and not force:
        shutil.rmtree(folder)
    words, _ = killed(source, folder, force)
    assert words == ["started", "protected", "done"]
    assert ct.verify(folder).ok
    assert listing(tmp_path) == ["out"]  # the next run clears the remains
    assert seen["none" if not force else "old"] >= max(1, kills // 7)


def test_a_run_leaves_another_run_alone(release, tmp_path):
    """What is being written by another run is no remain of a killed one; what merely has a similar name neither."""
    theirs = tmp_path / ".out.mine.part"
    theirs.mkdir()
    with placing.staging(tmp_path / "out") as stage:
        (stage / "data.csv").write_text("theirs")
        release.save(tmp_path / "out")
        assert (stage / "data.csv").read_text() == "theirs"
    assert listing(tmp_path) == [".out.mine.part", "out"]


@pytest.mark.parametrize("moment", ["before", "between"])
def test_without_a_way_to_exchange_folders(release, saved, tmp_path, monkeypatch, moment):
    """Where the system cannot exchange two folders, a failure between two renames brings the old one back."""
    old = sha256(saved / "report.html")
    monkeypatch.setattr(placing, "_exchanged", lambda *_: False)
    release.save(saved, force=True)
    assert ct.verify(saved).ok
    assert listing(tmp_path) == ["out"]
    real, calls = os.rename, []

    def rename(a, b):
        calls.append((a, b))
        if len(calls) == (1 if moment == "before" else 2):
            raise OSError(errno.EIO, "broken")
        real(a, b)

    monkeypatch.setattr(os, "rename", rename)
    with pytest.raises(CoterieError, match="Input/output error"):
        release.save(saved, force=True)
    assert sha256(saved / "report.html") == old
    assert listing(tmp_path) == ["out"]


def test_killed_between_two_renames(release, saved, tmp_path):
    """Where folders cannot be exchanged in one step, the next run finds the old bundle."""
    aside = tmp_path / ".out.abcd1234.old"
    aside.mkdir()
    saved.rename(aside / "bundle")
    placing.clear_remains(saved)
    assert listing(tmp_path) == ["out"]
    assert ct.verify(saved).ok
    aside.mkdir()
    shutil.copytree(saved, aside / "bundle")
    release.save(saved, force=True)
    assert listing(tmp_path) == ["out"]


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_signals_leave_nothing(source, tmp_path, name, code):
    """Stopped while it writes: a slow disk is played by a pause in the writer. However the tests were started
    (in the background or by nohup, signals are ignored), the run hears signals as in a terminal."""
    held = (
        "import signal, sys, time, coterie.release.bundle as b, coterie.cli as c; real = b.write_private\n"
        f"signal.signal(signal.{name}, signal.{'default_int_handler' if name == 'SIGINT' else 'SIG_DFL'})\n"
        "def slow(path, text):\n  real(path, text); print('written', flush=True); time.sleep(20)\n"
        "b.write_private = slow; c.main()"
    )
    out, spare = tmp_path / "out", tmp_path / "tmp"
    spare.mkdir()
    run = subprocess.Popen(
        [sys.executable, "-c", held, "protect", str(source), "--recipe", str(source.with_suffix(".toml")), "-o", out],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(spare)},
    )  # fmt: skip
    assert run.stdout.readline() == "written\n"
    assert len(listing(tmp_path)) == 2  # it is at it
    run.send_signal(getattr(signal, name))
    assert run.wait(15) == code
    said = run.stderr.read()
    run.stdout.close()
    run.stderr.close()
    assert "Traceback" not in said
    assert listing(tmp_path) == ["tmp"]
    assert listing(spare) == []


def test_what_a_killed_check_left_is_cleared(saved, tmp_path, monkeypatch):
    """A copy of the data in UTF-8 may be in it. What is new, held or not ours stays."""
    import fcntl
    import tempfile

    spare = tmp_path / "spare"
    spare.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spare))
    for name in ("coterie-check-oldolold", "coterie-check-newnewne", "coterie-check-heldheld", "coterie-test"):
        (spare / name).mkdir(mode=0o700)
        (spare / name / "utf8.csv").write_text("a\n1\n")
        if "new" not in name:
            os.utime(spare / name, (1, 1))
    handle = os.open(spare / "coterie-check-heldheld", os.O_RDONLY)
    fcntl.flock(handle, fcntl.LOCK_EX)
    try:
        assert ct.verify(saved).ok
    finally:
        os.close(handle)
    assert listing(spare) == ["coterie-check-heldheld", "coterie-check-newnewne", "coterie-test"]
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(CoterieError, match="place for temporary files"):
        ct.verify(saved)


# Full disks and broken writers


def failing(monkeypatch, at):
    """Let the n-th write, sync or rename of a run fail as a full disk does; give the count of all."""
    count = [0]

    def wrap(module, name):
        real = getattr(module, name)

        def call(*args, **kwargs):
            count[0] += 1
            if count[0] == at:
                raise OSError(errno.ENOSPC, "No space left on device", "/secret/place")
            return real(*args, **kwargs)

        monkeypatch.setattr(module, name, call)

    for module, name in (
        (bundle, "write_private"), (bundle, "write_file"), (placing, "_sync"), (os, "chmod"), (os, "fsync"),
        (os, "rename"), (placing.tempfile, "mkdtemp"),
    ):  # fmt: skip
        wrap(module, name)
    return count


def test_full_disk_at_every_write(release, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        count = failing(patch, -1)
        release.save(tmp_path / "fine")
    total = count[0]
    assert total > 20
    shutil.rmtree(tmp_path / "fine")
    for at in range(1, total - 1):  # the last are the sync of the folder around: by then, all is there
        with monkeypatch.context() as patch:
            failing(patch, at)
            with pytest.raises(CoterieError, match=r"cannot be|must") as caught:
                release.save(tmp_path / "out")
        assert "No space left" in str(caught.value) or "OSError" in str(caught.value), at
        assert caught.value.__cause__ is None
        assert listing(tmp_path) == [], at


@pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
@pytest.mark.parametrize("limit", [1000, 40_000])
def test_a_disk_that_is_really_full(source, tmp_path, limit):
    """The system refuses to write more into a file: of the data first, of a report then."""
    code = (
        "import resource, signal, coterie.cli as c; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        f"resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit})); c.main()"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, "protect", str(source), "--recipe", str(source.with_suffix(".toml")),
         "-o", str(tmp_path / "out"), "--quiet"], capture_output=True, text=True,
    )  # fmt: skip
    assert ran.returncode == 2, ran.stderr
    assert "cannot be written" in ran.stderr
    assert "File too large" in ran.stderr
    assert listing(tmp_path) == []


def test_no_place_for_temporary_files(source, tmp_path):
    ran = coterie(
        "protect", source, "--recipe", source.with_suffix(".toml"), "-o", tmp_path / "out",
        env={**os.environ, "TMPDIR": "/nowhere", "TEMP": "/nowhere", "TMP": "/nowhere"}, cwd="/proc",
    )  # fmt: skip
    assert ran.returncode in (0, 2)  # /tmp is found without being told
    assert "a bug" not in ran.stderr


@pytest.mark.parametrize("way", ["one value", "one record", "no records", "another column"])
def test_a_writer_that_breaks_the_data(release, tmp_path, monkeypatch, way):
    """What is checked is the file, not what was meant to be written."""

    def broken(table, format, path):
        if way == "one value":
            ages = table.column("age").to_pylist()
            table = table.set_column(0, "age", pa.array(["1", *ages[1:]]))
        elif way == "one record":
            table = table.slice(1)
        elif way == "no records":
            table = table.slice(0, 0)
        else:
            table = table.rename_columns(["edad", *table.column_names[1:]])
        write(table, format, path)

    monkeypatch.setattr(bundle, "write_file", broken)
    group_of_first = release.data.group_by(["age", "town"]).aggregate([([], "count_all")])
    assert group_of_first.column("count_all").to_pylist()
    with pytest.raises(CoterieError) as caught:
        release.save(tmp_path / "out")
    if way == "one value":
        assert isinstance(caught.value, PromiseError)
        assert "Reus" not in str(caught.value)
    assert listing(tmp_path) == []
