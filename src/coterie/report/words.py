"""Numbers as people read them, and what each measure means: one definition and one source for each."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from typing import NamedTuple

NONE = "–"
SPACE = "\u00a0"  # between a number and its unit, so that they stay on one line


class Measure(NamedTuple):
    """A measure: its name, what it means, which way is better, what it does not show, and where it is from."""

    name: str
    means: str
    better: str
    hides: str
    source: str


_TIES = (
    "at most 1/k can be re-identified, because all records of an equivalence class look the same. More, where "
    "scenarios are grouped separately"
)

MEASURES = {
    "loss": Measure(
        "Information loss",
        "How far values were moved, as a share of how far they would be if all records got one common value. Numbers: "
        "squared distances to the mean. Ordered categories: steps to the median category. Other categories: changed "
        "records, as a share of those outside the most frequent category (1 − Goodman and Kruskal's lambda).",
        "From 0 % (all values unchanged) to 100 % (one value for all); lower is better.",
        "the error of a particular analysis.",
        "Domingo-Ferrer & Mateo-Sanz 2002, doi:10.1109/69.979982; Goodman & Kruskal 1954, "
        "doi:10.1080/01621459.1954.10501231",
    ),
    "loss_euclidean": Measure(
        "Information loss, Euclidean distances",
        "The same with Euclidean instead of squared distances of whole records, so that a few distant records "
        "count less.",
        "Lower is better.",
        "more than the squared version; the two cannot be compared.",
        "Thaeter & Reischuk 2018, doi:10.18420/sicherheit2018_05",
    ),
    "loss_weighted": Measure(
        "Information loss, weighted",
        "The information loss with every record counted by its sampling weight.",
        "Lower is better.",
        "the loss of the file itself: it refers to the population that the weights represent.",
        "as the information loss",
    ),
    "loss_by_importance": Measure(
        "Information loss, by importance",
        "The information loss with the distances in every column multiplied by its importance.",
        "Lower is better.",
        "how it compares under other importances: for that, use the information loss without weights.",
        "as the information loss",
    ),
    "il1s": Measure(
        "Mean absolute change (IL1s)",
        "The average change of a value, in units of √2 times the column's standard deviation: the mean of "
        "|x − x′| / (√2 S).",
        "0 is no change; lower is better.",
        "single values, which may have changed far more.",
        "Yancey, Winkler & Creecy 2002 (LNCS 2316), in the form of a mean",
    ),
    "mismatch": Measure(
        "Changed categories",
        "The share of records whose category changed.",
        "Lower is better.",
        "which categories were changed.",
        "Domingo-Ferrer & Torra 2005, doi:10.1007/s10618-005-0007-5",
    ),
    "mean_change": Measure(
        "Change of the mean",
        "Mean after minus mean before, in standard deviations.",
        "0 is best. Group means keep the mean of the column; rounding, medians and left-out rows shift it.",
        "means of subgroups, which shift more.",
        "Domingo-Ferrer, Mateo-Sanz & Torra 2001",
    ),
    "variance_ratio": Measure(
        "Variance kept",
        "Variance after divided by variance before.",
        "1 is best. Below 1, the released values lie closer together than the real ones.",
        "the shape of the distribution, which may differ even if the ratio is 1.",
        "Domingo-Ferrer, Mateo-Sanz & Torra 2001",
    ),
    "quantiles": Measure(
        "Largest change of a quantile",
        "The largest shift among the quantiles at 5, 25, 50, 75 and 95 %, in standard deviations.",
        "0 is best.",
        "extremes beyond 5 and 95 %, which are averaged away.",
        "Domingo-Ferrer, Mateo-Sanz & Torra 2001",
    ),
    "total_variation": Measure(
        "Distance of the distributions",
        "Half the sum of the differences of the categories' shares: the share of records that would have to change "
        "category to get the old distribution back.",
        "0 is best, 1 worst.",
        "records that swapped categories without changing the shares.",
        "Total variation distance",
    ),
    "correlations": Measure(
        "Change of correlations",
        "Correlation after minus correlation before, for each pair of columns.",
        "0 is best. Between masked columns, correlations mostly increase, because groups smooth out deviations.",
        "nonlinear relations. With more than 400 columns, 400 are used.",
        "Domingo-Ferrer, Mateo-Sanz & Torra 2001",
    ),
    "eigenvalues": Measure(
        "Change of eigenvalues",
        "Sum of |before − after| / before over the eigenvalues of the correlation matrices.",
        "0 is best.",
        "which columns cause it. With more than 400 columns, 400 are used.",
        "as in sdcMicro, doi:10.18637/jss.v067.i04",
    ),
    "propensity": Measure(
        "Can the files be told apart? (pMSE ratio)",
        "A model tries to tell original from released records; its success is divided by that of pure chance.",
        "About 1: no better than chance. Larger: the files differ in ways that the model detects.",
        "what the model cannot detect; a better one may detect more, such as ties. With very many columns, it uses a "
        "subset.",
        "Woo, Reiter, Oganian & Karr 2009, doi:10.29012/jpc.v1i1.568; Snoke et al. 2018, doi:10.1111/rssa.12358",
    ),
}

RISKS = {
    "unique": Measure(
        "Unique records",
        "Records whose combination of quasi-identifiers is unique in the file.",
        "Fewer is better; none after masking with k of at least 2.",
        "whether the record is unique in the population too.",
        "Samarati 2001, doi:10.1109/69.971193",
    ),
    "largest_risk": Measure(
        "Largest re-identification risk",
        "1 / size of the smallest equivalence class: the chance of picking the right record, for an intruder who "
        "knows the quasi-identifiers exactly and knows that the person is in the file.",
        "Lower is better; at most 1/k.",
        "what an intruder who knows other columns can learn.",
        "Samarati 2001, doi:10.1109/69.971193",
    ),
    "expected_reidentifications": Measure(
        "Expected re-identifications",
        "The number of records that such an intruder would match correctly on average, trying them all: one per "
        "equivalence class.",
        "Lower is better.",
        "intruders who know values only roughly (fewer matches) or know more columns (more matches).",
        "Templ, Kowarik & Meindl 2015, doi:10.18637/jss.v067.i04",
    ),
    "linkage": Measure(
        "Record linkage",
        "Share of the released records whose nearest original record is the true one; ties count 1 / ties.",
        f"Lower is better; {_TIES}.",
        "attacks tailored to the method, which may succeed more often than the nearest record.",
        "Domingo-Ferrer & Torra 2001; Pagliuca & Seri 1999",
    ),
    "intervals": Measure(
        "Interval disclosure",
        "Share of the records whose original values all lie within an interval of a given width around the "
        "released ones.",
        "Lower is better for privacy, but also means more loss.",
        "which records these are; an intruder does not know it either.",
        "Pagliuca & Seri 1999; as in sdcMicro, doi:10.18637/jss.v067.i04",
    ),
    "kept": Measure(
        "Columns that are not masked",
        "Records that are unique on the columns that were not masked, alone and together with the released masked "
        "ones. k does not protect against intruders who know such columns.",
        "Fewer is better.",
        "whether anybody knows these columns, and whether the record is unique in the population too.",
        "as unique records",
    ),
    "confidential": Measure(
        "Confidential values within an equivalence class",
        "Attribute disclosure: if all records of a class share a confidential value, it is known for every member, "
        "whatever k is.",
        "Best: no constant class, many different values, and distributions close to that of the whole table (small t).",
        "what an intruder can infer from relations between columns.",
        "Machanavajjhala et al. 2007, doi:10.1145/1217299.1217302; Li, Li & Venkatasubramanian 2007, "
        "doi:10.1109/ICDE.2007.367856",
    ),
}  # fmt: skip

RISKS_OF_UNITS = {
    **RISKS,
    "unique": RISKS["unique"]._replace(
        name="Unique units", means="Units that are the only one in a class: no other unit has the same "
            "quasi-identifiers."
    ),
    "largest_risk": RISKS["largest_risk"]._replace(
        means="1 / fewest units of an equivalence class: the chance of picking the right unit in the class, for an "
        "intruder who knows the quasi-identifiers exactly and knows that the unit is in the file.",
        hides="that a unit may have several records in a class. Guessing the unit of a record then succeeds more "
            "often: up to "
        "the largest share of a class that belongs to one unit.",
    ),
    "expected_reidentifications": RISKS["expected_reidentifications"]._replace(
        means="The number of units that such an intruder would match correctly on average, trying each in its most "
        "exposed equivalence class."
    ),
    "linkage": RISKS["linkage"]._replace(
        means="Share of the released records whose nearest original record is one of the same unit; ties count by "
        "their share.",
        better="Lower is better; at most the largest share of a class that belongs to one unit, because all "
            "records of a "
        "class look the same. This exceeds 1/k where a unit has several records in a class: k counts units. More, "
        "where scenarios are grouped separately.",
    ),
}  # fmt: skip


def counted(n: int | None, what: str = "", below: int | None = None) -> str:
    """A count with what is counted: "1,080 records"; "fewer than 5 records" where it is hidden."""
    if n is None:
        shown = NONE if below is None else f"fewer than {below}"
        return f"{shown} {_plural(what)}" if what and below is not None else shown
    return f"{n:,}" + (f" {what if n == 1 else _plural(what)}" if what else "")


def _plural(what: str) -> str:
    return f"{what}es" if what.endswith("s") else f"{what}s"


def fixed(v: float | None, decimals: int = 2, sign: bool = False) -> str:
    """A number with so many decimals, so that columns of them align."""
    if v is None or not math.isfinite(v):
        return NONE
    if abs(v) >= 1e12:
        return f"{v:.3g}"
    v = round(v, decimals) + 0.0
    shown = f"{v:+,.{decimals}f}" if sign and v else f"{v:,.{decimals}f}"
    return shown.replace("-", "−")


def in_percent(v: float | None, decimals: int = 1) -> str:
    """A number that is in percent already, without the sign; neither 0 nor 100 unless it is that."""
    if v is None or not math.isfinite(v):
        return NONE
    for digits in range(decimals, 5):
        if (shown := fixed(v, digits)) not in (fixed(0.0, digits), fixed(100.0, digits)) or v in (0.0, 100.0):
            return shown
    if min(abs(v), abs(v - 100)) < 1e-9:  # a rounding error
        return fixed(v, decimals)
    return "above 100" if v > 100 else "above 99.9999" if v > 50 else "below 0.0001"


def percent(v: float | None, decimals: int = 1) -> str:
    """A number that is in percent already."""
    shown = in_percent(v, decimals)
    return shown if shown == NONE else f"{shown}{SPACE}%"


def share(value: float | None, decimals: int = 1) -> str:
    """A share as percent; none is taken for 0 or 100 % that isn't."""
    return percent(None if value is None else 100 * value, decimals)


def plain(v: float | None, digits: int = 4) -> str:
    """A number by its first digits."""
    if v is None or not math.isfinite(v):
        return NONE
    if v == int(v) and abs(v) < 1e15:
        return f"{int(v):,}".replace("-", "−")
    return f"{v:,.{digits}g}".replace("-", "−")


def date(text: str | None) -> str:
    """16 November 2026."""
    try:
        day = datetime.date.fromisoformat((text or "")[:10])
    except ValueError:
        return ""
    return f"{day.day} {day:%B %Y}"


def series(parts: Sequence[str], most: int = 6) -> str:
    """a, b and c; the first ones if there are many."""
    if len(parts) > most:
        return f"{', '.join(parts[: most - 1])} and {len(parts) - most + 1} more"
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)
