"""Columns: what each one is, as a person decides it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from ...errors import CoterieError
from ...recipe.fields import UNDECIDED
from ...recipe.rules import NO_UNIT
from ...recipe.sections import PRECISIONS, ROLES
from ...recipe.suggested import Suggested
from ...report.svg import AFTER, FAINT, bars, line, picture
from ...tables.columns import KINDS
from .. import edits, wording
from ..asked import Asked, whole
from ..render import mistakes_at, page, to
from ..session import Session
from . import preparing_form

ROLE_WORDS = {
    "quasi": ("Quasi-identifier", "others may know it: microaggregated"),
    "confidential": ("Confidential", "what nobody should learn: kept, and monitored"),
    "identifier": ("Identifier", "names a person: dropped"),
    "other": ("Other", "harmless: kept unchanged"),
}
KIND_WORDS = wording.KINDS
_A_PAGE = 100
_CATEGORIES = 100
_ROWS, _COLUMNS = 20, 40  # of a preview


def show(asked: Asked) -> Response:
    """All columns, those that must be decided first."""
    session = asked.session
    if session.opened is None or session.history is None:
        return to("/open")
    undecided = set(session.undecided)
    names = sorted(session.opened.names, key=lambda name: _rank(session, name))
    first = max(0, asked.query.number("from"))
    some = names[first : first + _A_PAGE]
    return page(
        asked,
        "columns.html.j2",
        rows=[_row(session, name) for name in some],
        first=first,
        last=first + len(some),
        total=len(names),
        before=max(0, first - _A_PAGE) if first else None,
        after=first + _A_PAGE if first + _A_PAGE < len(names) else None,
        roles=ROLE_WORDS,
        kinds=KIND_WORDS,
        undecided=len(undecided),
        unconfirmed=len(session.unconfirmed),
        confirmable=len([n for n in session.unconfirmed if n not in undecided]),
        records=session.opened.records,
        unit=_unit(session),
    )


def _rank(session: Session, name: str) -> int:
    """By what was asked at first: a row must not run away from whoever has just decided about it."""
    assert session.opened is not None
    rule = session.opened.columns[name].rule
    return 0 if UNDECIDED in (rule.get("role"), rule.get("kind")) else 1


def _row(session: Session, name: str) -> dict[str, Any]:
    assert session.opened is not None
    opened, rule = session.opened, session.document["columns"][name]
    suggested, glance = opened.columns[name], opened.glances.get(name)
    look, role = suggested.look, rule.get("role")
    as_suggested = role == suggested.rule.get("role") and rule.get("kind") == suggested.rule.get("kind")
    undecided = UNDECIDED in (role, rule.get("kind"))
    return {
        "number": opened.numbers[name],
        "name": name,
        "role": role,
        "kind": rule.get("kind", ""),
        "needs_kind": role in ("quasi", "confidential", UNDECIDED),
        "why": _why(suggested) if as_suggested and suggested.rule.get("role") != UNDECIDED else "",
        "question": wording.on_page(_question(suggested, rule)) if undecided else "",
        "different": f"{'at least ' if look.more else ''}{look.different:,}",
        "missing": look.missing,
        "unfit": opened.unfit.get(name, 0),
        "picture": _picture(name, glance),
        "state": "undecided" if undecided else "confirmed" if name in session.step.confirmed else "suggested",
        "unit": session.document.get("unit", {}).get("column") == name,
        "mistakes": [] if undecided else mistakes_at(session, "columns", name),
    }


def _why(suggested: Suggested) -> str:
    return suggested.why.replace("name it in [weights]", "name it on the page “Promise”")


def _question(suggested: Suggested, rule: Mapping[str, Any]) -> str:
    """What must be decided of a column whose rule is not complete."""
    if rule.get("role") == UNDECIDED:
        return suggested.question or "what is it?"
    return suggested.rule_for(str(rule.get("role"))).question or suggested.question or "what kind is it?"


def _picture(name: str, glance: Any) -> str:
    """A small distribution, without values: bins of numbers, or categories by how frequent they are."""
    if glance is None or not glance.counts or not sum(glance.counts):
        return ""
    width, height, n = 112.0, 30.0, len(glance.counts)
    most, step = max(glance.counts), width / max(n, 6)
    boxes = [(i * step, height - height * c / most, step * (0.98 if glance.numeric else 0.7), height * c / most)
             for i, c in enumerate(glance.counts)]  # fmt: skip
    what = "distribution of its values" if glance.numeric else "its categories, the most frequent first"
    return picture(
        width, height + 1, f"{name}: {what}", bars(boxes, AFTER) + line(0, height, width, height, FAINT), "glance"
    )


def _unit(session: Session) -> dict[str, Any]:
    """Whose records they are: asked where an identifier repeats."""
    assert session.opened is not None
    said = session.document.get("unit", {}).get("column")
    columns = session.document["columns"]
    asked = session.opened.suggestions.unit_for({name: str(rule.get("role")) for name, rule in columns.items()})
    may = [name for name, rule in columns.items() if rule.get("role") != "quasi"]
    return {
        "said": said,
        "undecided": said == UNDECIDED,
        "question": "" if asked is None else _about_repeats(asked.columns),
        "choices": [(session.opened.numbers[name], name, name == said) for name in may],
        "none": said == NO_UNIT,
        "mistakes": [] if said == UNDECIDED else mistakes_at(session, "unit"),
    }


def change(asked: Asked) -> Response:
    """Set a column, or many at once; confirm; say the unit."""
    session, form = asked.session, asked.form
    if session.opened is None:
        raise CoterieError("A file must be open.", "none")
    here = f"/columns?from={form.number('from')}" if form.number("from") else "/columns"
    if "set" in form:
        number = form.number("set", -1)
        _set(session, [_name(session, number)], form.text(f"role-{number}"), form.text(f"kind-{number}"))
        return to(f"{here}#c{number}")
    action = form.text("action")
    picked = [_name(session, one) for text in form.texts("pick") if (one := whole(text)) is not None]
    if action == "unit":
        _set_unit(session, form.text("unit"))
    elif action == "confirm-all":
        _confirm(session, list(session.document["columns"]))
    elif not picked:
        raise CoterieError("Choose columns first.", "none", "tick the boxes in front of them.")
    elif action == "confirm":
        _confirm(session, picked)
    elif action == "role":
        _set(session, picked, form.text("role"), "")
    elif action == "kind":
        _set(session, picked, None, form.text("kind"))
    return to(here)


def _name(session: Session, number: int) -> str:
    if session.opened is None:
        raise CoterieError("A file must be open.", "none")
    if not 0 <= number < len(session.opened.names):
        raise CoterieError("There must be a column of this number.", str(number))
    return session.opened.names[number]


def _set(session: Session, names: list[str], role: str | None, kind: str) -> None:
    """Other roles or kinds. What is decided is confirmed by that."""
    assert session.opened is not None
    columns, rules = session.document["columns"], {}
    if (role is not None and role not in (*ROLES, UNDECIDED)) or kind not in (*KINDS, "", UNDECIDED):
        raise CoterieError("A role and a kind must be chosen.", "another text")
    for name in names:
        now = columns[name]
        wanted = role if role is not None else now.get("role", UNDECIDED)
        same_role = wanted == now.get("role")
        said = kind if kind not in ("", UNDECIDED) and (kind != now.get("kind") or same_role) else None
        if same_role and (said is None or said == now.get("kind")):
            rules[name] = dict(now)
        else:
            called = now.get("rename") if wanted != "identifier" else None  # whatever it is, it is called so
            rules[name] = edits.with_option(session.opened.columns[name].rule_for(wanted, said).rule, "rename", called)
    done = {name for name in names if edits.decided([rules[name]])}
    document = _with_unit(session, edits.with_columns(session.document, rules))
    if role in ROLE_WORDS and any(columns[name].get("role") != role for name in names):
        what = f"role of {_few(names)}: {ROLE_WORDS[role][0].lower()}"
    else:
        what = f"kind of {_few(names)}{f': {KIND_WORDS[kind]}' if kind in KIND_WORDS else ''}"
    session.edit(what, document, session.step.confirmed | done)
    left = len(names) - len(done)
    if left:
        session.notes.append(f"{left:,} of them need a kind before they can be confirmed.")


def _about_repeats(columns: tuple[str, ...]) -> str:
    many = len(columns) > 1
    listed = ", ".join(columns[:4]) + (" and others" if len(columns) > 4 else "")
    return f"{listed} {'repeat' if many else 'repeats'}: several records may be those of one person."


def _with_unit(session: Session, document: dict[str, Any]) -> dict[str, Any]:
    """Ask what k counts where an identifier repeats now, and no longer where none does."""
    assert session.opened is not None
    roles = {name: str(rule.get("role")) for name, rule in document["columns"].items()}
    said, asked = document.get("unit"), session.opened.suggestions.unit_for(roles)
    if said is None and asked is not None:
        return {**document, "unit": {"column": UNDECIDED}}
    if said == {"column": UNDECIDED} and asked is None:
        return edits.with_section(document, "unit", None)
    return document


def _few(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names):,} columns"


def _confirm(session: Session, names: list[str]) -> None:
    open_ = set(session.undecided)
    done = frozenset(name for name in names if name not in open_)
    session.edit(f"confirmed {_few(names)}", session.document, session.step.confirmed | done)
    if len(done) < len(names):
        session.notes.append(f"{len(names) - len(done):,} columns are still to be decided.")


def _set_unit(session: Session, said: str) -> None:
    if said in ("", UNDECIDED):
        raise CoterieError("What k counts must be decided.", "nothing")
    number = whole(said)
    column = NO_UNIT if said == NO_UNIT else UNDECIDED if number is None else _name(session, number)
    was = session.document.get("unit", {})
    same = column == was.get("column") and was.get("release") is not None
    document = edits.with_section(session.document, "unit", edits.with_unit(session.document, column, same))
    session.edit("a record is a unit" if said == NO_UNIT else f"unit: {column}", document)


def preview(asked: Asked) -> Response:
    """The first records. They are the answer to this request, and nothing else remembers them."""
    session = asked.session
    names, rows = session.ask_now("Reading the first records", 60.0, "preview", session.opening, _ROWS, _COLUMNS)
    total = len(session.document["columns"])
    return page(asked, "preview.html.j2", names=names, rows=rows, hidden=max(0, total - len(names)))


def categories(asked: Asked) -> Response:
    """A column with its categories, to be put in order. Nothing remembers them before that is done."""
    session = asked.session
    name = _name(session, asked.number("number"))
    found = session.ask_now("Reading the categories", 60.0, "categories", session.opening, name, _CATEGORIES)
    if found is None:
        what = f"At most {_CATEGORIES} ordered categories can be listed here."
        raise CoterieError(what, "more", "name them in the recipe, as text.")
    return one(asked, found)


def one(asked: Asked, found: Sequence[str] = ()) -> Response:
    """One column, with all that can be said of it. `found` are its categories, where somebody has asked for them."""
    session = asked.session
    if session.opened is None:
        return to("/open")
    number = asked.number("number")
    name = _name(session, number)
    rule = session.document["columns"][name]
    suggested = session.opened.columns[name]
    role, kind = rule.get("role"), rule.get("kind")
    return page(
        asked,
        "column.html.j2",
        row=_row(session, name),
        rule=rule,
        role=role,
        kind=kind,
        roles=ROLE_WORDS,
        kinds=KIND_WORDS,
        categories=list(found or rule.get("order") or suggested.look.order or suggested.look.codes),
        listed=bool(found),
        asks={
            "decimals": role == "quasi" and kind == "numeric",
            "totals": role == "quasi" and kind in ("numeric", "integer"),
            "importance": role == "quasi",
            "order": kind == "ordinal",
            "rename": role in ("quasi", "confidential", "other") or _is_pseudonym(session, name),
            "format": kind == "datetime" and suggested.look.text,
            "words": kind == "boolean" and suggested.look.text,
            "guards": role == "confidential",
            "noise": role == "confidential" and kind in ("numeric", "integer"),
        },
        prepare=preparing_form.sort_of(rule, suggested),
        prepared=preparing_form.shown(rule),
        precisions=[(one, one) for one in PRECISIONS],
        mistakes=lambda key: [] if rule.get(key) == UNDECIDED else mistakes_at(session, "columns", name, key),
    )


def _is_pseudonym(session: Session, name: str) -> bool:
    unit = session.document.get("unit", {})
    return unit.get("column") == name and unit.get("release") is not None


_NUMBERS = ("decimals", "l", "entropy", "t", "noise", "importance")
_LISTS = ("order", "true", "false")


def change_one(asked: Asked) -> Response:
    """Say more about a column: its kind's options, and what must hold of a confidential one."""
    session, form = asked.session, asked.form
    number = asked.number("number")
    name = _name(session, number)
    if "role" in form:
        _set(session, [name], form.text("role"), form.text("kind"))
        return to(f"/columns/{number}")
    rule = dict(session.document["columns"][name])
    for key in _NUMBERS:
        if key in form:
            rule = edits.with_option(rule, key, edits.number_or_text(form.text(key)))
    for key in _LISTS:
        if key in form:
            rule = edits.with_option(rule, key, form.lines(key))
    if "totals" in form:
        rule = edits.with_option(rule, "totals", True if form.text("totals") == "yes" else None)
    if "rename" in form:
        rule = edits.with_option(rule, "rename", form.text("rename"))
    if "format" in form:
        rule = edits.with_option(rule, "format", form.text("format"))
    assert session.opened is not None
    rule = preparing_form.said(rule, form, session.opened.columns[name])
    changed = edits.differing({"columns": {}, **session.document["columns"][name]}, {"columns": {}, **rule})
    document = edits.with_columns(session.document, {name: rule})
    confirmed = session.step.confirmed | ({name} if edits.decided([rule]) else set())
    session.edit(f"{name}: {', '.join(changed) or 'confirmed'}", document, frozenset(confirmed))
    return to(f"/columns/{number}")
