"""What a column may be: a role and a kind with the reason, or a question where only a person can know.

A name is held against what the column contains. Whoever is wrong with "nominal" loses some detail; whoever is wrong
with "integer" releases averages of codes, or of persons' numbers. So what may be a code is asked about.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..tables.kinds import MOST_CATEGORIES
from ..tables.kinds.numbers import EXACT
from . import names
from .fields import UNDECIDED

if TYPE_CHECKING:
    from .draft import Look

_FEW = 20  # different whole numbers that may be codes
_FEW_DECIMALS = 10  # with decimals, codes are rarer: 0, 0.5, 1
_REPEATED = 1.5  # records for each different value, at least: codes come again
_MANY = 50  # records: of fewer, ages or sizes may all differ as well
_LEVELS = 9  # the highest level of education; more are years
_TEXT = 5.0  # words: a sentence
_WEIGHED = (1.5, 500.0)  # what bodies weigh, in kilograms or pounds
_FEW_WEIGHTS = 10  # records for each different weight, at least, where it is that of a stratum


class Kind(NamedTuple):
    """A kind and what belongs to it; or, with a question, none."""

    kind: str
    question: str | None = None
    order: tuple[str, ...] = ()
    format: str | None = None


class Suggestion(NamedTuple):
    """A role and why; with a question about it, `role` is undecided."""

    role: str
    why: str


_CODE_OR_NUMBER = "codes (nominal, or ordinal with their order), or a count or a measure (integer or numeric)?"


def kind_of(name: str, seen: Look) -> Kind:
    """The kind of a column that is masked or guarded, or a question about it."""
    if seen.nested:
        return Kind(UNDECIDED, "values of several parts have none: make columns of the parts first")
    said = _said_by_the_file(seen)
    if said is not None:
        return said
    if seen.stray is not None:
        return Kind(UNDECIDED, seen.stray)
    if seen.but_for is not None:
        what = f"{seen.but_for}, but for texts that often mean a missing value: name these in [file] missing = "
        return Kind(UNDECIDED, f'{what}["", …] (--read missing=TEXT), or is it nominal?')
    if len(seen.formats) > 1 and seen.kind == "nominal":
        ways = " or ".join(f'"{form}"' for form in seen.formats)
        return Kind(UNDECIDED, f'dates, with the day or the month first? kind = "datetime", and format = {ways}')
    if seen.contents.ymd and not names.is_money(name):
        if seen.text:
            return Kind("datetime", format="%Y%m%d")
        what = "whole numbers that look like dates, YYYYMMDD, whose average is none: make them dates or texts"
        return Kind(UNDECIDED, f"{what}, or are they codes (nominal) or amounts (integer)?")
    if seen.contents.number:
        return _kind_of_numbers(name, seen)
    form = seen.formats[0] if seen.kind == "datetime" and seen.formats else None
    return Kind(seen.kind, format=form)


def _said_by_the_file(seen: Look) -> Kind | None:
    """What value labels and measurement levels, or categories in an order, say."""
    if seen.order:
        return Kind("ordinal", order=seen.order)
    if seen.labelled == "all" or (seen.measure == "nominal" and seen.contents.whole):
        ordinal = seen.measure == "ordinal" and seen.codes
        return Kind("ordinal", order=seen.codes) if ordinal else Kind("nominal")
    if seen.labelled == "some":
        return Kind(UNDECIDED, f"some of its values have labels in the file: {_CODE_OR_NUMBER}")
    if seen.measure == "ordinal" and seen.contents.whole and seen.codes:
        return Kind("ordinal", order=seen.codes)
    if seen.measure == "scale" and seen.contents.number and seen.different > 2:
        return _plain(seen)
    return None


def _plain(seen: Look) -> Kind:
    return Kind("integer" if seen.contents.whole else "numeric")


def _kind_of_numbers(name: str, seen: Look) -> Kind:
    held = seen.contents
    if seen.different == 2 and _is_repeated(seen):
        return Kind("boolean" if [code.strip() for code in seen.codes] == ["0", "1"] else "nominal")
    if not held.whole:
        few = seen.different <= _FEW_DECIMALS and _is_repeated(seen) and not names.is_measure(name)
        return Kind(UNDECIDED, f"few different numbers: {_CODE_OR_NUMBER}") if few else Kind("numeric")
    if _are_years(name, seen):
        return Kind("integer")
    if names.is_classified(name) or (names.is_code(name) and not names.may_identify(name)):
        return Kind("nominal")
    if names.is_identifier(name) or names.may_identify(name) or names.is_number(name):
        what = "its name is that of a number for persons or things, whose average means nothing"
        return Kind(UNDECIDED, f"{what}: is it a count (integer) or a code (nominal) all the same?")
    if seen.different <= _FEW and _is_repeated(seen):
        return _kind_of_few(name, seen)
    if names.is_place_or_trade(name) and not names.is_measure(name) and _is_repeated(seen) and held.low >= 0:
        return Kind(UNDECIDED, f"numbers of places or trades, by its name: {_CODE_OR_NUMBER}")
    contiguous = held.low in (0, 1) and seen.different >= held.high - held.low
    if contiguous and names.is_money(name) and seen.different > 2:
        return Kind(UNDECIDED, f"money whose values are 1, 2, 3 and so on: {_CODE_OR_NUMBER}")
    return Kind("integer")


def _kind_of_few(name: str, seen: Look) -> Kind:
    """Few different whole numbers: what their name settles, or a question."""
    held = seen.contents
    level = names.is_education(name) and held.low >= 0 and held.high <= _LEVELS
    if names.is_category(name) or level:
        return Kind("nominal")
    classes = names.is_age(name) and held.high - held.low < _LEVELS + 1
    if names.is_measure(name) and held.low >= 0 and not classes and not names.is_money(name):
        return Kind("integer")
    return Kind(UNDECIDED, f"few different whole numbers: {_CODE_OR_NUMBER}")


def _is_repeated(seen: Look) -> bool:
    return seen.records - seen.missing >= _REPEATED * seen.different


def _are_years(name: str, seen: Look) -> bool:
    held = seen.contents
    least, most = (1500, 2200) if names.is_year(name) else (1900, 2040)
    return held.whole and least <= held.low and held.high <= most


def role_of(name: str, seen: Look) -> Suggestion:
    """The role of a column, and why; UNDECIDED with a question."""
    if seen.different == 0:
        return Suggestion("other", "it is empty throughout")
    if seen.nested:
        what = "values of several parts, such as lists, which cannot be masked"
        return Suggestion(UNDECIDED, f'{what}: keep it ("other"), or leave it out of the table?')
    constant = Suggestion("other", "all values are the same") if seen.different == 1 else None
    return (
        _by_identity(name, seen)
        or _by_confidence(name, seen)
        or constant
        or _by_weight(name, seen)
        or _by_difference(name, seen)
        or Suggestion("quasi", "an intruder might know it")
    )


def _by_identity(name: str, seen: Look) -> Suggestion | None:
    """Names, addresses, persons' numbers, free text."""
    like = seen.contents.like
    if like is not None and like != "ICD codes":
        return Suggestion("identifier", f"its values are {like}")
    if seen.different == 2 and _is_repeated(seen):
        return None  # yes or no about a person, whatever its name
    by_name = Suggestion("identifier", "by its name")
    text = seen.kind == "nominal" and not seen.labelled
    if names.is_comment(name) and text:
        return Suggestion("identifier", "by its name it is free text, which can name people")
    number = seen.contents.whole or seen.kind == "nominal"
    if names.is_identifier(name) and seen.kind not in ("datetime", "boolean") and seen.labelled != "all":
        question = 'an identifier, by its name ("identifier"), or a measure, by its decimals?'
        return by_name if number else Suggestion(UNDECIDED, question)
    few = seen.different <= _FEW and _is_repeated(seen)
    seldom = few or seen.different <= seen.records / 50
    if names.may_identify(name) and number and not seen.labelled:
        question = 'a number or name of persons or things ("identifier"), or something else?'
        return Suggestion(UNDECIDED, question) if seldom else by_name
    if names.is_number(name) and number and not seen.labelled:
        return Suggestion(
            UNDECIDED, 'the number of a person or thing ("identifier"), or of how many there are ("quasi")?'
        )
    if names.is_code(name) and not names.is_classified(name) and not few and seen.contents.whole:
        return Suggestion(UNDECIDED, 'codes of persons or firms ("identifier"), or of categories?')
    if names.is_name(name) and text:
        question = 'names of people ("identifier"), or of other things?'
        return Suggestion(UNDECIDED, question) if _is_repeated(seen) else by_name
    if text and seen.contents.words >= _TEXT and seen.different >= (seen.records - seen.missing) / 2:
        return Suggestion("identifier", "it is free text, which can name people")
    return None


