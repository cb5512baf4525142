"""The bundle on the disk: whole or not at all, whoever kills, fills or breaks; and what is checked on it afterwards."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest

import coterie as ct
from coterie.errors import CoterieError, PromiseError
from coterie.formats import formulas, write
from coterie.release import bundle
from coterie.release import place as placing
from coterie.release.flow import protect

FILES = ["data.csv", "internal.html", "manifest.json", "recipe.toml", "report.html", "verify.json"]
PUBLIC = {"data.csv", "report.html", "verify.json"}
ROLES = {
    "name": "identifier",
    "age": {"role": "quasi", "kind": "integer"},
    "town": {"role": "quasi", "kind": "nominal"},
    "illness": {"role": "confidential", "kind": "nominal"},
    "note": "other",
}
RECIPE = {"k": 3, "seed": 1, "method": "mdav", "columns": ROLES}


def people(n=40):
    rng = np.random.default_rng(0)
    return pa.table(
        {
            "name": [f"n{i}" for i in range(n)],
            "age": rng.integers(20, 80, n),
            "town": [["Reus", "Valls"][i] for i in rng.integers(0, 2, n)],
            "illness": [["flu", "none", "gout"][i] for i in rng.integers(0, 3, n)],
            "note": [f"{i:05d}" for i in range(n)],
        }
    )


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("in") / "people.csv"
    pa.csv.write_csv(people(), path, pa.csv.WriteOptions(quoting_style="none"))
    ct.Recipe(**RECIPE).save(path.with_suffix(".toml"))
    return path


@pytest.fixture(scope="module")
def release(source):
    return protect(source, RECIPE)


@pytest.fixture
def saved(release, tmp_path):
    return release.save(tmp_path / "out")


def listing(folder):
    return sorted(p.name for p in folder.iterdir())


def coterie(*args, **kwargs):
    return subprocess.run([sys.executable, "-m", "coterie", *map(str, args)], capture_output=True, text=True, **kwargs)


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


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
        with pytest.raises(CoterieError, match="something else"):
            release.save(tmp_path / name, force=True)
    for place in (tmp_path / "no" / "such", tmp_path / "file" / "out"):
        with pytest.raises(CoterieError, match="place of the bundle must exist"):
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


# Killed, at any moment

RUN = """
import sys
import coterie as ct
source, folder, force = sys.argv[1:]
print("started", flush=True)
release = ct.protect(source, source[:-4] + ".toml")
print("protected", flush=True)
release.save(folder, force=force == "force")
print("done", flush=True)
"""


def killed(source, folder, force, after=None, delay=0.0):
    """Run, and kill it so many seconds after it said so. Give what it said, and the seconds after "protected"."""
    words, began = [], 0.0
    command = [sys.executable, "-c", RUN, str(source), str(folder), "force" if force else "plain"]
    env = {**os.environ, "TMPDIR": str(source.parent)}  # what kills leave there goes with the tests
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as run:
        for line in run.stdout:
            words.append(line.strip())
            if words[-1] == "protected":
                began = time.perf_counter()
            if words[-1] == after:
                time.sleep(delay)
                run.kill()
    return words, time.perf_counter() - began


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


# Verified afterwards


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


def forged(folder, **changes):
    """The manifest with true hashes and a good seal, as a forger would make it."""
    from coterie.release.manifest import sealed

    manifest = json.loads((folder / "manifest.json").read_text())
    for name in manifest["files"]:
        manifest["files"][name]["sha256"] = sha256(folder / name)
    manifest = {n: v for n, v in {**manifest, **changes}.items() if n != "seal"}
    (folder / "manifest.json").write_text(sealed(manifest))


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
    (saved / ".DS_Store").write_bytes(b"\0")  # a look at the folder
    assert ct.verify(saved).ok
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


# Once more

MAKERS = {
    ".csv": lambda table, path: pa.csv.write_csv(table, path, pa.csv.WriteOptions(quoting_style="none")),
    ".parquet": pa.parquet.write_table,
    ".feather": pa.feather.write_feather,
    ".sav": lambda table, path: pytest.importorskip("pyreadstat").write_sav(table.to_pandas(), str(path)),
    ".dta": lambda table, path: pytest.importorskip("pyreadstat").write_dta(table.to_pandas(), str(path)),
    ".xpt": lambda table, path: pytest.importorskip("pyreadstat").write_xport(table.to_pandas(), str(path)),
}


@pytest.mark.parametrize("suffix", MAKERS)
def test_replayed_byte_for_byte(tmp_path, suffix):
    path = tmp_path / f"people{suffix}"
    MAKERS[suffix](people(), path)
    saved = protect(path, RECIPE).save(tmp_path / "out")
    assert ct.verify(saved).ok
    again = ct.replay(saved, path)
    assert again.same
    assert str(again) == "The data came out the same, byte for byte."
    MAKERS[suffix](people().slice(1), path)
    other = ct.replay(saved, path)
    assert (other.same, other.differs) == (False, ("the input is another file",))


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
    assert about.variable_value_labels == {"town": {1: "Reus", 2: "Valls"}, "ill": labels["ill"]}
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
        patch.setattr("coterie.release.flow.protect", killed)
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
    assert again.differs == (f"numpy 1.0 then, {np.__version__} now",)
    ran = coterie("replay", saved, "--input", source, "--json")
    assert (ran.returncode, json.loads(ran.stdout)["same"]) == (0, True)


# Spreadsheets


def risky():
    return people().set_column(4, "note", pa.array(["=HYPERLINK(1)", "@SUM(1)"] * 20)).rename_columns(
        ["name", "age", "town", "+illness", "note"]
    )  # fmt: skip


def test_formulas_in_tables_that_become_text(tmp_path):
    columns = {n if n != "illness" else "+illness": rule for n, rule in ROLES.items()}
    columns["town"] = {"role": "quasi", "kind": "ordinal", "order": ["Reus", "Valls"]}
    document = {**RECIPE, "columns": columns}
    protect(risky(), document).save(tmp_path / "fine")  # Parquet is opened by no spreadsheet
    with pytest.raises(PromiseError, match=r"no formula.*1 in '\+illness', 40 in 'note'"):
        protect(risky(), document).save(tmp_path / "out", format="csv")
    kept = protect(risky(), {**document, "file": {"formulas": "keep"}}).save(tmp_path / "kept", format="csv")
    assert "=HYPERLINK" in (kept / "data.csv").read_text()
    safe = protect(risky(), {**document, "file": {"formulas": "neutralize"}}).save(tmp_path / "safe", format="csv")
    read = pa.csv.read_csv(safe / "data.csv")
    assert formulas(read) == {}
    assert read.column_names == ["age", "town", "'+illness", "note"]
    assert set(read.column("note").to_pylist()) == {"'=HYPERLINK(1)", "'@SUM(1)"}
    assert ct.verify(safe).ok
    assert ct.replay(safe, risky()).same


def test_formulas_of_files_that_no_spreadsheet_opens(tmp_path):
    pa.parquet.write_table(people(), tmp_path / "people.parquet")
    with pytest.raises(CoterieError, match="formulas is about files of text"):
        protect(tmp_path / "people.parquet", {**RECIPE, "file": {"formulas": "keep"}})


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
