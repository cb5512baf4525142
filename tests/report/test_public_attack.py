"""Public reports attacked: nothing that is public tells which of 1 to k - 1 a count of original records is."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter, defaultdict

import numpy as np
import pyarrow as pa
import pytest

import coterie as ct
from coterie.facts import document
from coterie.report import public
from public_attack import (
    CODES,
    Found,
    Reader,
    changed_records,
    from_the_whole,
    left_out,
    missing_before,
    original_counts,
    two_values,
    whole_numbers,
)

LEVELS = ["low", "some", "much", "all"]


def table_of(rng, n):
    """Columns of every kind, some with rare values, which few records change in."""
    size = np.sort(rng.normal(100, 30, n))  # neighbours are alike: groups form along it
    kinds, columns = {"size": "numeric"}, {"size": np.round(size, 2)}

    def rare(share):
        return rng.random(n) < share

    for name in rng.choice(["flag", "town", "level", "children", "age", "pay"], rng.integers(2, 6), replace=False):
        share = rng.choice([0.02, 0.05, 0.1, 0.3])
        if name == "flag":
            kinds[name], columns[name] = "boolean", np.where(rare(share), "yes", "no")
        elif name == "town":
            towns = np.array(["A", "B", "C", "D", "E"][: rng.integers(2, 6)])
            home = towns[(np.arange(n) * len(towns) // n)]
            towns = np.array([*towns, "F", "G"])  # of these, only a few records
            kinds[name], columns[name] = "nominal", np.where(rare(share), rng.choice(towns, n), home)
        elif name == "level":
            at = np.clip(np.arange(n) * 3 // n + rare(share) * rng.integers(-1, 2, n), 0, 3)
            kinds[name], columns[name] = "ordinal", np.array(LEVELS)[at]
        elif name == "children":
            kinds[name], columns[name] = "integer", rare(share) * rng.integers(1, 4, n)
        elif name == "age":
            kinds[name], columns[name] = "integer", rng.integers(18, 90, n)
        else:  # mostly nothing, and released without decimals
            kinds[name], columns[name] = "numeric", np.where(rare(share), rng.integers(1, 3, n), 0).astype(float)
    return kinds, columns


def recipe_of(kinds, k, rng):
    columns = {name: {"role": "quasi", "kind": kind} for name, kind in kinds.items()}
    if "level" in columns:
        columns["level"]["order"] = LEVELS
    if "pay" in columns:
        columns["pay"]["decimals"] = 0
    method = {"name": "mdav"} if rng.random() < 0.7 else {"name": "mdav", "bound": "fast"}
    centre = "medoid" if rng.random() < 0.25 else "mean"
    if centre == "medoid" and "pay" in columns:
        del columns["pay"]["decimals"]
    return {"k": k, "seed": 1, "shuffle": False, "centre": centre, "method": method, "columns": columns}


def as_told(kind, values):
    return [str(v) if kind in CODES else float(v) for v in values]


class Attacked:
    """A release, what is public of it, and the truth that the adversary is after."""

    def __init__(self, seed, records=None):
        rng = np.random.default_rng(seed)
        self.k = int(rng.choice([3, 4, 5, 7]))
        n = records or int(
            rng.choice([rng.integers(30, 80), rng.integers(80, 400), rng.integers(400, 2000)], p=[0.5, 0.4, 0.1])
        )
        kinds, self.before = table_of(rng, n)
        self.release = ct.protect(pa.table(dict(self.before)), recipe_of(kinds, self.k, rng))
        data = self.release.data.to_pydict()
        self.after = {name: as_told(kind, data[name]) for name, kind in kinds.items()}
        self.before = {name: as_told(kinds[name], values.tolist()) for name, values in self.before.items()}
        released = {name: (kind, self.after[name], LEVELS) for name, kind in kinds.items()}
        facts = json.loads(json.dumps(document(public(self.release.facts))))
        self.reader, self.found, self.truth = Reader(facts, released), Found(self.k), {}
        self.flows, self.columns = {}, [name for name in kinds if name != "size"]

    def attack(self):
        whole = from_the_whole(self.reader)
        for name in self.columns:
            if len(set(self.after[name])) > 12:
                continue
            pairs = list(zip(self.before[name], self.after[name], strict=True))
            self._add(
                (name, "changed"), sum(a != b for a, b in pairs), changed_records(self.reader, name, whole.get(name))
            )
            self._categories(name)
            self._directions(name)
        return self

    def _add(self, name, truth, possible):
        self.truth[name] = truth
        self.found.add(name, possible)

    def _categories(self, name):
        of = self.reader.facts["measures"]["utility"]["columns"][name]
        was, now = Counter(self.before[name]), Counter(self.after[name])
        possible = original_counts(self.reader, name)
        edges = (of.get("histogram") or {}).get("edges", [])
        for i, (low, high) in enumerate(itertools.pairwise(edges)):
            ends = (-math.inf if i == 0 else low, math.inf if i == len(edges) - 2 else high)
            if possible:
                true = sum(c for v, c in was.items() if ends[0] <= v < ends[1])
                self._add((name, low), true, possible[i])
        names = (of.get("categories") or {}).get("names", [])
        for i, category in enumerate(names):
            others = i == len(names) - 1 and category not in now
            true = sum(was.values()) - sum(was[c] for c in names if c in now) if others else was[category]
            if possible:
                self._add((name, category), true, possible[i])

    def _directions(self, name):
        values = sorted(set(self.after[name]))
        sizes, rows = defaultdict(list), Counter(zip(*self.after.values(), strict=True))
        at = list(self.after).index(name)
        for row, size in rows.items():
            sizes[float(values.index(row[at])) if self.reader.released[name][0] in CODES else row[at]].append(size)
        if self.reader.released[name][0] == "ordinal":
            return
        possible = two_values(self.reader, name, sizes)
        if possible:
            pairs = Counter(zip(self.before[name], self.after[name], strict=True))
            was = Counter(self.before[name])
            if set(was) <= set(values):
                a, b = values
                true = pairs[b, a], pairs[a, b], was[a], was[b]
                for key, c in zip(possible, true, strict=True):
                    self.flows[name, key] = c, possible[key]


def attacked(seeds):
    """All that is recovered or narrowed, and how many small counts there were to find."""
    recovered, narrowed, flows, small = [], [], [], 0
    for seed in seeds:
        one = Attacked(seed).attack()
        small += sum(0 < c < one.k for c in one.truth.values())
        recovered += [(seed, name) for name in one.found.recovered(one.truth)]
        narrowed += [(seed, name) for name in one.found.narrowed(one.truth)]
        flows += [(seed, name) for name, (c, left) in one.flows.items() if 0 < c < one.k and left == {c}]
    return recovered, narrowed, flows, small


def test_no_small_count_is_recovered():
    recovered, narrowed, flows, small = attacked(range(40))
    assert small > 40
    assert (recovered, narrowed, flows) == ([], [], [])


def test_the_adversary_recovers_counts_where_the_loss_is_told():
    """What was seen: a column of which few records changed, with its loss to six digits beside the released values."""
    recovered, small = [], 0
    for seed in range(40):
        one = Attacked(seed)
        del one.reader.facts["rounded_to_share"]
        for name, of in one.release.measures.loss.columns.items():
            shown = one.reader.facts["measures"]["loss"]["columns"][name]
            if of.changed is not None and 0 < of.changed < one.k and of.loss_percent is not None:
                shown["loss_percent"] = float(f"{of.loss_percent:.6g}")
                small += name in one.columns
        one.attack()
        recovered += [name for name in one.found.recovered(one.truth) if name[1] == "changed"]
    assert small > 5
    assert len(recovered) > 5


def test_values_of_whole_numbers_that_few_records_have_stay_open():
    tried = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(40, 200)), int(rng.choice([3, 5]))
        age = 18 + rng.poisson(12, n) + rng.integers(0, 12, n)
        table = pa.table({"age": age, "size": rng.normal(size=n)})
        columns = {"age": {"role": "quasi", "kind": "integer"}, "size": {"role": "quasi", "kind": "numeric"}}
        release = ct.protect(table, {"k": k, "seed": 1, "method": "mdav", "columns": columns})
        facts = document(public(release.facts))
        if facts["measures"]["utility"]["columns"]["age"]["variance_ratio"] is None:
            continue
        reader = Reader(facts, {"age": ("integer", [float(v) for v in release.data["age"].to_pylist()])})
        was = Counter(table["age"].to_pylist())
        for value in [v for v, c in was.items() if c < k][:2]:
            tried += 1
            assert whole_numbers(reader, "age", value) == set(range(1, k)), (seed, value, was[value])
    assert tried > 12


def with_gaps(seed):
    """A release of columns with gaps, by a random policy, and of strata that may be left out."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(60, 200)), int(rng.choice([3, 5]))
    gaps = {name: int(rng.choice([0, 1, k - 1, 2 * k, 4 * k])) for name in ("a", "b", "c")}
    columns = {}
    for name, number in gaps.items():
        gone = set(rng.choice(n, number, replace=False).tolist())
        columns[name] = [None if i in gone else float(x) for i, x in enumerate(rng.normal(size=n))]
    strays = int(rng.integers(0, 2 * k))
    columns["region"] = ["north"] * (n - strays) + [f"sea {i // (k - 1)}" for i in range(strays)]
    own = "own-value"
    missing = ["group", {"policy": own, "small": "merge"}, {"policy": own, "small": "suppress"}][seed % 3]
    rules = {name: {"role": "quasi", "kind": "numeric"} for name in gaps}
    rules["region"] = {"role": "quasi", "kind": "nominal"}
    strata = {"within": ["region"], "small": "suppress"}
    recipe = {"k": k, "seed": 1, "method": "mdav", "missing": missing, "strata": strata, "columns": rules}
    return gaps, ct.protect(pa.table(columns), recipe)


def test_no_small_number_of_gaps_or_of_records_left_out_follows():
    tried = 0
    for seed in range(30):
        gaps, release = with_gaps(seed)
        reader = Reader(document(public(release.facts)), {})
        few, suppressed = range(1, reader.k), release.facts.output.suppressed
        if suppressed in few:
            tried += 1
            assert left_out(reader) >= set(few)
        possible = missing_before(reader, list(gaps))
        for name, number in gaps.items():
            if number in few:
                tried += 1
                assert possible[name] >= set(few), (seed, name)
    assert tried > 20


@pytest.mark.campaign
@pytest.mark.timeout(3600)
def test_no_small_count_is_recovered_from_a_thousand_releases():
    recovered, narrowed, flows, small = attacked(range(1000, 2000))
    assert small > 1000
    assert (recovered, narrowed, flows) == ([], [], [])
