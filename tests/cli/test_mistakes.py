"""The mistakes that custodians make with files: each message says what to do, and holds no value of a record."""

from __future__ import annotations

import pytest

N = 40
# signs of every record, none of which may be told
NAMES = [f"Zyx{i}" for i in range(N)]
TOWNS = ["Quux", "Wibble"]


def lines_of(columns, delimiter=","):
    rows = [delimiter.join(columns), *(delimiter.join(row) for row in zip(*columns.values(), strict=True))]
    return "\n".join(rows) + "\n"


def table(**columns):
    return {
        "name": NAMES,
        "town": [TOWNS[i % 2] for i in range(N)],
        "age": [str(20 + 5 * (i % 9)) for i in range(N)],
        **columns,
    }


def odd(values, *places, by):
    out = list(values)
    for place in places:
        out[place] = by
    return out


FLAGS = ("--quasi", "town,age", "--drop", "name", "-k", "3")
MORE = ("--quasi", "town,age,x", "--drop", "name", "-k", "3")
RECIPE = """
k = 3
[columns]
name = "identifier"
[columns.town]
role = "quasi"
kind = "nominal"
[columns.age]
role = "quasi"
kind = "integer"
[columns.x]
role = "quasi"
"""
PAY = [f"{1000 + 7 * i}" for i in range(N)]
DAYS = [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(N)]