def _by_weight(name: str, seen: Look) -> Suggestion | None:
    """Sampling weights are the same in a stratum, so few differ; what bodies weigh differs."""
    if not names.is_weight(name) or not seen.contents.number or names.is_body_weight(name):
        return None
    few = seen.records - seen.missing >= _FEW_WEIGHTS * seen.different and seen.contents.low > 0
    weighed = _WEIGHED[0] * 10 <= seen.contents.high <= _WEIGHED[1] and seen.contents.low >= _WEIGHED[0]
    if few and not weighed:
        return Suggestion("other", "by its name and its few values, sampling weights: name it in [weights]")
    return Suggestion(
        UNDECIDED, 'a sampling weight ("other", or "identifier" to drop it), or what bodies weigh ("quasi")?'
    )


def _by_confidence(name: str, seen: Look) -> Suggestion | None:
    if names.is_confidential(name):
        return Suggestion("confidential", "by its name")
    if seen.contents.like == "ICD codes" and seen.contents.letters > 2:
        return Suggestion("confidential", "its values look like ICD codes of diagnoses")
    return None


def _by_difference(name: str, seen: Look) -> Suggestion | None:
    """Columns in which (nearly) all values differ, or more than can be masked."""
    present = seen.records - seen.missing
    nominal = kind_of(name, seen).kind == "nominal"
    if seen.alone and nominal:
        return Suggestion("identifier", "every value differs")
    if seen.contents.whole and max(-seen.contents.low, seen.contents.high) >= EXACT:
        return Suggestion(
            UNDECIDED, 'numbers too long to be averaged: of persons or things ("identifier"), or amounts ("other")?'
        )
    years = _are_years(name, seen) or seen.contents.ymd
    if seen.numbered and not names.is_measure(name) and not years:
        if seen.alone:
            return Suggestion("identifier", "it numbers the records")
        if seen.different > _FEW and seen.contents.low in (0, 1):
            what = "numbered as they come in the file"
            return Suggestion(
                UNDECIDED, f'{what}: numbers of persons or things ("identifier"), or a measure ("quasi")?'
            )
    if seen.alone and seen.contents.whole and seen.records >= _MANY and not years:
        return Suggestion(
            UNDECIDED, 'every value differs: a number of persons or things ("identifier"), or a measure ("quasi")?'
        )
    if nominal and seen.different > MOST_CATEGORIES:
        what = f"more than the {MOST_CATEGORIES:,} categories that a nominal quasi-identifier can have"
        return Suggestion(
            UNDECIDED, f'{what}: drop it ("identifier"), keep it ("other"), or join its categories first?'
        )
    if nominal and present >= _MANY and seen.different >= present / 2:
        if seen.different >= 0.9 * present:
            return Suggestion("identifier", "nearly every value differs")
        return Suggestion(
            UNDECIDED, 'most values differ: names or numbers of persons or things ("identifier"), or categories?'
        )
    return None


class UnitQuestion(NamedTuple):
    """What a person must say of units, where identifiers repeat: the answer is one of `columns`, or "none"."""

    columns: tuple[str, ...]
    question: str
    otherwise: str = 'If each record is a unit of its own: column = "none"'


def unit_question(looks: Mapping[str, Look], roles: Mapping[str, str]) -> UnitQuestion | None:
    """What is asked where an identifier repeats, as several records may be those of one person; None if none does.

    This is the one place where drafts speak of units.
    """
    repeating = [name for name, seen in looks.items() if roles.get(name) == "identifier" and _repeats(seen)]
    if not repeating:
        return None
    columns = " or ".join(f"column = {_quoted(name)}" for name in repeating)
    many = f"{len(repeating)} identifier{'s repeat' if len(repeating) > 1 else ' repeats'}"
    what = f"{many}. If several records are those of one person: {columns}, and k counts persons."
    return UnitQuestion(tuple(repeating), what)


def _repeats(seen: Look) -> bool:
    """Whether a value comes again, which `protect` refuses of an identifier until a unit is said."""
    return not seen.alone and seen.records - seen.missing > 1


def _quoted(name: str) -> str:
    import tomlkit

    return str(tomlkit.item(name).as_string())
