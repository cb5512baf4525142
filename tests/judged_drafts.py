"""Drafts of recipes for real files, judged by a list of right answers: tests/recipe/drafts_judged.csv.

The files lie in packages of PyPI. Where one is installed, or lies in the folder that COTERIE_DRAFTS_DIR names (such as
the site-packages of another environment), its files are drafted as they are. Everywhere, stand-ins are: columns of
made-up values that are like the real ones in what drafts go by. Their profiles are in drafts_profiles.csv.

An answer is a set of words, of which any is right: id (dropped), keep (released as it is), code (categories, of any
role), number, date. "Asked" is right for every column, but of all columns few may be.
"""

from __future__ import annotations

import bz2
import csv
import io
import os
import tarfile
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent / "recipe"
ANSWERS = {
    "numeric": "number", "integer": "number", "datetime": "date", "ordinal": "code", "nominal": "code",
    "boolean": "code",
}  # fmt: skip


class Judged(NamedTuple):
    """The columns of a draft by how they were judged, and how many there are."""

    columns: int
    asked: list[str]
    wrong: list[str]
    identifiers: list[str]  # released unasked
    codes: list[str]  # averaged unasked


def right_answers() -> dict[tuple[str, str], dict[str, frozenset[str]]]:
    """For every file of a package, the answers that are right for each of its columns."""
    answers: dict[tuple[str, str], dict[str, frozenset[str]]] = {}
    with open(HERE / "drafts_judged.csv", encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            columns = answers.setdefault((line["package"], line["file"]), {})
            columns[line["column"]] = frozenset(line["right"].split("|"))
    return answers


def judge(text: str, right: dict[str, frozenset[str]]) -> Judged:
    """How a draft stands beside the right answers."""
    columns = tomllib.loads(text)["columns"]
    assert list(columns) == list(right)
    judged = Judged(len(right), [], [], [], [])
    for name, rule in columns.items():
        answer = _answer(rule)
        if answer == "asked":
            judged.asked.append(name)
        elif answer not in right[name]:
            judged.wrong.append(name)
            if right[name] == {"id"}:
                judged.identifiers.append(name)
            if "number" not in right[name] and answer == "number":
                judged.codes.append(name)
    return judged


def _answer(rule: dict[str, str]) -> str:
    if "?" in (rule["role"], rule.get("kind")):
        return "asked"
    if rule["role"] in ("identifier", "other"):
        return {"identifier": "id", "other": "keep"}[rule["role"]]
    return ANSWERS[rule["kind"]]


def packages_file(package: str, file: str, folder: Path) -> tuple[Path, dict[str, object]] | None:
    """A file of a package, unpacked, and how it is read; None where the package is not there."""
    home = _home(package)
    if home is None or not (home / file.partition("!")[0]).exists():
        return None
    archive, _, member = file.partition("!")
    if member:
        with tarfile.open(home / archive) as packed:
            data = packed.extractfile(member).read()  # type: ignore[union-attr]
    else:
        data = (home / archive).read_bytes()
    if file.endswith(".bz2"):
        data = bz2.decompress(data)
    name = Path(member or archive).name.removesuffix(".bz2")
    options: dict[str, object] = {}
    if name.endswith(".csv"):
        text = data.decode("utf-8-sig")
        if text.startswith(('"",', ",")):  # row names of R: a column that has no name
            text = "row" + text[text.index(",") :]
        if text.startswith("'"):
            options["quote"] = "'"
        first = next(csv.reader(io.StringIO(text)))
        if any("NA" in line for line in csv.reader(io.StringIO(text))) and len(first) > 1:
            options["missing"] = ["", "NA"]
        data = text.encode()
    path = folder / name
    path.write_bytes(data)
    return path, options


def _home(package: str) -> Path | None:
    elsewhere = os.environ.get("COTERIE_DRAFTS_DIR")
    if elsewhere and (Path(elsewhere) / package).is_dir():
        return Path(elsewhere) / package
    spec = find_spec(package)
    return Path(spec.origin).parent if spec is not None and spec.origin else None
