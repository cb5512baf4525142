"""The custodian's commands on files that nobody here wrote: what is kept is kept to the letter."""

from __future__ import annotations

import base64
import csv
import importlib.util
import io
import json
import tomllib
import zlib
from pathlib import Path

import numpy as np
import pytest

import coterie as ct
from command_files import QUASI, lines, save_recipe

# Odd CSV files: every record is found by an untouched key, and every untouched text is the same


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
    "names twice": ("a,a\n1,2\n", 2, "names must be unique"),
    "a name that is empty": ("a,\n1,2\n", 2, "must have a name"),
    "a header and nothing else": ("a,b\n", 2, "must have records"),
    "nothing": ("", 2, "must not be empty"),
    "blank lines": ("\n\n", 2, "must not be empty"),
    "a NUL": ("a,b\n1,\0\n", 2, "NUL byte in line 2"),
    "fields too many": ("a,b\n1,2,3\n", 2, "3 fields in line 2"),
    "a quote that stays open": ('a,b\n1,"2\n', 2, "never closed"),
    "bytes that are no UTF-8": (b"a,b\n1,\xfc\n", 2, "--read encoding=cp1252"),
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
