"""What a draft suggests, as data: a rule for every column, why, and what a person must decide.

The text of a draft is made of these (`draft.py`), and so is whatever else shows one. They can be pickled, and hold no
value of a record but those that a recipe holds: the order of categories.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from .fields import UNDECIDED
from .suggest import Kind, UnitQuestion, kind_of, role_of, unit_question

if TYPE_CHECKING:
    from .draft import Look

POLICY = "refuse"  # what a draft says of missing values


class Ruled(NamedTuple):
    """The rule of a column, as it stands in a recipe's document; with a question, a part of it is undecided."""

    rule: dict[str, Any]
    question: str | None = None


@dataclass(frozen=True)
class Suggested:
    """What is suggested for a column.

    Attributes
    ----------
    name : str
    rule : dict
        As it stands in the recipe's document: role, and kind, format and order of what is masked or guarded. Role or
        kind are "?" where only a person can know.
    why : str
        The reason for the role; the question, where it is undecided.
    question : str or None
        What a person must decide.
    look : Look
        What the column looks like, without the least and the largest of its numbers.
    kind : Kind
        What it is if it is masked or guarded, whatever the role in the rule.
    """

    name: str
    rule: dict[str, Any]
    why: str
    question: str | None
    look: Look
    kind: Kind

    def rule_for(self, role: str, kind: str | None = None) -> Ruled:
        """The rule for a role that a person said, with the kind that was said or that the column looks like.

        Identifiers and others have no kind. An order or a format comes along where it is known; else there is a
        question.
        """
        if kind in (None, UNDECIDED, self.kind.kind):
            return Ruled(dict(self.rule), self.question) if role == self.rule["role"] else _ruled(role, self.kind)
        return _ruled(role, kind_said(str(kind), self.look))


@dataclass(frozen=True)
class Suggestions:
    """What is suggested for a table.

    Attributes
    ----------
    columns : tuple of Suggested
        In the order of the table.
    unit : UnitQuestion or None
        What must be said of units, where identifiers repeat.
    options : dict
        The reading options that were given.
    """

    columns: tuple[Suggested, ...]
    unit: UnitQuestion | None = None
    options: dict[str, Any] = field(default_factory=dict)

    def unit_for(self, roles: Mapping[str, str]) -> UnitQuestion | None:
        """What must be said of units where a person gave columns these roles; others have the suggested ones."""
        own = {column.name: column.rule["role"] for column in self.columns}
        return unit_question({column.name: column.look for column in self.columns}, own | dict(roles))

    def document(self, k: int) -> dict[str, Any]:
        """The recipe's document, as the text of the draft holds it."""
        made: dict[str, Any] = {"k": k, "missing": {"policy": POLICY}}
        if self.unit is not None:
            made["unit"] = {"column": UNDECIDED}
        if self.options:
            made["file"] = {name: _listed(value) for name, value in self.options.items()}
        if self.columns:
            made["columns"] = {column.name: deepcopy(column.rule) for column in self.columns}
        return made


def _listed(value: Any) -> Any:
    """A value as TOML has it: lists, no tuples."""
    return [_listed(one) for one in value] if isinstance(value, (list, tuple)) else value


def suggested(
    looks: Mapping[str, Look], options: Mapping[str, Any] | None = None, kinds: Mapping[str, str] | None = None
) -> Suggestions:
    """What is suggested for columns that look so; `kinds` are those that were said already."""
    columns = tuple(_suggested(name, seen, (kinds or {}).get(name)) for name, seen in looks.items())
    roles = {name: role_of(name, seen).role for name, seen in looks.items()}
    return Suggestions(columns, unit_question(looks, roles), dict(options or {}))


def _suggested(name: str, seen: Look, said: str | None) -> Suggested:
    role, why = role_of(name, seen)
    if said is not None and role != "confidential":
        role, why = "quasi", "its kind was said"
    kind = kind_for(name, seen, said)
    rule, question = _ruled(role, kind)
    told = seen._replace(contents=seen.contents._replace(low=0.0, high=0.0))
    return Suggested(name, rule, why, why if role == UNDECIDED else question, told, kind)


def _ruled(role: str, kind: Kind) -> Ruled:
    if role not in ("quasi", "confidential"):
        return Ruled({"role": role})
    rule: dict[str, Any] = {"role": role, "kind": kind.kind}
    rule |= {"format": kind.format} if kind.format else {}
    rule |= {"order": list(kind.order)} if kind.order else {}
    return Ruled(rule, kind.question)


def kind_for(name: str, seen: Look, said: str | None = None) -> Kind:
    """The kind of a column that is masked or guarded: the one that was said, or that it looks like."""
    return kind_of(name, seen) if said is None else kind_said(said, seen)


def kind_said(kind: str, seen: Look) -> Kind:
    """A kind that a person said, with the order or the format that belongs to it; a question where it is not known."""
    if kind == "ordinal":
        order = seen.order or seen.codes
        question = None if order else 'only a recipe can say the order of its categories: order = ["lowest", …]'
        return Kind(kind, question, order)
    if kind == "datetime" and seen.text:
        if len(seen.formats) > 1:
            return Kind(kind, f"only a recipe can say its format, {' or '.join(seen.formats)}")
        return Kind(kind, format=seen.formats[0] if seen.formats else "%Y%m%d" if seen.contents.ymd else None)
    return Kind(kind)
