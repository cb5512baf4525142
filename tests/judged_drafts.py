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
import datetime
import io
import os
import tarfile
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

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


# Stand-ins

PROFILE = ["package", "file", "column", "records", "different", "missing", "looks", "text", "low", "high", "words"]
PROFILE += ["numbered", "labelled", "measure"]
MOST = 10_000  # records of a stand-in: of more, the share of different values is kept


def profile_of(seen: Any) -> dict[str, Any]:
    """What a stand-in must have in common with a column: counts and ends, and no text of it."""
    held = seen.contents
    looks = "zeros" if held.zeros else "whole" if held.whole else "decimal" if held.number else seen.kind
    present, records = seen.records - seen.missing, min(seen.records, MOST)
    share = records / seen.records
    different = seen.different if seen.different < present * share / 2 else round(seen.different * share)
    return {
        "records": records,
        "different": different,
        "missing": round(seen.missing * share),
        "looks": looks,
        "text": int(seen.text),
        "low": f"{held.low:.12g}" if held.number else "",
        "high": f"{held.high:.12g}" if held.number else "",
        "words": round(held.words, 1),
        "numbered": int(seen.numbered),
        "labelled": seen.labelled or "",
        "measure": seen.measure or "",
    }


def stand_in(profile: dict[str, str]) -> tuple[Any, dict[str, Any]]:
    """A column of made-up values with a profile, and what its file would say of it."""
    records, different, missing = (int(profile[name]) for name in ("records", "different", "missing"))
    values = _made_up(profile, different)
    which = np.arange(records - missing) % max(different, 1)
    if not int(profile["numbered"]):
        which = np.random.default_rng(0).permutation(which)
    column = values.take(pa.array(which)) if different else pa.nulls(records - missing, values.type)
    about: dict[str, Any] = {"measure": profile["measure"]} if profile["measure"] else {}
    if profile["labelled"]:
        about["labels"] = [
            [code, "label"] for code in values.to_pylist()[: 1 if profile["labelled"] == "some" else None]
        ]
    return pa.concat_arrays([column, pa.nulls(missing, column.type)]), about


def _made_up(profile: dict[str, str], different: int) -> Any:
    looks = profile["looks"]
    places = np.arange(different)
    if looks in ("whole", "decimal"):
        low, high = float(profile["low"]), float(profile["high"])
        numbers = low + places * (high - low) / max(different - 1, 1)
        if looks == "whole":
            numbers = np.rint(numbers)
        typed = pa.array(numbers) if looks == "decimal" else pa.array(numbers.astype(np.int64))
        return typed.cast(pa.string()) if int(profile["text"]) else typed
    if looks == "zeros":
        return pa.array([f"{i:05d}" for i in places])
    if looks == "datetime":
        return pa.array([(datetime.date(1980, 1, 1) + datetime.timedelta(days=int(i))).isoformat() for i in places])
    if looks == "boolean":
        return pa.array(["no", "yes"][:different])
    filler = " x" * (round(float(profile["words"])) - 1)
    return pa.array([f"v{i}{filler}" for i in places], pa.string())


def stand_ins() -> dict[tuple[str, str], dict[str, dict[str, str]]]:
    """The profiles of all columns, by file."""
    profiles: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    with open(HERE / "drafts_profiles.csv", encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            profiles.setdefault((line["package"], line["file"]), {})[line["column"]] = line
    return profiles


def write_profiles(folder: Path) -> None:
    """Make the profiles anew, from all files. Needs all packages."""
    from coterie.release.drafting import looks
    from coterie.release.source import open_source

    with open(HERE / "drafts_profiles.csv", "w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, PROFILE, lineterminator="\n")
        table.writeheader()
        for package, name in right_answers():
            found = packages_file(package, name, folder)
            assert found is not None, f"{package} is not installed"
            for column, seen in looks(open_source(*found)).items():
                table.writerow({"package": package, "file": name, "column": column, **profile_of(seen)})


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as made:
        write_profiles(Path(made))
