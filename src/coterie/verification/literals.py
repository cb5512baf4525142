"""Names and texts as SQL: nothing else of a release gets into a question."""

from __future__ import annotations

from collections.abc import Sequence


def ident(name: str) -> str:
    """A name as SQL."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL."""
    return "'" + text.replace("'", "''") + "'"


def literals(texts: Sequence[str]) -> str:
    """A list of texts as SQL."""
    return "[" + ", ".join(map(literal, texts)) + "]"
