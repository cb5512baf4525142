"""A column read by its kind, and the way back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..columns import Column

Floats = NDArray[np.float64]


class Typed(NamedTuple):
    """A column, the step that its released numbers are rounded to (0: none), and how they are written.

    `style` is what must be the same in all parts of a column: how its dates, or yes and no, are written.
    """

    column: Column
    step: float
    write: Callable[[Floats], Any]  # numbers, NaN for missing -> a pyarrow Array of the type the column had
    style: Any = None
