"""The shape of every column, small enough for a page: how many values lie where, and not which."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import boundary
from ..recipe.contents import numbers_of
from ..recipe.draft import Look
from ..tables.arrow import floats_of, is_text
from ..tables.sample import Sample
from .looks import looks, samples
from .number_texts import strays
from .source import Source

BINS = 16
MOST_FREQUENT = 12
_ENDS = (0.01, 0.99)  # the share of the values that lie below the first bin's edge, and below the last's


@dataclass(frozen=True)
class Glance:
    """How the values of a column are spread. No value, no label, no edge of a bin.

    Attributes
    ----------
    name : str
    counts : tuple of int
        Of numbers and dates: 16 bins of the same width, in rising order, between the 1st and the 99th percentile;
        the values beyond are in the first and the last. One bin, if all are the same. Of all else: how often the 12
        most frequent values come, the largest first, and in a 13th place all others together, if there are any.
        Empty, where there is nothing to count.
    numeric : bool
        Which of the two.
    sampled : int or None
        How many values were looked at, if not all that are there.
    """

    name: str
    counts: tuple[int, ...]
    numeric: bool
    sampled: int | None = None


@boundary
def glances(source: Source) -> dict[str, Glance]:
    """A glance at every column, in the order of the table. Of a larger file, the scan that made the looks is enough."""
    taken = samples(source)
    return {name: _glance(name, seen, taken[name], source.decimal) for name, seen in looks(source).items()}


@boundary
def unfit_counts(source: Source) -> dict[str, int]:
    """Of each column of a text file that is mostly numbers: how many values are not plain numbers.

    They are the columns that a draft asks about. What was counted for the draft is not counted again.
    """
    return strays(source, {name: seen.kind for name, seen in looks(source).items()})


def _glance(name: str, seen: Look, sample: Sample, decimal: str) -> Glance:
    values, number = sample.values, seen.contents.number or seen.kind in ("integer", "numeric")
    if values is None or not len(values):
        return Glance(name, (), number or seen.kind == "datetime")
    sampled = len(values) if len(values) < sample.there else None
    if not number and not _is_moment(seen, values.type):
        return Glance(name, _most_frequent(values), False, sampled)
    numbers = floats_of(numbers_of(values, decimal)) if number else _moments(values, seen)
    return Glance(name, _in_bins(numbers[np.isfinite(numbers)]), True, sampled)


def _is_moment(seen: Look, kind: Any) -> bool:
    """Whether values are dates or times in an order; months and days without a date are not."""
    import pyarrow as pa

    return seen.kind == "datetime" and not pa.types.is_interval(kind)


def _moments(values: Any, seen: Look) -> NDArray[np.float64]:
    """Dates and times as numbers, of whichever unit."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_text(values.type):
        return floats_of(values.view(pa.int32() if values.type.bit_width == 32 else pa.int64()))
    if seen.formats:
        texts = pc.utf8_trim_whitespace(values)
        times = pc.strptime(texts, format=seen.formats[0], unit="s", error_is_null=True)
        return floats_of(times.view(pa.int64()))
    return np.array([_seconds(text.strip()) for text in values.to_pylist()])


def _seconds(text: str) -> float:
    moment = datetime.fromisoformat(text)
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()


def _in_bins(numbers: NDArray[np.float64]) -> tuple[int, ...]:
    """How many numbers lie in each bin; where most are the same, between the least and the largest."""
    if not len(numbers):
        return ()
    ranked = np.sort(numbers) / 4  # whose differences are no more than there are numbers for
    last = len(ranked) - 1
    low, high = ranked[int(np.floor(_ENDS[0] * last))], ranked[int(np.ceil(_ENDS[1] * last))]
    if low == high:
        low, high = ranked[0], ranked[-1]
    if low == high:
        return (len(ranked),)
    place = (np.clip(ranked, low, high) - low) / (high - low) * BINS
    return tuple(np.bincount(np.minimum(place.astype(np.int64), BINS - 1), minlength=BINS).tolist())


def _most_frequent(values: Any) -> tuple[int, ...]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(values.type) and pa.types.is_floating(values.type.value_type):
        values = values.dictionary_decode()
    if pa.types.is_floating(values.type):
        values = pc.add(values.cast(pa.float64()), 0.0)  # -0.0 is the same number
    counts = -np.sort(-floats_of(values.value_counts().field("counts")).astype(np.int64))
    rest = int(counts[MOST_FREQUENT:].sum())
    return (*counts[:MOST_FREQUENT].tolist(), *([rest] if rest else []))
