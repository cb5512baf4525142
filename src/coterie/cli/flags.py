"""The options that commands share: how a file is read, what its columns are, what is done with it, and where.

A command lists those that have an effect on it. What they mean, and which go together, the library says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from ..errors import CoterieError
from .common import names_of, options_of

if TYPE_CHECKING:
    from ..release.drafting import Choices

_Text = Optional[str]  # noqa: UP045
_Lists = Optional[list[str]]  # noqa: UP045

File = Annotated[
    Path,
    typer.Argument(
        help="CSV (also as .csv.gz, or alone in a .zip), Parquet, Feather; with the extra 'files' also Excel (.xlsx), "
        "SPSS, Stata, SAS."
    ),
]
Place = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV (also as .csv.gz, or alone in a .zip), Parquet (also a folder), Feather; with the extra 'files' also "
        "Excel (.xlsx), SPSS, Stata, SAS. On Spark also a URI.",
    ),
]
Read = Annotated[
    Optional[list[str]],  # noqa: UP045
    typer.Option(
        "--read",
        help="How to read the file: NAME=VALUE, such as encoding=cp1252 or missing=NA; repeatable.",
    ),
]
RecipeFile = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option("--recipe", help="A recipe (TOML): the role of every column and the promises to keep."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the facts as JSON on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only errors and warnings on stderr.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the output if it exists.")]

# What the columns are, without a recipe

Quasi = Annotated[_Lists, typer.Option("--quasi", metavar="COLUMNS", help="Quasi-identifiers, comma-separated.")]
Confidential = Annotated[
    _Lists,
    typer.Option(
        "--confidential",
        metavar="COLUMNS",
        help="Confidential columns: kept unchanged; classes in which one is constant are counted and reported.",
    ),
]
Drop = Annotated[_Lists, typer.Option("--drop", metavar="COLUMNS", help="Identifiers, which are dropped.")]
Keep = Annotated[_Lists, typer.Option("--keep", metavar="COLUMNS", help="Other columns, kept unchanged.")]

Kinds = Annotated[
    _Lists,
    typer.Option(
        "--kind",
        metavar="COLUMN=KIND",
        help="The kind of a quasi-identifier or confidential column, where the guess is missing or wrong: "
        "numeric, integer, ordinal, nominal, datetime or boolean; repeatable.",
    ),
]

# What is done, without a recipe

Strata = Annotated[
    _Text,
    typer.Option(
        "--strata",
        metavar="COLUMNS[:SMALL]",
        help="Quasi-identifiers that are the same within every group. SMALL says what to do with strata of fewer than "
        "k records: refuse (default), merge or suppress.",
    ),
]
Missing = Annotated[
    _Text,
    typer.Option(
        "--missing",
        metavar="POLICY[:SMALL]",
        help="What to do with missing values: refuse (default), group, or own-value. SMALL says what to do with "
        "patterns of missing values that fewer than k records have: refuse (default), merge or suppress.",
    ),
]
Weights = Annotated[
    _Text, typer.Option("--weights", metavar="COLUMN", help="Sampling weights: a column of --keep or --drop.")
]
AnyWeights = Annotated[
    _Text,
    typer.Option("--weights", metavar="COLUMN", help="Sampling weights, used to estimate the risk in the population."),
]
PopulationFraction = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(
        "--population-fraction",
        metavar="SHARE",
        help="Sampling fraction, such as 0.05; used to estimate the risk in the population.",
    ),
]
PopulationSize = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(
        "--population-size",
        metavar="N",
        help="Instead of the fraction: number of records in the population, larger than in the file.",
    ),
]
Unit = Annotated[
    _Text,
    typer.Option(
        "--unit",
        metavar="COLUMN",
        help="The unit, such as a person or household: k counts different values of this column, not records. It is "
        "dropped unless --keep names it. 'none' counts records.",
    ),
]
Formulas = Annotated[
    _Text,
    typer.Option(
        "--formulas",
        metavar="POLICY",
        help="What to do with text that a spreadsheet would run as a formula: refuse (default), neutralize or keep.",
    ),
]
Settings = Annotated[
    _Lists,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any other recipe setting, written as in the recipe, such as columns.age.top=90 or "
        "columns.income.importance=3; repeatable.",
    ),
]

# Where the work is done

Memory = Annotated[
    _Text,
    typer.Option(
        "--memory", help="About how much memory may be used, such as 2GB. A larger file is worked on part by part."
    ),
]
EngineName = Annotated[
    _Text,
    typer.Option(
        "--engine",
        help="Engine: memory, duckdb (part by part) or spark. Default: memory or duckdb, by size.",
    ),
]


def option(name: str) -> str:
    """How an argument of the library is called on the command line."""
    if name == "population":
        return "--population-fraction or --population-size"
    if name == "settings":
        return "--set"
    return f"-{name}" if len(name) == 1 else f"--{name}"


def choices(
    k: int | None = None,
    read: list[str] | None = None,
    strata: str | None = None,
    missing: str | None = None,
    columns: Mapping[str, list[str] | None] | None = None,
    kind: list[str] | None = None,
    risk: float | None = None,
    population: Any = None,
    settings: list[str] | None = None,
    **texts: str | None,
) -> Choices:
    """What was said instead of a recipe: lists of columns, which may be given in pieces, sections, and texts."""
    from ..recipe.single_settings import settings_of
    from ..release.drafting import Choices

    lists: dict[str, Any] = {
        role: None if pieces is None else [name for text in pieces for name in names_of(text, option(role)) or ()]
        for role, pieces in (columns or {}).items()
    }
    said: dict[str, Any] = {**lists, **texts, "strata": _strata(strata), "missing": _missing(missing)}
    said["population"] = {key: value for key, value in (population or {}).items() if value is not None} or None
    said["settings"] = settings_of(settings, "--set") if settings else None
    return Choices(k=k, risk=risk, read=options_of(read), kind=kinds_of(kind), **said)


def kinds_of(pieces: list[str] | None) -> dict[str, str] | None:
    """The kinds of columns: COLUMN=KIND, each column once."""
    if pieces is None:
        return None
    kinds: dict[str, str] = {}
    for text in pieces:
        name, equals, kind = text.rpartition("=")
        if not equals or not name or not kind:
            raise CoterieError("--kind must be COLUMN=KIND.", f"'{text}'", "for example --kind region=nominal")
        if name in kinds:
            raise CoterieError("A column can have only one kind.", f"'{name}' twice in --kind")
        kinds[name] = kind
    return kinds


def importances_of(pieces: list[str] | None) -> dict[str, list[float]] | None:
    """The importances to try of columns: COLUMN=NUMBERS, each column once."""
    if pieces is None:
        return None
    out: dict[str, list[float]] = {}
    for text in pieces:
        name, equals, numbers = text.rpartition("=")
        hint = "for example --importance income=1,3,10"
        try:
            weights = [float(number) for number in numbers.split(",")]
        except ValueError:
            weights = []
        if not equals or not name or not weights:
            raise CoterieError(
                "--importance must be COLUMN=NUMBERS, with the numbers separated by commas.", f"'{text}'", hint
            )
        if name in out:
            raise CoterieError("The importances of a column can be given only once.", f"'{name}' twice in --importance")
        out[name] = weights
    return out


_SMALL = re.compile(r"(.*):(refuse|merge|suppress)", re.DOTALL)  # a column's name may hold a colon


def _strata(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    parts = _SMALL.fullmatch(text)
    names = names_of(parts[1] if parts else text, "--strata")
    return {"within": names, "small": parts[2]} if parts else {"within": names}


def _missing(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    policy, colon, small = text.partition(":")
    if not policy or (colon and not small):
        raise CoterieError("--missing must be POLICY or POLICY:SMALL.", f"'{text}'", "for example own-value:merge")
    return {"policy": policy, "small": small} if small else {"policy": policy}
