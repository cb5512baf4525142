"""Components: quasi-identifiers that are grouped together."""

from __future__ import annotations

from dataclasses import dataclass

from ..recipe import Recipe


@dataclass(frozen=True)
class Component:
    """Quasi-identifiers that are grouped together, and the k of their groups: scenarios that share a column."""

    name: str
    quasi: tuple[str, ...]
    k: int


def components(recipe: Recipe) -> list[Component]:
    """The scenarios, joined where they share a column that is masked: k is the largest of theirs."""
    return [
        Component(" + ".join(names), tuple(q for q in recipe.quasi if q in columns), k)
        for names, columns, k in recipe.joined
    ]
