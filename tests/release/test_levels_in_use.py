"""No category, level or label in a release that none of its records has: it could tell of one that was left out."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import coterie as ct

LEFT_OUT, UNUSED = "Zz-left-out-zZ", "Zz-unused-zZ"
CATEGORIES = ["z", "y", "x", LEFT_OUT, UNUSED]
CATEGORICAL = ["kept", "guarded", "masked", "stratum"]


def values(suppress):
    kept = [["x", "y", "z"][i % 3] for i in range(40)]
    kept[7] = LEFT_OUT if suppress else "x"
    return kept, ["p" if i != 7 or not suppress else LEFT_OUT for i in range(40)]


def frame(kind, suppress):
    kept, stratum = values(suppress)
    age = [i % 5 for i in range(40)]
    data = {"kept": kept, "guarded": kept, "masked": kept, "stratum": stratum}
    levels = dict.fromkeys(data, CATEGORIES) | {"stratum": ["q", "p", LEFT_OUT, UNUSED]}
    if kind == "pandas":
        made = {n: pd.Categorical(v, levels[n], ordered=n == "guarded") for n, v in data.items()}
        return pd.DataFrame({"age": age, **made})
    if kind == "pandas of arrow":
        table = frame("arrow", suppress)
        return pd.DataFrame({n: pd.arrays.ArrowExtensionArray(table.column(n)) for n in table.column_names})
    if kind == "polars enum":
        return pl.DataFrame({"age": age, **{n: pl.Series(v, dtype=pl.Enum(levels[n])) for n, v in data.items()}})
    if kind == "polars categorical":
        return pl.DataFrame({"age": age, **{n: pl.Series(v, dtype=pl.Categorical) for n, v in data.items()}})
    arrays = {}
    for name, texts in data.items():
        codes = pa.array([levels[name].index(t) for t in texts], pa.int8())
        arrays[name] = pa.DictionaryArray.from_arrays(codes, pa.array(levels[name]), ordered=name == "guarded")
    return pa.table({"age": age, **arrays})


def recipe():
    nominal = {"role": "quasi", "kind": "nominal"}
    columns = {
        "age": {"role": "quasi", "kind": "integer"},
        "kept": "other",
        "guarded": {"role": "confidential", "kind": "nominal"},
        "masked": nominal,
        "stratum": nominal,
    }
    return {"k": 3, "seed": 1, "columns": columns, "strata": {"within": ["stratum"], "small": "suppress"}}


def levels_of(table, name):
    column = table[name]
    if isinstance(column, pd.Series):
        if hasattr(column, "cat"):
            return list(column.cat.categories)
        column = column.array.__arrow_array__()
    if isinstance(column, pl.Series):
        return column.dtype.categories.to_list() if isinstance(column.dtype, pl.Enum) else column.unique().to_list()
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return [level for chunk in chunks for level in chunk.dictionary.to_pylist()]


KINDS = ["pandas", "pandas of arrow", "polars enum", "polars categorical", "arrow"]


@pytest.mark.parametrize("suppress", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_in_memory_and_in_files(tmp_path, kind, suppress):
    release = ct.protect(frame(kind, suppress), recipe())
    for name in CATEGORICAL:
        found, there = (
            levels_of(release.data, name),
            set(release.data[name].to_pylist() if kind == "arrow" else release.data[name]),
        )
        assert set(found) == {str(v) for v in there}, name
        if kind != "polars categorical":
            order = [c for c in (CATEGORIES if name != "stratum" else ["p"]) if c in found]
            assert found == order  # the order that they had
    for format in ("parquet", "feather", "csv"):
        folder = release.save(tmp_path / format, format=format)
        raw = (folder / f"data.{format}").read_bytes()
        assert LEFT_OUT.encode() not in raw
        assert UNUSED.encode() not in raw


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("suppress", [True, False])
def test_files_of_categories(tmp_path, engine, suppress):
    """Seen: the category of a record that was left out, in the dictionary of a Parquet file made part by part."""
    path = tmp_path / "in.parquet"
    pa.parquet.write_table(frame("arrow", suppress), path)
    ct.protect(path, recipe(), engine=engine).save(tmp_path / "out")
    raw = (tmp_path / "out" / "data.parquet").read_bytes()
    assert LEFT_OUT.encode() not in raw
    assert UNUSED.encode() not in raw
    table = pa.parquet.read_table(tmp_path / "out" / "data.parquet")
    for name in CATEGORICAL:
        assert pa.types.is_dictionary(table.column(name).type)
        assert set(levels_of(table, name)) == set(table.column(name).to_pylist())
    assert ct.replay(tmp_path / "out", path).same


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_labels(tmp_path, suffix):
    pyreadstat = pytest.importorskip("pyreadstat")
    kept, stratum = values(True)
    codes = {text: i + 1 for i, text in enumerate(CATEGORIES)}
    table = pd.DataFrame(
        {
            "age": [i % 5 for i in range(40)],
            **{n: [codes[t] for t in kept] for n in ("kept", "guarded", "masked")},
            "stratum": [1 if t == "p" else 2 for t in stratum],
        }
    )
    labels = {key: {i: text for text, i in codes.items()} for key in ("kept", "guarded", "masked")}
    labels["stratum"] = {1: "p", 2: LEFT_OUT, 3: UNUSED}
    path = tmp_path / f"in{suffix}"
    write = pyreadstat.write_sav if suffix == ".sav" else pyreadstat.write_dta
    write(table, str(path), variable_value_labels=labels)
    ct.protect(path, recipe()).save(tmp_path / "out")
    data = tmp_path / "out" / f"data{suffix}"
    found, meta = (pyreadstat.read_sav if suffix == ".sav" else pyreadstat.read_dta)(str(data))
    for name in CATEGORICAL:
        assert set(meta.variable_value_labels[name]) == set(found[name].tolist())
    assert LEFT_OUT.encode() not in data.read_bytes()
    assert UNUSED.encode() not in data.read_bytes()
    assert ct.replay(tmp_path / "out", path).same
