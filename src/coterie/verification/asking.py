"""How questions are asked of a relation that holds a release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import sql, texts
from .claims import Guard
from .reading import quietly


def ask(relation: Any, question: str) -> list[tuple[Any, ...]]:
    """Rows of counts. DuckDB's own words about an error may quote a value, so they stay here."""

    def asked() -> list[tuple[Any, ...]]:
        return list(relation.query(sql.RELEASE, question).fetchall())

    return quietly(asked, "The release cannot be checked.")


def kinds_of(relation: Any, names: Mapping[str, str]) -> dict[str, str]:
    """The type of each column, by the name that claims call it; refused if DuckDB does not compare it exactly."""
    types = dict(zip(relation.columns, (t.id for t in relation.types), strict=True))
    kinds = {column: types[name] for column, name in names.items()}
    sql.check_plain(list(kinds), list(kinds.values()))
    return kinds


def folds_of(relation: Any, guard: Guard, name: str, kind: str) -> texts.Folds:
    """What stands for the characters of a column's texts, where these are told apart by keys."""
    return texts.folds(c for (c,) in ask(relation, sql.letters(guard, name))) if sql.has_keys(guard, kind) else {}
