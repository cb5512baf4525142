"""SPSS, Stata and SAS: values, labels and user-defined missing values survive."""

from __future__ import annotations

import datetime as dt
import json
import stat

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coterie.formats import Format, read, without_user_missing, write
from format_files import SECRET, needs_pyreadstat, refused, saved, through


def spss(path, **more):
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame(
        {
            "age": [31.5, np.nan, 999.0, 40.0],
            "sex": [1.0, 2.0, 1.0, np.nan],
            "town": ["x", "", "Köln", "NA"],
            "born": [86400.0 * (141428 + d) for d in (0, -9000, 19000)] + [np.nan],
            "seen": [12e9 + 0.25, 12e9, np.nan, 12e9 + 1e-5],
            "hour": [0.0, 3600.5, np.nan, 86399.0],
        }
    )
    pyreadstat.write_sav(
        frame, path, file_label=SECRET, note=SECRET,
        column_labels={"age": "Age in years", "town": "Stadt"},
        variable_value_labels={"sex": {1.0: "männlich", 2.0: "weiblich"}},
        missing_ranges={"age": [{"lo": 990.0, "hi": 1.7976931348623157e308}, {"lo": -1, "hi": -1}], "town": ["x"]},
        variable_display_width={"age": 12}, variable_measure={"age": "scale", "sex": "nominal"},
        variable_format={"born": "EDATE10", "seen": "DATETIME22.2", "hour": "TIME8", "age": "F8.2"}, **more,
    )  # fmt: skip
    return read(path)


def same(a, b):
    """Whether two columns hold the same bits, so that the letters of NaN count."""
    bits = [pa.array(np.asarray(c.combine_chunks().fill_null(-1)).view(np.uint64)) for c in (a, b)]
    return a.is_null().equals(b.is_null()) and bits[0].equals(bits[1])


@needs_pyreadstat
@pytest.mark.parametrize(
    ("name", "more", "packed"),
    [("t.sav", {}, "none"), ("t.sav", {"row_compress": True}, "rows"), ("t.zsav", {"compress": True}, "zlib")],
)
def test_spss(tmp_path, name, more, packed):
    source = spss(tmp_path / name, **more)
    assert source.format.details["compression"] == packed
    table = source.table
    assert table["sex"].to_pylist() == [1.0, 2.0, 1.0, None]
    assert table["town"].to_pylist() == ["x", None, "Köln", "NA"]
    assert table["born"].to_pylist()[:2] == [dt.date(1970, 1, 1), dt.date(1945, 5, 12)]
    assert table.schema.field("seen").type == pa.timestamp("us")
    assert table["hour"].to_pylist()[1] == dt.time(1, 0, 0, 500000)
    variables = source.format.details["variables"]
    assert variables["age"] == {
        "type": "double", "label": "Age in years", "format": "F8.2", "missing": [[990.0, None], [-1.0, -1.0]],
        "width": 12, "measure": "scale",
    }  # fmt: skip
    assert variables["sex"]["labels"] == [[1.0, "männlich"], [2.0, "weiblich"]]
    again = through(table, Format.from_dict(json.loads(json.dumps(source.format.as_dict()))), tmp_path / f"u-{name}")
    assert again.table.equals(table)
    assert again.format == source.format
    assert SECRET.encode() not in (tmp_path / f"u-{name}").read_bytes()


@needs_pyreadstat
def test_user_missing_values_of_spss(tmp_path):
    source = spss(tmp_path / "t.sav")
    assert source.table["age"].to_pylist() == [31.5, None, 999.0, 40.0]
    blank = without_user_missing(source.table, source.format)
    assert blank["age"].to_pylist() == [31.5, None, None, 40.0]
    assert blank["town"].to_pylist() == [None, None, "Köln", "NA"]
    assert blank.drop_columns(["age", "town"]).equals(source.table.drop_columns(["age", "town"]))
    one = without_user_missing(source.table, source.format, ["town"])
    assert one["age"].to_pylist() == [31.5, None, 999.0, 40.0]
    plain = pa.table({"a": [1]})
    assert without_user_missing(plain, Format("csv")) is plain


