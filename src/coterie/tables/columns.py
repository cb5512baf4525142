"""A column as every stage after reading sees it: one array of floats, whatever its kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

KINDS = ("numeric", "integer", "ordinal", "nominal", "datetime", "boolean")


@dataclass(frozen=True, eq=False)
class Column:
    """The values of a column as numbers.

    Attributes
    ----------
    name : str
    kind : str
        One of KINDS.
    numbers : ndarray of shape (n,)
        The values of a numeric or integer column; microseconds since 1970 of a date, time or timestamp; for the other
        kinds the index into `categories`. NaN where the value is missing.
    categories : tuple of str
        What the codes of an ordinal column (in its order), of a nominal (sorted as text) or of a boolean one (false,
        true) stand for; empty otherwise. A column before and after masking has the same categories.
    """

    name: str
    kind: str
    numbers: Floats
    categories: tuple[str, ...] = ()

    @property
    def missing(self) -> Flags:
        """Which records lack a value."""
        return np.isnan(self.numbers)

    @property
    def has_codes(self) -> bool:
        """Whether the numbers are codes of categories."""
        return self.kind in ("ordinal", "nominal", "boolean")

    @property
    def is_ordered(self) -> bool:
        """Whether larger numbers mean more."""
        return self.kind not in ("nominal", "boolean")


Columns = Mapping[str, Column]
