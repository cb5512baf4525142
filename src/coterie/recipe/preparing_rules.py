"""What must hold of the options that prepare a column, and what a column has become once it is prepared."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ..tables.bands import MOST_BANDS, edges_between, known_edges, names_of
from ..tables.preparing import coarse, micros
from ..tables.text_keys import text_key
from .fields import Mistake

if TYPE_CHECKING:
    from .recipe import Recipe
    from .sections import ColumnRule

Wrong = Callable[..., None]

_NUMBERS = ("numeric", "integer")
_FOR = {
    "numbers": ("top", "bottom", "top_label", "bottom_label", "bands", "width", "bands_as", "round"),
    "dates": ("top", "bottom", "precision"),
    "categories": ("recode", "others", "rare"),
}
_SORT = {
    "numeric": "numbers", "integer": "numbers", "datetime": "dates", "nominal": "categories", "ordinal": "categories",
}  # fmt: skip
_KINDS = {
    "numbers": "numeric and integer columns",
    "dates": "columns of dates",
    "categories": "nominal and ordinal columns",
}


def check_preparing(recipe: Recipe, mistakes: list[Mistake]) -> None:
    """Note all mistakes in how columns are prepared."""
    for name, rule in recipe.columns.items():
        if rule is None or not rule.prepared:
            continue

        def wrong(key: str, what: str, got: str | None = None, hint: str | None = None, name: str = name) -> None:
            mistakes.append(Mistake(("columns", name, key), what, got, hint))

        if _can_be_prepared(name, rule, recipe, wrong):
            _check_rule(rule, wrong)
            _check_texts(rule, recipe, wrong)


def _check_texts(rule: ColumnRule, recipe: Recipe, wrong: Wrong) -> None:
    """New texts must be read as such: not as a missing value, and not as nothing."""
    given = recipe.file.options.get("missing", ())
    missing = {text_key(text) for text in given if isinstance(text, str)} if isinstance(given, (list, tuple)) else set()
    new = {key: [getattr(rule, key)] for key in ("top_label", "bottom_label", "others") if getattr(rule, key)}
    new["recode"] = list((rule.recode or {}).values())
    for key, texts in new.items():
        if any(text_key(text) in {"", *missing} for text in texts):
            wrong(key, "A new value must not be blank and must not stand for a missing value.", "one that does not")


def check_what_becomes(recipe: Recipe, mistakes: list[Mistake]) -> None:
    """Note what would be wrong with the columns as they have become; the rest of the recipe is right."""
    from .recipe import RecipeError

    some = {name: (0.0, float(rule.width)) for name, rule in recipe.columns.items() if rule.width is not None}
    try:
        as_prepared(recipe, {name: edges for name, edges in some.items() if known_edges(recipe.columns[name]) is None})
    except RecipeError as error:
        mistakes += error.mistakes


def _given(rule: ColumnRule) -> list[str]:
    from .sections import PREPARING

    return [key for key in PREPARING if getattr(rule, key) is not None]


def _can_be_prepared(name: str, rule: ColumnRule, recipe: Recipe, wrong: Wrong) -> bool:
    """Whether the column is one that is released, and is of a kind that its options are for."""
    given = _given(rule)
    if rule.role == "identifier":
        for key in given:
            wrong(key, "An identifier is dropped, so preparing it has no effect.", None, "leave it out.")
        return False
    if name == recipe.unit_column or (recipe.weights is not None and recipe.weights.column == name):
        what = "Units and weights are used as they are, so these columns cannot be prepared."
        for key in given:
            wrong(key, what, "the unit" if name == recipe.unit_column else "the weights", "leave it out.")
        return False
    if rule.kind is None:
        if rule.role == "other":
            hint = "numeric, integer, nominal or datetime."
            wrong("kind", "A prepared column needs a kind.", "none", hint)
        return False
    if rule.role == "other" and rule.kind == "ordinal":
        wrong("kind", "The column is not masked, so an order has no effect.", 'kind = "ordinal"', 'kind = "nominal".')
        return False
    known = _FOR.get(_SORT.get(rule.kind, ""), ())
    wanted = [key for key in given if key not in known]
    for key in wanted:
        sorts = [_KINDS[sort] for sort, keys in _FOR.items() if key in keys]
        wrong(key, f"'{key}' is for {' and '.join(sorts)}.", f'kind = "{rule.kind}"', "leave it out.")
    return not wanted


def _check_rule(rule: ColumnRule, wrong: Wrong) -> None:
    if rule.noise is not None:
        what = "Noise would undo what preparing did to the values."
        wrong("noise", what, f"{', '.join(_given(rule))}, too", "leave one out.")
    before = _Counted(wrong)
    sort = _SORT[str(rule.kind)]
    {"numbers": _check_numbers, "dates": _check_dates, "categories": _check_categories}[sort](rule, before)


class _Counted:
    """Notes mistakes, and knows whether there were any: what builds on right options is checked only then."""

    def __init__(self, wrong: Wrong) -> None:
        self._wrong, self.any = wrong, False

    def __call__(self, *said: Any) -> None:
        self.any = True
        self._wrong(*said)


# Numbers


def _check_numbers(rule: ColumnRule, wrong: _Counted) -> None:
    for key in ("top", "bottom"):
        if isinstance(getattr(rule, key), str):
            wrong(key, "The bound of a numeric column must be a number.", "a text")
    if rule.kind == "integer":
        for key in ("top", "bottom", "width", "round", "bands"):
            value = getattr(rule, key)
            values = value if isinstance(value, tuple) else (value,)
            if any(isinstance(v, float) and not v.is_integer() for v in values):
                wrong(key, "In a column of whole numbers, this must be a whole number.", None, 'or kind = "numeric".')
    if wrong.any:
        return
    if rule.top is not None and rule.bottom is not None and not _less(rule.bottom, rule.top):
        wrong("top", "top must be above bottom.", f"top = {rule.top}, bottom = {rule.bottom}")
    banded = [key for key in ("bands", "width") if getattr(rule, key) is not None]
    if len(banded) == 2:
        wrong("width", "Give either the edges of bands or their width.", "both", "leave one out.")
    if rule.round is not None and banded:
        wrong("round", "Numbers are either rounded or put into bands.", f"round and {banded[0]}", "leave one out.")
    if rule.bands_as is not None and not banded:
        wrong("bands_as", "bands_as needs bands or width.", "neither bands nor width", "leave it out.")
    if not wrong.any:
        _check_bands(rule, wrong) if banded else _check_labels(rule, wrong)
    if rule.round is not None:
        if rule.kind == "integer" and rule.round == 1:
            wrong("round", "Whole numbers are multiples of 1 already.", "round = 1", "a larger base, or leave it out.")
        _check_base(rule, "round", Decimal(repr(rule.round)), wrong)
    if rule.decimals is not None:
        _check_base(rule, "decimals", Decimal(1).scaleb(-rule.decimals), wrong)
    if rule.decimals is not None and becomes_text(rule):
        wrong("decimals", "The column becomes text, so no means are rounded.", None, "leave it out.")


def _less(a: Any, b: Any) -> bool:
    return bool(a < b)


def _check_base(rule: ColumnRule, key: str, base: Decimal, wrong: _Counted) -> None:
    """Bounds are where rounding leaves them."""
    for bound in ("top", "bottom"):
        value = getattr(rule, bound)
        if value is not None and not isinstance(value, str) and Decimal(repr(value)) % base != 0:
            what = f"{bound} must be a multiple of the rounding base, or values could be rounded beyond it."
            wrong(bound, what, f"{bound} = {value}, {key} = {getattr(rule, key)}")


def _check_labels(rule: ColumnRule, wrong: _Counted) -> None:
    """Labels at the ends of a column that has no bands: it becomes one of texts."""
    labels = [key for key in ("top_label", "bottom_label") if getattr(rule, key) is not None]
    for key in labels:
        if getattr(rule, key.removesuffix("_label")) is None:
            bound = key.removesuffix("_label")
            wrong(key, f"A label needs its bound: {bound}.", "none", f"for example {bound} = 90.")
        if _is_number(getattr(rule, key)):
            what = "A label among numbers must not look like a number itself."
            wrong(key, what, "one that does", 'for example "90+"; or the bound without a label.')
    if not labels:
        return
    if rule.role == "quasi":
        what = "A column of numbers that contains a label has no mean."
        wrong(labels[0], what, 'role = "quasi"', "use bands, or the bound without a label.")
    if rule.t is not None:
        what = "t-closeness needs ordered values, and text has no order."
        wrong(labels[0], what, "t", "use bands, or the bound without a label.")
    if rule.top_label is not None and rule.bottom_label is not None:
        _check_different((rule.bottom_label, rule.top_label), wrong)


def _is_number(text: str) -> bool:
    """Whether somebody might read a text as a number, with a point or a comma."""
    try:
        float(text.replace(",", "."))
    except ValueError:
        return False
    return True


def _check_bands(rule: ColumnRule, wrong: _Counted) -> None:
    middle = rule.bands_as == "middle"
    for key in ("top_label", "bottom_label"):
        if middle and getattr(rule, key) is not None:
            wrong(key, "Bands released as their middle have no labels.", None, "leave one out.")
    if rule.bands is not None:
        first, second, last = rule.bands[0], rule.bands[1], rule.bands[-1]
        if middle and (rule.top is None or not _less(last, rule.top)):
            what = "The last band is open-ended; for a middle, give top, above the last edge."
            wrong("top", what, "none" if rule.top is None else f"top = {rule.top}", f"top = {last + (second - first)}?")
        if not middle and rule.top is not None:
            what = "The last band is open-ended and already holds all values beyond top."
            wrong("top", what, "bands", "leave it out; top_label names the last band.")
        if rule.bottom is not None and not (first <= rule.bottom < second):  # type: ignore[operator]
            what = "With bands, bottom must lie in the first band."
            wrong("bottom", what, f"bottom = {rule.bottom}", f"bottom = {first}.")
    else:
        for key in ("top_label", "bottom_label"):
            bound = key.removesuffix("_label")
            if getattr(rule, key) is not None and getattr(rule, bound) is None:
                wrong(key, f"A label needs its bound: {bound}.", "none")
        _check_width(rule, wrong)
    if wrong.any:
        return
    edges = known_edges(rule)
    if edges is None and rule.t is not None and not middle:
        what = "With t, the order of the bands must follow from the recipe alone, so that it can be verified."
        wrong("width", what, "a width", "give top and bottom, or bands, too.")
    if edges is not None and not middle:
        _check_different(names_of(rule, edges), wrong)


def _check_width(rule: ColumnRule, wrong: _Counted) -> None:
    if rule.bottom is not None and rule.top is not None and not wrong.any:
        edges = edges_between(rule.bottom, rule.top, rule.width)  # type: ignore[arg-type]
        if edges is None:
            wrong("width", f"There can be at most {MOST_BANDS:,} bands.", "more", "a larger width.")
        elif len(edges) < 2:
            wrong("width", "There must be at least two bands.", "all values in one", "a smaller width.")


def _check_different(names: tuple[str, ...], wrong: _Counted) -> None:
    if len({text_key(name) for name in names} - {""}) < len(names):
        what = "Labels must be distinct and not blank; upper case and blanks do not make a label distinct."
        wrong("top_label", what, "two equal labels, or a blank one")


# Dates


def _check_dates(rule: ColumnRule, wrong: _Counted) -> None:
    for key in ("top", "bottom"):
        value = getattr(rule, key)
        if value is not None and not isinstance(value, str):
            wrong(key, "The bound of a date column must be a date.", "a number", f'{key} = "2024-12-31".')
    if wrong.any:
        return
    if rule.top is not None and rule.bottom is not None:
        low, high = datetime.fromisoformat(str(rule.bottom)), datetime.fromisoformat(str(rule.top))
        if low >= high:
            wrong("top", "top must be after bottom.", f"top = {rule.top}, bottom = {rule.bottom}")
    if rule.bottom is not None and rule.precision is not None:
        import numpy as np

        moment = np.array([micros(str(rule.bottom))])
        if coarse(moment, rule.precision)[0] != moment[0]:
            what = f"bottom must be the first day of a {rule.precision}, or dates would fall before it."
            wrong("bottom", what, f"bottom = {rule.bottom}, precision = {rule.precision}")
    if rule.precision is not None and rule.format is not None:
        _check_format(rule, wrong)


def _check_format(rule: ColumnRule, wrong: _Counted) -> None:
    """A format must be able to write what the precision leaves, and more than that."""
    import numpy as np

    moments = [datetime(2024, 1, 1) + timedelta(hours=13, minutes=17) * i for i in range(800)]  # over more than a year
    known = [micros(moment.isoformat()) for one in moments if (moment := _as_written(one, rule.format)) is not None]
    if not known:
        return  # read by nobody: whoever reads the dates says so
    coarser = coarse(np.array(known), str(rule.precision)).tolist()
    got = f"precision = {rule.precision}"
    if coarser == known:
        wrong("precision", "precision must be coarser than what the format of the column can write.", got)
    starts = (datetime.fromtimestamp(start / 1e6, UTC).replace(tzinfo=None) for start in dict.fromkeys(coarser))
    if any(_as_written(start, rule.format) != start for start in starts):
        what = f"The format of the column must be able to write the beginning of a {rule.precision}."
        wrong("precision", what, got, "choose a coarser one.")


def _as_written(moment: datetime, format: str | None) -> datetime | None:
    """A moment as it comes back from a text; None if it does not."""
    try:
        again = datetime.strptime(moment.strftime(str(format)), str(format))
    except (ValueError, re.error):
        return None
    return again if again.tzinfo is None else again.astimezone(UTC).replace(tzinfo=None)


# Categories


def _check_categories(rule: ColumnRule, wrong: _Counted) -> None:
    if rule.others is not None and rule.recode is None and rule.rare is None:
        what = "others needs recode or rare."
        wrong("others", what, "neither of them", "add one, or leave it out.")
    if rule.rare is not None and rule.others is None:
        wrong("rare", "rare needs others, the category that rare ones become.", "none", 'others = "other".')
    if rule.recode is not None and rule.others is None and all(old == new for old, new in rule.recode.items()):
        wrong("recode", "recode must change something.", "every category with its old name", "leave it out.")
    if rule.order is None:
        return
    new = [*(rule.recode or {}).values(), *([] if rule.others is None else [rule.others])]
    if unknown := [text for text in dict.fromkeys(new) if text not in rule.order]:
        what = "The order lists the released categories, so it must contain the ones that others become."
        wrong("order", what, f"{len(unknown)} that it does not", "add them in their place.")
    if gone := [old for old in rule.recode or {} if old in rule.order and old not in new]:
        what = "The order lists the released categories, so it must not contain recoded ones."
        wrong("order", what, f"{len(gone)} of them", "leave them out of the order.")


# What a column has become


def becomes_text(rule: ColumnRule) -> bool:
    """Whether a column of numbers becomes one of texts."""
    banded = rule.bands is not None or rule.width is not None
    if banded:
        return rule.bands_as != "middle"
    return rule.top_label is not None or rule.bottom_label is not None


def prepared_rule(rule: ColumnRule, edges: tuple[float, ...] | None = None) -> dict[str, Any]:
    """The fields of a rule for what a prepared column has become.

    `edges` are those of bands whose number depends on the data. Bands as labels are ordinal; where their edges are not
    known, as when a release is verified by its recipe alone, they are taken for nominal.
    """
    from dataclasses import fields

    from .sections import PREPARING

    out = {f.name: getattr(rule, f.name) for f in fields(rule) if f.name not in PREPARING}
    if rule.role == "other":
        out |= {"kind": None, "order": None, "format": None}
    elif becomes_text(rule):
        banded = rule.bands is not None or rule.width is not None
        known = (edges or known_edges(rule)) if banded else None
        out["kind"] = "nominal" if known is None else "ordinal"
        out["order"] = None if known is None else list(names_of(rule, known))
    return {key: value for key, value in out.items() if value is not None}


def as_prepared(recipe: Recipe, edges: Mapping[str, tuple[float, ...]] | None = None) -> Recipe:
    """The recipe for what the prepared columns have become; the same if there are none."""
    from .recipe import Recipe

    if not any(rule.prepared for rule in recipe.columns.values()):
        return recipe
    document = recipe.as_dict()
    columns = {
        name: prepared_rule(rule, (edges or {}).get(name)) if rule.prepared else document["columns"][name]
        for name, rule in recipe.columns.items()
    }
    return Recipe(**{**document, "columns": columns})
