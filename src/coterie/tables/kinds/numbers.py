"""Numeric and integer columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import CoterieError, in_shell
from ..arrow import array_of, flags_of, floats_of, is_text, texts_of
from ..columns import Column
from .advice import advice_on_numbers
from .typed import Floats, Typed
from .unfit import UnfitError

LARGEST = 1e300  # beyond it, a sum of a few values is no number any more
EXACT = 2.0**53  # beyond it, floats skip integers


def read_numeric(name: str, array: Any, rule: Any, decimal: str) -> Typed:
    """Real numbers. They come back as floats; floats and decimals keep their type."""
    import pyarrow as pa

    kind = array.type
    values = _numbers(name, array, decimal)
    decimals = rule.decimals
    step = 0.0 if decimals is None else 10.0**-decimals
    if getattr(rule, "totals", False) and pa.types.is_decimal(kind) and kind.scale < decimals:
        what = f"The type of '{name}' must have enough decimals for its total to be kept."
        raise CoterieError(what, f"{decimals} decimals in a type with {kind.scale}", f"decimals = {kind.scale}")

    def write(numbers: Floats) -> Any:
        if is_text(kind):
            return texts_of(numbers, lambda x: _plain(x, decimals, decimal), kind)
        missing = np.isnan(numbers)
        if pa.types.is_decimal(kind):
            return _decimals(numbers, kind)
        return array_of(np.where(missing, 0.0, numbers), missing, kind if pa.types.is_floating(kind) else pa.float64())

    return Typed(Column(name, "numeric", values), step, write)


def read_integer(name: str, array: Any, rule: Any, decimal: str) -> Typed:
    """Whole numbers. They come back as whole numbers of the same type."""
    del rule
    import pyarrow as pa

    kind = array.type
    values = _numbers(name, array, decimal)
    present = values[~np.isnan(values)]
    broken = np.flatnonzero(~np.isnan(values) & (values != np.rint(values))).tolist()
    if broken:
        what, hint = (
            f"The column '{name}' must hold whole numbers.",
            f'kind = "numeric" ({in_shell("--kind", name + "=numeric")})?',
        )
        raise UnfitError(what, len(broken), "others", hint, broken)
    if len(present) and np.abs(present).max() >= EXACT:
        what = f"The whole numbers of '{name}' must be below 2**53 to be averaged exactly."
        raise CoterieError(what, "larger ones", "if it is an identifier, give it that role.")

    def write(numbers: Floats) -> Any:
        if is_text(kind):
            return texts_of(numbers, lambda x: str(int(x)), kind)
        missing = np.isnan(numbers)
        if pa.types.is_decimal(kind):
            return _decimals(numbers, kind)
        return array_of(np.where(missing, 0.0, numbers).astype(np.int64), missing, kind)

    return Typed(Column(name, "integer", values), 1.0, write)


def _numbers(name: str, array: Any, decimal: str) -> Floats:
    import pyarrow as pa

    kind = array.type
    if is_text(kind):
        values = _from_text(name, array, decimal)
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        values = floats_of(array)
    else:
        raise CoterieError(f"The column '{name}' must hold numbers.", f"type {kind}", "is its kind right?")
    infinite = np.flatnonzero(np.isinf(values)).tolist()
    if infinite:
        what, hint = f"The numbers of '{name}' must be finite.", "correct them, or leave them empty and set [missing]."
        raise UnfitError(what, len(infinite), "infinite", hint, infinite)
    if np.nanmax(np.abs(values), initial=0.0) > LARGEST:
        raise CoterieError(f"The numbers of '{name}' must be below {LARGEST:g}.", "larger ones", "use another unit.")
    return values + 0.0


def _from_text(name: str, array: Any, decimal: str) -> Floats:
    """Numbers written as text, with this decimal mark and nothing between thousands."""
    import pyarrow.compute as pc

    text = pc.utf8_trim_whitespace(array)
    sign = "[.]" if decimal == "." else ","
    good = pc.match_substring_regex(text, rf"^[+-]?(\d+({sign}\d*)?|{sign}\d+)([eE][+-]?\d+)?$")
    good = flags_of(pc.fill_null(good, True))
    wrong = np.flatnonzero(~good).tolist()
    if wrong:
        hint = advice_on_numbers(name, array.take(wrong), decimal)
        raise UnfitError(f"The column '{name}' must hold numbers.", len(wrong), "that are none", hint, wrong)
    if decimal != ".":
        text = pc.replace_substring(text, decimal, ".")
    text = pc.replace_substring_regex(text, r"^\+", "")
    import pyarrow as pa

    return floats_of(pc.cast(text, pa.float64()))


def _plain(x: float, decimals: int | None, decimal: str) -> str:
    """A number as text: with so many decimals, or as few digits as tell it from every other float."""
    text = repr(x).removesuffix(".0") if decimals is None else f"{x:.{max(0, decimals)}f}"
    return text if decimal == "." else text.replace(".", decimal)


def _decimals(numbers: Floats, kind: Any) -> Any:
    """Decimals of the column's own precision and scale."""
    from decimal import Decimal, localcontext

    import pyarrow as pa

    values, which = np.unique(numbers, return_inverse=True)
    with localcontext() as context:
        context.prec = 400  # the digits of any float and any decimal; 28 would not do
        unit = Decimal(1).scaleb(-kind.scale)
        exact = [None if np.isnan(v) else Decimal(float(v)).quantize(unit) for v in values]
    return pa.array(exact, kind).take(
        array_of(which.reshape(-1).astype(np.int64), np.zeros(len(which), bool), pa.int64())
    )
