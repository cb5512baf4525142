"""The command line, as a user meets it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import stat
import subprocess
import sys
import time
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from typer.testing import CliRunner

import coterie as ct
from conftest import ROOT
from coterie import cli
from coterie.formats.atomic import atomically

COMPANIES = ROOT / "examples" / "companies.csv"


def start(*args, **kwargs):
    """A command in a process of its own, as a shell runs it."""
    return subprocess.run([sys.executable, "-m", "coterie", *map(str, args)], capture_output=True, text=True, **kwargs)


def run(*args):
    """The same in this process, which saves the start: half a second and more."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("default")  # as outside of tests
        for name, value in {"argv": ["coterie", *map(str, args)], "stdout": out, "stderr": err}.items():
            patch.setattr(sys, name, value)
        try:
            cli.main()
        except SystemExit as done:
            code = done.code or 0
    return subprocess.CompletedProcess(args, code, out.getvalue(), err.getvalue())


@pytest.fixture
def numbers(tmp_path):
    X = np.random.default_rng(1).normal(size=(40, 3))
    path = tmp_path / "numbers.csv"
    pa.csv.write_csv(pa.table({"a": X[:, 0], "b": X[:, 1], "c c": X[:, 2]}), path)
    return path


def test_main_job(tmp_path):
    out = tmp_path / "out.csv"
    ran = start("microaggregate", COMPANIES, "-k", 3, "--columns", "surface,employees", "-o", out, "--method", "mdav")
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == ""
    r = ct.microaggregate(ct.datasets.load_companies().X, 3, "mdav")
    assert f"{r.loss:.4g} %" in ran.stderr
    assert "3 of 3 to 5 records" in ran.stderr
    assert "seconds" in ran.stderr
    assert "3 columns that --columns does not name" in ran.stderr
    written = pa.csv.read_csv(out)
    assert written.column_names == ["surface", "employees"]
    np.testing.assert_array_equal(np.column_stack([c.to_numpy() for c in written.columns]), r.data)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_formats_json_and_labels(numbers, tmp_path, suffix):
    source = tmp_path / f"in{suffix}"
    write = pa.csv.write_csv if suffix == ".csv" else pa.parquet.write_table
    read = pa.csv.read_csv if suffix == ".csv" else pa.parquet.read_table
    write(pa.csv.read_csv(numbers), source)
    out, labels = tmp_path / f"out{suffix}", tmp_path / f"labels{suffix}"
    ran = start("microaggregate", source, "-k", 4, "--method", "mdav-star", "-o", out, "--json", "--quiet")
    assert (ran.returncode, ran.stderr) == (0, "")
    facts = json.loads(ran.stdout)
    r = ct.microaggregate(pa.csv.read_csv(numbers), 4, "mdav*")
    assert (facts["loss"], facts["method"], facts["k"]) == (r.loss, "mdav*", 4)
    assert read(out).equals(r.data)
    run("microaggregate", source, "-k", 4, "--method", "mdav-star", "-o", labels, "--labels")
    assert read(labels)["group"].to_pylist() == r.labels.tolist()


def test_every_option_does_something(numbers, tmp_path):
    def facts(*more):
        out = tmp_path / "o.csv"
        ran = run("microaggregate", numbers, "-k", 4, "-o", out, "--json", "--force", "--method", "v-mdav", *more)
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout), out.read_text()

    base, released = facts("--param", "gamma=0.2")
    assert base["params"] == {"gamma": 0.2}
    assert facts("--param", "gamma=0.1,0.7")[0]["params"]["tried"] == [0.1, 0.7]
    assert facts()[0]["params"]["tried"] == [i / 10 for i in range(21)]
    assert facts("--param", "gamma=0.2", "--no-standardize")[0]["sse"] != base["sse"]
    assert facts("--param", "gamma=0.2", "--centre", "median")[1] != released
    pairs = facts("--param", "gamma=0.2", "--diversity", "pairwise", "--distortion", "euclidean")[0]
    assert pairs["information_loss"] != base["information_loss"]
    rounded = facts("--param", "gamma=0.2", "--rounding", "1")[1]
    assert all(re.fullmatch(r"-?\d(\.\d)?", field) for line in rounded.splitlines()[1:] for field in line.split(","))
    assert facts("--param", "gamma=0.2", "--columns", '"c c",a')[1].startswith("c c,a\n")


def test_other_delimiter(numbers, tmp_path):
    semicolon = tmp_path / "s.csv"
    semicolon.write_text(numbers.read_text().replace(",", ";"))
    out = tmp_path / "o.csv"
    assert run("microaggregate", semicolon, "-k", 4, "-o", out, "--delimiter", ";").returncode == 0
    assert len(out.read_text().splitlines()[5].split(";")) == 3


