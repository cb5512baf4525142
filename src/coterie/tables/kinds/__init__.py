"""The kinds of columns: how each is read into numbers, and how numbers of it are written as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import NOT_OF_THE_DATA, CoterieError
from ..arrow import as_array
from .categories import MOST_CATEGORIES, categories_of, meaning, read_boolean, read_nominal, read_ordinal
from .numbers import read_integer, read_numeric
from .times import read_datetime
from .typed import Typed
from .unfit import UnfitError

__all__ = ["MOST_CATEGORIES", "Typed", "UnfitError", "categories_of", "meaning", "read"]

_NUMBERS = {"numeric": read_numeric, "integer": read_integer}
_CATEGORIES = {"ordinal": read_ordinal, "nominal": read_nominal, "boolean": read_boolean}


def read(
    name: str,
    array: Any,
    rule: Any,
    decimal: str = ".",
    step: float | None = None,
    every: tuple[str, ...] | None = None,
    missing: tuple[str, ...] = (),
) -> Typed:
    """A column of a table, as its rule says to read it.

    Parameters
    ----------
    name : str
    array : pyarrow Array or ChunkedArray
        The values; as text, where the file is one of texts.
    rule : ColumnRule
        Its kind, and what belongs to it.
    decimal : str
        The decimal mark of numbers in text.
    step : float, optional
        What times in text resolve, where these are some of a column's values: all are written alike.
    every : tuple of str, optional
        All categories of a nominal or boolean column, where these are some of its values: the codes are those of all.
    missing : tuple of str
        Texts that mean missing in the file: so do others that are one value with them.

    Returns
    -------
    Typed
        The column as numbers, and the way back.
    """
    assert rule.kind is not None
    try:
        plain, back = _plain(as_array(array))
        if rule.kind == "datetime":
            typed = read_datetime(name, plain, rule, step)
        elif rule.kind in _NUMBERS:
            typed = _NUMBERS[rule.kind](name, plain, rule, decimal)
        else:
            typed = _CATEGORIES[rule.kind](name, plain, rule, every, missing)
        return typed._replace(write=_fitting(name, typed, back))
    except NOT_OF_THE_DATA:
        raise
    except Exception as error:  # whose own words may quote a value
        wrong = f"{type(error).__name__} while it was read"
    del array
    raise CoterieError(f"The column '{name}' cannot be read as {rule.kind}.", wrong, "is its kind right?")


def _fitting(name: str, typed: Typed, back: Any) -> Callable[[Any], Any]:
    """The way back; numbers that the type has no room for are refused, without pyarrow's words, which may quote one."""

    def write(numbers: Any) -> Any:
        import pyarrow as pa

        try:
            array = typed.write(numbers)
            return array if back is None else array.cast(back)
        except pa.ArrowInvalid:
            pass
        what = f"The released values of '{name}' must fit the type of the column."
        raise CoterieError(what, "larger or smaller numbers, by rounding or noise", "give the column a wider type.")

    return write


def _plain(array: Any) -> tuple[Any, Any]:
    """A column in a type that pyarrow can count and sort, and the type to come back to; None if it is the same."""
    import pyarrow as pa

    if not getattr(pa.types, "is_string_view", lambda _: False)(array.type):  # since pyarrow 16
        return array, None
    return array.cast(pa.large_string()), array.type
