"""What verify found, and how it is said: counts, never values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any
from warnings import warn

from ..errors import printable


@dataclass(frozen=True)
class Check:
    """One claim and what was found.

    Attributes
    ----------
    what : str
        "k-anonymity", "k-anonymity of units", "distinct l-diversity", "entropy l-diversity", "t-closeness", "constant
        confidential values", "prepared values" or "record numbers".
    scenario : str
        The scenario whose classes were checked; empty where no classes were involved.
    columns : tuple of str
        The columns that define the classes, or the confidential, prepared or record-number column.
    wanted, found : number or None
        The required value and the value of the worst class. Constant values are only counted: nothing is required. For
        prepared values and record numbers: the number allowed to fail (none) and the number that do.
    classes, offending_classes, offending_records : int
        The number of classes, the number that fail, and the number of records in those. For prepared values: the number
        that are not missing, and the number that fail.
    sentence : str
        The same in plain words.
    ok : bool
    sizes : mapping of int to int
        The number of classes of each size below k.
    basis : str
        What was counted: "release", the written file; or "input", the same records before the unit column was dropped.
    """

    what: str
    scenario: str
    columns: tuple[str, ...]
    wanted: float | None
    found: float
    classes: int
    offending_classes: int
    offending_records: int
    sentence: str
    ok: bool
    sizes: Mapping[int, int]
    basis: str = "release"

    def as_dict(self) -> dict[str, Any]:
        """All of it, as JSON has it."""
        shown = {**self.__dict__, "columns": list(self.columns)}
        return shown | {"sizes": {str(size): number for size, number in self.sizes.items()}}

    @classmethod
    def from_dict(cls, shown: Mapping[str, Any]) -> Check:
        """The same from JSON."""
        sizes = {int(size): number for size, number in shown["sizes"].items()}
        return cls(**{**shown, "columns": tuple(shown["columns"]), "sizes": sizes})


@dataclass(frozen=True)
class VerdictFacts:
    """What a verdict says. For one version it can also be called, and read by key, as the dictionary it was."""

    ok: bool
    records: int
    checks: tuple[Check, ...]

    def __call__(self) -> dict[str, Any]:
        """The facts as JSON has them."""
        return {"ok": self.ok, "records": self.records, "checks": [check.as_dict() for check in self.checks]}

    def __getitem__(self, key: str) -> Any:
        value = self()[key]
        warn(f'["{key}"] is deprecated: use .{key}.', DeprecationWarning, stacklevel=2)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self())

    def keys(self) -> Iterator[str]:
        """The keys that the dictionary had."""
        return iter(self)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or the default."""
        return self[key] if key in set(self) else default


@dataclass(frozen=True)
class Verdict:
    """Whether a release meets the claims made about it. `bool(verdict)` is `verdict.ok`.

    Attributes
    ----------
    checks : tuple of Check
    records : int
    """

    checks: tuple[Check, ...]
    records: int

    @property
    def ok(self) -> bool:
        """Whether every check holds."""
        return all(check.ok for check in self.checks)

    def __bool__(self) -> bool:
        return self.ok

    def with_checks(self, checks: Sequence[Check]) -> Verdict:
        """The same with further checks of the same records."""
        return Verdict((*self.checks, *checks), self.records)

    @property
    def facts(self) -> VerdictFacts:
        """What it says, with types. `facts()` gives a dictionary, as it did in version 0.1."""
        return VerdictFacts(self.ok, self.records, self.checks)

    @property
    def headline(self) -> str:
        """One sentence on the whole."""
        if self.ok:
            return f"The release keeps all that was claimed ({_count(self.records, 'record')} read back)."
        failed = sum(not check.ok for check in self.checks)
        return f"The release does not keep what was claimed: {_count(failed, 'check')} failed. Don't hand it out."

    def __str__(self) -> str:
        return "\n".join([self.headline, *(f"  {_mark(check)} {check.sentence}" for check in self.checks)])

    def __rich__(self) -> Any:
        """For a terminal."""
        from rich.text import Text

        text = Text(self.headline, style="bold green" if self.ok else "bold red")
        for check in self.checks:  # as plain text: a column's name may look like markup
            colour = {"✓": "green", "!": "yellow", "✗": "red"}[_mark(check)]
            text.append(f"\n  {_mark(check)} ", style=colour).append(check.sentence, style="not bold")
        return text

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{_mark(check)} {escape(check.sentence)}</li>" for check in self.checks)
        return f"<div><p><strong>{escape(self.headline)}</strong></p><ul style='list-style:none'>{lines}</ul></div>"


def _mark(check: Check) -> str:
    """Whether it holds; "!" where nothing was claimed, and something was found."""
    if check.wanted is None and check.offending_classes:
        return "!"
    return "✓" if check.ok else "✗"


