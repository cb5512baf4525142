"""What the internal page shows beyond the public one: risk before and after, the seed, the recipe, notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from . import charts
from .reading import Facts, count, items, names, number, numbers, part, rows, sizes, text
from .words import NONE, RISKS, counted, fixed, plain, series, share

View = dict[str, Any]


def risk(facts: Facts) -> View:
    """The risk section, and what is only for the custodian."""
    given = part(facts, "measures", "risk")
    return {
        "tiles": _tiles(given),
        "scenarios": [_scenario(row) for row in rows(given, "scenarios")],
        "linkage": _linkage(part(given, "linkage")),
        "intervals": _intervals(part(given, "intervals")),
        "confidential": [_confidential(row) for row in rows(given, "confidential")],
        "headings": [h for key, name in _HEADINGS if (h := _heading(name, part(given, key)))],
        "definitions": [measure._asdict() for measure in RISKS.values()],
        "confidential_words": RISKS["confidential"]._asdict(),
    }


def custody(facts: Facts) -> View:
    """Seed, input, recipe and notes."""
    source = part(facts, "input")
    seed = part(facts, "recipe").get("seed")
    return {
        "seed": f"{seed}" if isinstance(seed, (int, str)) else NONE,
        "input": text(source.get("name")) or NONE,
        "input_records": counted(source.get("records"), "record"),
        "input_columns": counted(source.get("columns"), "column"),
        "notes": names(items(facts, "notes")),
        "recipe": list(_flat(part(facts, "recipe"))),
    }


_HEADINGS = (("singling_out", "Singling out"), ("linkability", "Linkability"), ("inference", "Inference"))


def _tiles(given: Facts) -> list[View]:
    """The worst of all scenarios, before and after."""
    scenarios = rows(given, "scenarios")
    sides = {side: [part(row, side) for row in scenarios] for side in ("before", "after")}

    def worst(side: str, key: str) -> float | None:
        return max((v for row in sides[side] if (v := number(row.get(key))) is not None), default=None)

    some = []
    for key, show in (("unique", counted), ("largest_risk", share), ("expected_reidentifications", _about)):
        if (old := worst("before", key)) is not None or worst("after", key) is not None:
            measure = RISKS[key]
            some.append({"name": measure.name, "before": show(old), "after": show(worst("after", key)),
                         "words": f"{measure.means} {measure.better}"})  # fmt: skip
    if number(part(given, "linkage").get("share")) is not None:
        linkage = part(given, "linkage")
        measure = RISKS["linkage"]
        some.append({"name": measure.name, "before": "", "after": share(linkage.get("share")),
                     "words": f"{measure.means} {measure.better}"})  # fmt: skip
    return some


def _about(value: Any) -> str:
    found = number(value)
    return NONE if found is None else f"{found:,.0f}" if found >= 10 else plain(found, 3)


_CLASSES = (
    ("records", "Records", counted, ""),
    ("classes", "Classes", counted, "different combinations of quasi-identifiers"),
    ("unique", "Unique records", counted, "alone in their class; fewer is better"),
    ("below_k", "Records in classes below k", counted, "not hidden as promised; 0 is needed after"),
    ("smallest", "Smallest class", counted, "at least k after"),
    ("largest_risk", "Largest risk of a record", share, "1 / smallest class; lower is better"),
    ("mean_risk", "Mean risk of a record", share, "classes / records; lower is better"),
    ("expected_reidentifications", "Expected re-identifications", _about, "records that an intruder gets right"),
)  # fmt: skip


def _scenario(row: Facts) -> View:
    before, after = part(row, "before"), part(row, "after")
    old, new = sizes(before.get("sizes")), sizes(after.get("sizes"))
    return {
        "name": text(row.get("name")) or "all",
        "quasi": series(names(row.get("quasi")), 8),
        "k": plain(row.get("k")),
        "table": [{"name": name, "before": show(before.get(key)), "after": show(after.get(key)), "words": words}
                  for key, name, show, words in _CLASSES],
        "picture": charts.class_sizes(old, new) if old or new else "",
    }  # fmt: skip


def _linkage(linkage: Facts) -> View | None:
    if not linkage:
        return None
    tried = linkage.get("records")
    if linkage.get("sampled") is not True and count(linkage.get("sampled")):
        tried = linkage["sampled"]
    baseline = number(linkage.get("baseline"))
    found = number(linkage.get("share"))
    times = ""
    if found is not None and baseline:
        times = f" Guessing finds {share(baseline)}: linkage is {plain(found / baseline, 2)} times as good."
    return {
        "value": share(found),
        "words": f"{plain(linkage.get('expected_correct'), 3)} of {counted(tried, 'record')} tried are expected to be "
        f"linked to the right original.{times}",
        **{key: v for key, v in RISKS["linkage"]._asdict().items() if key != "words"},
    }  # fmt: skip


def _intervals(given: Facts) -> View | None:
    pictures, table = [], []
    for key, axis in (("sd", "half-width, in standard deviations"), ("rank", "half-width, as a share of ranks")):
        widths, shares = numbers(part(given, key).get("widths")), numbers(part(given, key).get("share"))
        pairs = [(w, s) for w, s in zip(widths, shares, strict=False) if w is not None and s is not None]
        if not pairs:
            continue
        name = {"sd": "by sd", "rank": "by rank"}[key]
        pictures.append(charts.intervals({name: ([w for w, _ in pairs], [s for _, s in pairs])}, axis))
        table += [{"kind": axis, "width": plain(w), "share": share(s)} for w, s in pairs]
    return {"pictures": pictures, "table": table, **RISKS["intervals"]._asdict()} if pictures else None


def _confidential(row: Facts) -> View:
    constant = count(row.get("constant_classes"))
    return {
        "name": text(row.get("name")) or "?",
        "scenario": text(row.get("scenario")) or NONE,
        "kind": text(row.get("kind")) or NONE,
        "constant": counted(constant),
        "records": counted(row.get("constant_records")),
        "distinct": counted(row.get("least_distinct")),
        "entropy": fixed(row.get("least_entropy_l"), 2),
        "t": fixed(row.get("largest_t"), 3),
        "warn": bool(constant),
    }


def _heading(name: str, given: Facts) -> View | None:
    if not given:
        return None
    show = share if name == "Linkability" else plain
    sides = {side: show(given.get(side)) for side in ("before", "after") if number(given.get(side)) is not None}
    return {
        "name": name,
        "sides": list(sides.items()),
        "columns": [_inference(str(column), of) for column, of in part(given, "columns").items()],
        "sentence": text(given.get("sentence")) or "",
        "hides": _lower(text(given.get("does_not_show")) or ""),
    }


def _lower(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:]


def _inference(name: str, of: Any) -> View:
    """What the release tells about a confidential column, beside what is known without the quasi-identifiers."""
    found = part(of)
    value = number(found.get("value")) if found else number(of)
    words = f"{text(found.get('what')) or 'share'} {share(value)}"
    if number(found.get("baseline")) is not None:
        words += f", against {share(found['baseline'])} without the release's classes"
    if number(found.get("constant_share")):
        words += f"; told by the class alone for {share(found['constant_share'])} of the records"
    return {"name": name, "value": words}


def _flat(recipe: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """The recipe as pairs of path and setting."""
    for key, value in part(recipe).items():
        here = f"{path}.{key}" if path else str(key)
        if isinstance(value, Mapping):
            yield from _flat(value, here)
        elif isinstance(value, (list, tuple)) and any(isinstance(v, Mapping) for v in value):
            yield from _flat({str(i): v for i, v in enumerate(value, 1)}, here)
        elif isinstance(value, (list, tuple)):
            yield here, ", ".join(_set(v) for v in value)
        else:
            yield here, _set(value)


def _set(value: Any) -> str:
    """A setting as the recipe writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else NONE if number(value) is None else f"{value}"
