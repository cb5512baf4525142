"""Whether a column numbers the records: 1, 2, … up to their number, each once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from . import sql, verdict
from .asking import ask, kinds_of
from .claims import Claims
from .literals import ident
from .prepared import check_records
from .verdict import Check


def checks(relation: Any, claims: Claims, names: Mapping[str, str], records: int) -> list[Check]:
    """The check, where a column is claimed to number the records."""
    if claims.number is None:
        return []
    name = names[claims.number]
    kind = kinds_of(relation, {claims.number: name})[claims.number]
    ((different,),) = ask(relation, f"SELECT count(DISTINCT n) FROM ({_numbers(name, kind)})")
    return [of_counts(claims.number, counts(relation, name, kind), different, records)]


def counts(relation: Any, name: str, kind: str) -> list[int]:
    """Records, those with a number, the least and the largest number."""
    question = f"SELECT count(*), count(n), coalesce(min(n), 0), coalesce(max(n), 0) FROM ({_numbers(name, kind)})"
    ((*found,),) = ask(relation, question)
    return [int(number) for number in found]


def of_counts(column: str, found: Sequence[int], different: int, records: int) -> Check:
    """The check, from what was counted of all records: those without a number of their own between 1 and n fail."""
    check_records(found[0], records)
    _, numbered, least, most = found
    in_order = numbered == different == records and least == 1 and most == records
    return verdict.numbers(column, records, 0 if in_order else max(1, records - different))


def key(name: str, kind: str) -> str:
    """A record's number; NULL where there is none, or another value."""
    column = ident(name)
    if kind in sql.TEXT:
        return f"CASE WHEN regexp_full_match({column}::VARCHAR, '[1-9][0-9]{{0,17}}') THEN {column}::BIGINT END"
    if kind in sql.FLOATS:
        whole = f"{column} = trunc({column}) AND abs({column}) < 9007199254740992"
        return f"CASE WHEN {whole} THEN {column}::BIGINT END"
    return f"TRY_CAST({column} AS BIGINT)" if kind in sql.WHOLE else "NULL::BIGINT"


def _numbers(name: str, kind: str) -> str:
    return f"SELECT {key(name, kind)} AS n FROM {sql.RELEASE}"
