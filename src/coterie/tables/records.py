"""Some records of a table: their numbers, and their columns, read by the recipe's rules when somebody asks for one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CoterieError
from . import kinds
from .arrow import as_array, is_text
from .columns import Column
from .dress import PLAIN, Dress, undressed, units
from .identities import Hashes, identities
from .kinds import Typed, UnfitError
from .preparing import Prepared, Preparing
from .spellings import Spelling

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Reading:
    """How columns are read: the same for all records, wherever they are.

    Attributes
    ----------
    rules : mapping of str to ColumnRule
        What each column is.
    decimal : str
        The decimal mark of numbers in text.
    missing : tuple of str
        Texts that mean missing, where a column still holds them as they stand in the file.
    steps : mapping of str to float
        What the released values of a whole column are rounded to; known once all records have been seen.
    categories : mapping of str to tuple of str
        All categories of nominal and boolean columns; known then, too.
    missing_texts : tuple of str
        All texts that mean missing in the file, whether a column still holds them or not.
    spellings : mapping of str to Spelling
        How the numbers of columns of strata are written; known then, too.
    dress : Dress
        What is taken off numbers in text before they are read.
    places : Places
        Says where in a file records are, for errors.
    preparing : mapping of str to Preparing
        What is done to columns before anybody else sees them; `rules` are of what they have become.
    original : mapping of str to ColumnRule
        How these columns are read as they were.
    """

    rules: Mapping[str, Any]
    decimal: str = "."
    missing: tuple[str, ...] = ()
    steps: Mapping[str, float] = field(default_factory=dict)
    categories: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    missing_texts: tuple[str, ...] = ()
    spellings: Mapping[str, Spelling] = field(default_factory=dict)
    dress: Dress = PLAIN
    places: Places | None = None
    preparing: Mapping[str, Preparing] = field(default_factory=dict)
    original: Mapping[str, Any] = field(default_factory=dict)

    def with_preparing(
        self, rules: Mapping[str, Any], preparing: Mapping[str, Preparing], original: Mapping[str, Any]
    ) -> Reading:
        """The same for columns that are prepared: the rules of what they become, what is done, how they were."""
        return replace(self, rules=dict(rules), preparing=dict(preparing), original=dict(original))

    @property
    def as_it_was(self) -> Reading:
        """How prepared columns are read before they are."""
        return replace(self, rules=self.original, steps={}, categories={}, spellings={}, preparing={}, original={})

    def with_survey(
        self,
        steps: Mapping[str, float],
        categories: Mapping[str, tuple[str, ...]],
        spellings: Mapping[str, Spelling],
    ) -> Reading:
        """The same, once the whole table is known."""
        return replace(self, steps=dict(steps), categories=dict(categories), spellings=dict(spellings))

    def plain(self, array: Any) -> Any:
        """A column with nulls for the texts that mean missing."""
        return without_texts(array, self.missing) if self.missing else array

    def read(self, name: str, array: Any) -> Typed:
        """A column of some records."""
        step, every, rule = self.steps.get(name), self.categories.get(name), self.rules[name]
        plain = self.plain(array)
        if rule.kind not in ("numeric", "integer") or self.dress.is_plain:
            typed = kinds.read(name, plain, rule, self.decimal, step, every, self.missing_texts)
        else:
            bare = undressed(plain, self.dress)
            typed = kinds.read(name, bare, rule, self.decimal, step, every, self.missing_texts)
            typed = typed._replace(style=units(plain, self.dress) or None)
        return typed._replace(step=self.steps.get(name, typed.step))

    def read_at(self, name: str, array: Any, numbers: Ints, whole: bool) -> Typed:
        """The same; what is refused is told with the places of the records that these numbers name."""
        try:
            return self.read(name, array)
        except UnfitError as error:
            unfit = error
        raise self.at_its_place(unfit, numbers, whole)

    def at_its_place(self, unfit: UnfitError, numbers: Ints, whole: bool) -> CoterieError:
        """What is refused, with the places of the records that these numbers name."""
        where = (self.places or Places()).words([int(numbers[row]) for row in unfit.rows])
        return unfit.at(where, whole)


class Places:
    """Where records are: here, by their numbers, from 1. A file knows better."""

    def words(self, numbers: list[int]) -> str:
        """The places of some records, as one says it."""
        return listed("record", [number + 1 for number in numbers])


def listed(noun: str, places: list[int]) -> str:
    """Places as one says them: line 7; lines 7, 9 and 12."""
    if len(places) == 1:
        return f"{noun} {places[0]}"
    return f"{noun}s {', '.join(map(str, places[:-1]))} and {places[-1]}"


def without_texts(array: Any, texts: tuple[str, ...]) -> Any:
    """A column of texts with nulls for those that mean missing."""
    import pyarrow as pa
    import pyarrow.compute as pc

    means_missing = pc.is_in(array, value_set=pa.array(texts, array.type))
    return pc.if_else(means_missing, pa.scalar(None, array.type), array)


class Records:
    """Some records of a table.

    Parameters
    ----------
    numbers : ndarray of int64
        The number of each record in the table, in rising order.
    arrow : function
        Gives a column of these records as an Arrow array.
    reading : Reading
        How columns are read.
    """

    whole = False  # whether these are all records of the table

    def __init__(self, numbers: Ints, arrow: Callable[[str], Any], reading: Reading) -> None:
        self.numbers, self.raw, self.reading = numbers, arrow, reading
        self._typed: dict[str, Typed] = {}
        self._originals: dict[str, Typed] = {}
        self._prepared: dict[str, Prepared] = {}
        self._units: dict[tuple[str, bool], Hashes] = {}

    def __len__(self) -> int:
        return len(self.numbers)

    def arrow(self, name: str) -> Any:
        """A column as an Arrow array: as the table has it, or prepared."""
        return self.prepared(name).array if name in self.reading.preparing else self.raw(name)

    def prepared(self, name: str) -> Prepared:
        """A column that is prepared."""
        if name not in self._prepared:
            self._prepared[name] = self._prepare(name)
        return self._prepared[name]

    def _prepare(self, name: str) -> Prepared:
        import pyarrow.compute as pc

        step, raw = self.reading.preparing[name], as_array(self.raw(name))
        plain = self.reading.plain(raw)
        try:
            made = step.apply(name, plain, None if step.by_category else self._original(name))
        except UnfitError as error:
            unfit = error
        else:
            if self.reading.missing and is_text(raw.type):  # which of several texts means missing stays
                made = made._replace(array=pc.if_else(pc.is_null(plain), raw, made.array))
            return made
        raise self.reading.at_its_place(unfit, self.numbers, self.whole)

    def original(self, name: str) -> Column:
        """A column as numbers, as it was before it was prepared."""
        return self._original(name).column if name in self.reading.preparing else self.column(name)

    def _original(self, name: str) -> Typed:
        if name not in self._originals:
            self._originals[name] = self.reading.as_it_was.read_at(name, self.raw(name), self.numbers, self.whole)
        return self._originals[name]

    def changed(self, name: str) -> tuple[int, int, int]:
        """How many values of a column preparing has changed, how many are there, and where others may have become."""
        return self.prepared(name).counts()

    def typed(self, name: str) -> Typed:
        """A column as numbers, and the way back."""
        if name not in self._typed:
            self._typed[name] = self.reading.read_at(name, self.arrow(name), self.numbers, self.whole)
        return self._typed[name]

    def column(self, name: str) -> Column:
        """A column as numbers."""
        return self.typed(name).column

    def units(self, name: str, by_key: bool = True) -> Hashes:
        """Whose records they are, by a column: see `identities`."""
        if (name, by_key) not in self._units:
            plain, missing = self.reading.plain(self.arrow(name)), self.reading.missing_texts
            self._units[name, by_key] = identities(name, plain, by_key=by_key, missing=missing)
        return self._units[name, by_key]

    def written(self, name: str, numbers: Floats) -> Any:
        """Numbers of a column as an Arrow array of the type that it has."""
        array, spelling = self.typed(name).write(numbers), self.reading.spellings.get(name)
        return array if spelling is None else spelling.put(numbers, array)

    def take(self, rows: Ints) -> Records:
        """Some of the records; their columns are those that are read here already, or when they are asked for."""
        return _Taken(self, rows)


class _Taken(Records):
    """Some of other records."""

    def __init__(self, of: Records, rows: Ints) -> None:
        super().__init__(of.numbers[rows], of.raw, of.reading)
        self._of, self._rows = of, rows

    def prepared(self, name: str) -> Prepared:
        """A column of all records, of which these are some: whoever asks for arrays knows the rows."""
        return self._of.prepared(name)

    def original(self, name: str) -> Column:
        """A column of these records, as it was."""
        return self._of.original(name).at(self._rows)

    def changed(self, name: str) -> tuple[int, int, int]:
        """How many values of these records preparing has changed, and so on."""
        return self._of.prepared(name).counts(self._rows)

    def typed(self, name: str) -> Typed:
        """A column of these records; it is written as one of all."""
        if name not in self._typed:
            typed = self._of.typed(name)
            self._typed[name] = typed._replace(column=typed.column.at(self._rows))
        return self._typed[name]

    def units(self, name: str, by_key: bool = True) -> Hashes:
        """Whose records these are."""
        if (name, by_key) not in self._units:
            self._units[name, by_key] = self._of.units(name, by_key)[self._rows]
        return self._units[name, by_key]
