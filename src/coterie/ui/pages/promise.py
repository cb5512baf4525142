"""Promise: what the release must keep, each setting with what it does and what it costs."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from ...errors import CoterieError
from ...recipe.fields import UNDECIDED
from ...recipe.rules import NO_UNIT
from ...report.population_text import population_words
from .. import edits
from ..asked import Asked, Form, whole
from ..render import listed, mistakes_at, page, to
from ..session import Session
from ..steps import Document

PRESETS = (
    (3, "The usual minimum, for researchers under contract. A guess is right at most one time in three."),
    (5, "A common choice of statistical offices and hospitals. A guess is right at most one time in five: 20 %."),
    (10, "For files with many recipients. A guess is right at most one time in ten: 10 %."),
    (11, "Commonly used for a threshold of 9 %. Strictly it is just above: 1/11 = 9.09 %."),
    (12, "Meets a threshold of 9 % strictly: 1/12 = 8.3 %."),
    (20, "For files published on the web. A guess is right at most one time in twenty: 5 %."),
)
_GUARDS = ("l", "entropy", "t", "noise")


def show(asked: Asked) -> Response:
    """All settings, with what is wrong beside each."""
    session = asked.session
    if session.opened is None or session.history is None:
        return to("/open")
    if session.unconfirmed:
        return page(asked, "not_yet.html.j2", unconfirmed=len(session.unconfirmed), mistakes=[])
    document = session.document
    columns = document["columns"]
    of = {role: [n for n, r in columns.items() if r.get("role") == role] for role in ("quasi", "confidential")}
    kept = [name for name, rule in columns.items() if rule.get("role") in ("other", "identifier")]
    return page(
        asked,
        "promise.html.j2",
        document=document,
        risk=edits.risk_of(document),
        k=session.recipe.k if session.recipe is not None else None,
        presets=PRESETS,
        quasi=_numbered(session, of["quasi"]),
        kept=_numbered(session, kept),
        units=_numbered(session, [*kept, *of["confidential"]]),
        unit=_unit_of(document),
        no_unit=NO_UNIT,
        confidential=[(session.opened.numbers[n], n, columns[n]) for n in of["confidential"]],
        missing={"policy": "refuse", "small": "refuse", **_section(document, "missing", "policy")},
        strata={"within": [], "small": "refuse", **_section(document, "strata", "within")},
        population_words=population_words,
        weights=_section(document, "weights", "column").get("column", ""),
        population=document.get("population", {}),
        guard={"rule": "merge", "split": True, "regroup": False, **_section(document, "guard", "rule")},
        method={
            "name": "auto",
            "refine": "none",
            "bound": "none",
            "blocks": "",
            **_section(document, "method", "name"),
        },
        formulas=document.get("file", {}).get("formulas", "refuse"),
        is_text=session.opened.kind == "csv",
        gaps=sum(session.opened.columns[n].look.missing for n in of["quasi"]),
        scenarios=_scenarios(session),
        mistakes=lambda *path: mistakes_at(session, *path),
        others=_elsewhere(session),
        in_none=_in_none(session),
        wrong=_wrong(session),
        assessment=_assessed(session),
    )


def _numbered(session: Session, names: list[str]) -> list[tuple[int, str]]:
    assert session.opened is not None
    return [(session.opened.numbers[name], name) for name in names]


def _section(document: Document, name: str, alone: str) -> dict[str, Any]:
    """A section as a mapping, also where it was given in short."""
    given = document.get(name, {})
    return dict(given) if isinstance(given, dict) else {alone: given}


def _unit_of(document: Document) -> str:
    return str(_section(document, "unit", "column").get("column", ""))


def _scenarios(session: Session) -> list[dict[str, Any]]:
    found = session.document.get("scenarios", {})
    return [
        {"name": name, "quasi": list(one.get("quasi", ())), "k": one.get("k", ""), "risk": one.get("risk"),
         "mistakes": mistakes_at(session, "scenarios", name)}
        for name, one in found.items()
    ]  # fmt: skip


_FIELDS = (
    "k",
    "promise",
    "centre",
    "seed",
    "missing",
    "strata",
    "weights",
    "population",
    "unit",
    "output",
    "guard",
    "method",
    "scenarios",
    "file",
)


def _in_none(session: Session) -> list[str]:
    """The quasi-identifiers that no scenario names yet: no fault of theirs, while scenarios are being added."""
    said = [m for m in session.mistakes if m.path[:1] == ("columns",) and m.got == "in none"]
    return [m.path[1] for m in said] if session.document.get("scenarios") else []


def _wrong(session: Session) -> list[str]:
    """Which fields of this page are not right yet: they may be far below."""
    from ..render import mistake_words

    elsewhere = _elsewhere(session)
    return list(dict.fromkeys(m["place"] for m in map(mistake_words, session.mistakes) if m not in elsewhere))


def _elsewhere(session: Session) -> list[dict[str, str]]:
    """Mistakes of columns, which other pages have the fields of; those of guards are shown here."""
    return listed([
        m
        for m in session.mistakes
        if m.got != "in none"
        if not m.path or (m.path[0] not in _FIELDS and not (len(m.path) == 3 and m.path[2] in _GUARDS))
    ])  # fmt: skip


def _assessed(session: Session) -> Any:
    if session.assessment is None or session.assessment[0] is not session.document:
        return None
    return session.assessment[1]


def change(asked: Asked) -> Response:
    """Take all settings of the form."""
    session, form = asked.session, asked.form
    before = session.document
    after = _settings(session, form)
    changed = edits.differing(before, after)
    if changed:
        said = [name for name in changed if name != "promise"]
        words = f"k = {after['k']}" if changed == ["k"] else f"promise: {', '.join(said) or 'risk'}"
        session.edit(words, after)
    return to("/promise" if session.recipe is None or "stay" in form else "/candidates")


def _settings(session: Session, form: Form) -> dict[str, Any]:
    k, risk = (edits.number_or_text(form.text(name)) for name in ("k", "risk"))
    document = edits.with_promise(session.document, k, risk)
    document = edits.with_section(document, "centre", "medoid" if form.text("centre") == "medoid" else None)
    document = edits.with_section(document, "seed", edits.number_or_text(form.text("seed")))
    document = edits.with_section(document, "missing", _but_for(form, "missing", policy="refuse", small="refuse"))
    document = edits.with_section(document, "strata", _strata(session, form))
    weights = _column(session, form.text("weights"))
    document = edits.with_section(document, "weights", {"column": weights} if weights else None)
    document = edits.with_section(document, "unit", _unit(session, form.text("unit"), form.text("unit-release")))
    document = edits.with_section(document, "output", edits.with_option({}, "number", form.text("output-number")))
    drawn = {key: edits.number_or_text(form.text(f"population-{key}")) for key in ("fraction", "size")}
    drawn = {key: value for key, value in drawn.items() if value is not None}
    document = edits.with_section(document, "population", drawn)
    guard: dict[str, Any] = _but_for(form, "guard", rule="merge")
    guard |= {"split": False} if form.text("guard-split") == "no" else {}
    guard |= {"regroup": True} if form.text("guard-regroup") == "yes" else {}
    document = edits.with_section(document, "guard", guard)
    document = edits.with_section(document, "method", _method(document, form))
    file = edits.with_section(
        document.get("file", {}), "formulas", _but_for(form, "file", formulas="refuse").get("formulas")
    )
    document = edits.with_section(document, "file", file)
    return edits.with_columns(document, _guards(session, form))


def _but_for(form: Form, section: str, **defaults: str) -> dict[str, str]:
    """The options of a section that differ from their defaults."""
    said = {name: form.text(f"{section}-{name}", default) for name, default in defaults.items()}
    return {name: value for name, value in said.items() if value and value != defaults[name]}


def _strata(session: Session, form: Form) -> dict[str, Any]:
    within = [name for text in form.texts("strata-within") if (name := _column(session, text))]
    small = form.text("strata-small", "refuse")
    if not within:
        return {"within": [], "small": small} if small != "refuse" else {}
    return {"within": within, **({"small": small} if small != "refuse" else {})}


def _method(document: Document, form: Form) -> dict[str, Any]:
    """Search, bound and blocks; the method itself is chosen among candidates."""
    section = _section(document, "method", "name")
    for name, default in (("refine", "none"), ("bound", "none")):
        said = form.text(f"method-{name}", default)
        section = edits.with_section(section, name, None if said == default else said)
    return edits.with_section(section, "blocks", edits.number_or_text(form.text("method-blocks")))


def _column(session: Session, text: str) -> str | None:
    """The column that a number in a form stands for."""
    names = session.opened.names if session.opened is not None else ()
    number = whole(text)
    return names[number] if number is not None and number < len(names) else None


def _unit(session: Session, text: str, release: str) -> dict[str, str] | None:
    column = NO_UNIT if text == NO_UNIT else _column(session, text)
    if column is None and _unit_of(session.document) == UNDECIDED:
        column = UNDECIDED
    if column is None and release == "pseudonym":
        raise CoterieError("A pseudonym stands for a unit.", "none", "say which column's values k counts.")
    return edits.with_unit(session.document, column, release == "pseudonym") if column else None


def _guards(session: Session, form: Form) -> dict[str, dict[str, Any]]:
    """What must hold of confidential columns."""
    assert session.opened is not None
    rules = {}
    for name, rule in session.document["columns"].items():
        number = session.opened.numbers[name]
        if rule.get("role") != "confidential" or f"l-{number}" not in form:
            continue
        for key in _GUARDS:
            if f"{key}-{number}" in form:
                rule = edits.with_option(rule, key, edits.number_or_text(form.text(f"{key}-{number}")))
        rules[name] = dict(rule)
    return rules


def scenarios(asked: Asked) -> Response:
    """Add, change or remove a scenario."""
    session, form = asked.session, asked.form
    found = dict(session.document.get("scenarios", {}))
    old, name = form.text("old"), form.text("name") or "scenario"
    if "remove" in form:
        found.pop(old, None)
        words = f"without scenario {old}"
    else:
        quasi = [column for text in form.texts("quasi") if (column := _column(session, text))]
        k, risk = edits.number_or_text(form.text("k")), found.get(old, {}).get("risk")
        rule = {"quasi": quasi, "risk": risk} if k is None and risk is not None else {"quasi": quasi, "k": k or ""}
        found = {(name if key == old else key): (rule if key == old else one) for key, one in found.items()}
        found[name] = rule
        words = f"scenario {name}"
    session.edit(words, edits.with_section(session.document, "scenarios", found))
    return to("/promise#scenarios")


def assess(asked: Asked) -> Response:
    """How exposed the file is as it stands, and if asked for, by which columns."""
    session = asked.session
    session.need_ready()
    document, drivers = session.document, asked.form.text("drivers") == "yes"

    def finish(assessment: Any) -> None:
        session.assessment = document, assessment

    session.jobs.start(
        "Assessing the file as it is", "/promise", finish, ("assess", session.opening, document, drivers)
    )
    return to("/promise#assess")