# the file, how it is called (options, or the end of a recipe), and what the message must say
MISTAKES = {
    "wrong encoding": (
        lines_of(table()).replace("Quux", "Qüux").encode("cp1252"),
        FLAGS,
        ["--read encoding=cp1252", "line 2"],
    ),
    "another wrong encoding": (
        lines_of(table()).replace("Quux", "Qüux").encode(),
        (*FLAGS, "--read", "encoding=ascii"),
        ["--read encoding=cp1252", "utf-8"],
    ),
    "duplicate names": (
        lines_of(table()).replace("age", "town", 1),
        FLAGS,
        ["columns 2 and 3", "rename", "--read names="],
    ),
    "weights with gaps": (
        lines_of(table(x=odd(["2"] * N, 4, 7, by=""))),
        (*FLAGS, "--keep", "x", "--weights", "x"),
        ["2 others (2 missing)", "lines 6 and 9", "give them one"],
    ),
    "weights of zero": (
        lines_of(table(x=odd(["2"] * N, 4, by="0"))),
        (*FLAGS, "--keep", "x", "--weights", "x"),
        ["1 others (1 0)", "line 6", "remove records without a weight"],
    ),
    "Ja and Nein": (
        lines_of(table(x=[["Ja", "Nein"][i % 2] for i in range(N)])),
        'kind = "boolean"',
        ['true = ["Ja"]', 'false = ["Nein"]', "lines 2, 3, 4, 5 and 6"],
    ),
    "a title above the names": ("Survey of 2024\n" + lines_of(table()), FLAGS, ["line 2", "title", "remove it"]),
    "a title above the names of a semicolon file": (
        "Survey of 2024\n\n" + lines_of(table(), ";"),
        FLAGS,
        ["line 3", "title", "remove it"],
    ),
    "a format of another program": (
        lines_of(table(x=[f"{1 + i % 28:02d}.03.2024" for i in range(N)])),
        'kind = "datetime"\nformat = "dd.mm.yyyy"',
        ['format = "%d.%m.%Y"', "columns.x.format"],
    ),
    "one that is no number": (
        lines_of(table(x=odd(PAY, 12, by="Zyxword"))),
        'kind = "numeric"',
        ["1 that are none, in line 14", "--read missing=NA", "--kind x=nominal"],
    ),
    "thousands": (
        lines_of(table(x=[f'"{int(x):,}"' for x in PAY])),
        MORE,
        ["40 that are not plain numbers", "lines 2, 3, 4, 5 and 6", "--read thousands=,", 'thousands = ","'],
    ),
    "a currency": (lines_of(table(x=[f"${x}" for x in PAY])), MORE, ["'prefix=$'", 'prefix = "$"', "lines 2, 3"]),
    "percent": (lines_of(table(x=[f"{x}%" for x in PAY])), MORE, ["--read suffix=%", 'suffix = "%"', "lines 2, 3"]),
    "NA as text": (
        lines_of(table(x=odd(PAY, 5, 6, by="NA"))),
        MORE,
        ["2 that are not", "lines 7 and 8", "--read missing=NA"],
    ),
    "NA as text, with a recipe": (
        lines_of(table(x=odd(PAY, 5, 6, by="n/a"))),
        'kind = "integer"',
        ["2 that are none, in lines 7 and 8", "[file] missing", "--read missing=n/a"],
    ),
    "mixed dates": (
        lines_of(table(x=odd(DAYS, 3, by="31.01.2024"))),
        'kind = "datetime"',
        ["1 that are none, in line 5", "write all of them like"],
    ),
    "dates in words": (
        lines_of(table(x=[f"{1 + i % 28} Marzius 2024" for i in range(N)])),
        'kind = "datetime"',
        ["lines 2, 3, 4, 5 and 6", "write them like 2024-12-31", "--kind x=nominal"],
    ),
    "dates in English words": (
        lines_of(table(x=[f"{1 + i % 28} March 2024" for i in range(N)])),
        'kind = "datetime"',
        ['format = "%d %B %Y"'],
    ),
    "YYYYMMDD": (lines_of(table(x=[day.replace("-", "") for day in DAYS])), 'kind = "datetime"', ['format = "%Y%m%d"']),
    "days first": (
        lines_of(table(x=[f"{13 + i % 9}/03/2024" for i in range(N)])),
        'kind = "datetime"',
        ['format = "%d/%m/%Y"'],
    ),
    "a format that does not fit": (
        lines_of(table(x=DAYS)),
        'kind = "datetime"\nformat = "%d.%m.%Y"',
        ["40 that are not written as its format says", 'format = "%Y-%m-%d"'],
    ),
    "numbers that are not whole": (
        lines_of(table(x=odd(PAY, 2, by="77.25"))),
        'kind = "integer"',
        ["1 others, in line 4", 'kind = "numeric"'],
    ),
    "a category that the order lacks": (
        lines_of(table(x=odd(["lo", "hi"] * (N // 2), 2, by="Zyxmid"))),
        'kind = "ordinal"\norder = ["lo", "hi"]',
        ["in line 4", "add them to order"],
    ),
    "gaps": (lines_of(table(x=odd(PAY, 2, by=""))), MORE, ["1 in 'x'", "--missing own-value"]),
    "a decimal comma": (
        lines_of(table(x=[f"{x},5" for x in PAY]), ";").replace("1007,5", "1007.5"),
        'kind = "numeric"',
        ["--read decimal=,"],
    ),
    "no names": (lines_of(table()).partition("\n")[2].replace(",2", ",x2"), FLAGS, ["first line", "--read names="]),
    "a spreadsheet of old": (b"\xd0\xcf\x11\xe0", FLAGS, ["save it as .xlsx"]),
}  # fmt: skip


def told(run, folder, case):
    data, how, _ = MISTAKES[case]
    path = folder / ("in.xls" if "spreadsheet" in case else "in.csv")
    path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))
    if isinstance(how, str):
        (folder / "r.toml").write_text(RECIPE + how + "\n", encoding="utf-8")
        how = ("--recipe", folder / "r.toml")
    return (*run("protect", path, *how, "-o", folder / "out"), data)


@pytest.mark.parametrize("case", MISTAKES)
def test_every_message_says_what_to_do_and_no_value(run, tmp_path, case):
    code, out, err, data = told(run, tmp_path, case)
    assert code in (2, 3), err
    assert out == ""
    assert not (tmp_path / "out").exists()
    for words in MISTAKES[case][2]:
        assert words in err, err
    text = data.decode("cp1252") if isinstance(data, bytes) else data
    fields = {field.strip('"') for line in text.splitlines()[1:] for field in line.replace(";", ",").split(",")}
    fields -= {"Ja", "Nein", "NA", "x", "", "name", "town", "age"}  # which stand in hints as examples, or are names
    for field in fields:
        assert len(field) < 4 or field not in err, err
    assert not any(sign in err for sign in ("Zyx", "Quux", "Wibble"))


@pytest.mark.parametrize("case", [c for c, m in MISTAKES.items() if isinstance(m[1], str) and "format of" not in c])
def test_the_same_part_by_part(tmp_path, case):
    """The other engine says the same, with the lines of what it has read so far."""
    import coterie as ct

    data, how, words = MISTAKES[case]
    path = tmp_path / "in.csv"
    path.write_text(data, encoding="utf-8")
    (tmp_path / "r.toml").write_text(RECIPE + how + "\n", encoding="utf-8")
    with pytest.raises(ct.CoterieError) as caught:
        ct.protect(path, tmp_path / "r.toml", engine="duckdb", memory="1GB").save(tmp_path / "out")
    for word in words:
        assert word in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_yes_and_no_in_words_of_the_recipe(run, tmp_path):
    words = [["Ja", "Nein", "J"][i % 3] for i in range(N)]
    (tmp_path / "in.csv").write_text(lines_of(table(x=words)), encoding="utf-8")
    (tmp_path / "r.toml").write_text(RECIPE + 'kind = "boolean"\ntrue = ["Ja", "J"]\nfalse = ["Nein"]\n')
    for engine in ("memory", "duckdb"):
        given = ("--recipe", tmp_path / "r.toml", "--engine", engine, "--memory", "1GB")
        code, _, err = run("protect", tmp_path / "in.csv", *given, "-o", tmp_path / engine)
        assert code == 0, err
        rows = (tmp_path / engine / "data.csv").read_text().splitlines()[1:]
        assert {row.split(",")[2] for row in rows} == {"Ja", "Nein"}
        assert run("verify", tmp_path / engine)[0] == 0


def test_words_for_yes_count_once_for_l(run, tmp_path):
    """Ja and J are one value, for who makes a release and for who checks it."""
    columns = {"age": [str(20 + i // 8) for i in range(N)], "x": [["Ja", "J"][i % 2] for i in range(N)]}
    (tmp_path / "in.csv").write_text(lines_of(columns), encoding="utf-8")
    recipe = 'k = 3\n[columns.age]\nrole = "quasi"\nkind = "integer"\n[columns.x]\nrole = "confidential"\n'
    (tmp_path / "r.toml").write_text(recipe + 'kind = "boolean"\nl = 2\ntrue = ["Ja", "J"]\nfalse = ["Nein"]\n')
    assert run("protect", tmp_path / "in.csv", "--recipe", tmp_path / "r.toml", "-o", tmp_path / "out")[0] == 3
    code, _, err = run("verify", tmp_path / "in.csv", "--recipe", tmp_path / "r.toml")
    assert code == 3
    assert "fewer than 2 different values" in err


@pytest.mark.parametrize(
    ("more", "what"),
    [
        ('kind = "nominal"\ntrue = ["Ja"]\nfalse = ["Nein"]', "Only a boolean column"),
        ('kind = "boolean"\ntrue = ["Ja"]', "given together"),
        ('kind = "boolean"\ntrue = ["Ja"]\nfalse = ["Ja"]', "either true or false"),
        ('kind = "datetime"\nformat = "%d.mm.yyyy"', "percent sign"),
        ('kind = "datetime"\nformat = "%Q"', "percent sign"),
    ],
)
def test_words_and_formats_that_make_no_sense(more, what):
    import coterie as ct

    with pytest.raises(ct.CoterieError, match=what):
        ct.Recipe.loads(RECIPE + more)


def test_an_identifier_that_is_kept_is_warned_of(run, tmp_path):
    (tmp_path / "in.csv").write_text(lines_of(table()), encoding="utf-8")
    given = ("--quasi", "town,age", "--keep", "name", "-k", "3")
    _, _, err = run("protect", tmp_path / "in.csv", *given, "-o", tmp_path / "out")
    assert "'name'" in err
    assert "Drop it" in err
    assert "Zyx" not in err
