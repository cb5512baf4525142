"""An adversary who reads only what is public of a release, and enumerates the counts that are consistent with it.

It knows all definitions and all rules: how loss, IL1s, changes of means, variances, quantiles and distributions are
computed, how each is rounded, when it is hidden. It shares no code with what makes the report. For each small count of
original records, it asks which of 0 to k - 1 would give the numbers that it reads.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

UNORDERED = ("nominal", "boolean")
CODES = (*UNORDERED, "ordinal")
MOST = 60_000  # hypotheses for a column


@dataclass
class Found:
    """What the adversary has found: for each count, its name, which of 1 to k - 1 remain, and how many there are."""

    k: int
    open: dict = field(default_factory=dict)

    def add(self, name, possible):
        self.open[name] = sorted(c for c in possible if 0 < c < self.k)

    def recovered(self, truth):
        """Small counts that are told, where more than one was open: of 1 to k - 1, one is left, and it is that."""
        return [name for name, left in self.open.items() if 0 < truth[name] < self.k and left == [truth[name]]]

    def narrowed(self, truth):
        """Small counts of which some values are ruled out; or of which even the true one is, which would be a fault."""
        small = [name for name in self.open if 0 < truth[name] < self.k]
        return [name for name in small if self.open[name] != list(range(1, self.k))]


@dataclass
class Reader:
    """What is public: the facts of the public report, and the released values.

    released : for each masked column its kind, its released values and, if it is ordinal, the order of its categories.
    """

    facts: dict
    released: dict

    @property
    def k(self):
        return self.facts["suppressed_below"]

    @property
    def records(self):
        return self.facts["output"]["records"]

    def step(self, finest, unit=1.0):
        """To what a figure is rounded."""
        return max(finest, nice(unit * self.k / self.records))

    def near(self, printed, value, step):
        """Whether a value would be printed so."""
        return printed is None or (math.isfinite(value) and abs(printed - value) <= 0.5 * step + 1e-9)


def nice(value):
    power = math.floor(math.log10(value))
    return next(d * 10.0**power for d in (1, 2, 5, 10) if d * 10.0**power >= value * (1 - 1e-9))


def coded(kind, values, order=()):
    """The values as numbers, and the numbers that there may be."""
    if kind == "ordinal":
        place = {name: float(i) for i, name in enumerate(order)}
        return [place[v] for v in values], [float(i) for i in range(len(order))]
    if kind in UNORDERED:
        names = sorted(set(values))
        place = {name: float(i) for i, name in enumerate(names)}
        more = [-1.0] if kind == "nominal" else []
        if kind == "boolean" and len(names) == 1:
            more = [1.0]
        return [place[v] for v in values], [*place.values(), *more]
    numbers = [float(v) for v in values]
    low, high = min(numbers), max(numbers)
    return numbers, sorted({*numbers, *(v + d for v in (low, high) for d in (-2.0, -1.0, 1.0, 2.0))})


@dataclass
class Hypothesis:
    """Counts of the original values, and which released value each changed record has now."""

    kind: str
    before: dict
    after: dict
    moves: dict  # (from, to): records

    def figures(self):
        """All that a report could say of it."""
        n, changed = sum(self.after.values()), sum(self.moves.values())
        out = {"changed": changed, "share": changed / n}
        p = {v: c / n for v, c in self.before.items() if c}
        q = {v: c / n for v, c in self.after.items() if c}
        out["tv"] = 0.5 * sum(abs(p.get(v, 0.0) - q.get(v, 0.0)) for v in {*p, *q})
        if self.kind in UNORDERED:
            spread = 1.0 - max(p.values())
            out["loss"] = 100.0 * changed / (n * spread) if spread > 1e-12 else math.nan
            return out
        mean = sum(v * x for v, x in p.items())
        var = sum(x * (v - mean) ** 2 for v, x in p.items())
        if var < 1e-12:
            return out | dict.fromkeys(("loss", "il1s", "mean", "variance"), math.nan)
        out["loss"] = self._loss_of_ordered(n, mean, var)
        sd, now = math.sqrt(var * n / (n - 1)), sum(v * x for v, x in q.items())
        out["il1s"] = sum(c * abs(u - v) for (u, v), c in self.moves.items()) / (n * math.sqrt(2.0) * sd)
        out["mean"] = (now - mean) / sd
        out["variance"] = sum(x * (v - now) ** 2 for v, x in q.items()) / var
        return out

    def _loss_of_ordered(self, n, mean, var):
        """Ranks: steps moved, against those to the median. Numbers: squares, against those about the released mean."""
        if self.kind == "ordinal":
            was = np.repeat(list(self.before), [int(c) for c in self.before.values()])
            return 100.0 * sum(c * abs(u - v) for (u, v), c in self.moves.items()) / np.abs(was - np.median(was)).sum()
        off = mean - round(mean) if self.kind == "integer" else 0.0
        return 100.0 * sum(c * (u - v) ** 2 for (u, v), c in self.moves.items()) / (n * (var + off * off))

    def quantile(self):
        """The largest change of a quantile, in standard deviations."""
        was, now = (np.repeat(list(c), list(c.values())) for c in (self.before, self.after))
        at = [0.05, 0.25, 0.5, 0.75, 0.95]
        sd = float(np.std(was, ddof=1))
        return float(np.abs(np.quantile(now, at) - np.quantile(was, at)).max()) / sd if sd else math.nan

    def would_print(self, reader, said):
        """Whether a report of it would say so."""
        has = self.figures()
        has["whole"] = has["loss"]
        first = all(reader.near(value, has[key], step) for key, (value, step) in said.items() if key != "quantile")
        return first and (
            "quantile" not in said or reader.near(said["quantile"][0], self.quantile(), said["quantile"][1])
        )


def hypotheses(kind, released, support, changes):
    """Every way in which so many records can have changed, up to which of equal records it is."""
    after = Counter(released)
    pairs = [(u, v) for v in after for u in support if u != v and (kind != "integer" or abs(u - v) <= 3)]
    for number, chosen in enumerate(itertools.combinations_with_replacement(pairs, changes)):
        if number > MOST:
            return
        moves = Counter(chosen)
        before = Counter(after)
        for (u, v), c in moves.items():
            before[v] -= c
            before[u] += c
        if all(c >= 0 for c in before.values()):
            yield Hypothesis(kind, before, after, moves)


def printed(reader, name):
    """All that is said of a column, each with what it is rounded to."""
    loss = reader.facts["measures"]["loss"]["columns"][name]
    of = reader.facts["measures"]["utility"]["columns"][name]
    values = reader.released[name][1]
    if "rounded_to_share" not in reader.facts:  # reports of versions up to 0.1, which were rounded otherwise
        digits = {
            key: 10.0 ** (math.floor(math.log10(loss[key])) - 5) if loss[key] else 1e-9
            for key in ("loss_percent", "il1s")
        }
        fine = {"loss": digits["loss_percent"], "il1s": digits["il1s"], "share": 1e-3, "tv": 1e-3}
        fine |= {"mean": 1e-2, "variance": 1e-2, "quantile": 0.1}
    else:
        fine = {
            "loss": reader.step(0.1, 100.0),
            "il1s": reader.step(0.001), "mean": reader.step(0.01), "variance": reader.step(0.01),
            "quantile": reader.step(0.1), "share": (reader.k - 1) / len(values) + 0.001,
        }  # fmt: skip
    said = {
        "loss": loss["loss_percent"], "il1s": loss["il1s"], "share": loss["mismatch_share"],
        "mean": of.get("mean_change_sd"), "variance": of.get("variance_ratio"),
        "quantile": of.get("largest_quantile_change_sd"), "tv": of.get("total_variation"),
    }  # fmt: skip
    return {key: (value, fine[key]) for key, value in said.items() if value is not None and key in fine}


def changed_records(reader, name, whole=None):
    """Which numbers of changed records, up to k - 1, are consistent with all that is said of a column.

    `whole` is what follows for its loss from that of the table and of all other columns.
    """
    if reader.facts["measures"]["loss"]["columns"][name].get("told", "nothing") != "nothing":
        return set()  # it is told that they are at least k
    kind, values, *order = reader.released[name]
    released, support = coded(kind, values, *order)
    said = printed(reader, name)
    if whole is not None:
        said["whole"] = whole
    possible = set()
    for changes in range(reader.k):
        if any(one.would_print(reader, said) for one in hypotheses(kind, released, support, changes)):
            possible.add(changes)
    return possible


def from_the_whole(reader):
    """Where the loss of the table and of all columns but one is told: that of the last, and how exactly."""
    loss = reader.facts["measures"]["loss"]
    columns = loss["columns"]
    unknown = [name for name, of in columns.items() if of["loss_percent"] is None]
    ordered = all(reader.released[name][0] not in UNORDERED for name in columns)
    if loss["loss_percent"] is None or len(unknown) != 1 or not ordered:
        return {}
    others = sum(of["loss_percent"] for of in columns.values() if of["loss_percent"] is not None)
    return {unknown[0]: (loss["loss_percent"] * len(columns) - others, len(columns) * 1e-4)}


def prepared_share(k, changed, landed, values):
    """What a report prints of the values that preparing changed in a column that the file shows."""
    first = changed // k * k
    if changed < k or first + k - 1 > landed - k:
        return None
    return round((first + (k - 1) / 2) / values, 3)


def stood_already(reader, name, landed, values, prints=prepared_share):
    """Of the values at a bound, say, how many were there before: which numbers are consistent with what is printed.

    `landed` and `values` are counted in the file; `prints` is the rule that the adversary knows.
    """
    (said,) = (one["changed_share"] for one in reader.facts["prepared"] if one["name"] == name)
    return {landed - c for c in range(landed + 1) if prints(reader.k, c, landed, values) == said}


def windows(reader, name, cells):
    """From the bars: in which range the original count of each cell lies; None where nothing is told."""
    of = reader.facts["measures"]["utility"]["columns"][name]
    shown = of.get("categories") or of.get("histogram")
    if not shown or not shown["before"]:
        return None
    k, total = reader.k, sum(shown["after"])
    if "rounded_to_share" not in reader.facts:
        near = [(k, k) if b is None else (max(k, math.ceil(b - k / 2)), math.floor(b + k / 2)) for b in shown["before"]]
        return [(0, k - 1) if b is None else one for b, one in zip(shown["before"], near, strict=True)], total
    rest = max(range(cells), key=lambda i: (shown["after"][i], -i))
    out = []
    for i, b in enumerate(shown["before"]):
        low = 0 if b is None else b - (k - 1) // 2
        out.append((0, total) if i == rest else (low, low + k - 1))
    return out, total


def original_counts(reader, name):
    """Which counts below k of each cell of a distribution are consistent with all that is said of the column."""
    kind = reader.released[name][0]
    of = reader.facts["measures"]["utility"]["columns"][name]
    shown = of.get("categories") or of.get("histogram") or {"after": []}
    told = windows(reader, name, len(shown["after"]))
    if told is None:
        return {}
    ranges, total = told
    after = shown["after"]
    rest = max(range(len(after)), key=lambda i: (after[i], -i))
    free = [i for i in range(len(after)) if i != rest]
    choices = [range(low, high + 1) for low, high in (ranges[i] for i in free)]
    if math.prod(map(len, choices)) > MOST:
        return {}
    said = printed(reader, name)
    possible = {i: set() for i in range(len(after))}
    for counts in itertools.product(*choices):
        last = total - sum(counts)
        if not ranges[rest][0] <= last <= ranges[rest][1]:
            continue
        before = dict(zip(free, counts, strict=True)) | {rest: last}
        if _fits(reader, kind, before, after, said):
            for i, c in before.items():
                possible[i].add(c)
    return possible


def _fits(reader, kind, before, after, said):
    """Whether these original counts allow the share of changed records, the loss and the distance that are printed."""
    n = sum(after)
    least = sum(max(0, before[i] - c) for i, c in enumerate(after))
    if "tv" in said and not reader.near(said["tv"][0], least / n, said["tv"][1]):
        return False
    share, wide = said.get("share", (None, 0.0))
    low = least if share is None else max(least, math.ceil((share - wide / 2) * n - 1e-6))
    high = n if share is None else math.floor((share + wide / 2) * n + 1e-6)
    if low > high:
        return False
    if kind not in UNORDERED:
        return _moves_enough(before, after, said)
    if "loss" not in said:
        return True
    spread = 1.0 - max(before.values()) / n
    value, step = said["loss"]
    if spread <= 0:
        return False
    return any(abs(100.0 * m / (n * spread) - value) <= step / 2 + 1e-9 for m in range(low, high + 1))


def _moves_enough(before, after, said):
    """Whether the loss of ordered values is at least what it takes to get from one distribution to the other."""
    was, now = (np.repeat(np.arange(len(after)), counts) for counts in ([before[i] for i in range(len(after))], after))
    if "loss" not in said or len(was) != len(now) or not np.var(was):
        return True
    least = 100.0 * float(np.sum((was - now) ** 2)) / (len(was) * float(np.var(was)))
    return least <= said["loss"][0] + said["loss"][1] / 2 + 1e-9


def whole_numbers(reader, name, value):
    """Of a column of whole numbers: which counts of a value, up to k - 1, a table can have with the report's figures.

    The unknowns are the counts of every value; the change of the mean, the variance that is kept and the bars of the
    histogram are equations and bounds for them. A program with whole numbers says whether they can be met.
    """
    released = np.array(reader.released[name][1])
    of = reader.facts["measures"]["utility"]["columns"][name]
    n, mean, var = len(released), float(released.mean()), float(released.var(ddof=1))
    low, high = int(released.min()) - 15, int(released.max()) + 15
    half = reader.step(0.01) / 2
    least, most = var / (of["variance_ratio"] + half), var / max(of["variance_ratio"] - half, 1e-9)
    middle = 0.5 * (least + most)
    target = round(n * (mean - of["mean_change_sd"] * math.sqrt(middle)))
    squares = [(n - 1) * v + target**2 / n for v in (least + 0.02 * (most - least), most - 0.02 * (most - least))]
    bars, total = windows(reader, name, len(of["histogram"]["after"])) or ([], n)
    edges = [-math.inf, *of["histogram"]["edges"][1:-1], math.inf] if bars else []
    assert total == n
    return {c for c in range(1, reader.k) if _can_be(range(low, high + 1), value, c, n, target, squares, bars, edges)}


def _can_be(support, value, count, n, target, squares, bars, edges):
    import highspy

    model = highspy.Highs()
    model.silent()
    for v in support:
        model.addVar(count if v == value else 0, count if v == value else n)
    places = list(range(len(support)))
    for i in places:
        model.changeColIntegrality(i, highspy.HighsVarType.kInteger)

    def row(low, high, weights):
        used = [i for i in places if weights[i]]
        model.addRow(low, high, len(used), np.array(used), np.array([float(weights[i]) for i in used]))

    row(n, n, [1] * len(places))
    row(target, target, list(support))
    row(math.ceil(squares[0]), math.floor(squares[1]), [v * v for v in support])
    for (low, high), (a, b) in zip(bars, itertools.pairwise(edges), strict=True):
        row(low, high, [int(a <= v < b) for v in support])
    model.run()
    return model.getModelStatus() == highspy.HighsModelStatus.kOptimal


def two_values(reader, name, sizes):
    """Of a column with two values: which numbers of changes in each direction, and which original counts, remain.

    `sizes` are the classes of the file, of each released value: of a class, at most half can have had the other value.
    """
    kind, values, *order = reader.released[name]
    released, _ = coded(kind, values, *order)
    after = Counter(released)
    if kind not in (*UNORDERED, "integer") or len(after) != 2:
        return {}
    (a, b), said = sorted(after), printed(reader, name)
    told = reader.facts["measures"]["loss"]["columns"][name].get("told")
    bars = windows(reader, name, 2)
    most = {v: sum(s // 2 for s in sizes[v]) for v in (a, b)}
    least = reader.k if told == "counts" else 0
    high = reader.k - 1 if told == "nothing" else most[a] + most[b]
    possible = {"there": set(), "back": set(), "first": set(), "second": set()}
    for x in range(most[a] + 1):
        for y in range(most[b] + 1):
            if not least <= x + y <= high:
                continue
            before = {a: after[a] - x + y, b: after[b] + x - y}
            fits = Hypothesis(kind, before, after, {(b, a): x, (a, b): y}).would_print(reader, said)
            if bars is not None:
                fits &= all(low <= before[v] <= top for v, (low, top) in zip((a, b), bars[0], strict=False))
            if fits:
                for key, c in zip(possible, (x, y, before[a], before[b]), strict=True):
                    possible[key].add(c)
    return possible


def missing_before(reader, masked):
    """Which numbers of gaps of each masked column are consistent with what is said of gaps and blanked values."""
    columns = {c["name"]: (c["missing_before"], c["missing_after"]) for c in reader.facts["columns"]}
    hidden = [name for name in masked if columns[name][0] is None and columns[name][1] is not None]
    blanked = reader.facts["output"]["blanked"]
    out = {name: set(range(reader.k)) for name in hidden}  # below k, all are hidden alike
    filled = reader.facts["settings"]["missing"] == "group"
    if blanked is not None and len(hidden) == 1 and not filled:
        told = sum(after - before for before, after in (columns[n] for n in masked if n not in hidden))
        out[hidden[0]] = {columns[hidden[0]][1] - (blanked - told)}
    return out


def left_out(reader):
    """Which numbers of suppressed records are consistent with what is said of the records."""
    told, given = reader.facts["output"]["suppressed"], reader.facts["input"]["records"]
    if told is not None:
        return {told}
    return set(range(reader.k)) if given is None else {given - reader.records}