def test_a_csv_file_is_written_as_the_one_that_was_read(tmp_path):
    source, out, plain = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "plain.csv"
    records = [f"{i // 2},{i % 2 * 5};{i}" for i in range(8)]
    source.write_bytes("\r\n".join(["größe;b", *records, ""]).encode("cp1252"))
    ran = run(
        "microaggregate",
        source,
        "-k",
        4,
        "-o",
        out,
        "--method",
        "mdav",
        "--read",
        "encoding=cp1252",
        "--center",
        "mean",
    )
    assert ran.returncode == 0, ran.stderr
    lines = out.read_bytes().decode("cp1252").split("\r\n")
    assert lines == ["größe;b", *["0,75;1,5"] * 4, *["2,75;5,5"] * 4, ""]
    ran = run("microaggregate", source, "-k", 4, "-o", plain, "--read", "delimiter=;", "--delimiter", ";")
    assert ran.returncode == 2
    assert "'delimiter' twice" in ran.stderr


SECRETS = ("Smith", "98765", "4321")
WRONG_FILES = {
    "ragged": ("a,b\n98765,2\n98765\n", "1 fields in line 3"),
    "text": ("a,b\n98765,Smith\n4321,Smith\n98765,3\n", "All columns must be numeric"),
    "missing": ("a,b\n98765,4321\n,4321\n98765,4321\n", "1 missing"),
    "infinite": ("a,b\n98765,4321\ninf,4321\n98765,4321\n", "infinite"),
    "too few": ("a,b\n98765,4321\n", "at least k records"),
    "no rows": ("a,b\n", "must have records"),
    "empty": ("", "must not be empty"),
    "duplicate names": ("a,a\n98765,4321\n98765,4321\n98765,4321\n", "names must be unique"),
    "latin-1": (b"a,b\n98765,Smith\xe9\n", "must be UTF-8"),
    "no header": ("98765,4321\n98765,4321\n98765,4321\n", "must hold the column names"),
    "no header, text": ("Smith,98765\nSmith,4321\n", "must hold the column names"),
    "gap in one column": ("a\n98765\n\n4321\n98765\n", "1 missing"),
    "large ids": ("a,b\n9007199254740993,4321x\n1,2\n", "numeric"),
    "decimal comma and point": ("a;b\n98765,5;1\n4.321;2\n98765,5;3\n", "numeric"),
    "dates": ("a,b\n2001-01-01,4321\n2001-01-01,4321\n", "numeric"),
}


@pytest.mark.parametrize("case", WRONG_FILES)
def test_wrong_files_leave_nothing_behind_and_show_no_value(case, tmp_path):
    text, message = WRONG_FILES[case]
    source = tmp_path / "in.csv"
    source.write_bytes(text if isinstance(text, bytes) else text.encode())
    ran = run("microaggregate", source, "-k", 2, "-o", tmp_path / "out.csv")
    assert ran.returncode == 2
    assert re.search(message, ran.stderr), ran.stderr
    assert "Traceback" not in ran.stderr
    assert not any(secret in ran.stderr + ran.stdout for secret in SECRETS)
    assert os.listdir(tmp_path) == ["in.csv"]


def test_names_that_are_numbers(tmp_path):
    source, out = tmp_path / "in.csv", tmp_path / "out.csv"
    source.write_text("2019,2020\n1,2\n3,4\n5,6\n")
    assert run("microaggregate", source, "-k", 2, "-o", out, "--columns", "2020").returncode == 2
    assert run("microaggregate", source, "-k", 2, "-o", out, "--columns", "2020", "--header").returncode == 0
    assert out.read_text().splitlines() == ["2020", "4", "4", "4"]


def test_large_ids_and_notes_of_a_parquet_file(tmp_path):
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    table = pa.table({"id": [9007199254740993 + i for i in range(6)]}).replace_schema_metadata({"first": "Smith"})
    pa.parquet.write_table(table, source)
    ran = run("microaggregate", source, "-k", 3, "-o", out)
    assert ran.returncode == 0, ran.stderr
    assert b"Smith" not in out.read_bytes()


