"""The custodian's commands on files that nobody here wrote: what is kept is kept to the letter, and nothing leaks."""

from __future__ import annotations

import base64
import csv
import importlib.util
import io
import json
import os
import subprocess
import sys
import threading
import tomllib
import traceback
import warnings
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import coterie as ct
from coterie import cli
from coterie.errors import CoterieError
from coterie.facts import as_json

QUASI = {"role": "quasi", "kind": "numeric"}


@pytest.fixture
def run(monkeypatch, capsys):
    """A command as `coterie` runs it, in this process: its exit code and what it says."""

    def call(*args):
        monkeypatch.setattr(sys, "argv", ["coterie", *map(str, args)])
        code = 0
        try:
            cli.main()
        except SystemExit as done:
            code = done.code or 0
        out, err = capsys.readouterr()
        assert code != 70, err
        assert "Traceback" not in err
        return code, out, err

    return call


def save_recipe(path, **document):
    ct.Recipe(**{"k": 2, "seed": 1, "method": "mdav", **document}).save(path)
    return path


# Odd CSV files: every record is found by an untouched key, and every untouched text is the same


def lines(header, rows, newline="\n"):
    return newline.join([header, *rows]) + newline


def numbered(*fields):
    return [",".join([f"{i:05d}", f"{i * 1.5}", *fields]) for i in range(8)]


LONG = "x" * 200_000
ODD = {
    "plain": (lines("key,q,x", numbered("a b")), {}),
    "semicolon, decimal comma, cp1252": (
        lines("key;q;straße", [f"{i:05d};{i},25;Müller–€ {i}" for i in range(8)]).encode("cp1252"),
        {"encoding": "cp1252"},
    ),
    "a byte order mark": (lines("key,q,x", numbered("ü")).encode("utf-8-sig"), {}),
    "utf-16": (lines("key,q,x", numbered("ü")).encode("utf-16"), {}),
    "line ends of Windows": (lines("key,q,x", numbered("a"), "\r\n"), {}),
    "no line end at the end": (lines("key,q,x", numbered("a")).rstrip("\n"), {}),
    "blank lines at the end": (lines("key,q,x", numbered("a")) + "\n\n", {}),
    "quoted line breaks, quotes, commas": (lines("key,q,x", numbered('"say ""hi"",\nthen\r\n""go"""')), {}),
    "everything quoted": (lines('"key","q","x"', [f'"{i:05d}","{i}",""' for i in range(8)]), {}),
    "19 digits": (lines("key,q,x", [f"{9223372036854775800 + i},{i},-9223372036854775808" for i in range(8)]), {}),
    "numbers as somebody wrote them": (lines("key,q,x,y,z", numbered("1e5", "+5", "-0.10")), {}),
    "dates in three ways": (lines("key,q,x,y", numbered("01/02/03", "2024-02-30")), {}),
    "several markers": (
        lines("key,q,x,y", [f"{i},{pair},-" for i, pair in enumerate(["1,", "NA,NA", ",-", "4,."] * 2)]),
        {"missing": ["", "NA", "-", "."]},
    ),
    "a marker that is not the empty text": (
        lines("key,q,x", [f"{i},{pair}" for i, pair in enumerate(["1,", "NA,NA", "3,a", "4,"] * 2)]),
        {"missing": ["NA"]},
    ),
    "very long fields": (lines("key,q,x", numbered(LONG)), {}),
    "spaces around": (lines("key,q,x,y", [f"{i:05d}, {i} ,  a  ,b\t " for i in range(8)]), {"delimiter": ","}),
    "tabs": (lines("key\tq\tx", [f"{i}\t{i}.5\ta, b; c" for i in range(8)]), {}),
    "bars": (lines("key|q|x", [f"{i}|{i}.5|a b" for i in range(8)]), {}),
    "single quotes": (lines("key;q;x", [f"{i};{i};'a;''b'" for i in range(8)]), {"quote": "'", "delimiter": ";"}),
    "no quotes at all": (lines("key;q;x", [f'{i};{i};5" pipe' for i in range(8)]), {"quote": "", "delimiter": ";"}),
    "no header": (lines("0,0,a", [f"{i},{i},a" for i in range(1, 8)]), {"header": False, "names": ["key", "q", "x"]}),
    "names that are numbers": (lines("key,q,2024", numbered("a")), {"header": True}),
    "signs of all peoples": (lines("key,q,x", numbered("e\u0301 é \u202eabc 🦊 \u200b \u00a0")), {}),
    "harmless signs": (lines("key,q,x,y", numbered("-", "-5,5".replace(",", "."))), {}),
    "formulas that are kept": (lines("key,q,x", numbered("=1+1")), {"formulas": "keep"}),
    "odd names": (lines('key,q,"a ""b"", c", x ,<b>&amp;', numbered("1", "2", "3")), {"delimiter": ","}),
}


def texts(data, options):
    """The records of a file as texts, by Python's own reader."""
    raw = data if isinstance(data, bytes) else data.encode("utf-8")
    encoding = options.get("encoding") or ("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    text = raw.decode(encoding)
    first = text.split("\n")[0]
    delimiter = options.get("delimiter") or next(d for d in "\t;|," if d in first)
    quote = options.get("quote", '"')
    named = {"quotechar": quote} if quote else {"quoting": csv.QUOTE_NONE}
    rows = [r for r in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, **named) if r]
    return (rows[0], rows[1:]) if options.get("header", True) else (options["names"], rows)


@pytest.mark.parametrize("case", ODD)
def test_odd_files(run, tmp_path, case):
    data, options = ODD[case]
    csv.field_size_limit(1 << 20)
    source = tmp_path / ("odd.tsv" if case == "tabs" else "odd.csv")
    source.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
    names, before = texts(data, options)
    columns = {n: QUASI if n == "q" else "other" for n in names}
    rules = save_recipe(tmp_path / "r.toml", columns=columns, file=options, missing="group")
    code, out, err = run("protect", source, "--recipe", rules, "-o", tmp_path / "out")
    assert code == 0, err
    assert out == ""
    written = tmp_path / "out" / f"data{source.suffix}"
    after_names, after = texts(written.read_bytes(), options)
    assert after_names == names
    assert len(after) == len(before) == 8
    key, q = names.index("key"), names.index("q")
    kept = {row[key]: [v for j, v in enumerate(row) if j != q] for row in before}
    assert {row[key]: [v for j, v in enumerate(row) if j != q] for row in after} == kept
    groups = [row[q] for row in after]
    assert min(groups.count(value) for value in groups) >= 2
    assert [row[key] for row in after] != [row[key] for row in before]  # shuffled
    start = written.read_bytes()
    assert start[:3] == source.read_bytes()[:3] or case in ("no header", "everything quoted")
    assert start.endswith(b"\n") == source.read_bytes().endswith(b"\n") or case == "utf-16"
    assert run("verify", tmp_path / "out")[0] == 0
    assert run("replay", tmp_path / "out", "--input", source)[0] == 0