@needs_pyreadstat
def test_columns_that_are_left_out_or_changed(tmp_path):
    source = spss(tmp_path / "t.sav")
    kept = source.format.keep(["age", "town"])
    assert list(kept.details["variables"]) == ["age", "town"]
    assert Format("csv").keep(["a"]) == Format("csv")
    changed = pa.table(
        {
            "age": ["young", "old", None, "old"],  # was a number, with a format and missing values
            "town": [1.5, 2.5, None, 3.5],  # was a text
            "sex": pa.array([1, 2, 1, None], pa.int8()),
            "born": pa.array([dt.date(2000, 1, 1)] * 4),
            "fresh": pa.array([dt.datetime(2001, 2, 3, 4)] * 4, pa.timestamp("ns")),
            "flag": [True, False, None, True],
        }
    )
    again = through(changed, source.format, tmp_path / "u.sav")
    assert again.table["age"].to_pylist() == ["young", "old", None, "old"]
    assert again.table["town"].to_pylist() == [1.5, 2.5, None, 3.5]
    assert again.table["born"].equals(changed["born"])
    assert again.table["fresh"].to_pylist() == [dt.datetime(2001, 2, 3, 4)] * 4
    assert again.table["flag"].to_pylist() == [1.0, 0.0, None, 1.0]
    variables = again.format.details["variables"]
    assert variables["age"]["label"] == "Age in years"
    assert "missing" not in variables["age"]
    assert variables["sex"]["labels"] == [[1.0, "männlich"], [2.0, "weiblich"]]
    assert variables["born"]["format"] == "EDATE10"


def stata(path, version=15):
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame({"i": np.array([1, 2, 3], np.int32), "x": [0.5, np.nan, 2.0], "s": ["e", "", "z"]})
    frame["d"] = [20000.0, -1.0, np.nan]
    frame["c"] = [1.7e12, 1.6e12 + 500, np.nan]
    frame["m"] = np.array([1, "a", None], dtype=object)
    frame["o"] = np.array(["b", 2.5, "z"], dtype=object)
    frame["n"] = np.array([1, None, 3], dtype=object)
    pyreadstat.write_dta(
        frame, path, version=version, file_label=SECRET,
        column_labels={"i": "A number"}, missing_user_values={"m": ["a"], "o": ["b", "z"]},
        variable_value_labels={"i": {1: "one"}, "m": {1: "eins", "a": "refused"}},
        variable_format={"d": "%tdD_m_Y", "c": "%tc"},
    )  # fmt: skip
    return read(path)


@needs_pyreadstat
@pytest.mark.parametrize("version", [8, 10, 12, 13, 14, 15])
def test_stata(tmp_path, version):
    source = stata(tmp_path / "t.dta", version)
    table = source.table
    assert source.format.details["version"] == version
    assert table.schema.types[:5] == [pa.int32(), pa.float64(), pa.string(), pa.date32(), pa.timestamp("us")]
    assert table["d"].to_pylist() == [dt.date(2014, 10, 4), dt.date(1959, 12, 31), None]
    assert table["n"].to_pylist() == [1, None, 3]
    assert source.format.details["variables"]["m"]["labels"] == [[1, "eins"], ["a", "refused"]]
    again = through(table, Format.from_dict(json.loads(json.dumps(source.format.as_dict()))), tmp_path / "u.dta")
    assert again.format == source.format
    assert again.table.drop_columns(["m", "o"]).equals(table.drop_columns(["m", "o"]))
    assert same(again.table["m"], table["m"])
    assert same(again.table["o"], table["o"])
    assert np.isnan(table["m"].to_pylist()[1])
    assert SECRET.encode() not in (tmp_path / "u.dta").read_bytes()
    blank = without_user_missing(table, source.format)
    assert blank["m"].to_pylist() == [1.0, None, None]
    assert blank["o"].to_pylist() == [None, 2.5, None]
    assert through(blank, source.format, tmp_path / "v.dta").table["m"].to_pylist() == [1, None, None]


