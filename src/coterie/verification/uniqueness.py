"""How many records of a release are alone with their values of some columns: counted by DuckDB, as `verify` does.

No promise is about it: columns that are released unchanged may single a record out, whatever k is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import sql
from .claims import Claims, Guard, Scenario
from .reading import opened, quietly


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
        types = dict(zip(relation.columns, (t.id for t in relation.types), strict=True))
        kinds = {column: types[name] for column, name in names.items()}
        sql.check_plain(list(kinds), list(kinds.values()))
        exact = {column: sql.exact(name, kinds[column]) for column, name in names.items()}
        unique, records = {}, 0
        for name, some in sets.items():
            sizes = dict(_ask(relation, sql.sizes([exact[c] for c in some])))
            records = sum(size * number for size, number in sizes.items())
            unique[name] = int(sizes.get(1, 0))
        alone = {}
        for column in columns:
            told = tuple(missing) if kinds[column] in sql.TEXT else ()
            present = sql.present(Guard(column, "nominal", missing=told), names[column], kinds[column])
            (found,) = _ask(relation, _values(exact[column], present))
            alone[column] = ColumnValues(*map(int, found))
        return Uniqueness(records, alone, unique)


def _values(exact: str, present: str) -> str:
    return (
        "SELECT coalesce(sum(n), 0), count(*), count(*) FILTER (n = 1) FROM (SELECT count(*) AS n "
        f"FROM (SELECT {exact} AS k0, {present} AS v FROM {sql.RELEASE}) WHERE v IS NOT NULL GROUP BY k0)"
    )


def _ask(relation: Any, question: str) -> list[tuple[Any, ...]]:
    return quietly(lambda: list(relation.query(sql.RELEASE, question).fetchall()), "The release cannot be counted.")