def k_anonymity(scenario: str, columns: Sequence[str], quasi: int, k: int, sizes: Mapping[int, int]) -> Check:
    """The check of class sizes, from the number of classes of each size."""
    below = {size: number for size, number in sizes.items() if size < k}
    classes, few, smallest = sum(sizes.values()), sum(below.values()), min(sizes)
    exposed = sum(size * number for size, number in below.items())
    known = _count(quasi, "quasi-identifier")
    if len(columns) > quasi:
        known += f" and {_count(len(columns) - quasi, 'stratum column')}"
    if few == 0:
        least = (
            f"the smallest of {classes:,} equivalence classes has {smallest:,}"
            if classes > 1
            else f"all {smallest:,} are one equivalence class"
        )
        sentence = f"Every record shares its {known} with at least {_count(smallest - 1, 'other')}: {least}."
    else:
        shown = [f"{number:,} with {_count(size, 'record')}" for size, number in list(below.items())[:5]]
        more = few - sum(list(below.values())[:5])
        sentence = (
            f"{few:,} of {_count(classes, 'class')} by {known} {'has' if few == 1 else 'have'} fewer than {k:,} "
            f"records: {', '.join(shown)}{f', and {more:,} larger ones' if more else ''}. "
            f"{_count(exposed, 'record')} {'is' if exposed == 1 else 'are'} in them."
        )
    sentence = _in(scenario, sentence)
    found = few, exposed, sentence, few == 0
    return Check("k-anonymity", scenario, tuple(columns), k, smallest, classes, *found, below)


_WORDS = {
    "distinct l-diversity": (
        "Every class holds at least {found:,} different values of '{column}'.",
        "{few:,} of {classes} {hold} fewer than {wanted:,} different values of '{column}'; the least is {found:,}.",
    ),
    "entropy l-diversity": (
        "In every class, the values of '{column}' are spread at least as evenly as {found:.4g} equally frequent ones.",
        "In {few:,} of {classes} the values of '{column}' are spread less evenly than {wanted:g} equally frequent "
        "ones; the least is {found:.4g}.",
    ),
    "t-closeness": (
        "No class's values of '{column}' are farther than {found:.4g} from those of the whole file.",
        "In {few:,} of {classes} the values of '{column}' are farther than {wanted:g} from those of the whole file; "
        "the largest distance is {found:.4g}.",
    ),
}


def diversity(
    what: str, scenario: str, column: str, wanted: float, found: float, classes: int, few: int, exposed: int
) -> Check:
    """The check of a guard."""
    sentence = _WORDS[what][few > 0].format(
        column=column,
        wanted=wanted,
        found=found,
        few=few,
        classes=_count(classes, "class"),
        hold="holds" if few == 1 else "hold",
    )
    if few:
        sentence += f" {_count(exposed, 'record')} {'is' if exposed == 1 else 'are'} in them."
    return Check(what, scenario, (column,), wanted, found, classes, few, exposed, _in(scenario, sentence), few == 0, {})


def units(
    scenario: str, column: str, k: int, least: int, classes: int, few: int, exposed: int, basis: str = "release"
) -> Check:
    """The check that every class holds k different units.

    Where the file does not hold them, how many more than k there are would tell of records that it does not show: from
    the size of a class, how many of its records are repeated ones.
    """
    if basis == "input" and few == 0:
        least = k
    if few == 0:
        sentence = f"Every class holds at least {least:,} different values of '{column}', the unit that k counts."
    else:
        sentence = (
            f"{few:,} of {_count(classes, 'class')} {'holds' if few == 1 else 'hold'} fewer than {k:,} different "
            f"values of '{column}', the unit that k counts; the least is {least:,}. "
            f"{_count(exposed, 'record')} {'is' if exposed == 1 else 'are'} in them."
        )
    if basis == "input":
        sentence += f" Counted before '{column}' was dropped."
    what = "k-anonymity of units"
    return Check(
        what, scenario, (column,), k, least, classes, few, exposed, _in(scenario, sentence), few == 0, {}, basis
    )


def constants(scenario: str, column: str, classes: int, few: int, exposed: int) -> Check:
    """How many classes give a confidential value away; reported, and no failure."""
    if few == 0:
        sentence = f"No class has one value of '{column}' alone."
    else:
        sentence = (
            f"{few:,} of {_count(classes, 'class')} {'has' if few == 1 else 'have'} one value of '{column}' alone: "
            f"attribute disclosure, the value is known for every member ({_count(exposed, 'record')})."
        )
    what, sentence = "constant confidential values", _in(scenario, sentence)
    return Check(what, scenario, (column,), None, few, classes, few, exposed, sentence, True, {})


def prepared(column: str, wanted: str, values: int, bad: int, faults: Mapping[str, int]) -> Check:
    """The check of a prepared column: how many values are not as they were to be, and why."""
    if bad == 0:
        sentence = f"Every value of '{column}' is {wanted} ({_count(values, 'value')}, missing ones apart)."
    else:
        told = ", ".join(f"{number:,} {fault}" for fault, number in faults.items() if number)
        sentence = (
            f"{bad:,} of {_count(values, 'value')} of '{column}' {'is' if bad == 1 else 'are'} not {wanted}: {told}."
        )
    return Check("prepared values", "", (column,), 0, bad, values, bad, bad, printable(sentence), bad == 0, {})


def numbers(column: str, records: int, bad: int) -> Check:
    """The check of record numbers."""
    if bad == 0:
        sentence = f"'{column}' numbers the records from 1 to {records:,}, each once."
    else:
        sentence = f"'{column}' does not number the records from 1 to {records:,}, each once."
    return Check("record numbers", "", (column,), 0, bad, records, bad, bad, printable(sentence), bad == 0, {})


def _in(scenario: str, sentence: str) -> str:
    return printable(sentence if scenario == "all" else f"Scenario '{scenario}': {sentence}")


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 'es' if noun.endswith('s') else 's'}"
