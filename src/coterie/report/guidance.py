"""Sentences made from facts: what was done, what analysts must know, what is not promised. No record's value."""

from __future__ import annotations

from .reading import Facts, count, least_k, names, number, part, rows, setting, text
from .words import counted, fixed, percent, series, share

RELEASED = {
    "mean": "the mean of its group",
    "rounded mean": "the mean of its group, rounded to a whole number",
    "median category": "the middle category of its group",
    "mode": "the most frequent category of its group",
    "mean date": "the mean date of its group",
    "medoid": "the value of the record at the middle of its group",
    "as it was": "unchanged",
    "merged strata": "unchanged, but where strata of too few records were joined and given one value",
    "dropped": "left out of the file",
    "with noise in constant groups": "unchanged, but with random noise where a whole group had the same value",
}
ROLES = {"quasi": "quasi-identifier"}
Point = tuple[str, str]


def few(facts: Facts) -> int | None:
    """Below what counts are hidden; None in internal facts."""
    return count(facts.get("suppressed_below"))


def masked(facts: Facts) -> list[Facts]:
    """The columns whose values are those of groups."""
    kept = (None, "as it was", "merged strata", "dropped", "with noise in constant groups")
    return [row for row in rows(facts, "columns") if row.get("released") not in kept]


def promise(facts: Facts) -> str:
    """What was checked, in one sentence."""
    k, ok = least_k(facts), part(facts, "verdict").get("ok")
    if ok is True and k:
        others = "at least one other record" if k == 2 else f"at least {k - 1} other records"
        where = "the written file" if part(facts, "output").get("name") else "the release"
        scenarios = len(rows(facts, "groupings"))
        if scenarios > 1:
            each = f"each of {scenarios} sets of columns"
            return f"In {where}, every record shares its values in {each} with {others}."
        return f"In {where}, every record shares its masked values with {others}."
    if ok is False:
        return "The check of the written file failed: it does not keep the promise."
    return "The written file was not checked."


def done(facts: Facts) -> list[str]:
    """What was done to the table, as sentences."""
    output, recipe, below = part(facts, "output"), part(facts, "recipe"), few(facts)
    columns = masked(facts)
    kept = len([row for row in rows(facts, "columns") if row.get("released") != "dropped"]) - len(columns)
    dropped = len([row for row in rows(facts, "columns") if row.get("released") == "dropped"])
    alike = "Records that are alike were put into groups, and every record was given its group's common value in each "
    masked_so = f"{counted(len(columns), 'column')} {'was' if len(columns) == 1 else 'were'} masked so"
    out = [f"{alike}masked column. {masked_so}, {counted(kept, 'column')} kept, {counted(dropped, 'column')} left out."]
    if within := names(setting(recipe, "strata", "within")):
        merged = any(row.get("released") == "merged strata" for row in rows(facts, "columns"))
        but = ", but where too few records had the same" if merged else ""
        out.append(f"No group mixes different values of {series(within)}{but}.")
    suppressed = count(output.get("suppressed"))
    if suppressed or (suppressed is None and below is not None):
        out.append(f"Left out because they could not be hidden: {counted(suppressed, 'record', below)}.")
    blanked = count(output.get("blanked"))
    if blanked or (blanked is None and below is not None):
        out.append(f"Blanked because they could not be hidden: {counted(blanked, 'value', below)}.")
    if output.get("shuffled") is True:
        out.append("The rows are in random order: their place says nothing about where they stood before.")
    elif output.get("shuffled") is False:
        out.append("The rows are in the order of the original file.")
    return out


_TESTS = (
    "Tests and standard errors",
    "Formulas for independent records give standard errors that are too small and p-values that are too low, for the "
    "spread is smaller and records repeat. Take them as lower bounds, and do not report a result near a threshold.",
)
_EXTREMES = (
    "Subgroups and extremes",
    "Results for a subgroup blur if groups reach across its border; the smaller the subgroup, the more. The largest "
    "and smallest values are averages too: do not read records off them.",
)
_RARE = (
    "Rare categories fade",
    "A group shows its most frequent or its middle category. Rare ones become rarer or are gone: do not estimate small "
    "shares from masked columns.",
)
_FILLED = (
    "Missing values were filled",
    "In masked columns, a gap was given the value of its group, and stays a gap only where the whole group had none. "
    "Filled values cannot be told from others.",
)
_GAPS = (
    "Missing values are kept",
    "In masked columns, a gap stays a gap, and groups are either all missing or not at all in a column. Who is missing "
    "is as in the original, but for what was left out or blanked.",
)


def analysts(facts: Facts) -> list[Point]:
    """What someone who analyses the file must know."""
    points = [_values(facts), _ties(facts), _variances(facts), _correlations(facts), _TESTS, _EXTREMES]
    if any(row.get("released") in ("mode", "median category") for row in masked(facts)):
        points.append(_RARE)
    return [*points, _missing(facts), *_weights(facts), *_rows(facts)]


