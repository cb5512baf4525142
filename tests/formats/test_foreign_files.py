"""Files that nobody here wrote: the samples that other packages ship."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from coterie.formats import read, write
from format_files import needs_pyreadstat, refused


def shipped(package, path):
    spec = importlib.util.find_spec(package)
    if spec is None or not (Path(spec.origin).parent / path).is_file():
        pytest.skip(f"{package} is not installed, or without its sample files")
    return Path(spec.origin).parent / path


def unchanged(path, folder, **options):
    source = read(path, options)
    write(source.table, source.format, folder / f"again{path.suffix}")
    again = read(folder / f"again{path.suffix}", options)
    assert again.table.equals(source.table)
    return source.table, (folder / f"again{path.suffix}").read_bytes() == path.read_bytes()


def test_samples_of_scikit_learn(tmp_path):
    data = "datasets/data"
    refused(
        read, shipped("sklearn", f"{data}/breast_cancer.csv"), match="31 fields in line 2.*569 records", secret="17.99"
    )
    refused(read, shipped("sklearn", f"{data}/wine_data.csv"), match="178 records", secret="14.23")
    iris = shipped("sklearn", f"{data}/iris.csv")
    refused(read, iris, match="a number among them", secret="setosa")
    table, same_bytes = unchanged(iris, tmp_path, header=True)
    assert table.shape == (150, 5)
    assert same_bytes
    table, same_bytes = unchanged(shipped("sklearn", f"{data}/linnerud_exercise.csv"), tmp_path, delimiter=" ")
    assert (table.shape, same_bytes) == ((20, 3), True)


def test_samples_of_matplotlib_and_numpy(tmp_path):
    data = "mpl-data/sample_data"
    table, same_bytes = unchanged(shipped("matplotlib", f"{data}/msft.csv"), tmp_path)
    assert (table.shape, same_bytes) == ((65, 7), True)
    refused(read, shipped("matplotlib", f"{data}/Stocks.csv"), match="11 fields in line 2", secret="10.97")
    refused(read, shipped("matplotlib", f"{data}/data_x_x2_x3.csv"), match="a number among them")
    table, same_bytes = unchanged(shipped("numpy", "_core/tests/data/umath-validation-set-tanh.csv"), tmp_path)
    assert (table.num_columns, same_bytes) == (4, True)


@pytest.mark.parametrize(
    "path",
    [
        "parquet/v0.7.1.parquet",
        "parquet/v0.7.1.all-named-index.parquet",
        "parquet/v0.7.1.column-metadata-handling.parquet",
        "feather/v0.17.0.version.2-compression.lz4.feather",
    ],
)
def test_samples_of_pyarrow(tmp_path, path):
    table, _ = unchanged(shipped("pyarrow", f"tests/data/{path}"), tmp_path)
    assert table.schema.metadata is None


@needs_pyreadstat
@pytest.mark.parametrize("name", ["scalar_float64", "struct_arrays", "various_compressed"])
def test_files_of_another_program_with_the_suffix_of_spss(name):
    refused(read, shipped("scipy", f"io/tests/data/{name}.sav"), match="its name says, SPSS")