def test_a_single_column(run, tmp_path):
    source = tmp_path / "one.csv"
    source.write_text("q\n" + "\n".join(map(str, range(9))) + "\n")
    code, _, err = run("protect", source, "-k", 3, "--quasi", "q", "-o", tmp_path / "out")
    assert code == 0, err
    assert (tmp_path / "out" / "data.csv").read_text().startswith("q\n")
    assert run("verify", tmp_path / "out")[0] == 0


REFUSED = {
    "names twice": ("a,a\n1,2\n", 2, "name of its own"),
    "a name that is empty": ("a,\n1,2\n", 2, "must have a name"),
    "a header and nothing else": ("a,b\n", 2, "must have records"),
    "nothing": ("", 2, "must not be empty"),
    "blank lines": ("\n\n", 2, "must not be empty"),
    "a NUL": ("a,b\n1,\0\n", 2, "NUL byte in line 2"),
    "fields too many": ("a,b\n1,2,3\n", 2, "3 fields in line 2"),
    "a quote that stays open": ('a,b\n1,"2\n', 2, "never closed"),
    "bytes that are no UTF-8": (b"a,b\n1,\xfc\n", 2, "say encoding"),
    "one record": ("a,b\n1,2\n", 3, "at least k = 2 records"),
    "a formula": ("a,b\n1,=1\n2,=2\n3,x\n", 3, "2 in 'b'"),
    "a gap": ("a,b\n1,x\n,x\n3,x\n", 3, "1 in 'a'"),
    "no number": ("a,b\n1,x\ntwo,x\n3,x\n", 2, "1 that are none"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_files(run, tmp_path, case):
    data, code, words = REFUSED[case]
    (tmp_path / "in.csv").write_bytes(data if isinstance(data, bytes) else data.encode())
    rules = save_recipe(tmp_path / "r.toml", columns={"a": QUASI, "b": "other"})
    found, out, err = run("protect", tmp_path / "in.csv", "--recipe", rules, "-o", tmp_path / "out")
    assert (found, out) == (code, "")
    assert words in err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["in.csv", "r.toml"]


def test_files_that_are_none(run, tmp_path):
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "in.xlsx").write_bytes(b"PK")
    (tmp_path / "in.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "in.sav").write_bytes(b"$FL2")
    rules = save_recipe(tmp_path / "r.toml", columns={"a": QUASI})
    for name in ("no.csv", "folder.csv", "in.xlsx", "in.parquet", "in.sav"):
        for command in (("protect", "--recipe", rules, "--dry-run"), ("recipe",), ("assess", "--quasi", "a")):
            code, out, err = run(command[0], tmp_path / name, *command[1:])
            assert (code, out) == (2, ""), err
    for text in ("k = ", "\xff", 'k = 2\n[columns.a]\nrole = "quasi"\nkind = "numeric"\nl = 2\n'):
        rules.write_bytes(text.encode("latin-1"))
        assert run("protect", tmp_path / "no.csv", "--recipe", rules, "--dry-run")[0] == 2
    assert run("protect", tmp_path / "no.csv", "--recipe", tmp_path, "--dry-run")[0] == 2


# Files of installed packages


def packaged(package, path):
    spec = importlib.util.find_spec(package)
    found = Path(spec.origin).parent / path if spec is not None and spec.origin else None
    if found is None or not found.is_file():
        pytest.skip(f"{package} is not installed with its {path}")
    return found


PACKAGED = [
    ("sklearn", "datasets/data/iris.csv", {"header": True}, ["150", "4", "setosa"]),
    ("sklearn", "datasets/data/breast_cancer.csv", None, None),
    ("sklearn", "datasets/data/wine_data.csv", None, None),
    ("sklearn", "datasets/data/linnerud_exercise.csv", {"delimiter": " "}, ["Chins", "Situps", "Jumps"]),
    ("sklearn", "datasets/data/linnerud_physiological.csv", {"delimiter": " "}, ["Weight", "Waist", "Pulse"]),
    ("matplotlib", "mpl-data/sample_data/msft.csv", {}, ["Open", "High"]),
    ("matplotlib", "mpl-data/sample_data/Stocks.csv", None, None),
    ("numpy", "random/tests/data/sfc64-testset-1.csv", {}, ["seed"]),
    ("pyarrow", "tests/data/parquet/v0.7.1.parquet", {}, ["carat", "price"]),
    ("pyarrow", "tests/data/parquet/v0.7.1.column-metadata-handling.parquet", {}, ["b"]),
    ("pyarrow", "tests/data/feather/v0.17.0.version.2-compression.lz4.feather", {}, ["a"]),
]


@pytest.mark.parametrize(("package", "path", "options", "quasi"), PACKAGED, ids=[p[1].split("/")[-1] for p in PACKAGED])
def test_files_of_packages(run, tmp_path, package, path, options, quasi):
    source = packaged(package, path)
    if options is None:  # a first line that names fewer columns than there are, or a comment: said, not guessed
        assert run("recipe", source)[0] == 2
        return
    flags = [part for n, v in options.items() for part in ("--read", f"{n}={json.dumps(v) if v is True else v}")]
    code, draft, err = run("recipe", source, "-k", 2, *flags)
    assert code == 0, err
    names = list(tomllib.loads(draft)["columns"])
    columns = {n: QUASI if n in quasi else "other" for n in names}
    rules = save_recipe(tmp_path / "r.toml", columns=columns, file=options, shuffle=False)
    code, _, err = run("protect", source, "--recipe", rules, "-o", tmp_path / "out")
    assert code == 0, err
    before, after = read(source, options), read(tmp_path / "out" / f"data{source.suffix}", options)
    assert before.column_names == after.column_names
    for name in names:
        assert (name in quasi) or before.column(name).equals(after.column(name)), name
        assert before.schema.field(name).type == after.schema.field(name).type or name in quasi
    assert run("verify", tmp_path / "out")[0] == 0
    assert run("verify", tmp_path / "out" / f"data{source.suffix}", "--quasi", ",".join(quasi), "-k", 2)[0] == (
        2 if options.get("delimiter") == " " else 0
    )
    assert run("replay", tmp_path / "out", "--input", source)[0] == 0


def read(path, options):
    from coterie.formats import read

    return read(path, {n: v for n, v in options.items() if n != "formulas"}).table


@pytest.mark.parametrize("suffix", [".sav", ".zsav", ".dta", ".xpt"])
def test_files_of_statistical_packages(run, tmp_path, suffix):
    """With labels, user-missing values, dates and long texts, written by the packages' own library."""
    pyreadstat = pytest.importorskip("pyreadstat")
    pd = pytest.importorskip("pandas")
    n = 30
    frame = pd.DataFrame(
        {
            "key": [f"{i:04d}" for i in range(n)],
            "age": np.arange(20.0, 20 + n),
            "sex": [1.0, 2.0] * 15,
            "day": pd.date_range("2020-01-01", periods=n).date,
            "text": ["ü" * 40 if suffix != ".xpt" else "u" * 40] * n,
            "code": [1.0, 2.0, 999.0] * 10,
        }
    )
    source = tmp_path / f"in{suffix}"
    more = {}
    if suffix in (".sav", ".zsav"):
        more = {"missing_ranges": {"code": [999]}, "compress": suffix == ".zsav"}
    if suffix != ".xpt":
        more["variable_value_labels"] = {"sex": {1.0: "male", 2.0: "female"}}
    write = {".dta": pyreadstat.write_dta, ".xpt": pyreadstat.write_xport}.get(suffix, pyreadstat.write_sav)
    write(frame, str(source), column_labels={"age": "Age in years", "key": "Who"}, **more)
    columns = dict.fromkeys(frame, "other") | {"age": QUASI, "sex": {"role": "quasi", "kind": "nominal"}}
    rules = save_recipe(tmp_path / "r.toml", k=3, columns=columns)
    code, _, err = run("protect", source, "--recipe", rules, "-o", tmp_path / "out")
    assert code == 0, err
    released = tmp_path / "out" / f"data{suffix}"
    reader = {".dta": pyreadstat.read_dta, ".xpt": pyreadstat.read_xport}.get(suffix, pyreadstat.read_sav)
    options = {} if suffix == ".xpt" else {"user_missing": True}
    (before, about), (after, now) = reader(str(source), **options), reader(str(released), **options)
    kept = ["key", "day", "text", "code"]
    left, right = (f.sort_values("key").reset_index(drop=True)[kept] for f in (before, after))
    pd.testing.assert_frame_equal(left, right)
    assert now.column_names_to_labels == about.column_names_to_labels
    assert now.variable_value_labels == about.variable_value_labels
    assert now.original_variable_types == about.original_variable_types
    assert now.missing_ranges == about.missing_ranges
    assert after.groupby(["age", "sex"]).size().min() >= 3
    assert run("verify", tmp_path / "out")[0] == 0
    assert run("replay", tmp_path / "out", "--input", source)[0] == 0


@pytest.mark.parametrize(
    ("texts", "rule"),
    [
        (["flu", "flu ", " flu", "none", "none ", " "], {"kind": "nominal"}),
        (["1e+05", "100000", "20", "+20", "3"], {"kind": "integer"}),
        (["2020-01-01T01:00:00+0100", "2020-01-01T00:00:00Z"], {"kind": "datetime", "format": "%Y-%m-%dT%H:%M:%S%z"}),
    ],
)
def test_confidential_texts_that_stand_for_one_value(tmp_path, texts, rule):
    """Groups are made for what verify counts, and the measures count the same."""
    rng = np.random.default_rng(2)
    values = [*rng.choice(texts, 59), "2021-01-01T00:00:00Z" if rule["kind"] == "datetime" else texts[-1]]
    (tmp_path / "in.csv").write_text(lines("x,c", [f"{i},{v}" for i, v in enumerate(values)]))
    guard = {"t": 0.6} if rule["kind"] == "datetime" else {"l": 2}
    columns = {"x": QUASI, "c": {"role": "confidential", **rule, **guard}}
    release = ct.protect(tmp_path / "in.csv", {"k": 3, "seed": 1, "method": "mdav", "columns": columns})
    assert ct.verify(release.save(tmp_path / "out")).ok
    (told,), check = release.measures.risk.confidential, release.verdict.checks[1]
    assert check.found == pytest.approx(told.largest_t if "t" in guard else told.least_distinct)


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
@pytest.mark.parametrize("guard", [{"kind": "nominal", "t": 0.4}, {"kind": "integer", "l": 2}, {"kind": "ordinal"}])
def test_codes_that_mean_missing_in_confidential_columns(run, tmp_path, suffix, guard):
    """Groups, the check and the measures take them for what they are: none of the answers, kept as they were."""
    pyreadstat = pytest.importorskip("pyreadstat")
    pd = pytest.importorskip("pandas")
    rng, n = np.random.default_rng(1), 80
    answer = rng.choice([1.0, 2.0, 3.0, 98.0, 99.0], n)
    frame = pd.DataFrame({"age": rng.integers(20, 90, n).astype(float), "answer": answer})
    source = tmp_path / f"in{suffix}"
    if suffix == ".sav":
        pyreadstat.write_sav(frame, str(source), missing_ranges={"answer": [98, 99]})
    else:
        frame = frame.astype({"answer": object}).replace({"answer": {98.0: "a", 99.0: "b"}})
        pyreadstat.write_dta(frame, str(source), missing_user_values={"answer": ["a", "b"]})
    more = {"order": ["1", "2", "3"]} if guard["kind"] == "ordinal" else {}
    columns = {"age": QUASI, "answer": {"role": "confidential", **guard, **more}}
    rules = save_recipe(tmp_path / "r.toml", k=3, seed=1, columns=columns)
    code, out, err = run("protect", source, "--recipe", rules, "-o", tmp_path / "out", "--json")
    assert code == 0, err
    facts = json.loads(out)
    (told,) = facts["measures"]["risk"]["confidential"]
    assert told["constant_classes"] == facts["verdict"]["checks"][-1]["offending_classes"]
    read = pyreadstat.read_sav if suffix == ".sav" else pyreadstat.read_dta
    released = read(str(tmp_path / "out" / f"data{suffix}"), user_missing=True)[0]
    assert sorted(map(str, released["answer"])) == sorted(map(str, frame["answer"]))
    assert run("verify", tmp_path / "out")[0] == 0


# The wages and outputs of airlines (Greene) as SAS wrote them: airline.sas7bdat of the tests of pandas
# (the pandas development team, BSD-3-Clause), compressed
AIRLINE = """
eNrtVw1MU1cUPi21CHTYIgoR1DfGlv2BBRU10bzXKI6Ojhkw/ixmad3KhDHoakFczCw6N7e5zM0RZ2SumxI0+40SwxJnOuPUbTgxosjAWYZM1mh0
I5MhSnffuaf04Yxas2RZwkmac+553/3uueece/seQEgO+Kuse+INx75+dyREHc7YkDhRb0hJgcwUlTpTM4iKUA3xZ6qYyUQfoQoiCkwFwlyzJdtk
zreY87KFu5U5pvkmWQN4q4v3nzKFNBNhnzSo5eD0ACrFXmakG5k8YVxozoNbye2ey2ta8r64HPzd+LTYvDANhmVY/qfyvKJ/Z8rnSJ0G98jHKhbA
Rwcqntk6wpxjhpH8OcyukQ021jB7Dtk7YwCWkO1i9hSaKylsncI+HR2ydyhsxw02UZJjm3z+pTdLekT5kH447pisPStqDsgaWrZfQV1V3SmCC7G+
/l1/0rMmWVv3+H+QtXAmlWPnd3aIUIlYxtcn+9ze748j/wtTmnEsTkWsoFnwiwirEAvqRwKyT9KpTyA2d1or6sbGv1CbdQzrRqy1YYIa445u4Vj9
4VO49kDzNeSY+jTDvoJY99jWERh37VZc2/rtAGKtXU0DGMNa768irOd5mDx5JGK3O04i5u0DGAPLT4D4u0XYwPPQ97IOYyksRD7fnsWItb5zEXDv
Ryr8ImzkextoHkX5aEGe3vLTyNvxUoTs92zZ8psI7/F44z83YCyvmxDjubgK9+i5VIf7gJOVF0V4H7HCWikOY0nV8rWrNDzuzlrEekrjfhehhvPO
emMM6urZbcj3yWecf+tBLcbWW8CwHl633GljkX/RjHaMs6gMc+fJ3ov5gbTdvSLs4Ht7qH0M5ewMYj+ux3iFtj6ey7pD/SLs5LyNlgQeS/RZxBqy
MAa2pyhpsCaf8r1pq5Jw/gMZPqrTT9Sj0RQvy/OXfG/exydS3B0Y52vrcI7nUG4M5nJvD6tfPWI9jlkp0mA/sfHoJtTW8/1YT1gQy3qrYRvl9X6e
Zy9ifDnpHcSrR44PLrE876P8Rj+MuuR8J+WM5y66BWtkjVvL+L08Dx+tS8e4zj7ZhXz29Sd43/4cjxzLDKMlOMixwjwjxvDUs+cxztWtRzGWurlY
I8/smHESHKF+AMRKb232IyZr3BHeZ1exRpJuzQQJGgnrnYT8PdcvIG/vue/oTPI+2bToXgmaeB4qdxn5ewJcxnibo/Dsex6zjaHnggTNPA/VERm4
lrULsZI0+jj1JO+pSeMZ72nq9bzJfK3EP5Bvtw6xsNrP95aouU+Cdo7d1JBJteR3lX/5UbpvEOveP5HV1cd7kp1kihfvGe83CafoDkngdX2VxXuO
alE7Beszox7vGam7lddNtyaB9jFegm6es7avsnD+KrEfMY4fsS/cm0sTcb3VxckSXOC8Fdum0T2Ad5L7xSTsHa9zWRLdH0nS8D/nsAzLsIQrA/2B
wJ0hHfgeGt4cK8SEPcdyF+vMhKiw5zwIo8KeI0Dwu/taIBCYp3iCfo0K9UiydQo7XmEnK+xUhR0URh2YPjhKpjVT6V17Oukc0ktIlwz53r7OODay
j3B38LvaWeRy2UuFpSuFAlMBwOJsU/5Ku825WJ5pr7CXCGWFQlm5y1HugoXMt8L2nF1w2lx2ZuezX1Gpy+60L3cFfRZ5nm1pmVMoKpXn5LLxMzZH
kctWQh7+baC/WRpZ8oyUs8gwelUXGcq9zK2lNbS0XxVxBnWAfCPIJ+uBwD9r3X8T39Wb+PoCd9on/65cYaIlu5fJUaZjaWwwquFR7MyQaBV2OoSK
IFBOAv/RPsL59r2dyPVUk9aRjiWdRjoyzPU1yCUnK17ZdXg+k0FzhxyqIecQ6IzeQkYoB38DXYxKRQ==
"""


def test_a_file_that_sas_wrote(run, tmp_path):
    """SAS alone writes its own format: the release is a transport file."""
    pyreadstat = pytest.importorskip("pyreadstat")
    source = tmp_path / "airline.sas7bdat"
    source.write_bytes(zlib.decompress(base64.b64decode(AIRLINE)))
    shortcuts = ("--quasi", "Y,W,R", "--confidential", "L", "--keep", "K", "--drop", "YEAR", "-k", 4)
    code, _, err = run("protect", source, *shortcuts, "-o", tmp_path / "out")
    assert code == 0, err
    assert "hand out data.xpt" in err
    (before, about), (after, now) = (
        pyreadstat.read_sas7bdat(str(source)),
        pyreadstat.read_xport(str(tmp_path / "out" / "data.xpt")),
    )
    assert len(before) == 32
    assert list(after) == ["Y", "W", "R", "L", "K"]
    assert sorted(zip(after["L"], after["K"], strict=True)) == sorted(zip(before["L"], before["K"], strict=True))
    assert after.groupby(["Y", "W", "R"]).size().min() >= 4
    del about.column_names_to_labels["YEAR"]
    assert now.column_names_to_labels == about.column_names_to_labels
    assert run("verify", tmp_path / "out")[0] == 0
    assert run("replay", tmp_path / "out", "--input", source)[0] == 0


@pytest.mark.parametrize("suffix", [".sav", ".dta"])
def test_codes_that_mean_missing_in_a_confidential_column(run, tmp_path, suffix):
    pyreadstat = pytest.importorskip("pyreadstat")
    pd = pytest.importorskip("pandas")
    rng, n = np.random.default_rng(0), 60
    votes = rng.choice([1.0, 2.0, 3.0, 8.0, 9.0], n, p=[0.3, 0.3, 0.2, 0.1, 0.1])
    frame = pd.DataFrame({"age": rng.integers(20, 80, n).astype(float), "vote": votes})
    source = tmp_path / f"in{suffix}"
    if suffix == ".sav":
        pyreadstat.write_sav(frame, str(source), missing_ranges={"vote": [8.0, 9.0]})
    else:
        frame["vote"] = frame["vote"].astype(object).replace({8.0: "a", 9.0: "b"})
        pyreadstat.write_dta(frame, str(source), missing_user_values={"vote": ["a", "b"]})
    for i, guard in enumerate(({"kind": "nominal", "t": 0.25}, {"kind": "integer", "l": 2}, {"kind": "numeric"})):
        columns = {"age": QUASI, "vote": {"role": "confidential", **guard}}
        rules = save_recipe(tmp_path / f"{i}.toml", k=3, columns=columns)
        code, _, err = run("protect", source, "--recipe", rules, "-o", tmp_path / str(i))
        assert code == 0, err
        assert run("verify", tmp_path / str(i))[0] == 0


# The commands


@pytest.fixture
def patients(tmp_path):
    rng = np.random.default_rng(2)
    rows = [
        f"p{i},{rng.integers(20, 80)},{rng.normal(30, 9):.2f},{['flu', 'gout', 'cold'][rng.integers(3)]},n{i}"
        for i in range(40)
    ]
    path = tmp_path / "patients.csv"
    path.write_text(lines("name,age,income,illness,note", rows))
    return path


SIMPLE = ["--quasi", "age,income", "--confidential", "illness", "--drop", "name", "--keep", "note", "-k", "4"]


def test_without_a_recipe(run, patients, tmp_path):
    code, out, err = run("protect", patients, *SIMPLE, "-o", tmp_path / "out", "--seed", 3)
    assert (code, out) == (0, "")
    assert "kinds           age integer, income numeric, illness nominal" in err
    assert "hand out data.csv" in err
    with_recipe = run("protect", patients, "--recipe", tmp_path / "out" / "recipe.toml", "-o", tmp_path / "again")
    assert with_recipe[0] == 0
    for name in ("data.csv", "recipe.toml", "verify.json"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--quasi", "age,income", "-k", "4"], "one of --quasi, .* --keep. Got: 'name', 'illness', 'note' in none"),
        (["--quasi", "age,incom", "-k", "4", "--keep", "name,illness,note,income"], "did you mean 'income'"),
        (["--quasi", "age,age", "-k", "4"], "'age' twice in --quasi"),
        (["--quasi", "age", "--drop", "age", "-k", "4"], "'age' in two lists: --quasi and --drop"),
        (["--quasi", "", "-k", "4"], "empty name"),
        (["-k", "4"], "Got: no --quasi. Hint: coterie recipe"),
        (["--quasi", "age"], "Got: no -k. Hint: coterie recipe"),
        ([*SIMPLE[:-1], "1"], "at least 2"),
        ([*SIMPLE, "--method", "mdaw"], "mdav"),
        (
            [*SIMPLE, "--recipe", "r.toml"],
            "--recipe cannot be combined with -k, --quasi, --confidential, --drop, --keep",
        ),
        ([*SIMPLE, "--seed", "-1"], "seed"),
    ],
)
def test_usage(run, patients, tmp_path, args, words):
    import re

    code, out, err = run("protect", patients, *args, "-o", tmp_path / "out")
    assert (code, out) == (2, "")
    assert re.search(words, err)
    assert not (tmp_path / "out").exists()


def test_what_is_said_is_said_of_the_written_file(run, patients, tmp_path):
    assert "In the written file, every record" in run("protect", patients, *SIMPLE, "-o", tmp_path / "out")[2]
    assert "In the release, every record" in run("protect", patients, *SIMPLE, "--dry-run")[2]


def test_dry_runs_write_nothing(run, patients, tmp_path):
    code, out, err = run("protect", patients, *SIMPLE, "--dry-run", "--json")
    assert code == 0
    assert "nothing was written" in err
    facts = json.loads(out)
    assert facts["verdict"]["ok"] is True
    assert facts["output"]["records"] == 40
    assert [p.name for p in tmp_path.iterdir()] == ["patients.csv"]
    assert run("protect", patients, *SIMPLE)[0] == 2
    assert run("protect", patients, *SIMPLE, "--dry-run", "-o", tmp_path / "out")[0] == 2


def test_quiet_and_json(run, patients, tmp_path):
    code, out, err = run("protect", patients, *SIMPLE, "-o", tmp_path / "out", "--quiet")
    assert (code, out, err) == (0, "", "")
    code, out, err = run("protect", patients, *SIMPLE, "-o", tmp_path / "out", "--quiet", "--json", "--force")
    assert (code, err) == (0, "")
    assert json.loads(out)["recipe"]["k"] == 4
    assert json.loads(out)["output"]["name"] == "data.csv"
    code, out, err = run("verify", tmp_path / "out", "--json", "--quiet")
    assert (code, err) == (0, "")
    assert json.loads(out)["ok"] is True
    assert run("protect", patients, *SIMPLE, "-o", tmp_path / "out")[0] == 2
    assert run("replay", tmp_path / "out", "--input", patients, "--quiet") == (0, "", "")


def test_verify_files(run, patients, tmp_path):
    code, _, err = run("verify", patients, "--quasi", "age,income", "-k", 2)
    assert code == 3
    assert "40" in err
    assert run("verify", patients, "--quasi", "age")[0] == 2
    assert run("verify", patients)[0] == 2
    assert run("verify", tmp_path)[0] == 2
    assert run("verify", tmp_path / "nothing")[0] == 2
    run("protect", patients, *SIMPLE, "-o", tmp_path / "out", "--quiet")
    assert run("verify", tmp_path / "out", "-k", 2, "--quasi", "age")[0] == 2
    data = tmp_path / "out" / "data.csv"
    assert run("verify", data, "--quasi", "age,income", "--confidential", "illness", "-k", 4)[0] == 0
    data.write_text(data.read_text().replace("n7\n", "n7x\n"))
    code, out, err = run("verify", tmp_path / "out", "--json")
    assert (code, out) == (3, "")
    assert "'data.csv', which was changed" in err
    code, out, _ = run("replay", tmp_path / "out", "--input", patients, "--json")
    assert code == 1
    assert json.loads(out) == {"same": False, "differs": ["the data file was changed since it was written"]}


PROMISES = {
    "columns": {
        "name": "identifier",
        "x": QUASI,
        "y": QUASI,
        "ill": {"role": "confidential", "kind": "nominal", "l": 2},
        "pay": {"role": "confidential", "kind": "numeric", "t": 0.6},
    },
    "scenarios": {"one": {"quasi": ["x"], "k": 3}, "two": {"quasi": ["y"], "k": 5}},
}


def test_verify_a_file_by_a_recipe(run, tmp_path):
    """All that it promises, though there is no bundle any more."""
    rng, source = np.random.default_rng(4), tmp_path / "in.csv"
    rows = [f"P{i};{a};{b};{'uvw'[c]};{p},5" for i, (a, b, c, p) in enumerate(rng.integers(0, [99, 99, 3, 9], (60, 4)))]
    source.write_text(lines("name;x;y;ill;pay", rows))
    rules = save_recipe(tmp_path / "r.toml", k=3, seed=1, **PROMISES)
    assert run("protect", source, "--recipe", rules, "-o", tmp_path / "out")[0] == 0
    data = (tmp_path / "out" / "data.csv").rename(tmp_path / "data.csv")
    code, out, _ = run("verify", data, "--recipe", rules, "--json")
    assert code == 0
    checks = [(c["what"], c["scenario"]) for c in json.loads(out)["checks"]]
    assert {("k-anonymity", "one"), ("k-anonymity", "two"), ("distinct l-diversity", "two")} < set(checks)
    assert "t-closeness" in {what for what, _ in checks}
    head, *body = data.read_text().splitlines()
    same = [";".join([*row.split(";")[:2], "u", row.split(";")[3]]) for row in body]
    for broken in (
        [head, *same],  # one diagnosis
        [head, "1000" + body[0][body[0].index(";") :], *body[1:]],  # alone in scenario one
        [f"{head};name", *(f"{row};P{i}" for i, row in enumerate(body))],  # an identifier
    ):
        data.write_text("\n".join(broken) + "\n")
        code, _, err = run("verify", data, "--recipe", rules)
        assert code == 3, err
    for more in (("-k", 3), ("--quasi", "x"), ("--read", "delimiter=;")):
        assert "A recipe says all" in run("verify", data, "--recipe", rules, *more)[2]
    assert run("verify", tmp_path / "out", "--recipe", rules)[0] == 2


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_verify_by_a_recipe_that_says_how_a_file_is_read(tmp_path, suffix):
    source, how = tmp_path / f"in{suffix}", {"k": 3, "seed": 1, **PROMISES}
    rng = np.random.default_rng(4)
    rows = [(f"P{i}", *map(int, row)) for i, row in enumerate(rng.integers(0, [99, 99, 3, 9], (60, 4)))]
    if suffix == ".csv":
        source.write_text("".join(f"{n};{a};{b};{'äöü'[c] if p else 'NA'};{p}\n" for n, a, b, c, p in rows), "cp1252")
        how["file"] = {
            "encoding": "cp1252",
            "names": ["name", "x", "y", "ill", "pay"],
            "delimiter": ";",
            "missing": ["NA"],
        }
    else:
        table = pa.table(dict(zip(("name", "x", "y", "ill", "pay"), zip(*rows, strict=True), strict=True)))
        pq.write_table(table, source)
    saved = ct.protect(source, how).save(tmp_path / "out")
    found = ct.verify(saved / f"data{suffix}", recipe=saved / "recipe.toml")
    assert found.facts() == ct.verify(saved).facts()
    assert found.ok


def test_verify_files_that_need_words(run, tmp_path):
    """What protect writes in its own dialect can be checked without the bundle, too."""
    source = tmp_path / "in.csv"
    source.write_bytes(lines("alter;größe", [f"{20 + i};{i % 3}" for i in range(12)]).encode("cp1252"))
    simple = ["--quasi", "alter", "--keep", "größe", "-k", "3"]
    assert run("protect", source, "--read", "encoding=cp1252", *simple, "-o", tmp_path / "a")[0] == 0
    data = tmp_path / "a" / "data.csv"
    assert run("verify", data, "-k", 3, "--quasi", "alter")[0] == 2
    assert run("verify", data, "-k", 3, "--quasi", "alter", "--read", "encoding=cp1252")[0] == 0
    assert run("verify", data, "-k", 7, "--quasi", "alter", "--read", "encoding=cp1252")[0] == 3
    source.write_text(lines("7;1", [f"{i};{i % 3}" for i in range(11)]))
    named = ["--read", "names=x,y", "--read", "delimiter=;"]
    assert run("protect", source, *named, "--quasi", "x", "--keep", "y", "-k", "3", "-o", tmp_path / "b")[0] == 0
    code, _, err = run("verify", tmp_path / "b" / "data.csv", "-k", 3, "--quasi", "x", *named)
    assert (code, "12 records read back" in err) == (0, True)
    assert run("verify", data, "-k", 3, "--quasi", "alter", "--read", "decimal=,")[0] == 2
    assert "further claims" in run("verify", tmp_path / "b", *named)[2]
    assert "does not exist" in run("verify", tmp_path / "c")[2]
    assert "-k and --quasi" in run("verify", data, "-k", 3)[2]


def test_recipe(run, patients, tmp_path):
    code, draft, _ = run("recipe", patients)
    assert code == 0
    recipe = ct.Recipe.loads(draft.replace("draft = true", ""))
    assert recipe.columns["name"].role == "identifier"
    target = tmp_path / "draft.toml"
    code, out, err = run("recipe", patients, "-o", target)
    assert (code, out) == (0, "")
    assert "look at every line" in err
    assert target.read_text().rstrip() == draft.rstrip()
    assert run("recipe", patients, "-o", target)[0] == 2
    assert run("recipe", patients, "-o", target, "--force")[0] == 0
    assert run("recipe", patients, "-o", tmp_path / "no" / "draft.toml")[0] == 2


def test_a_draft_of_a_file_that_needs_words(run, tmp_path):
    source = tmp_path / "in.csv"
    source.write_bytes(lines("größe;wert", [f"{i},5;{'k.A.' if i == 3 else i % 4}" for i in range(9)]).encode("cp1252"))
    code, _, err = run("recipe", source)
    assert code == 2
    assert "encoding" in err
    code, draft, err = run("recipe", source, "-k", 3, "--read", "encoding=cp1252", "--read", "missing=k.A.")
    assert code == 0, err
    recipe = ct.Recipe.loads(draft.replace("draft = true", ""))
    assert recipe.file.options == {"encoding": "cp1252", "missing": ["", "k.A."]}
    assert {n: r.kind for n, r in recipe.columns.items()} == {"größe": "numeric", "wert": "integer"}
    (tmp_path / "r.toml").write_text(
        draft.replace("draft = true", "").replace('"refuse" ', '"group" '), encoding="utf-8"
    )
    code, _, err = run("protect", source, "--recipe", tmp_path / "r.toml", "-o", tmp_path / "out")
    assert code == 0, err


def test_assess_and_compare(run, patients, tmp_path):
    code, out, err = run("assess", patients, "--quasi", "age,income", "--confidential", "illness", "-k", 3)
    assert (code, out) == (0, "")
    assert "40 records (100.0 %)" in err
    code, out, _ = run("assess", patients, "--quasi", "age", "--json")
    assert code == 0
    assert json.loads(out)["records"] == 40
    assert run("assess", patients)[0] == 2
    page = tmp_path / "map.html"
    args = ["compare", patients, "--quasi", "age,income", "--k", "2,5", "--methods", "mdav,v-mdav"]
    code, out, err = run(*args, "--json", "-o", page)
    assert code == 0
    assert [(c["k"], c["method"]) for c in json.loads(out)] == [(2, "mdav"), (2, "v-mdav"), (5, "mdav"), (5, "v-mdav")]
    assert err.count("mdav") >= 4
    for c in (found := json.loads(out)):
        better = [d for d in found if d["loss"] <= c["loss"] and d["risk"] <= c["risk"]]
        assert c["on_frontier"] == all((d["loss"], d["risk"]) == (c["loss"], c["risk"]) for d in better)
    text = page.read_text()
    assert text.lower().startswith("<!doctype html>")
    assert "<svg" in text
    assert "http:" not in text.replace("http://www.w3.org", "")
    assert "https:" not in text
    assert run(*args, "-o", page)[0] == 2
    assert run(*args, "-o", tmp_path / "map.txt")[0] == 2
    assert run(*args[:4], "--k", "two")[0] == 2
    assert run(*args[:4], "--k", "99")[0] == 3
    assert run(*args[:4], "--methods", "mdaw")[0] == 2


def test_compare_tells_the_loss_of_what_is_released(run, tmp_path):
    """As protect does: of modes and rounded means, not of the groups alone."""
    rng = np.random.default_rng(0)
    source, rules = tmp_path / "in.csv", tmp_path / "r.toml"
    source.write_text(lines("a,b", [f"{rng.integers(0, 9)},{'xyz'[rng.integers(0, 3)]}" for _ in range(40)]))
    columns = {"a": {"role": "quasi", "kind": "integer"}, "b": {"role": "quasi", "kind": "nominal"}}
    save_recipe(rules, k=4, method="mdav", seed=0, columns=columns)
    facts = json.loads(run("protect", source, "--recipe", rules, "--dry-run", "--json")[1])
    (one,) = json.loads(run("compare", source, "--recipe", rules, "--k", "4", "--methods", "mdav", "--json")[1])
    assert one["loss"] == facts["measures"]["loss"]["loss"] != facts["groupings"][0]["loss"]


def test_compare_goes_on_where_a_candidate_is_not_possible(run, tmp_path):
    source, page = tmp_path / "in.csv", tmp_path / "map.html"
    source.write_text(lines("a,s", [f"{i * i},{'u' if i < 6 else 'v'}" for i in range(18)]))
    columns = {"a": QUASI, "s": {"role": "quasi", "kind": "nominal"}}
    rules = save_recipe(tmp_path / "r.toml", k=3, columns=columns, strata={"within": ["s"]})
    args = ["compare", source, "--recipe", rules, "--methods", "mdav,mdav"]
    code, out, err = run(*args, "--k", "3,8,3", "--json", "-o", page)
    assert code == 0
    one, other = json.loads(out)  # each once
    assert (one["k"], one["on_frontier"], one["not_possible"]) == (3, True, None)
    assert (other["k"], other["on_frontier"], other["loss"]) == (8, False, None)
    assert "1 of 2 with fewer than k = 8, 6 records" in other["not_possible"]
    assert f"not possible: {other['not_possible']}" in err
    assert "1 not possible" in page.read_text()
    assert "fewer than k = 8" in page.read_text()
    code, _, err = run(*args, "--k", "8,9")
    assert (code, "fewer than k = 8" in err) == (3, True)


def test_assess_names_roles_once_and_scenarios(run, patients):
    for command in ("assess", "compare"):
        code, _, err = run(command, patients, "--quasi", "age,income", "--confidential", "age")
        assert (code, "'age' in two lists" in err) == (2, True)
    table = {"a": [1, 2, 3], "b": [1, 1, 1], "c": [4, 5, 6]}
    columns = {"a": QUASI, "b": QUASI, "c": {"role": "confidential", "kind": "integer"}}
    scenarios = {"one": {"quasi": ["a"], "k": 2}, "two": {"quasi": ["b"], "k": 2}}
    found = ct.assess(pa.table(table), {"k": 2, "columns": columns, "scenarios": scenarios})
    assert "c (scenario one): constant in 3 of 3 classes" in str(found)
    assert "c (scenario two): constant in 0 of 1 classes" in str(found)


def test_compare_where_nothing_is_a_number(run, tmp_path):
    source = tmp_path / "in.csv"
    source.write_text(lines("a,b", [f"{'xyz'[i % 3]},{'uv'[i % 2]}" for i in range(24)]))
    code, out, err = run("compare", source, "--quasi", "a,b", "--k", "3", "--methods", "mdav", "--json")
    assert code == 0, err
    json.loads(out)
    assert run("assess", source, "--quasi", "a,b", "--json")[0] == 0


# Nothing leaks

NAME, TOWN, NUMBER, DATE = "Zz-Secretname-zZ", "Qq-Secrettown-qQ", "987654321.125", "1907-03-11"
MARKS = ("Secretname", "Secrettown", "987654321", "987,654,321", "1907-03-11", "9.87654321")


def clean(text):
    found = [mark for mark in MARKS if mark in text]
    assert not found, (found, text[:500])


def secrets(n=40, delimiter=","):
    rng = np.random.default_rng(4)
    rows = []
    for i in range(n):
        last = i == n - 1
        rows.append([
            f"{NAME}{i}", str(rng.integers(20, 80)), TOWN if last else ["Reus", "Valls"][i % 2],
            NUMBER if last else f"{rng.normal(30, 9):.3f}", DATE if last else f"2020-01-{i % 28 + 1:02d}",
            ["flu", "none", "gout"][i % 3],
        ])  # fmt: skip
    return "\n".join(delimiter.join(row) for row in [["name", "age", "town", "income", "day", "illness"], *rows]) + "\n"


ROLES = {
    "name": "identifier",
    "age": {"role": "quasi", "kind": "integer"},
    "town": {"role": "quasi", "kind": "nominal"},
    "income": {"role": "quasi", "kind": "numeric"},
    "day": {"role": "quasi", "kind": "datetime"},
    "illness": {"role": "confidential", "kind": "nominal"},
}


def roles(**changes):
    return {**ROLES, **changes}


def quasi(kind, **more):
    return {"role": "quasi", "kind": kind, **more}


def guarded(kind, **more):
    return {"role": "confidential", "kind": kind, **more}


BAD = {
    **{
        f"{name} as {kind}": {"columns": roles(**{name: quasi(kind, **more)})}
        for name in ("name", "town", "income", "day")
        for kind, more in (
            ("numeric", {}), ("integer", {}), ("datetime", {}), ("datetime", {"format": "%d.%m.%Y"}), ("boolean", {}),
            ("ordinal", {"order": ["Reus", "Valls"]}),
        )
        if (name, kind, more) not in (("income", "numeric", {}), ("day", "datetime", {}))
    },
    "confidential numbers": {"columns": roles(town=guarded("numeric"))},
    "confidential order": {"columns": roles(town=guarded("ordinal", order=["Reus"]))},
    "weights": {"columns": roles(town="other"), "weights": "town"},
    "dropped weights": {"weights": "name"},
    "strata": {"strata": {"within": ["town"]}},
    "out of reach": {"columns": roles(illness=guarded("nominal", l=9))},
    "too near": {"columns": roles(illness=guarded("nominal", t=0.001))},
    "k": {"k": 99},
    "no such method": {"method": TOWN.lower()[:2]},
    "k of exact": {"method": "exact", "k": 39},
    "missing markers": {"file": {"missing": [TOWN]}},
    "decimal comma": {"file": {"decimal": ","}},
    "delimiter": {"file": {"delimiter": ";"}},
    "quote": {"file": {"quote": "-"}},
    "encoding": {"file": {"encoding": "utf-16-le"}},
    "ascii": {"file": {"encoding": "rot13"}},
    "names": {"file": {"header": False, "names": list(ROLES)}},
    "fewer names": {"file": {"header": False, "names": ["a"]}},
    "fewer columns": {"columns": {"age": quasi("integer")}},
    "more columns": {"columns": roles(adress="other")},
}  # fmt: skip


def everything(error):
    """All that a handler could print of an error."""
    seen, text = set(), []
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        text += [str(error), repr(error), repr(error.args), *getattr(error, "__notes__", ())]
        text += traceback.format_exception(error)
        error = error.__cause__ or error.__context__
    return "\n".join(text)


@pytest.mark.parametrize("kind", ["file", "pandas", "polars", "arrow"])
def test_errors_tell_no_value(tmp_path, kind):
    path = tmp_path / "in.csv"
    path.write_text(secrets())
    table = path
    if kind != "file":
        module = pytest.importorskip({"arrow": "pyarrow.csv"}.get(kind, kind))
        table = {"pandas": lambda: module.read_csv(path), "arrow": lambda: module.read_csv(path)}.get(
            kind, lambda: module.read_csv(path, try_parse_dates=True)
        )()
    failed = 0
    for name, changes in BAD.items():
        if kind != "file" and "file" in changes:
            continue
        document = {"k": 3, "seed": 1, "method": "mdav", "columns": ROLES, **changes}
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                release = ct.protect(table, document)
            except CoterieError as error:
                failed += 1
                clean(everything(error))
            except Exception as error:  # a bug, and named as such
                raise AssertionError(f"{name}: {type(error).__name__}") from error
            else:
                clean(f"{release}{release!r}{release.recipe}{release.verdict}{release._repr_html_()}")
                clean(as_json(release.facts))
        clean("".join(str(w.message) for w in caught))
    assert failed > (25 if kind == "file" else 15)


BROKEN = {
    "ragged": secrets().replace(f"{DATE},flu", f"{DATE},flu,{TOWN}").replace(",2020-01-05", f",2020-01-05,{NAME}"),
    "a stray quote": secrets().replace(TOWN, f'a"{TOWN}'),
    "an open quote": secrets().replace(TOWN, f'"{TOWN}'),
    "other bytes": secrets().replace(TOWN, f"{TOWN}\udcfc"),
    "a NUL": secrets().replace(TOWN, f"{TOWN}\0"),
    "a lone return": secrets().replace(TOWN, f"{TOWN}\r"),
    "formulas": secrets().replace(TOWN, f"={TOWN}").replace("flu", f"=cmd|{NAME}"),
    "infinite": secrets().replace(NUMBER, f"{NUMBER}e999"),
    "no date": secrets().replace(DATE, f"{DATE}T99"),
    "digits": secrets().replace(",7", f",{NUMBER.replace('.', '')}999999"),
}


def test_what_the_terminal_sees(run, tmp_path):
    """Files that break in every way, under every command; also what is left in the folder."""
    rules = save_recipe(tmp_path / "r.toml", k=3, columns=ROLES)
    for name, text in BROKEN.items():
        (tmp_path / "in.csv").write_bytes(text.encode("utf-8", "surrogateescape"))
        for command in (
            ("protect", "--recipe", rules, "-o", tmp_path / "out", "--force"), ("recipe",),
            ("assess", "--recipe", rules), ("verify", "--quasi", "age,town,income", "-k", 3),
            ("compare", "--recipe", rules, "--k", "3", "--methods", "mdav"),
        ):  # fmt: skip
            code, out, err = run(command[0], tmp_path / "in.csv", *command[1:])
            assert code in (0, 2, 3), (name, command[0], err)
            clean(out + err)


def test_the_bundle_tells_no_value(run, tmp_path):
    """A lonely category, an extreme number, an early date: none is released, so no report has them either."""
    (tmp_path / "in.csv").write_text(secrets())
    rules = save_recipe(tmp_path / "r.toml", k=4, columns=ROLES)
    code, out, err = run("protect", tmp_path / "in.csv", "--recipe", rules, "-o", tmp_path / "out", "--json")
    assert code == 0, err
    clean(err)
    clean(out)
    for path in (tmp_path / "out").iterdir():
        clean(path.read_text())
    code, out, err = run("verify", tmp_path / "in.csv", "--quasi", "town,income,day", "-k", 3, "--json")
    assert code == 3
    clean(out + err)
    for args in (("assess", "--recipe", rules, "--json"), ("recipe",)):
        code, out, err = run(args[0], tmp_path / "in.csv", *args[1:])
        assert code == 0
        clean(out + err)
    args = ("--recipe", rules, "--k", "3,5", "--methods", "mdav", "-o", tmp_path / "map.html", "--json")
    code, out, err = run("compare", tmp_path / "in.csv", *args)
    assert code == 0, err
    clean(out + err + (tmp_path / "map.html").read_text())


def test_confidential_extremes_stay_out_of_the_reports(run, tmp_path):
    """They are in the data, by their role; a report that goes elsewhere needs not repeat them."""
    (tmp_path / "in.csv").write_text(secrets())
    columns = roles(income=guarded("numeric"), day=guarded("datetime"), town=guarded("nominal"))
    rules = save_recipe(tmp_path / "r.toml", k=4, columns=columns)
    code, _, err = run("protect", tmp_path / "in.csv", "--recipe", rules, "-o", tmp_path / "out")
    assert code == 0, err
    assert NUMBER in (tmp_path / "out" / "data.csv").read_text()
    for name in ("report.html", "verify.json", "manifest.json"):
        clean((tmp_path / "out" / name).read_text().replace(TOWN, ""))


class Watcher(threading.Thread):
    """Reads all that appears in some folders, again and again."""

    def __init__(self, *folders):
        super().__init__(daemon=True)
        self.folders, self.over, self.seen, self.found, self.modes = folders, False, set(), set(), set()

    def run(self):
        while not self.over:
            for folder in self.folders:
                for root, _, names in os.walk(folder):
                    for name in names:
                        self._look(Path(root) / name)

    def _look(self, path):
        try:
            data = path.read_bytes()
            self.modes.add((path.suffix, path.parent.stat().st_mode & 0o077, path.stat().st_mode & 0o077))
        except OSError:
            return
        self.seen.add(path.name)
        # words of the original: a name, which is dropped, or an income to three places, which is averaged
        for mark in (NAME.encode(), TOWN.encode(), NUMBER.encode(), DATE.encode()):
            if mark in data:
                self.found.add((path.name, mark))


def test_temporary_files_hold_nothing_of_the_original(tmp_path):
    """Beside the target and in the folder for temporary files, during a run and after it; under -X dev."""
    source, spare, place = tmp_path / "in" / "in.csv", tmp_path / "spare", tmp_path / "place"
    for folder in (source.parent, spare, place):
        folder.mkdir()
    source.write_bytes(secrets(1500, ";").replace("Reus", "Rëus").encode("cp1252"))
    rules = save_recipe(source.with_suffix(".toml"), k=3, columns=ROLES, file={"encoding": "cp1252"})
    watcher = Watcher(spare, place)
    watcher.start()
    ran = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error::ResourceWarning", "-m", "coterie", "protect", str(source),
         "--recipe", str(rules), "-o", str(place / "out")],
        capture_output=True, text=True, env={**os.environ, "TMPDIR": str(spare)},
    )  # fmt: skip
    watcher.over = True
    watcher.join()
    assert ran.returncode == 0, ran.stderr
    assert "Warning" not in ran.stderr
    clean(ran.stderr)
    assert {"data.csv", "utf8.csv", "report.html"} <= watcher.seen
    assert not watcher.found
    assert list(spare.iterdir()) == []
    assert [p.name for p in place.iterdir()] == ["out"]


def test_a_bug_tells_where_and_no_more(run, tmp_path, monkeypatch):
    from coterie.release import release

    def broken(*_):
        raise RuntimeError(f"could not convert {NAME}")

    monkeypatch.setattr(release, "planned", broken)
    (tmp_path / "in.csv").write_text(secrets())
    rules = save_recipe(tmp_path / "r.toml", k=3, columns=ROLES)
    with pytest.raises(AssertionError, match="a bug: RuntimeError at test_custodian"):
        run("protect", tmp_path / "in.csv", "--recipe", rules, "--dry-run")
