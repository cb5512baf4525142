"""Public reports attacked: nothing that is public tells which of 1 to k - 1 a count of original records is."""

from __future__ import annotations

import json
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
    original_counts,
    two_values,
)

LEVELS = ["low", "some", "much", "all"]


def table_of(rng, n):
    """Columns of every kind, some with rare values, which few records change in."""
    size = np.sort(rng.normal(100, 30, n))  # neighbours are alike: groups form along it
    kinds, columns = {"size": "numeric"}, {"size": np.round(size, 2)}

    def rare(share):
        return rng.random(n) < share

    for name in rng.choice(["flag", "town", "level", "children", "age", "pay"], rng.integers(1, 5), replace=False):
        share = rng.choice([0.02, 0.05, 0.1, 0.3])
        if name == "flag":
            kinds[name], columns[name] = "boolean", np.where(rare(share), "yes", "no")
        elif name == "town":
            towns = np.array(["A", "B", "C", "D", "E"][: rng.integers(2, 6)])
            home = towns[(np.arange(n) * len(towns) // n)]
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
    return {"k": k, "seed": 1, "shuffle": False, "method": method, "columns": columns}


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


@pytest.mark.campaign
@pytest.mark.timeout(3600)
def test_no_small_count_is_recovered_from_a_thousand_releases():
    recovered, narrowed, flows, small = attacked(range(1000, 2000))
    assert small > 1000
    assert (recovered, narrowed, flows) == ([], [], [])
