"""The first line of a file: names, R's row names, other names instead of it, or a record that nobody may see."""

from __future__ import annotations

import re

import pytest

import coterie as ct
from coterie.formats import read
from format_files import SECRET, columns_of, refused, saved

N = 60
R = '"","sex","age"\n' + "".join(f'"{i + 1}","{"mf"[i % 2]}",{20 + i % 40}\n' for i in range(N))
NAMELESS = "".join(f"{SECRET if i == 0 else f'n{i}'},{'mf'[i % 2]},{['Reus', 'Valls'][i % 3 % 2]}\n" for i in range(N))


def test_the_row_names_of_r_are_a_column_and_drafted_as_an_identifier(tmp_path):
    path = saved(tmp_path, R.encode())
    assert read(path).table.column_names == ["row", "sex", "age"]
    draft = ct.draft_recipe(path)
    assert "row" in draft
    assert re.search(r'\[columns\.row\]\nrole = "identifier"', draft)
    assert columns_of(tmp_path, b",row,x\n1,2,3\n") == {"row_": ["1"], "row": ["2"], "x": ["3"]}
    refused(read, saved(tmp_path, b"a,,b\n1,2,3\n"), match="empty name for column 2 of 3.*header=true --read names=")


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_row_names_on_every_engine(tmp_path, engine, encoding):
    path = saved(tmp_path, R.encode(encoding))
    recipe = {
        "k": 3,
        "columns": {"row": "identifier", "sex": "other", "age": {"role": "quasi", "kind": "integer"}},
    }
    ct.protect(path, recipe, engine=engine, memory="1GB").save(tmp_path / "out")
    assert (tmp_path / "out" / "data.csv").read_text(encoding).splitlines()[0] == "sex,age"
    assert ct.verify(tmp_path / "out").ok


@pytest.mark.parametrize("engine", ["memory", "duckdb"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_names_replace_a_header_and_never_make_it_a_record(run, tmp_path, engine, encoding):
    text = "Geschlecht\nder Person;Alter\n" + "".join(f"{'mf'[i % 2]};{20 + i}\n" for i in range(N))
    text = text.replace("Geschlecht\nder Person", '"Geschlecht\nder Person"')
    path = saved(tmp_path, text.encode(encoding))
    read_ = ("--read", "header=true", "--read", "names=sex,age")
    roles = ("--quasi", "age", "--keep", "sex", "-k", "3", "--memory", "1GB", "--engine", engine)
    code, _, err = run("protect", path, *roles, *read_, "-o", tmp_path / "out")
    assert code == 0, err
    written = (tmp_path / "out" / "data.csv").read_text(encoding)
    assert written.splitlines()[0] == "sex;age"
    assert "Alter" not in written
    assert len(written.splitlines()) == N + 1
    assert run("verify", tmp_path / "out")[0] == 0
    assert run("replay", tmp_path / "out", "--input", path)[0] == 0
    assert run("verify", tmp_path / "out" / "data.csv", "--recipe", tmp_path / "out" / "recipe.toml")[0] == 0
    code, _, err = run("protect", path, *roles, "--read", "names=sex,age", "-o", tmp_path / "again")
    assert code == 2
    assert "header=true" in err
    assert "header = false" in err


def test_names_alone_are_for_a_first_line_that_can_only_be_a_record(tmp_path):
    for first in (b"m,34", b"m,", b"m,2024-01-31", b"m,$5"):
        assert columns_of(tmp_path, first + b"\nf,35\n", names=["sex", "age"])["sex"] == ["m", "f"]
    refused(read, saved(tmp_path, b"m,Reus\nf,Valls\n"), {"names": ["a", "b"]}, match="header=true")
    both = {"names": ["a", "b"], "header": False}
    assert columns_of(tmp_path, b"m,Reus\nf,Valls\n", **both) == {"a": ["m", "f"], "b": ["Reus", "Valls"]}


def test_a_first_record_is_never_told_as_names(run, tmp_path):
    """In a file without a header, whose first line holds texts."""
    path = saved(tmp_path, NAMELESS.encode())
    for command in (
        ("recipe", path),
        ("assess", path, "--quasi", "sex,town"),
        ("protect", path, "--quasi", "sex,town", "--drop", "name", "-k", "3", "-o", tmp_path / "out"),
        ("protect", path, "--quasi", "sex,town", "-k", "3", "-o", tmp_path / "out", "--memory", "1GB"),
    ):
        code, out, err = run(*command)
        assert code == 2
        assert SECRET not in out + err
        assert "2 of 3 columns that comes again further down" in err
        assert "--read names=" in err


def test_errors_about_columns_say_how_many_where_no_name_fits(run, tmp_path):
    """Every value differs, so that nothing tells the first line from names."""
    text = "".join(f"{SECRET},town-{SECRET}\n" if not i else f"n{i},t{i}\n" for i in range(N))
    path = saved(tmp_path, text.encode())
    recipe = tmp_path / "r.toml"
    recipe.write_text('k = 3\n[columns]\nname = "identifier"\ntown = {role = "quasi", kind = "nominal"}\n')
    for command in (
        ("protect", path, "--quasi", "town", "--drop", "name", "-k", "3", "-o", tmp_path / "out"),
        ("protect", path, "--recipe", recipe, "-o", tmp_path / "out"),
        ("assess", path, "--quasi", "town"),
        ("compare", path, "--quasi", "town"),
        ("microaggregate", path, "--columns", "town", "-k", "3", "-o", tmp_path / "out.csv"),
        ("microaggregate", path, "-k", "3", "-o", tmp_path / "out.csv"),
    ):
        code, out, err = run(*command)
        assert code == 2, command
        assert SECRET not in out + err
        assert "2 columns" in err
        assert "first line" in err


def test_a_header_that_comes_twice_is_noticed(tmp_path):
    refused(read, saved(tmp_path, b"a,b\n1,2\na,b\n3,4\n"), match="2 of 2 columns that comes again")
    assert columns_of(tmp_path, b"a,b\n1,2\na,b\n", header=True)["a"] == ["1", "a"]


def test_a_name_among_values_is_one_where_another_stands_above_numbers(tmp_path):
    assert columns_of(tmp_path, b"type,size\ntype,1\nother,2\n")["type"] == ["type", "other"]
    refused(read, saved(tmp_path, b"m,NA\nm,1\nf,2\n"), match="column 1 that comes again")  # a record with a gap