def test_a_file_that_is_no_parquet(tmp_path):
    source = tmp_path / "in.parquet"
    source.write_text("a,b\n98765,4321\n")
    ran = run("microaggregate", source, "-k", 2, "-o", tmp_path / "out.csv")
    assert ran.returncode == 2
    assert "must have the format that its name says, Parquet" in ran.stderr
    assert "98765" not in ran.stderr


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["-k", "1"], "'k' must be an integer of at least 2"),
        (["-k", "x"], "-k"),
        (["-k", "3", "--method", "mdva"], "did you mean 'mdav'"),
        (["-k", "3", "--param", "gamma=0.2", "--method", "mdav"], "belongs to v-mdav"),
        (["-k", "3", "--param", "gamma"], "NAME=VALUE"),
        (["-k", "3", "--param", "gamma=1", "--param", "gamma=2", "--method", "v-mdav"], "twice"),
        (["-k", "3", "--columns", "a,zz"], "'zz' .not in the file"),
        (["-k", "3", "--columns", "a,a"], "more than once"),
        (["-k", "3", "--rounding", "up"], "rounding"),
        (["-k", "3", "--centre", "mode"], "centre"),
        (["-k", "3", "--delimiter", "::"], "one ASCII character"),
        (["-k", "3", "--delimiter", "é"], "one ASCII character"),
        (["-k", "3", "--columns", ""], "empty name"),
        (["-k", "3", "--columns", "a\nb"], "not in the file"),
        (["-k", "3", "--param", "rounding=1"], "takes no parameters"),
        (["-k", "3", "--param", "k=1", "--method", "v-mdav"], "takes gamma"),
        (["-k", "3", "--labels", "--rounding", "1"], "no effect"),
        ([], "-k"),
    ],
)
def test_wrong_usage(numbers, tmp_path, args, message):
    out = tmp_path / "out.csv"
    ran = run("microaggregate", numbers, "-o", out, *args)
    assert ran.returncode == 2
    assert re.search(message, ran.stderr), ran.stderr
    assert not out.exists()


def test_places_where_the_output_cannot_go(numbers, tmp_path):
    existing = tmp_path / "there.csv"
    existing.write_text("mine")
    for out, message in [
        (existing, "exists already"),
        (numbers, "must not be the input"),
        (tmp_path / "no" / "o.csv", "folder of the output must exist"),
        (tmp_path / "o.txt", "must end in"),
    ]:
        ran = run("microaggregate", numbers, "-k", 3, "-o", out)
        assert ran.returncode == 2
        assert message in ran.stderr
    assert existing.read_text() == "mine"
    assert run("microaggregate", numbers, "-k", 3, "-o", numbers, "--force").returncode == 2
    assert run("microaggregate", numbers, "-k", 3, "-o", existing, "--force").returncode == 0
    assert existing.read_text() != "mine"
    assert run("microaggregate", tmp_path / "none.csv", "-k", 3, "-o", tmp_path / "o.csv").returncode == 2


def test_what_is_replaced_keeps_its_rights_and_links_stay(numbers, tmp_path):
    target, link = tmp_path / "target.csv", tmp_path / "link.csv"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    assert run("microaggregate", numbers, "-k", 3, "-o", link).returncode == 2
    assert run("microaggregate", numbers, "-k", 3, "-o", link, "--force").returncode == 0
    assert link.is_symlink()
    assert target.read_text() != "old"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_inputs_that_are_no_files(tmp_path, kind):
    source = tmp_path / "in.csv"
    source.mkdir() if kind == "folder" else os.mkfifo(source)
    ran = run("microaggregate", source, "-k", 3, "-o", tmp_path / "o.csv")
    assert ran.returncode == 2
    assert ("must contain Parquet files" if kind == "folder" else "must be a file") in ran.stderr


def test_terminals_without_the_signs():
    env = {**os.environ, "PYTHONIOENCODING": "ascii", "COLUMNS": ""}
    for command in (["methods"], ["methods", "--json"], ["reproduce", "--table", "section 3"]):
        ran = start(*command, env=env)
        assert ran.returncode == 0, ran.stderr


def test_progress_bar_on_a_terminal(numbers, tmp_path):
    import pty

    leader, follower = pty.openpty()
    command = [sys.executable, "-m", "coterie", "microaggregate", numbers, "-k", "3", "-o", tmp_path / "o.csv"]
    env = {**os.environ, "TERM": "xterm"}
    shown = b""
    with subprocess.Popen(list(map(str, command)), stderr=follower, stdout=subprocess.PIPE, env=env) as process:
        os.close(follower)
        with contextlib.suppress(OSError):  # the end of a terminal is an error on Linux
            while part := os.read(leader, 4096):
                shown += part
        out = process.stdout.read()
    os.close(leader)
    shown = shown.decode()
    assert process.returncode == 0
    assert "grouping" in shown
    assert " %" in shown
    assert out == b""


