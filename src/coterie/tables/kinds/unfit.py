"""Values that are not of their column's kind: how many, and which records have them; never the values."""

from __future__ import annotations

from ...errors import CoterieError

SHOWN = 5  # places that are told: enough to look, and a file full of them does not fill the screen


class UnfitError(CoterieError):
    """Some values of a column can't be read as its kind.

    Parameters
    ----------
    what : str
        What must hold.
    count : int
        How many values don't fit.
    noun : str
        What they are, after the number.
    hint : str
        What to do.
    rows : list of int
        Where the first of them are among the records that were read.
    """

    def __init__(self, what: str, count: int, noun: str, hint: str, rows: list[int]) -> None:
        super().__init__(what, f"{count:,} {noun}", hint)
        self.count, self.noun, self.rows = count, noun, rows[:SHOWN]

    def __reduce__(self):  # type: ignore[no-untyped-def]
        """Pickle as a plain error of the same words."""
        return CoterieError, (self.what, self.got, self.hint)

    def at(self, where: str, whole: bool) -> CoterieError:
        """The same with the places of the records; of some records, it is at least so many."""
        least = "" if whole else "at least "
        first = "the first in " if self.count > len(self.rows) else "in "
        return CoterieError(self.what, f"{least}{self.count:,} {self.noun}, {first}{where}", self.hint)
