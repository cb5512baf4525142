"""The data sets: values of the printed ones, what a Dataset is, and the catalogue."""

from __future__ import annotations

import csv
import os
import subprocess
import sys

import numpy as np
import pytest

from conftest import ROOT
from coterie import datasets
from coterie.datasets import DATASETS, Dataset
from test_casc import LOADERS, message_of

SECRET = "987654321"  # a value that no message may show


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