@pytest.mark.slow
def test_ctrl_c_stops_and_leaves_nothing(tmp_path):
    source, out = tmp_path / "in.parquet", tmp_path / "out.parquet"
    X = np.random.default_rng(0).normal(size=(400_000, 12))
    pa.parquet.write_table(pa.table({f"x{j}": X[:, j] for j in range(12)}), source)
    heard = "import signal, coterie.cli as c; signal.signal(signal.SIGINT, signal.default_int_handler); c.main()"
    command = [sys.executable, "-c", heard, "microaggregate", source, "-k", "3", "-o", out, "--method", "mdav1"]
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True) as process:
        time.sleep(12)  # past start and compilation, well before the end
        process.send_signal(signal.SIGINT)
        try:
            _, shown = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "interrupted" in shown
    assert os.listdir(tmp_path) == ["in.parquet"]


def test_failed_writes_leave_nothing_behind(tmp_path):
    target = tmp_path / "o.csv"
    target.write_text("old")

    def broken(path):
        with open(path, "w") as file:
            file.write("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(ct.CoterieError, match="No space left"):
        atomically(target, broken)
    assert (os.listdir(tmp_path), target.read_text()) == (["o.csv"], "old")

    def interrupted(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        atomically(target, interrupted)
    assert os.listdir(tmp_path) == ["o.csv"]


def test_the_file_is_private_until_it_is_whole(tmp_path):
    modes = []

    def write(path):
        modes.append(stat.S_IMODE(os.stat(path).st_mode))
        with open(path, "w") as file:
            file.write("x")

    atomically(tmp_path / "o.csv", write)
    assert modes == [0o600]
    (tmp_path / "plain").write_text("x")
    assert os.stat(tmp_path / "o.csv").st_mode == os.stat(tmp_path / "plain").st_mode


def test_a_bug_shows_no_message(monkeypatch, capsys):
    def bug():
        raise RuntimeError("the record is 98765")

    monkeypatch.setattr(cli, "app", bug)
    with pytest.raises(SystemExit) as exit_:
        cli.main()
    assert exit_.value.code == 70
    shown = capsys.readouterr().err
    assert "> cli/test_cli.py:" in shown
    assert "98765" not in shown


def test_individual_ranking_warns_and_writes_a_label_for_each_column(numbers, tmp_path):
    out = tmp_path / "out.csv"
    ran = run("microaggregate", numbers, "-k", 3, "-o", out, "--method", "individual-ranking", "--quiet", "--labels")
    assert ran.stderr.startswith("coterie: warning: The records are not 3-anonymous")
    assert ran.stderr.count("\n") == 1
    assert all(name.startswith("group_") for name in pa.csv.read_csv(out).column_names)


def test_seed(numbers, tmp_path):
    out = [tmp_path / f"{i}.csv" for i in range(3)]
    for path, seed in zip(out, (["--seed", 1], ["--seed", 1], []), strict=True):
        run("microaggregate", numbers, "-k", 3, "-o", path, "--method", "mu-approx", "--quiet", *seed)
    assert out[0].read_bytes() == out[1].read_bytes() != out[2].read_bytes()
    ran = run("microaggregate", numbers, "-k", 3, "-o", tmp_path / "no.csv", "--method", "mdav", "--seed", 1)
    assert ran.returncode == 2
    assert "--seed is for randomized methods" in ran.stderr


def test_methods_command():
    text = start("methods").stdout
    rows = json.loads(run("methods", "--json").stdout)
    assert [row["name"].split(" or ")[0] for row in rows] == [m.name for m in ct.methods()]
    for m in ct.methods():
        assert m.name in text
    assert set(rows[0]) == {"name", "what", "paper", "cost", "promise", "parameters"}
    gamma = next(row["parameters"] for row in rows if row["name"] == "v-mdav")
    assert gamma.startswith("gamma (gain factor, default auto): a number >= 0")


def test_version_and_help():
    assert start("--version").stdout.strip() == f"coterie {ct.__version__}"
    ran = CliRunner().invoke(cli.app, ["--help"])
    assert ran.exit_code == 0
    for command in ("microaggregate", "methods", "reproduce"):
        assert command in ran.output


def test_docs_mention_every_command_and_option():
    import typer

    text = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    for name, command in typer.main.get_command(cli.app).commands.items():
        assert f"## coterie {name}" in text
        for parameter in command.params:
            for option in (*parameter.opts, *parameter.secondary_opts):
                assert not option.startswith("-") or f"`{option}" in text, (name, option)