@needs_pyreadstat
def test_letters_survive_a_change_of_order(tmp_path):
    source = stata(tmp_path / "t.dta")
    turned = source.table.take([2, 0, 1])
    again = through(turned, source.format, tmp_path / "u.dta").table
    assert same(again["o"], turned["o"])
    back = again.take([1, 2, 0])
    assert same(back["o"], source.table["o"])


@needs_pyreadstat
def test_stata_without_utf8_is_raised_to_a_version_with_it(tmp_path):
    source = stata(tmp_path / "t.dta", version=12)
    again = through(source.table.set_column(2, "s", pa.array(["é", "", "z"])), source.format, tmp_path / "u.dta")
    assert again.table["s"].to_pylist() == ["é", None, "z"]
    assert again.format.details["version"] == 14


@needs_pyreadstat
def test_an_old_stata_file_with_long_texts_and_the_least_integer(tmp_path):
    texts, least = ["x" * 244, "y"], [-2_147_483_647, 1]
    format = Format("stata", {"version": 10, "variables": {"n": {"type": "int32"}, "s": {"type": "string"}}})
    again = through(pa.table({"n": pa.array(least, pa.int32()), "s": texts}), format, tmp_path / "t.dta")
    assert again.table.to_pydict() == {"n": least, "s": texts}
    assert again.table.schema.types == [pa.int32(), pa.string()]
    assert again.format.details["version"] == 13
    assert through(pa.table({"s": ["x" * 243]}), format, tmp_path / "u.dta").format.details["version"] == 10


@needs_pyreadstat
def test_a_file_of_pandas_own_writer(tmp_path):
    import pandas as pd

    frame = pd.DataFrame(
        {
            "small": np.array([1, -2, 100], np.int8),
            "day": pd.to_datetime(["2020-01-01", "1999-12-31", "2024-02-29"]),
            "kind": pd.Categorical(["low", "high", "low"], categories=["low", "high"], ordered=True),
            "text": ["ä", "b" * 300, ""],
        }
    )
    frame.to_stata(
        tmp_path / "t.dta", write_index=False, convert_dates={"day": "td"}, version=118, data_label=SECRET,
        variable_labels={"small": "A small number"}, time_stamp=dt.datetime(2020, 1, 1),
    )  # fmt: skip
    source = read(tmp_path / "t.dta")
    assert source.table["kind"].to_pylist() == [0, 1, 0]  # the codes
    assert source.table["day"].to_pylist() == [dt.date(2020, 1, 1), dt.date(1999, 12, 31), dt.date(2024, 2, 29)]
    write(source.table, source.format, tmp_path / "u.dta")
    again = pd.read_stata(tmp_path / "u.dta")
    assert again["kind"].tolist() == ["low", "high", "low"]
    assert again["text"].tolist() == frame["text"].tolist()
    assert again["day"].tolist() == frame["day"].tolist()
    with pd.read_stata(tmp_path / "u.dta", iterator=True) as reader:
        assert reader.variable_labels()["small"] == "A small number"
        assert reader.data_label == ""


@needs_pyreadstat
@pytest.mark.parametrize("version", [5, 8])
def test_sas_transport(tmp_path, version):
    import pandas as pd
    import pyreadstat

    frame = pd.DataFrame({"age": [31.5, np.nan], "town": ["x", "Köln"], "born": [20000.0, np.nan], "at": [1e9, 2e9]})
    pyreadstat.write_xport(
        frame, tmp_path / "t.xpt", file_format_version=version, file_label=SECRET, table_name="SECRETS",
        column_labels={"age": "Age"}, variable_format={"born": "DATE9.", "at": "DATETIME20.", "town": "$20."},
    )  # fmt: skip
    source = read(tmp_path / "t.xpt")
    assert source.format.details["version"] == version
    assert source.table["born"].to_pylist() == [dt.date(2014, 10, 4), None]
    assert source.table["at"].to_pylist()[0] == dt.datetime(1960, 1, 1) + dt.timedelta(seconds=1e9)
    again = through(source.table, source.format, tmp_path / "u.xpt")
    assert again.table.equals(source.table)
    assert again.format == source.format
    assert b"SECRET" not in (tmp_path / "u.xpt").read_bytes().upper()
    refused(write, source.table, Format("sas7bdat"), tmp_path / "u.sas7bdat", match="read but not written.*xpt")


