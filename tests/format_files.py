"""What the tests of formats share: files made by hand, tables of any texts, errors that quote nothing."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import strategies as st

from coterie import CoterieError
from coterie.formats import read, write

SECRET = "Xq7Secret"

needs_pyreadstat = pytest.mark.skipif(
    importlib.util.find_spec("pyreadstat") is None or importlib.util.find_spec("pandas") is None,
    reason="SPSS, Stata and SAS files need pyreadstat and pandas",
)


def refused(call, *given, match, secret=SECRET):
    """The error of a call, which quotes nothing: not in its words, its parts, or in what it came from."""
    with pytest.raises(CoterieError, match=match) as caught:
        call(*given)
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    assert secret not in str(error) + repr(error.args) + repr(vars(error))
    return error


def saved(folder, data, name="table.csv"):
    path = Path(folder) / name
    path.write_bytes(data)
    return path


def through(table, format, path, options=None):
    """What comes back of a table that is written and read."""
    write(table, format, path)
    return read(path, options)


def rows_of(table):
    return [[v or "" for v in row] for row in zip(*table.to_pydict().values(), strict=True)]


def columns_of(folder, data, name="table.csv", **options):
    return read(saved(folder, data, name), options).table.to_pydict()


texts = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=6) | st.text(
    ",;\"'\t|\r\n =a1", max_size=5
)
names = st.lists(texts.filter(str.strip), min_size=1, max_size=4, unique=True)


@st.composite
def text_tables(draw, least=1):
    heads = draw(names.filter(lambda n: len(n) >= least))
    rows = draw(st.integers(1, 5))
    values = st.lists(st.none() | texts, min_size=rows, max_size=rows)
    return pa.table({name: pa.array(draw(values), pa.string()) for name in heads})
