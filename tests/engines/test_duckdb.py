"""Files larger than memory: the groups of the table in memory, nothing of the input left anywhere."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import coterie as ct
from coterie.cli import app
from coterie.errors import CoterieError
from coterie.protection.scales import Moments
from coterie.release import looks, source, tally
from coterie.release.bundle import write_bundle
from coterie.release.check import verify
from coterie.release.drafting import draft_recipe
from coterie.release.flow import protect
from coterie.release.memory_limit import bytes_of
from coterie.release.replay import replay
from coterie.release.source import needed, open_source
from exact_scales import scale_of

GB = 1 << 30
N = 3000


def table(n=N, gaps=True):
    rng = np.random.default_rng(5)
    town = np.array(["Reus", "Valls", "Salou", 'ünique "q", x'])[rng.integers(0, 4, n)].tolist()
    age = rng.integers(18, 90, n).tolist()
    if gaps:
        for i in range(0, n, 17):
            town[i] = None
            age[i + 1 if i + 1 < n else i] = None
    return pa.table(
        {
            "id": [f"{i:06d}" for i in range(n)],
            "age": pa.array(age, pa.int64()),
            "income": rng.lognormal(10, 1, n).round(2),
            "height": rng.normal(170, 10, n),
            "town": town,
            "when": pa.array(rng.integers(0, 20_000, n), pa.int32()).cast(pa.date32()),
            "smokes": pa.array((rng.random(n) < 0.3).tolist()),
            "illness": [["flu", "gout"][i] for i in rng.integers(0, 2, n)],
            "note": [f"n{i}" for i in range(n)],
            "w": rng.uniform(1, 3, n).round(3),
        }
    )


def recipe(**more):
    quasi = {"age": "integer", "income": "numeric", "height": "numeric", "town": "nominal", "when": "datetime"}
    columns = {name: {"role": "quasi", "kind": kind} for name, kind in quasi.items()}
    columns |= {"smokes": {"role": "quasi", "kind": "boolean"}, "id": "identifier", "note": "other", "w": "other"}
    columns["illness"] = {"role": "confidential", "kind": "nominal"}
    return {
        "k": 4,
        "seed": 7,
        "missing": "group",
        "method": {"name": "mdav", "blocks": 400},
        "columns": columns,
        **more,
    }


def saved(tmp_path, kind, what):
    path = tmp_path / f"in [1]*.{kind}"
    if kind == "csv":
        pa.csv.write_csv(what, path)
    else:
        pa.parquet.write_table(what, path, row_group_size=700)
    return path


def in_parts(path, how, folder, rows=None, memory=GB):
    """A bundle that is written part by part, with so many records at a time."""
    release = protect(path, how, engine="duckdb", memory=memory)
    write_bundle(release, folder, False, None, False, rows)
    return release


def by_note(data):
    return {row["note"]: row for row in data.to_pylist()}


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("more", [{}, {"weights": "w", "centre": "mean"}, {"centre": "medoid", "missing": "refuse"}])
def test_the_same_records_as_in_memory(tmp_path, kind, more):
    path = saved(tmp_path, kind, table(gaps=more.get("missing") != "refuse"))
    whole = protect(path, recipe(**more))
    parts = in_parts(path, recipe(**more), tmp_path / "out", rows=900)
    read = pa.csv.read_csv if kind == "csv" else pa.parquet.read_table
    assert parts.data == tmp_path / "out" / f"data.{kind}"
    written = read(parts.data)
    whole.save(tmp_path / "whole")
    expected = read(tmp_path / "whole" / f"data.{kind}")
    assert by_note(written) == by_note(expected)
    assert written.schema.equals(expected.schema)
    assert parts.facts.groupings[0].loss_percent == pytest.approx(whole.facts.groupings[0].loss_percent, rel=1e-9)
    weighted = whole.facts.groupings[0].loss_weighted_percent
    assert (weighted is None) == ("weights" not in more)
    assert parts.facts.groupings[0].loss_weighted_percent == (weighted and pytest.approx(weighted, rel=1e-9))
    medoid = more.get("centre") == "medoid"
    for words, wanted in {"released unchanged": "weights" in more, "to a real record": medoid}.items():
        assert all(any(words in note for note in some.notes) == wanted for some in (parts.facts, whole.facts))
    assert parts.facts.groupings[0].groups == whole.facts.groupings[0].groups
    assert written.column("note").to_pylist() != expected.column("note").to_pylist()
    assert verify(parts.data.parent).ok
    assert json.loads((parts.data.parent / "manifest.json").read_text())["streamed"] == 900


def test_times_are_written_alike_in_all_parts(tmp_path):
    x = np.arange(60.0)
    times = [f"2024-05-01 10:{i:02}:00" + (".125" if i == 59 else "") for i in range(60)]  # few are that fine
    path = saved(tmp_path, "csv", pa.table({"x": x, "time": times, "note": list(range(60))}))
    columns = {"x": {"role": "quasi", "kind": "numeric"}, "time": {"role": "quasi", "kind": "datetime"}}
    how = {"k": 7, "seed": 1, "method": {"name": "mdav", "blocks": 14}, "columns": {**columns, "note": "other"}}
    in_parts(path, how, tmp_path / "parts", rows=15)
    protect(path, how).save(tmp_path / "whole")
    one, other = (sorted((tmp_path / name / "data.csv").read_text().splitlines()) for name in ("parts", "whole"))
    assert one == other


@pytest.fixture
def large(monkeypatch):
    """Every file needs more memory than there is."""
    monkeypatch.setattr(source, "needed", lambda _: 1 << 60)


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_the_same_draft_as_in_memory(tmp_path, kind, request):
    path = saved(tmp_path, kind, table())
    at_once = draft_recipe(path, 3)
    request.getfixturevalue("large")
    assert draft_recipe(path, 3, memory=GB) == at_once


@pytest.mark.usefixtures("large")
def test_a_draft_of_more_values_than_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(looks, "_COUNTED", 100)
    text = draft_recipe(saved(tmp_path, "csv", table()), memory=GB)
    assert f"at least {N:,} different values in {N:,} records; identifier: by its name it is free text" in text
    assert "\n# 4 different values in 3,000 records, 177 missing" in text


@pytest.mark.usefixtures("large")
def test_a_draft_of_a_file_without_texts_or_decimals(tmp_path):
    text = draft_recipe(saved(tmp_path, "csv", table().select(["age", "when"])), memory=GB)
    assert [column["kind"] for column in tomllib.loads(text)["columns"].values()] == ["integer", "datetime"]


def test_a_limit_says_nothing_of_a_table_in_memory():
    assert draft_recipe(table(), memory=GB) == draft_recipe(table())


@pytest.mark.usefixtures("large")
def test_a_file_part_by_part_from_the_command_line_without_a_recipe(tmp_path):
    path, out = saved(tmp_path, "csv", table(gaps=False)), tmp_path / "out"
    roles = ["--quasi", "age,income,height,town", "--confidential", "illness"]
    roles += ["--unit", "none", "--drop", "id,when,smokes,w", "--keep", "note"]
    ran = CliRunner().invoke(app, ["protect", str(path), *roles, "-k", "4", "-o", str(out), "--memory", "1GB"])
    assert ran.exit_code == 0, ran.output
    assert json.loads((out / "manifest.json").read_text())["streamed"]
    assert verify(out).ok
    assert 'kind = "integer"' in (out / "recipe.toml").read_text()
    ran = CliRunner().invoke(app, ["protect", str(path), *roles, "-k", "4", "--dry-run", "--memory", "1GB"])
    assert ran.exit_code == 0, ran.output
    assert "nothing was written" in ran.output
    ran = CliRunner().invoke(app, ["recipe", str(path), "--memory", "1GB"])
    assert ran.exit_code == 0
    assert "draft = true" in ran.output


def test_replayed(tmp_path):
    path = saved(tmp_path, "parquet", table())
    parts = in_parts(path, recipe(), tmp_path / "out", rows=900)
    assert replay(parts.data.parent, path).same


def test_the_size_of_parts_changes_the_order_only(tmp_path):
    path = saved(tmp_path, "parquet", table())
    few = in_parts(path, recipe(), tmp_path / "a")
    many = in_parts(path, recipe(), tmp_path / "b", rows=450)
    a, b = (pa.parquet.read_table(f.data) for f in (few, many))
    assert by_note(a) == by_note(b)
    assert not a.equals(b)


def test_equal_records(tmp_path):
    path = saved(tmp_path, "parquet", pa.table({"a": [1.0] * 2000, "b": ["x"] * 2000}))
    document = {"k": 3, "seed": 1, "method": {"name": "mdav", "blocks": 100}, "columns": {"b": "other"}}
    document["columns"]["a"] = {"role": "quasi", "kind": "numeric"}
    assert in_parts(path, document, tmp_path / "out").facts.groupings[0].params["blocks"] == 20


def test_what_is_refused_at_once(tmp_path):
    path = saved(tmp_path, "parquet", table())
    with pytest.raises(CoterieError, match="formulas applies only to text files"):
        in_parts(path, recipe(file={"formulas": "keep"}), tmp_path / "o")
    with pytest.raises(CoterieError, match="at least 512 MiB"):
        in_parts(path, recipe(), tmp_path / "o", memory=1 << 20)
    with pytest.raises(CoterieError, match="works on files"):
        protect(table(), recipe(), engine="duckdb")
    with pytest.raises(CoterieError, match="must be one of memory, duckdb"):
        protect(path, recipe(), engine="sparc")
    feather = tmp_path / "in.feather"
    pa.feather.write_feather(table(), feather)
    with pytest.raises(CoterieError, match="Only CSV and Parquet files can be read part by part"):
        in_parts(feather, recipe(), tmp_path / "o")
    assert not (tmp_path / "o").exists()


def test_a_release_that_is_not_written_yet(tmp_path):
    path = saved(tmp_path, "parquet", table())
    release = protect(path, recipe(), engine="duckdb", memory="1GB")
    assert release.data is None
    assert release.verdict is None
    assert "part by part" in str(release)
    with pytest.raises(CoterieError, match="known only after it is written"):
        release.facts  # noqa: B018
    folder = release.save(tmp_path / "out")
    assert release.verdict.ok
    assert release.data == folder / "data.parquet"
    assert release.facts.engine == "duckdb"
    assert release.measures.loss.loss_percent > 0


def test_a_rehearsal_says_what_the_release_says(tmp_path):
    path = saved(tmp_path, "csv", table())
    release = protect(path, recipe(), engine="duckdb", memory=GB)
    release.rehearse()
    assert release.data is None
    assert release.facts.verdict is None
    (check,) = [line for line in str(release).splitlines() if line.startswith("check")]
    assert "passed" not in check
    assert "passed" in str(in_parts(path, recipe(), tmp_path / "checked"))
    written = in_parts(path, recipe(), tmp_path / "out")
    assert release.facts.groupings == written.facts.groupings


def test_reports_say_that_measures_are_of_a_sample(tmp_path, monkeypatch):
    monkeypatch.setattr(tally, "MEASURED", 500)
    parts = in_parts(saved(tmp_path, "parquet", table()), recipe(), tmp_path / "out")
    some = parts.facts.output.measured
    assert 300 < some < 700
    sentence = f"computed on {some:,} of the records, in whole groups"
    for name in ("report.html", "internal.html"):
        assert sentence in (tmp_path / "out" / name).read_text()
    whole = in_parts(saved(tmp_path, "parquet", table(400)), recipe(), tmp_path / "whole")
    assert whole.facts.output.measured is None


def test_the_old_name_warns(tmp_path):
    path = saved(tmp_path, "parquet", table())
    with pytest.warns(DeprecationWarning, match="memory=..."):
        release = ct.protect_file(path, recipe(), tmp_path / "out", memory=GB)
    assert release.verdict.ok


def test_a_file_that_changes_meanwhile(tmp_path):
    """As many records as before, and another value: found by its hash."""
    path = saved(tmp_path, "csv", table())
    release = protect(path, recipe(), engine="duckdb", memory=GB)
    path.write_bytes(path.read_bytes().replace(b'n17"', b'n71"').replace(b"flu", b"fly", 1))
    with pytest.raises(CoterieError, match="must not change while it is read"):
        release.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-8-sig"])
def test_other_encodings(tmp_path, encoding):
    path = saved(tmp_path, "csv", table())
    path.write_bytes(path.read_bytes().decode().encode(encoding))
    how = recipe(file={} if encoding in ("utf-16", "utf-8-sig") else {"encoding": encoding})
    parts = in_parts(path, how, tmp_path / "parts", rows=900)
    protect(path, how).save(tmp_path / "whole")
    one, other = ((tmp_path / name / "data.csv").read_bytes().decode(encoding) for name in ("parts", "whole"))
    assert sorted(one.splitlines()) == sorted(other.splitlines())
    assert replay(parts.data.parent, path).same


def test_several_texts_that_mean_missing(tmp_path):
    data = table(gaps=False)
    ages = [str(a) for a in data.column("age").to_pylist()]
    ages[3], ages[400], ages[401] = "NA", "-", ""
    notes = data.column("note").to_pylist()
    notes[5], notes[6] = "NA", "-"
    data = data.set_column(1, "age", pa.array(ages)).set_column(8, "note", pa.array(notes))
    path = saved(tmp_path, "csv", data)
    how = recipe(file={"missing": ["", "NA", "-"]})
    in_parts(path, how, tmp_path / "parts", rows=900)
    protect(path, how).save(tmp_path / "whole")
    one, other = (sorted((tmp_path / name / "data.csv").read_text().splitlines()) for name in ("parts", "whole"))
    assert one == other
    assert any(line.split(",")[-2] == '"-"' or ",-," in line for line in one)  # what was kept is as it was


def test_a_failure_leaves_nothing(tmp_path, monkeypatch):
    private = tmp_path / "tmp"
    private.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(private))
    place = tmp_path / "place"
    place.mkdir()
    wrong = table().set_column(2, "income", pa.array(["12"] * (N - 1) + ["secret-x"]))
    path = saved(tmp_path, "csv", wrong)
    with pytest.raises(CoterieError) as caught:
        in_parts(path, recipe(), place / "out")
    assert "secret-x" not in str(caught.value)
    formula = table().set_column(8, "note", pa.array(["=1+1"] * N))
    with pytest.raises(CoterieError, match="formula"):
        in_parts(saved(tmp_path, "csv", formula), recipe(), place / "out")
    assert list(place.iterdir()) == []
    assert list(private.iterdir()) == []


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_engine_gives_all_records_and_those_of_parts_in_their_order(tmp_path, kind):
    class ByNumber:
        columns = ("note",)

        def parts(self, records):
            return records.numbers % 3 - (records.numbers % 7 == 0) * 9  # below 0: in none

    opened = open_source(saved(tmp_path, kind, table()), memory=GB)
    engine = opened.engine("duckdb", {}, rows=1200)
    assert engine.records == N
    assert [n for records in engine.scan(["note"]) for n in records.arrow("note").to_pylist()] == [
        f"n{i}" for i in range(N)
    ]
    sizes = [sum(1 for i in range(N) if i % 7 and i % 3 == p) for p in range(3)]
    seen = 0
    for chunk in engine.chunks(["note"], ByNumber(), sizes):
        wanted = [i for i in range(N) if i % 7 and i % 3 in chunk.parts]
        assert chunk.records.numbers.tolist() == wanted
        assert chunk.records.arrow("note").to_pylist() == [f"n{i}" for i in wanted]
        assert chunk.part.tolist() == [i % 3 for i in wanted]
        seen += len(wanted)
    assert seen == sum(sizes)
    engine.close()


def test_scales_do_not_depend_on_the_pieces():
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(1e9, 1e-3, 500), rng.lognormal(0, 5, 500), [np.nan]])
    whole = scale_of(x)
    moments = Moments()
    for piece in np.array_split(x, 37):
        moments.add(piece)
    assert moments.scale() == whole
    there = x[~np.isnan(x)]
    assert whole.middle == pytest.approx(there.mean(), rel=1e-12)
    assert whole.width == pytest.approx(there.std(), rel=1e-6)
    assert scale_of(np.array([3.0, 3.0, np.nan])) == (3.0, 0.0)
    for factor in (1e-250, 1e280):  # neither squares that vanish nor squares that overflow
        small = scale_of(there[500:] * factor)
        assert small.width / factor == pytest.approx(scale_of(there[500:]).width, rel=1e-9)


def test_limits_as_people_write_them(tmp_path):
    assert bytes_of("2GB") == 2_000_000_000
    assert bytes_of("1.5 GiB") == 3 << 29
    assert bytes_of("512m") == 512_000_000
    with pytest.raises(CoterieError):
        bytes_of("much")
    for limit in (0, -1, "0", 10**30, "9" * 400 + "GB"):
        with pytest.raises(CoterieError, match="between 1 byte"):
            bytes_of(limit)
    assert needed(saved(tmp_path, "parquet", table())) > 0


def test_killed_at_any_moment(tmp_path):
    """There is the whole bundle or none, and the next run succeeds and clears what was left."""
    path = saved(tmp_path, "parquet", table()).rename(tmp_path / "plain.parquet")
    place, spare = tmp_path / "place", tmp_path / "spare"
    place.mkdir()
    spare.mkdir()
    code = (
        "import sys; import coterie as ct; print('ready', flush=True);"
        f"ct.protect({str(path)!r}, {recipe()!r}, engine='duckdb').save({str(place / 'out')!r})"
    )
    for delay in (0.05, 0.3, 0.6, 1.0, 1.5):
        env = {**os.environ, "TMPDIR": str(spare)}
        run = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=env)
        run.stdout.readline()
        time.sleep(delay)
        run.kill()
        run.wait()
        run.stdout.close()
        if (place / "out").exists():
            assert verify(place / "out").ok
            shutil.rmtree(place / "out")
    in_parts(path, recipe(), place / "out", rows=900)
    assert [p.name for p in place.iterdir()] == ["out"]
    assert verify(place / "out").ok
    # what the check leaves, the next one removes; else there is nothing
    assert all(p.name.startswith("coterie-check-") for p in spare.iterdir())


def test_the_engine_prints_nothing(tmp_path):
    """Where there is no script, as in a notebook, DuckDB shows a bar of its own after two seconds, on stdout."""
    path, n = tmp_path / "in.parquet", 2_000_000
    pa.parquet.write_table(pa.table({name: np.arange(n) for name in "abcde"}), path)
    code = (
        "import time, coterie as ct\n"
        f"engine = ct.open_source({str(path)!r}, memory='1GB').engine('duckdb', {{}})\n"
        f"for records in engine.scan(engine.names): time.sleep(3 * len(records) / {n})"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_a_file_that_is_gone_after_it_was_opened(tmp_path, kind, engine):
    path = saved(tmp_path, kind, table())
    opened = open_source(path, memory=GB)
    path.unlink()
    with pytest.raises(CoterieError, match=r"must be a file|cannot be read"):
        protect(opened, recipe(), engine=engine)


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
def test_how_an_open_source_is_read_is_kept_for_replay(tmp_path, engine):
    path = tmp_path / "in.csv"
    path.write_text("x,note\n" + "".join(f"{'-9' if i == 3 else 'NA' if i == 4 else i},n{i}\n" for i in range(30)))
    columns = {"x": {"role": "quasi", "kind": "integer"}, "note": "other"}
    how = ct.Recipe(k=3, seed=1, missing="group", columns=columns)
    opened = open_source(path, {"missing": ["NA", "-9"]}, memory=GB)
    release = protect(opened, how, engine=engine)
    assert list(release.recipe.file.options["missing"]) == ["NA", "-9"]
    release.save(tmp_path / "out")
    assert replay(tmp_path / "out", path).same
