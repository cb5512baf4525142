"""The data sets: values of the printed ones, rules of the loaders, properties of the simulated ones."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from coterie import datasets
from coterie.datasets import DATASETS, Dataset, casc_available
from coterie.errors import CoterieError

ROOT = Path(__file__).resolve().parents[2]
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


# ---- printed in the papers ----


def test_companies():
    data = datasets.load_companies()
    assert data.columns == ("surface", "employees")
    np.testing.assert_array_equal(data.X.sum(axis=0), [6550, 340])
    np.testing.assert_array_equal(data.X[[0, 10]], [[790, 55], [50, 12]])
    assert sum(data.other["turnover"]) == 22_167_874
    assert sum(data.other["net_profit"]) == 3_701_862
    assert [name[0] for name in data.other["company"]] == list("ABCDEFGHIJK")
    assert data.roles == {"company": "identifier", "turnover": "confidential", "net_profit": "confidential"}


def test_companies_have_the_papers_optimal_sse():
    # example 2 prints the optimal 3-partition and its SSE on standardized data
    X = datasets.load_companies().X
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    groups = [[0, 1, 2, 9], [3, 4, 8], [5, 6, 7, 10]]
    sse = sum(((Z[group] - Z[group].mean(axis=0)) ** 2).sum() for group in groups)
    assert f"{sse:.4f}" == "7.4848"  # printed as 7.484, cut rather than rounded


def test_companies_example_file():
    with (ROOT / "examples" / "companies.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    data = datasets.load_companies()
    assert list(rows[0]) == ["company", "surface", "employees", "turnover", "net_profit"]
    assert [row["company"] for row in rows] == data.other["company"]
    assert [[float(row["surface"]), float(row["employees"])] for row in rows] == data.X.tolist()
    assert [int(row["turnover"]) for row in rows] == data.other["turnover"]
    assert [int(row["net_profit"]) for row in rows] == data.other["net_profit"]


def test_points13():
    data = datasets.load_points13()
    assert data.X.shape == (13, 2)
    assert data.columns == ("x", "y")
    np.testing.assert_allclose(data.X.sum(axis=0), [184.38, 167.95])
    np.testing.assert_array_equal(data.X[[0, 7, 12]], [[2.4, 3], [13.67, 18.9], [23, 18.5]])


def test_line11():
    X = datasets.load_line11().X
    assert X.shape == (11, 1)
    assert X.mean() == 34
    assert ((X - 34) ** 2).sum() == 17966  # both printed in section 3


# ---- Dataset ----


def test_repr_shows_names_and_never_values():
    assert repr(datasets.load_companies()) == (
        "Dataset(name='sme', n=11, p=2, columns=('surface', 'employees'), other=('company', 'turnover', 'net_profit'))"
    )
    assert repr(datasets.load_line11()) == "Dataset(name='line-11', n=11, p=1, columns=('x',))"


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frame(backend):
    library = pytest.importorskip(backend, reason=f"{backend} is not installed")
    data = datasets.load_companies()
    frame = data.frame(backend)
    assert isinstance(frame, library.Table if backend == "pyarrow" else library.DataFrame)
    names = frame.column_names if backend == "pyarrow" else list(frame.columns)
    assert names == ["company", "surface", "employees", "turnover", "net_profit"]
    for name in data.other:
        column = frame[name]
        assert (column.to_pylist() if backend == "pyarrow" else column.to_list()) == data.other[name]
    np.testing.assert_array_equal(np.column_stack([frame["surface"], frame["employees"]]), data.X)


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_frame_shares_no_memory_with_x(backend):
    pytest.importorskip(backend, reason=f"{backend} is not installed")
    data = datasets.load_line11()
    frame = data.frame(backend)
    data.X[:] = -1
    assert np.asarray(frame["x"]).sum() == 374


def test_frame_of_an_unknown_backend():
    message = message_of(datasets.load_line11().frame, "excel")
    assert "pandas, polars, pyarrow" in message
    assert "'excel'" in message


def test_frame_of_a_backend_not_installed():
    # in a process of its own: narwhals remembers what it has imported
    code = (
        "import sys; sys.modules['polars'] = None; from coterie import datasets; datasets.load_line11().frame('polars')"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "CoterieError: The backend polars must be installed. Hint: pip install polars" in ran.stderr


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        ({"X": np.ones((3, 2), dtype=np.float32)}, "float64"),
        ({"X": np.ones(3)}, "1 dimension"),
        ({"X": np.asfortranarray(np.ones((3, 2)))}, "C order"),
        ({"columns": ("a",)}, "1 names for 2 columns"),
        ({"other": {"c": [int(SECRET)]}}, "as many values"),
        ({"roles": {}}, "needs a role"),
        ({"roles": {"c": "secret"}}, "identifier, confidential"),
    ],
)
def test_dataset_refuses_parts_that_do_not_fit(changed, part):
    good = {
        "X": np.ones((3, 2)),
        "columns": ("a", "b"),
        "other": {"c": [1, 2, 3]},
        "roles": {"c": "identifier"},
    }
    Dataset(name="d", source="s", **good)
    message = message_of(lambda: Dataset(name="d", source="s", **(good | changed)))
    assert part in message
    assert SECRET not in message


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


# ---- simulators ----

SIMULATED = {
    "simu": (1000, 10),
    "simc": (None, 10),
    "scattered": (1000, 2),
    "clustered": (1000, 2),
    "normal-16": (16, 13),
    "clusters-5": (16, 13),
    "clusters-4": (16, 13),
}


@pytest.mark.parametrize("name", SIMULATED)
def test_simulated_sets_depend_on_the_seed_alone(name):
    make, (n, p) = DATASETS[name], SIMULATED[name]
    first = make()
    assert first.X.shape == (n or len(first.X), p)
    assert len(set(first.columns)) == p
    np.testing.assert_array_equal(make(seed=0).X, first.X)
    np.testing.assert_array_equal(make(5).X, make(5).X)
    assert not np.isin(make(5).X, first.X).any()


def test_simu_is_uniform():
    X = datasets.make_simu().X
    assert 0 <= X.min() < 0.01
    assert 0.99 < X.max() < 1
    # 1000 records: standard errors of mean and variance are about 0.009 and 0.0024
    np.testing.assert_allclose(X.mean(axis=0), 0.5, atol=0.04)
    np.testing.assert_allclose(X.var(axis=0), 1 / 12, atol=0.01)


@pytest.mark.parametrize("seed", range(5))
def test_simc_has_100_clusters_then_a_third_scattered(seed):
    X = datasets.make_simc(seed).X
    # records of one cluster differ by at most 1 % in all attributes, others practically never do
    steps = np.abs(np.diff(X, axis=0)).max(axis=1)
    runs = np.diff(np.flatnonzero(np.r_[True, steps > 0.01, True]))
    sizes, scattered = runs[:100], runs[100:]
    assert sizes.min() == 4
    assert sizes.max() == 21
    assert set(scattered) == {1}
    assert len(scattered) == sizes.sum() // 3
    assert len(X) == sizes.sum() + len(scattered)
    assert steps[steps <= 0.01].max() > 0.009  # and they use that room
    assert X.min() >= -0.005
    assert X.max() <= 1.005


@pytest.mark.parametrize("make", [datasets.make_scattered, datasets.make_clustered])
def test_survey_sets_fill_their_range(make):
    for seed in range(5):
        X = make(seed).X
        assert -10000 <= X.min() < -9500
        assert 9500 < X.max() <= 10000


@pytest.mark.parametrize("seed", range(5))
def test_clusters_have_3_to_5_records(seed):
    # without spread, a cluster is one point
    X = datasets.make_clustered(seed, spread=0).X
    sizes = np.unique(X, axis=0, return_counts=True)[1]
    assert set(sizes) == {3, 4, 5}
    assert sizes.sum() == 1000
    assert np.bincount(sizes)[3:].min() > 50


def test_cluster_sizes_reach_every_total():
    rng = np.random.default_rng(0)
    for n in range(3, 40):
        sizes = datasets.simulated._cluster_sizes(rng, n)
        assert sum(sizes) == n
        assert set(sizes) <= {3, 4, 5}


@pytest.mark.parametrize("spread", [0.001, 0.01])
def test_spread_bounds_the_deviation(spread):
    sizes = datasets.simulated._cluster_sizes(np.random.default_rng(3), 1000)
    X = datasets.make_clustered(3, spread).X
    widths = [np.ptp(cluster, axis=0).max() for cluster in np.split(X, np.cumsum(sizes)[:-1])]
    assert 0.8 * 40000 * spread < max(widths) <= 40000 * spread


def test_default_spread():
    np.testing.assert_array_equal(datasets.make_clustered(1).X, datasets.make_clustered(1, 0.01).X)


@pytest.mark.parametrize("spread", [-0.01, 0.51, float("nan")])
def test_impossible_spread(spread):
    assert "between 0 and 0.5" in message_of(datasets.make_clustered, 0, spread)


@pytest.mark.parametrize(
    ("make", "sizes", "step"),
    [
        (datasets.make_normal16, [16], 0),
        (datasets.make_clusters5, [2, 2, 3, 4, 5], 3),
        (datasets.make_clusters4, [3, 4, 4, 5], 4),
    ],
)
def test_normal_clusters(make, sizes, step):
    means = np.repeat(step * np.arange(len(sizes)), sizes)[:, np.newaxis]
    residuals = np.concatenate([make(seed).X - means for seed in range(50)])
    # 50 seeds x 13 attributes: the mean of a row's residuals has a standard error of 0.04
    np.testing.assert_allclose(residuals.reshape(50, 16, 13).mean(axis=(0, 2)), 0, atol=0.16)
    assert residuals.var() == pytest.approx(1, abs=0.05)


# ---- the module ----


def test_catalogue():
    published = {"census", "tarragona", "eia", "eia-10", "eia-600", "simu", "simc", "sme", "line-11"}
    further = {"points-13", "scattered", "clustered", "normal-16", "clusters-5", "clusters-4"}
    assert set(DATASETS) == published | further


@pytest.mark.parametrize("name", [name for name in DATASETS if name not in LOADERS])
def test_every_set_bears_its_name_and_source(name):
    data = DATASETS[name]()
    assert data.name == name
    assert any(year in data.source for year in ("2006", "2008", "2018"))
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous


@pytest.mark.parametrize("name", LOADERS)
def test_every_loaded_set_bears_its_name_and_source(name, tmp_path):
    load, file, _, _ = LOADERS[name]
    fake_casc(tmp_path / file)
    data = load(tmp_path)
    assert (data.name, DATASETS[name]) == (name, load)
    assert "CASC, 2002" in data.source
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous


def test_import_is_light():
    heavy = {"numba", "pandas", "polars", "pyarrow", "pyreadr", "sklearn"}
    code = f"import sys, coterie.datasets; print(sorted({heavy} & set(sys.modules)))"
    path = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    assert done.stdout.strip() == "[]"
