"""The loaders of the CASC files: which files, which columns, which errors; and the real data."""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import ROOT
from coterie import datasets
from coterie.datasets import DATASETS, casc_available
from coterie.errors import CoterieError

CASC = Path(os.environ.get("COTERIE_CASC_DIR") or ROOT.parent / "shared" / "data").resolve()
needs_casc = pytest.mark.skipif(
    not casc_available(CASC), reason="the CASC files are neither in COTERIE_CASC_DIR nor in ../shared/data"
)

# name: (loader, csv, R object, rows)
LOADERS = {
    "census": (datasets.load_census, "census.csv", "CASCrefmicrodata", 1080),
    "tarragona": (datasets.load_tarragona, "tarragona.csv", "Tarragona", 834),
    "eia": (datasets.load_eia, "eia.csv", "EIA", 4092),
    "eia-10": (datasets.load_eia10, "eia.csv", "EIA", 4092),
    "eia-600": (datasets.load_eia600, "eia.csv", "EIA", 4092),
}
COLUMNS = {
    "census.csv": datasets.casc._CENSUS,
    "tarragona.csv": datasets.casc._TARRAGONA,
    "eia.csv": ("UTILITYID", "UTILNAME", "STATE", "YEAR", "MONTH", *datasets.casc._EIA10),
}
SECRET = "987654321"  # a value that no message may show