@needs_pyreadstat
@pytest.mark.parametrize("name", ["t.sav", "t.dta", "t.xpt"])
def test_the_moment_of_writing_is_not_in_the_file(tmp_path, name):
    table = pa.table({"a": [1.5, 2.5], "s": ["x", "y"]})
    format = Format({"sav": "spss", "dta": "stata", "xpt": "xport"}[name[2:]], {"variables": {}})
    write(table, format, tmp_path / name)
    data = (tmp_path / name).read_bytes()
    today = dt.date.today()
    for form in ("%d %b %y", "%d %b %Y", "%d%b%y"):
        assert today.strftime(form).upper().encode() not in data.upper()
    assert b"70" in data[:700]
    assert read(tmp_path / name).table["a"].to_pylist() == [1.5, 2.5]
    assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


@needs_pyreadstat
def test_what_statistical_files_cannot_hold(tmp_path):
    for kind, name in (("spss", "t.sav"), ("stata", "t.dta"), ("xport", "t.xpt")):
        format, path = Format(kind, {"variables": {}}), tmp_path / name
        refused(write, pa.table({"col": [[1]]}), format, path, match="can hold.*column 'col'")
        refused(write, pa.table({"col": pa.array([2**60 + 1])}), format, path, match="15 digits.*column 'col'")
        refused(write, pa.table({"a b": [SECRET]}), format, path, match="cannot be written")
        assert not path.exists()
    refused(read, saved(tmp_path, b"$FL2", "t.sav"), {"delimiter": ","}, match="Options for SPSS files are encoding")


@needs_pyreadstat
@given(st.lists(st.none() | st.datetimes(dt.datetime(1600, 1, 1), dt.datetime(9999, 1, 1)), min_size=1, max_size=4))
@settings(max_examples=12)
def test_moments_are_exact(tmp_path_factory, moments):
    folder = tmp_path_factory.getbasetemp()
    days = pa.array([m and m.date() for m in moments], pa.date32())
    clock = pa.array([m and m.replace(microsecond=m.microsecond // 1000 * 1000) for m in moments], pa.timestamp("us"))
    table = pa.table({"d": days, "c": clock, "x": [1.0] * len(moments)})
    for kind, suffix in (("spss", "sav"), ("stata", "dta"), ("xport", "xpt")):
        again = through(table, Format(kind, {"variables": {}}), folder / f"moments.{suffix}").table
        assert again["d"].equals(table["d"])
        assert again["c"].equals(table["c"])


@needs_pyreadstat
def test_without_pyreadstat(tmp_path, monkeypatch):
    from coterie.formats import statistical

    source = spss(tmp_path / "t.sav")
    monkeypatch.setattr(statistical, "find_spec", lambda name: None if name == "pyreadstat" else name)
    refused(read, tmp_path / "t.sav", match=r"need pyreadstat.*coterie\[files\]")
    monkeypatch.setattr(statistical, "find_spec", lambda name: None if name == "pandas" else name)
    refused(write, source.table, source.format, tmp_path / "u.sav", match="needs pandas")


@needs_pyreadstat
@pytest.mark.parametrize("letter", ["x", "ä"])
def test_a_label_that_is_too_long_for_stata_is_cut(tmp_path, letter):
    """R writes such labels, and they are read: the file must not be one that cannot be released."""
    format = Format("stata", {"version": 14, "variables": {"income": {"type": "double", "label": letter * 206}}})
    again = through(pa.table({"income": [1.5, 2.5]}), format, tmp_path / "t.dta")
    assert again.format.details["variables"]["income"]["label"] == letter * 80
