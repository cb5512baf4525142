"""How much of the original the public report may tell: one rule, through which every such number passes.

The reader knows the released file, all definitions and this rule, and combines everything that is shown. They must not
be able to tell which of 0 to k - 1 a count of original records is. So what is shown does not depend on it:

1. A count below k is not shown, and none looks like few. Other counts of a distribution are told by their class of k:
   0 to k - 1, k to 2k - 1 and so on. The cell that most released records are in has what is left of the whole, so that
   the total tells nothing of the others.
2. A column in which fewer than k records changed has no number at all, and none that is made of several columns has it
   among them; else the number of changes would follow from the loss, or from the difference of two losses.
3. A column of categories, or of few different values, has two things, by rule 1: the share of changed records, and the
   distribution. Of so few values, loss, means and variances are equations that can be solved for the counts; and where
   the file itself gives exact means, it is the distribution that would solve them, and is not shown.
4. Of a column that was prepared, the share of changed values is told by rule 1, if k or more of those beside them were
   as they are already: at a bound, on a base, of a category that others became.
5. Other columns keep their figures. No figure is finer than the share that k records have in the file.

A number of several columns is shown if all of them are told in full. Pictures are drawn from the same numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..facts.measures import ColumnLoss, Measures, NumberUtility
from ..facts.prepared_facts import PreparedFacts
from ..facts.release_facts import ColumnFacts, ReleaseFacts

OPEN, FULL, COUNTS, SHARE, NOTHING = "open", "full", "counts", "share", "nothing"  # how much is told of a column
FEW_VALUES = 20  # a column of numbers with fewer different ones is told by counts
_CODES = ("ordinal", "nominal", "boolean")


@dataclass(frozen=True)
class Cells:
    """The cells of a distribution that is told: counts before, None below k; and which cells each is made of."""

    before: tuple[int | None, ...]
    members: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Disclosure:
    """The rule, for one release."""

    k: int  # the largest that was asked for; where it counts units, so many records that k units must be among them
    records: int  # those that measures were taken from
    columns: Mapping[str, str]  # how much is told of each
    masked: frozenset[str]  # columns whose values are those of groups
    leaves_out: bool  # whether records may have been left out
    fills: bool  # whether gaps may have been filled, in masked columns
    blanks: bool  # whether values may have been blanked, in masked columns

    @classmethod
    def of(cls, facts: ReleaseFacts, masked: frozenset[str]) -> Disclosure:
        """The rule for the release that these facts are about."""
        measures, settings, output = facts.measures, facts.settings, facts.output
        k = facts.largest_k if facts.unit is None else round(_round_up(facts.least_count))
        gaps = settings.small_missing if settings.missing == "own-value" else ""
        strata = settings.small_strata if settings.within else ""
        return cls(
            k=k,
            records=output.measured or output.records,
            columns={column.name: _told(column, measures, k) for column in facts.columns},
            masked=masked,
            leaves_out="suppress" in (gaps, strata) or output.suppressed > 0 or output.records != facts.input.records,
            fills=settings.missing == "group",
            blanks=gaps == "merge" or output.blanked > 0,
        )

    def told(self, name: str) -> str:
        """How much is told of a column."""
        return self.columns.get(name, NOTHING)

    def all_told(self, names: Iterable[str]) -> bool:
        """Whether a number of all these columns together may be shown."""
        return all(self.told(name) in (OPEN, FULL) for name in names)

    @property
    def share(self) -> float:
        """The share that k records have in the file, or somewhat more: 1, 2 or 5 times a power of ten."""
        return _round_up(self.k / max(self.records, 1))

    def step(self, finest: float, unit: float = 1.0) -> float:
        """What a figure is rounded to: `finest`, or the share that k records have, in its unit, if that is more."""
        return max(finest, _round_up(unit * self.k / max(self.records, 1)))

    def figure(self, value: float | None, finest: float, unit: float = 1.0) -> float | None:
        """A figure of a column that is told in full, or of several, rounded."""
        return _to_step(value, self.step(finest, unit))

    def left_out(self, records: int) -> int | None:
        """How many records were left out; None below k, for none looks like few where some may have been."""
        return None if self.leaves_out and records < self.k else records

    def records_before(self, facts: ReleaseFacts) -> int | None:
        """How many records there were; None if those left out would follow."""
        return None if self.left_out(facts.output.suppressed) is None else facts.input.records

    def missing_before(self, column: ColumnFacts) -> int | None:
        """How many gaps there were; None if they may be fewer than k, or if their number may differ by fewer than k."""
        before, after = column.missing_before, column.missing_after
        may_differ = self.leaves_out or ((self.fills or self.blanks) and column.name in self.masked)
        if before is None or (before == after and not may_differ):
            return before
        return before if after is not None and before >= self.k and abs(before - after) >= self.k else None

    def missing_after(self, column: ColumnFacts) -> int | None:
        """How many gaps there are; None if it was not counted, or might not have been had records been left out."""
        return None if self.leaves_out and column.role == "other" else column.missing_after

    def blanked(self, facts: ReleaseFacts) -> int | None:
        """How many values were blanked; None if what one column has of them would follow."""
        if not self.blanks:
            return 0
        columns = (self.missing_before(column) for column in facts.columns if column.name in self.masked)
        return None if facts.output.blanked < self.k or None in columns else facts.output.blanked

    def changed(self, of: ColumnLoss, present: int) -> float | None:
        """The share of changed records, from their class; None if fewer than k changed, or fewer than k did not."""
        if of.changed is None or of.changed < self.k:
            return None
        first = of.changed // self.k * self.k
        if first + self.k - 1 > present - self.k:
            return None
        return round((first + (self.k - 1) / 2) / present, 3)

    def prepared(self, of: PreparedFacts) -> float | None:
        """The share of values that preparing changed, from their class; None if it would tell a small count.

        Where the file shows the prepared values, it tells how many are at a bound, say. Of these, those that were there
        already must be k at least, whichever count of the class is the true one.
        """
        if of.replaces_all:
            return 1.0
        if of.changed < self.k or not of.values:
            return None
        first = of.changed // self.k * self.k
        if first + self.k - 1 > (of.values if of.masked else of.landed) - self.k:
            return None
        return round((first + (self.k - 1) / 2) / of.values, 3)

    def most_cells(self) -> int:
        """How many cells a distribution may have.

        With m equal cells, what is left for one of them is known but for some m k / 2 records; these must be fewer than
        the n / m that it has.
        """
        return math.isqrt(int(1.2 * self.records / self.k))

    def cells(
        self, before: Sequence[int], after: Sequence[int], members: Sequence[Sequence[int]], changed: int | None = None
    ) -> Cells | None:
        """A distribution in cells that are made of these counts; None if it would tell a small count.

        The cell with most released records gets what is left of the whole. If that might be little, or if there are
        fewer than three cells, the distribution is not shown: of two, the changes in each direction would follow. Nor
        is it shown beside a number of changed records that might be too few for it: then not all counts could be.
        """
        was = [sum(before[i] for i in cell) for cell in members]
        now = [sum(after[i] for i in cell) for cell in members]
        if sum(n > 0 for n in now) < 3:
            return None
        rest = max(range(len(now)), key=lambda i: (now[i], -i))
        # the released total, which is known; where many gaps were filled, the class of the original one
        total = sum(now) if sum(was) > sum(now) - self.k else self._middle(sum(was) // self.k)
        classes = [n // self.k for n in was]
        others = [c for i, c in enumerate(classes) if i != rest]
        if total - sum(self.k * c + self.k - 1 for c in others) < 2 * self.k:
            return None
        if changed is not None:
            largest = [self.k * c + self.k - 1 for c in classes]
            largest[rest] = total - sum(self.k * c for c in others)
            needed = sum(max(0, most - n) for most, n in zip(largest, now, strict=True))
            if needed > changed // self.k * self.k + self.k - 1:
                return None
        shown: list[int | None] = [self._middle(c) if c else None for c in classes]
        shown[rest] = total - sum(self._middle(c) for c in others)
        return Cells(tuple(shown), tuple(tuple(cell) for cell in members))

    def _middle(self, number: int) -> int:
        """The count that stands for those of a class."""
        return self.k * number + (self.k - 1) // 2


def _told(column: ColumnFacts, measures: Measures, k: int) -> str:
    loss = measures.loss.columns.get(column.name)
    if column.released in ("as it was", "as prepared"):  # nobody masked it
        return OPEN
    if column.released == "dropped" or loss is None or loss.changed is None or loss.changed < k:
        return NOTHING
    if column.kind in _CODES:
        return COUNTS
    if loss.distinct is not None and loss.distinct >= FEW_VALUES:
        return FULL
    of = measures.utility.columns.get(column.name)
    edges = of.histogram.edges if isinstance(of, NumberUtility) and of.histogram is not None else ()
    rough = column.kind == "integer" and len(edges) > 1 and edges[1] - edges[0] <= 1.0  # sums are known to half a value
    return COUNTS if rough or column.released == "medoid" else SHARE


def _round_up(value: float) -> float:
    """The next of 1, 2 and 5 times a power of ten."""
    power = math.floor(math.log10(value))
    return next(d * 10.0**power for d in (1, 2, 5, 10) if d * 10.0**power >= value * (1 - 1e-9))


def _to_step(value: float | None, step: float) -> float | None:
    if value is None or not math.isfinite(value):
        return None
    return round(round(value / step) * step, max(0, 1 - math.floor(math.log10(step)))) + 0.0