def _values(facts: Facts) -> Point:
    some = series([text(row.get("name")) or "?" for row in masked(facts)], 5)
    if not some:
        return "Values are as they were", "No column was masked."
    words = f"No row is a record as it was collected. In {some}, a value is the common value of a group of records. "
    return "Values are those of groups", words + "Do not link rows to other files by them."


def _ties(facts: Facts) -> Point:
    k = least_k(facts)
    times = f"at least {k} times" if k else "several times"
    of = "of the values in a scenario's columns" if len(rows(facts, "groupings")) > 1 else "of masked values"
    return "Rows repeat", f"Each combination {of} occurs {times}. Do not remove these repeats as duplicates."


def _variances(facts: Facts) -> Point:
    columns = part(facts, "measures", "utility", "columns").values()
    ratios = [v for of in columns if (v := number(part(of).get("variance_ratio"))) is not None]
    words = "Averages lie closer together than what they average, so spread is understated."
    if ratios:
        least, most = share(min(ratios), 0), share(max(ratios), 0)
        some = f"{least}" if least == most else f"between {least} and {most}"
        words += f" Here, columns keep {some} of their variance: divide by the share kept to correct a single column."
    return "Variances shrink", words


def _correlations(facts: Facts) -> Point:
    largest = number(part(facts, "measures", "utility", "correlations").get("largest_change"))
    words = (
        "Between masked columns, correlations mostly come out stronger than they were; between a masked and a kept "
        "column, less noise can look like a better fit."
    )
    found = "" if largest is None else f" The largest change here is {fixed(abs(largest))}."
    return "Correlations and regressions move", words + found


def _missing(facts: Facts) -> Point:
    policy = setting(facts.get("recipe"), "missing", "policy")
    if policy == "group":
        return _FILLED
    if policy == "own-value":
        return _GAPS
    kept = [row for row in rows(facts, "columns") if row.get("released") != "dropped"]
    if all(row.get("missing_before") == row.get("missing_after") == 0 for row in kept):
        return "Missing values", "The file has none."
    return "Missing values", "Masked columns had none; in kept columns gaps are as they were."


def _weights(facts: Facts) -> list[Point]:
    column = text(setting(facts.get("recipe"), "weights", "column"))
    if column is None:
        return []
    released = {text(row.get("name")): row.get("released") for row in rows(facts, "columns")}.get(column)
    used = f"Group means were taken with the sampling weights in {column}. "
    if released == "dropped":
        return [("Weights", used + "The file does not hold them: it gives no estimates for the population.")]
    return [("Weights", used + "Use the same weights: weighted means of the masked columns are then kept.")]


def _rows(facts: Facts) -> list[Point]:
    left_out = count(part(facts, "output").get("suppressed"))
    if left_out == 0 or (left_out is None and few(facts) is None):
        return []
    words = f"Left out: {counted(left_out, 'record', few(facts))}. "
    return [("Rows are missing", words + "They are not a random sample: they were too few of their kind to hide.")]


_SHARED = (
    "Being hidden is not being unknown",
    "If the records of a group share some other content, that content is known of everyone in the group.",
)
_OTHER_FILES = (
    "One release at a time",
    "Other files about the same people, or another release of this table, can be combined with it. The check does not "
    "see them.",
)
_LAW = (
    "No verdict on the law",
    "Numbers describe this file. Whether it may be published is a decision that they support, and do not make.",
)


def limits(facts: Facts) -> list[Point]:
    """What the release does not promise."""
    k = least_k(facts)
    hides = f"among at least {k}" if k else "in a group"
    knows = f"A record hides {hides} from someone who knows the values of the masked columns and nothing else."
    points = [("Only against those who know the masked columns", knows)]
    open_columns = [
        text(row.get("name")) or "?"
        for row in rows(facts, "columns")
        if row.get("role") in ("confidential", "other") and row.get("released") != "dropped"
    ]
    if open_columns:
        words = f"{series(open_columns, 5)}: who knows values of these may find a record by them."
        points.append(("Columns that were kept", words))
    return [*points, _SHARED, _OTHER_FILES, _LAW]


def bound(facts: Facts) -> str:
    """How far the loss is from the best possible, where something is proven."""
    b, k, reached = part(facts, "bound"), count(facts.get("k")), number(facts.get("loss"))
    least, gap = number(b.get("loss")), number(b.get("gap"))
    if least is None:
        return ""
    if b.get("kind") == "optimal" or gap == 0:
        return f"No way to form groups of at least {k or 'k'} loses less: it is proven to be the best."
    more = f", at most {100 * gap:.2g} % more than the least possible" if gap is not None else ""
    proven = f"Proven: no groups of at least {k or 'k'} lose less than {percent(least, 2)}"
    return f"{proven}; these lose {percent(reached, 2)}{more}."
