"""From groups to released columns: what every record gets, once all its groups are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..tables.columns import Column
from ..tables.records import Records
from .noise import noisy, normal_draws
from .plan import Division, Plan
from .solve import Solved

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass
class GroupTable:
    """The groups of a division, numbered over all its parts, with what is released for each.

    `of_record` is the group of every record of the table, where records come back later in other parts.
    """

    of_record: Ints | None = None
    groups: int = 0
    centres: dict[str, list[Floats]] = field(default_factory=dict)
    constant: dict[str, list[Flags]] = field(default_factory=dict)

    def add(self, solved: Solved) -> int:
        """Take in the groups of a part, and give the number of the first."""
        first = self.groups
        self.groups += solved.groups
        for name, values in solved.centres.items():
            self.centres.setdefault(name, []).append(values)
        for name, flags in solved.constant.items():
            self.constant.setdefault(name, []).append(flags)
        return first

    def centre(self, name: str) -> Floats:
        """What is released for each group in a column."""
        return np.concatenate(self.centres[name])

    def constants(self, name: str) -> Flags:
        """Which groups have one value at most in a confidential column."""
        return np.concatenate(self.constant[name])


@dataclass(frozen=True, eq=False)
class Grouping:
    """The groups of some records in one division: a table of groups, and the group of each record.

    `ids` number the groups of the table among all groups of the division.
    """

    table: GroupTable
    group: Ints
    ids: Ints
    elsewhere: bool = False  # whether other records of these groups are released elsewhere


class Assembled(Mapping[str, Column]):
    """The columns of some records that are not released as they are, each made when it is asked for.

    Quasi-identifiers get the centres of their groups, columns of strata what is released in the stratum, confidential
    columns noise where so asked for.
    """

    def __init__(self, records: Records, groupings: Sequence[Grouping], stratum: Ints, plan: Plan) -> None:
        self._records, self._groupings, self._stratum, self._plan = records, groupings, stratum, plan
        recipe = plan.recipe
        self._of = {name: grouping for grouping in groupings for name in grouping.table.centres}
        noisy_columns = [n for n in recipe.of_role("confidential") if recipe.columns[n].noise is not None]
        self._names = tuple(dict.fromkeys([*self._of, *recipe.within, *noisy_columns]))

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __getitem__(self, name: str) -> Column:
        if name in self._of:  # a medoid of the only grouping gives its own values of strata, too
            grouping = self._of[name]
            numbers = grouping.table.centre(name)[grouping.group]
        elif name in self._plan.recipe.within:
            numbers = self._plan.strata[name][self._stratum]
        elif name in self._names:
            return _with_noise(self._records, name, self._groupings, self._plan)
        else:
            raise KeyError(name)
        return self._records.column(name).with_numbers(numbers)


def _with_noise(records: Records, name: str, groupings: Sequence[Grouping], plan: Plan) -> Column:
    constant = np.zeros(len(records), bool)
    for grouping in groupings:
        constant |= grouping.table.constants(name)[grouping.group]
    assert plan.recipe.seed is not None
    number = plan.recipe.of_role("confidential").index(name)
    draws = normal_draws(plan.recipe.seed, number, records.numbers[constant])
    spread = (plan.recipe.columns[name].noise or 0.0) * plan.whole.scales[name].width
    return noisy(records.column(name), spread, plan.whole.digits[name], constant, draws)


def strata_of_parts(division: Division) -> Ints:
    """The stratum of each part."""
    return np.array([division.cells.cells[part.cell].stratum for part in division.parts], np.int64)
