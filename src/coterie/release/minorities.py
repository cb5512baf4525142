"""Categories before and after: where groups release their most frequent category, minorities become fewer or vanish."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..facts.release_facts import ShrunkFacts
from ..protection.encoding import category_numbers
from ..recipe import Recipe
from ..tables.columns import Column
from ..tables.records import Records

Ints = NDArray[np.int64]
_NAMED = 5  # columns in a sentence


@dataclass
class CategoryCounts:
    """How many released records have each category of nominal and boolean quasi-identifiers, before and after."""

    counts: dict[str, Ints] = field(default_factory=dict)  # of shape (2, categories)

    def add(self, recipe: Recipe, records: Records, after: Mapping[str, Column]) -> None:
        """Take in some released records."""
        for name in recipe.quasi:
            if name in after and recipe.columns[name].kind in ("nominal", "boolean"):
                before = records.column(name)
                m = max(2, len(before.categories))
                pair = [np.bincount(category_numbers(c) + 1, minlength=m + 1)[1:] for c in (before, after[name])]
                self._add(name, np.array(pair, np.int64))

    def merge(self, other: CategoryCounts) -> None:
        """Take in the counts of other records."""
        for name, more in other.counts.items():
            self._add(name, more)

    def _add(self, name: str, more: Ints) -> None:
        self.counts[name] = self.counts[name] + more if name in self.counts else more

    def shrunk(self) -> tuple[ShrunkFacts, ...]:
        """The columns in which a category lost more than a tenth of its records."""
        return tuple(one for name, (before, after) in self.counts.items() if (one := _shrunk(name, before, after)))


def _shrunk(name: str, before: Ints, after: Ints) -> ShrunkFacts | None:
    """What became of a column's categories; None if none lost more than a tenth. The first of equally bad ones."""
    few = 10 * after < 9 * before
    if not few.any():
        return None
    worst = int(np.argmax(np.where(few, before - after, -1)))
    return ShrunkFacts(
        column=name,
        categories=int(np.count_nonzero(before)),
        shrunk=int(np.count_nonzero(few)),
        gone=int(np.count_nonzero(few & (after == 0))),
        worst_before=int(before[worst]),
        worst_after=int(after[worst]),
    )


def told_of_minorities(shrunk: Sequence[ShrunkFacts]) -> list[str]:
    """What to say of them: columns and shares, no category."""
    if not shrunk:
        return []
    some = "; ".join(_words(one) for one in shrunk[:_NAMED])
    more = f"; and so in {len(shrunk) - _NAMED:,} more columns" if len(shrunk) > _NAMED else ""
    return [
        "Small categories shrink, because each group is released with a single category. More than a tenth of "
        f"their records lost: {some}"
        f"{more}. Remedies: give the column more importance, or make it a stratum."
    ]


def _words(one: ShrunkFacts) -> str:
    gone = f"{one.gone:,} gone, " if one.gone else ""
    kept = 100 * one.worst_after / one.worst_before
    return (
        f"{one.shrunk:,} of {one.categories:,} categories of '{one.column}' ({gone}the one that lost most records kept "
        f"{kept:.0f} %)"
    )
