"""The check that every class holds k different units, where their column is not released.

It is made on the released values with the units beside them, before these are dropped; the counting is the verifier's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..errors import PromiseError
from ..recipe import Recipe
from ..verification import Check, Claims
from ..verification import Unit as UnitClaim
from ..verification.units import UnitCount
from .promises import scenarios_of
from .solving import Released


class UnitCheck:
    """Counts units as pieces are released; nothing to do where the recipe names none, or keeps them in the release.

    With `only`, the classes of these scenarios alone are looked at.
    """

    def __init__(
        self,
        recipe: Recipe,
        details: Mapping[str, Any],
        memory: int | None = None,
        only: Sequence[str] | None = None,
    ) -> None:
        self._recipe = recipe
        self._count: UnitCount | None = None
        name = recipe.unit_column
        if name is not None and name not in recipe.released:
            unit = UnitClaim(name, tuple(details.get("missing") or ()))
            told = {q: q for q in recipe.quasi}
            scenarios = tuple(s for s in scenarios_of(recipe, told) if only is None or s.name in only)
            self._claims = Claims(scenarios, recipe.within, unit=unit)
            self._count = UnitCount(self._claims, memory)

    def add(self, part: Released, column: Callable[[str], Any]) -> None:
        """Take in some released records; `column` gives one that is not masked, as Arrow has it."""
        if self._count is None:
            return
        import pyarrow as pa

        records, after = part.records, part.after
        names = self._claims.columns
        arrays = [records.typed(n).write(after[n].numbers) if n in after else column(n) for n in names]
        self._count.add(pa.Table.from_arrays(arrays, names=names))

    @property
    def found(self) -> Any:
        """What was counted, for another check to take in."""
        return None if self._count is None else self._count.found

    def merge(self, found: Any) -> None:
        """Take in what was counted elsewhere."""
        if self._count is not None:
            self._count.merge(found)

    def checks(self) -> tuple[Check, ...]:
        """What was found; refused if a class has too few units."""
        found = () if self._count is None else self._count.checks()
        if failed := [check.sentence for check in found if not check.ok]:
            hint = "this is a bug in Coterie: please report it. Nothing was released."
            raise PromiseError("Every class must contain k different units.", " ".join(failed), hint)
        return found