def fake_casc(path, rows=None, names=None, cells=None, marker=0):
    """Write a file shaped like the CASC file of that name: a cell is row * 100 + column + marker."""
    names = list(names or COLUMNS[path.name])
    rows = rows or next(rows for _, file, _, rows in LOADERS.values() if file == path.name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for i in range(rows):
            line = ["a, b" if name in ("UTILNAME", "STATE") else i * 100 + j for j, name in enumerate(names)]
            line[-1] = i * 100 + len(names) - 1 + marker
            writer.writerow([(cells or {}).get((i, j), value) for j, value in enumerate(line)])
    return path


def message_of(call, *args):
    with pytest.raises(CoterieError) as caught:
        call(*args)
    # a chained error would show its own message in the traceback
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


@pytest.fixture(autouse=True)
def no_casc_by_chance(monkeypatch, tmp_path):
    """Let a loader find only what a test gives it."""
    monkeypatch.delenv("COTERIE_CASC_DIR", raising=False)
    (tmp_path / "cwd").mkdir()
    monkeypatch.chdir(tmp_path / "cwd")


# ---- loaders: rules, on files shaped like the CASC ones ----


@pytest.mark.parametrize("name", LOADERS)
def test_loader_picks_the_columns_in_order(name, tmp_path):
    load, file, _, rows = LOADERS[name]
    fake_casc(tmp_path / file)
    data = load(tmp_path)
    if name == "eia-600":
        np.testing.assert_allclose(data.X, _standardized_rows(rows)[:600, np.newaxis] * np.ones(10))
        return
    places = [COLUMNS[file].index(column) for column in data.columns]
    np.testing.assert_array_equal(data.X, np.arange(rows)[:, np.newaxis] * 100.0 + places)


def _standardized_rows(rows):
    row = np.arange(rows, dtype=float)
    return (row - row.mean()) / row.std()


def test_column_names_are_compared_loosely_and_further_columns_ignored(tmp_path):
    names = [name.replace(".", " _").title() for name in COLUMNS["tarragona.csv"]][::-1]
    assert "Net _Profit" in names
    fake_casc(tmp_path / "tarragona.csv", names=["rownames", *names])
    data = datasets.load_tarragona(str(tmp_path))
    assert data.columns == COLUMNS["tarragona.csv"]
    np.testing.assert_array_equal(data.X[2], 200.0 + np.arange(13, 0, -1))


def test_search_order(tmp_path, monkeypatch):
    beside, variable, argument = (tmp_path / name for name in ("shared/data", "variable", "argument"))
    for marker, folder in enumerate((beside, variable, argument)):
        fake_casc(folder / "census.csv", marker=marker)

    def marker_of(*args):
        return datasets.load_census(*args).X[0, -1] - 12

    assert marker_of() == 0
    monkeypatch.setenv("COTERIE_CASC_DIR", str(variable))
    assert marker_of() == 1
    assert marker_of(argument) == 2
    monkeypatch.setenv("COTERIE_CASC_DIR", "")
    assert marker_of() == 0


def test_a_folder_given_is_the_only_one_looked_at(tmp_path, monkeypatch):
    fake_casc(tmp_path / "shared" / "data" / "census.csv")
    empty = tmp_path / "empty"
    for folder in (empty, tmp_path / "nowhere"):
        empty.mkdir(exist_ok=True)
        assert str(folder) in message_of(datasets.load_census, folder)
        monkeypatch.setenv("COTERIE_CASC_DIR", str(folder))
        message = message_of(datasets.load_census)
        assert "census.csv, CASCrefmicrodata.rda, CASCrefmicrodata.RData" in message
        assert "COTERIE_CASC_DIR" in message
        monkeypatch.delenv("COTERIE_CASC_DIR")
    assert datasets.load_census().X.shape == (1080, 13)


def test_casc_available_wants_all_three(tmp_path, monkeypatch):
    for file in ("census.csv", "Tarragona.RData"):
        (tmp_path / file).touch()
        assert not casc_available(tmp_path)
    (tmp_path / "EIA.rda").touch()
    assert casc_available(tmp_path)
    assert not casc_available()
    monkeypatch.setenv("COTERIE_CASC_DIR", str(tmp_path))
    assert casc_available()
    assert not casc_available(tmp_path / "nowhere")


def test_missing_column(tmp_path):
    names = [name for name in COLUMNS["census.csv"] if name not in ("AGI", "FICA")]
    fake_casc(tmp_path / "census.csv", names=names, cells={(3, 3): SECRET})
    message = message_of(datasets.load_census, tmp_path)
    assert "no AGI, FICA" in message
    assert SECRET not in message


def test_repeated_column(tmp_path):
    fake_casc(tmp_path / "census.csv", names=[*COLUMNS["census.csv"], "a_g_i"], cells={(3, 3): SECRET})
    message = message_of(datasets.load_census, tmp_path)
    assert "more than one AGI" in message
    assert SECRET not in message


@pytest.mark.parametrize("rows", [1079, 1081])
def test_wrong_number_of_rows(rows, tmp_path):
    fake_casc(tmp_path / "census.csv", rows=rows, cells={(3, 3): SECRET})
    message = message_of(datasets.load_census, tmp_path)
    assert "must have 1080 rows" in message
    assert f"{rows} rows" in message
    assert SECRET not in message


@pytest.mark.parametrize("cell", ["", "NA", "inf", f"about {SECRET}", "2001-01-01"])
def test_a_cell_that_is_no_number(cell, tmp_path):
    fake_casc(tmp_path / "census.csv", cells=dict.fromkeys([(i, 1) for i in range(1080)], cell))
    message = message_of(datasets.load_census, tmp_path)
    assert "something else in AGI" in message
    assert SECRET not in message


def test_a_broken_csv_does_not_quote_its_rows(tmp_path):
    path = fake_casc(tmp_path / "census.csv")
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{SECRET},1\n")
    message = message_of(datasets.load_census, tmp_path)
    assert "census.csv must be a CSV file" in message
    assert SECRET not in message


# ---- loaders: sdcMicro's own files ----


def rda_from_csv(source, target, r_object):
    pyreadr = pytest.importorskip("pyreadr", reason="pyreadr is not installed")
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    pyreadr.write_rdata(str(target), pandas.read_csv(source), df_name=r_object, compress="gzip")


@pytest.mark.parametrize("suffix", ["rda", "RData"])
@pytest.mark.parametrize("name", LOADERS)
def test_rda_gives_what_the_csv_gives(name, suffix, tmp_path):
    load, file, r_object, _ = LOADERS[name]
    source = fake_casc(tmp_path / "csv" / file)
    rda_from_csv(source, tmp_path / f"{r_object}.{suffix}", r_object)
    np.testing.assert_array_equal(load(tmp_path).X, load(tmp_path / "csv").X)


@needs_casc
@pytest.mark.parametrize("name", LOADERS)
def test_rda_of_the_real_data(name, tmp_path):
    load, file, r_object, _ = LOADERS[name]
    if not (CASC / file).is_file():
        pytest.skip(f"{file} is not there as CSV")
    rda_from_csv(CASC / file, tmp_path / f"{r_object}.rda", r_object)
    np.testing.assert_array_equal(load(tmp_path).X, load(CASC).X)


def test_csv_goes_before_rda(tmp_path):
    fake_casc(tmp_path / "tarragona.csv")
    (tmp_path / "Tarragona.rda").write_text("no R data")
    assert datasets.load_tarragona(tmp_path).X.shape == (834, 13)


def test_rda_with_another_object(tmp_path):
    rda_from_csv(fake_casc(tmp_path / "csv" / "eia.csv"), tmp_path / "EIA.rda", "other")
    message = message_of(datasets.load_eia, tmp_path)
    assert "must hold the data frame EIA" in message
    assert "'other'" in message


def test_rda_that_is_none(tmp_path):
    pytest.importorskip("pyreadr", reason="pyreadr is not installed")
    (tmp_path / "EIA.rda").write_text(f"no R data {SECRET}")
    message = message_of(datasets.load_eia, tmp_path)
    assert "EIA.rda must be a file of R data" in message
    assert SECRET not in message


def test_rda_without_pyreadr(tmp_path, monkeypatch):
    (tmp_path / "EIA.rda").touch()
    monkeypatch.setitem(sys.modules, "pyreadr", None)
    message = message_of(datasets.load_eia, tmp_path)
    assert "needs the package pyreadr" in message
    assert 'pip install "coterie[rda]"' in message


# ---- loaders: the real data ----


@needs_casc
@pytest.mark.parametrize(
    ("name", "shape", "total"),
    [
        ("census", (1080, 13), 516_352_498),
        ("tarragona", (834, 13), 1_118_735_908),
        ("eia", (4092, 11), 6_661_309_878),
        ("eia-10", (4092, 10), 6_620_529_031),
    ],
)
def test_casc_sets_are_raw(name, shape, total):
    data = DATASETS[name](CASC)
    assert data.X.shape == shape
    assert len(data.columns) == shape[1]
    assert data.X.sum() == total


@needs_casc
def test_eia10_is_eia_without_the_first_column():
    eia = datasets.load_eia(CASC)
    assert eia.columns[0] == "UTILITYID"
    np.testing.assert_array_equal(datasets.load_eia10(CASC).X, eia.X[:, 1:])


@needs_casc
def test_eia600_is_standardized_before_it_is_cut():
    X = datasets.load_eia600(CASC).X
    assert X.shape == (600, 10)
    assert f"{((X - X.mean(axis=0)) ** 2).sum():.2f}" == "5541.47"
    raw = datasets.load_eia10(CASC).X
    np.testing.assert_allclose(X * raw.std(axis=0) + raw.mean(axis=0), raw[:600], atol=1e-6)


@pytest.mark.parametrize("name", LOADERS)
def test_every_loaded_set_bears_its_name_and_source(name, tmp_path):
    load, file, _, _ = LOADERS[name]
    fake_casc(tmp_path / file)
    data = load(tmp_path)
    assert (data.name, DATASETS[name]) == (name, load)
    assert "CASC, 2002" in data.source
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous
