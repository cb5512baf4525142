"""How many records of a release are alone with their values of some columns: counted by DuckDB, as `verify` does.

No promise is about it: columns that are released unchanged may single a record out, whatever k is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import sql
from .asking import ask, kinds_of
from .claims import Claims, Guard, Scenario
from .literals import ident
from .reading import opened


class ColumnValues(NamedTuple):
    """How many values of a column are present, how many differ, and how many occur once."""

    present: int
    different: int
    once: int


class Uniqueness(NamedTuple):
    """The values of single columns, and how many records are unique on sets of columns."""

    records: int
    columns: Mapping[str, ColumnValues]
    unique: Mapping[str, int]  # by the name of the set


def uniqueness(
    release: Any,
    columns: Sequence[str],
    sets: Mapping[str, Sequence[str]],
    *,
    missing: Sequence[str] = (),
    dialect: Mapping[str, Any] | None = None,
    memory: int | None = None,
) -> Uniqueness:
    """Count on the release itself.

    Parameters
    ----------
    release, dialect, memory
        As for `verify_claims`.
    columns : sequence of str
        Columns that are looked at each alone, without missing values.
    sets : mapping of name to columns
        Columns that are looked at together; a missing value is a value like others, as in `verify`.
    missing : sequence of str
        Texts that stand for a missing value.
    """
    claims = Claims(tuple(Scenario(name, tuple(some), 2) for name, some in sets.items()))
    with opened(release, claims, dialect, memory) as (relation, names):
        kinds = kinds_of(relation, names)
        exact = {column: sql.exact(name, kinds[column]) for column, name in names.items()}
        unique, records = {}, 0
        for name, some in sets.items():
            sizes = dict(ask(relation, sql.sizes([exact[c] for c in some])))
            records = sum(size * number for size, number in sizes.items())
            unique[name] = int(sizes.get(1, 0))
        alone: dict[str, ColumnValues] = {}
        together = max(1, min(AT_ONCE, CELLS // max(1, records)))
        for first in range(0, len(columns), together):
            some = columns[first : first + together]
            keys = [key_of(column, names[column], kinds[column], missing) for column in some]
            narrow = relation.project(", ".join(ident(names[column]) for column in some))
            found = {g: ColumnValues(*map(int, counts)) for g, *counts in ask(narrow, _values(keys))}
            everything = (1 << len(some)) - 1
            alone |= {
                c: found.get(everything ^ 1 << len(some) - 1 - j, ColumnValues(0, 0, 0)) for j, c in enumerate(some)
            }
        return Uniqueness(records, alone, unique)


AT_ONCE = 16  # columns that one question is about
CELLS = 4_000_000  # records times such columns: each has a table of its values meanwhile


def key_of(column: str, name: str, kind: str, missing: Sequence[str]) -> str:
    """The values of a column, each told from all others; NULL where it is missing."""
    guard = Guard(column, "nominal", missing=tuple(missing) if kind in sql.TEXT else ())
    return f"CASE WHEN {sql.present(guard, name, kind)} IS NOT NULL THEN {sql.exact(name, kind)} END"


def _values(keys: Sequence[str]) -> str:
    """Values present, different ones, and those that occur once, by column: its bit is the only one that is not set."""
    names = [f"k{j}" for j in range(len(keys))]
    named = ", ".join(f"{key} AS {name}" for key, name in zip(keys, names, strict=True))
    gone = " AND ".join(f"{name} IS NULL" for name in names)  # of each set, all keys but one are
    return (
        "SELECT g, sum(n), count(*), count(*) FILTER (n = 1) FROM ("
        f"SELECT GROUPING({', '.join(names)}) AS g, count(*) AS n, {gone} AS gone "
        f"FROM (SELECT {named} FROM {sql.RELEASE}) GROUP BY GROUPING SETS ({', '.join(f'({n})' for n in names)})"
        ") WHERE NOT gone GROUP BY g"
    )
