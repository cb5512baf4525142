"""Hints are followed to the letter: what a message says is typed in, and works; drafts ask what the shortcut asks."""

from __future__ import annotations

import re
import shlex
import tomllib
import warnings
from pathlib import Path

import pytest

import coterie as ct
from coterie.release.drafting import Choices, source_and_recipe

N = 60


def _money(path: Path, gap: str = "n/a") -> Path:
    rows = [
        f'{i},"${1000 + 37 * (i % 30):,}",{20 + i % 40 if i % 9 else gap},{1000 + i % 7 * 11}{"" if i % 20 else " x"}'
        for i in range(N)
    ]
    path.write_text("Case No,Gross Pay,Age (y),Odd one\n" + "\n".join(rows) + "\n")
    return path


def _options(message: str, option: str) -> list[str]:
    """The options that a message names in brackets, as a shell would read them."""
    words = shlex.split(" ".join(re.findall(rf"\(({option} .*?)\)(?=[;.,]|$)", message, re.MULTILINE)))
    return [words[j + 1] for j, word in enumerate(words) if word == option]


def test_several_columns_have_a_line_each(tmp_path: Path) -> None:
    with pytest.raises(ct.CoterieError, match="hold numbers") as caught:
        ct.assess(_money(tmp_path / "a.csv"), quasi=["Gross Pay", "Age (y)"])
    lines = str(caught.value).split("\n")
    assert len(lines) == 3
    assert "\\n" not in str(caught.value)


def test_hints_work_as_they_are_written(tmp_path: Path) -> None:
    path = _money(tmp_path / "a.csv")
    with pytest.raises(ct.CoterieError) as caught:
        ct.assess(path, quasi=["Gross Pay", "Age (y)"])
    said = dict(word.split("=", 1) for word in _options(str(caught.value), "--read"))
    assert said == {"thousands": ",", "prefix": "$", "missing": "n/a"}
    read = {**said, "missing": ["", said["missing"]]}
    assert ct.assess(path, quasi=["Gross Pay", "Age (y)"], read=read) is not None
    kinds = dict(word.rsplit("=", 1) for word in _options(str(caught.value), "--kind"))
    assert kinds == {"Gross Pay": "nominal", "Age (y)": "nominal"}
    assert ct.assess(path, quasi=["Gross Pay", "Age (y)"], kind=kinds) is not None


def test_a_draft_asks_where_the_shortcut_stops(tmp_path: Path) -> None:
    path = _money(tmp_path / "a.csv")
    columns = tomllib.loads(ct.draft_recipe(path))["columns"]
    assert [columns[name]["kind"] for name in ("Gross Pay", "Age (y)", "Odd one")] == ["?"] * 3
    read = {"thousands": ",", "prefix": "$", "missing": ["", "n/a"]}
    columns = tomllib.loads(ct.draft_recipe(path, read=read))["columns"]
    assert columns["Gross Pay"]["kind"] == columns["Age (y)"]["kind"] == "integer"


def test_the_hint_about_a_unit_is_quoted() -> None:
    import polars as pl

    table = pl.DataFrame({"Sample Number": [1, 1, 2, 2, 3, 3], "x": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5]})
    recipe = ct.Recipe(k=2, columns={"Sample Number": "identifier", "x": {"role": "quasi", "kind": "numeric"}})
    with pytest.raises(ct.CoterieError, match="--unit 'Sample Number'"):
        ct.protect(table, recipe)


def test_names_of_rows_are_explained(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text('"","x"\n' + "\n".join(f'"{i}",{i}.5' for i in range(9)) + "\n")
    with pytest.raises(ct.CoterieError, match=r"is called 'row'"):
        source_and_recipe(path, None, Choices(k=2, quasi=["x"]))


def test_a_file_without_a_header_is_told_both_ways_out(tmp_path: Path) -> None:
    path = tmp_path / "bare.csv"
    path.write_text("".join(f"{i}.5,{i * 7 % 5}\n" for i in range(30)))
    with pytest.raises(ct.CoterieError, match=r"--read header=false --read names=A,B,…"):
        ct.draft_recipe(path)
    with pytest.raises(ct.CoterieError, match=r"--read names=A,B,…"):
        ct.draft_recipe(path, read={"header": False})
    assert "columns.A" in ct.draft_recipe(path, read={"header": False, "names": ["A", "B"]})


@pytest.mark.parametrize("name", ["state", "county", "fip", "Landkreis-Kreis", "occupation"])
def test_many_numbers_of_places_are_not_averaged_unasked(name: str) -> None:
    import polars as pl

    table = pl.DataFrame({name: [i * 29 % 48 + 1 for i in range(480)], "x": [i / 7 for i in range(480)]})
    assert tomllib.loads(ct.draft_recipe(table))["columns"][name]["kind"] in ("?", "nominal")


def test_a_warning_is_shown_at_the_line_that_called() -> None:
    import polars as pl

    table = pl.DataFrame({"x": [i / 7 for i in range(60)], "y": [i * 1.01 for i in range(60)]})
    recipe = ct.Recipe(k=3, columns={"x": {"role": "quasi", "kind": "numeric"}, "y": "other"})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        ct.protect(table, recipe)
        ct.protect(table, recipe)
    assert [w.filename for w in caught if w.category is ct.PrivacyWarning] == [__file__] * 2


@pytest.mark.parametrize(
    ("section", "hint"), [("missing", "--missing own-value:merge"), ("strata", "--strata COLUMNS:merge")]
)
def test_what_is_too_small_is_told_on_the_command_line_too(section: str, hint: str) -> None:
    import polars as pl

    table = pl.DataFrame({"x": [None, *(i / 7 for i in range(29))], "g": ["a"] + ["b"] * 29})
    columns = {"x": {"role": "quasi", "kind": "numeric"}, "g": {"role": "quasi", "kind": "nominal"}}
    sections = {"missing": "own-value"} if section == "missing" else {"missing": "group", "strata": ["g"]}
    with pytest.raises(ct.PromiseError, match=hint):
        ct.protect(table, ct.Recipe(k=3, columns=columns, **sections))
