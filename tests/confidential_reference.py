"""Guards of confidential columns by explicit sums, and literal, slow versions of the rules that keep them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np

from coterie.algorithms.confidential.guards import least_size, watch
from coterie.algorithms.confidential.k_first import ROOM
from reference import centroid, d2, farthest, nearest

# --- the definitions, by explicit sums ---


def groups_of(labels):
    return [np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)]


def ordered_distance(codes, members):
    """Earth mover's distance over the different values of the table, as a fraction."""
    values = sorted(set(codes))
    if len(values) == 1:
        return Fraction(0)
    total, within, among = Fraction(0), 0, 0
    for v in values:
        within += sum(codes[i] == v for i in members)
        among += sum(c == v for c in codes)
        total += abs(Fraction(within, len(members)) - Fraction(among, len(codes)))
    return total / (len(values) - 1)


def equal_distance(codes, members):
    own = [codes[i] for i in members]
    parts = [Fraction(own.count(v), len(own)) - Fraction(codes.count(v), len(codes)) for v in set(codes)]
    return sum(map(abs, parts)) / 2


def effective(codes, members):
    own = [codes[i] for i in members if codes[i] >= 0]
    if not own:
        return 0.0
    shares = [own.count(v) / len(own) for v in set(own)]
    return math.exp(-sum(p * math.log(p) for p in shares))


def distance(guard, members):
    codes = guard.codes.tolist()
    return ordered_distance(codes, members) if guard.ordered else equal_distance(codes, members)


def kept(guard, members):
    """What an independent check would say, without anything to spare."""
    codes = guard.codes.tolist()
    own = {codes[i] for i in members} - {-1}
    return (
        (guard.l is None or len(own) >= guard.l)
        and (guard.entropy is None or effective(codes, members) >= guard.entropy)
        and (guard.t is None or float(distance(guard, members)) <= guard.t)
    )


def lacking(guards, k, members):
    """What a group lacks, as `merge` defines it: the distances by integer sums, one division at the end."""
    short = max(0, k - len(members)) / k
    for guard in guards:
        codes, s, n, own_short = guard.codes.tolist(), len(members), len(guard.codes), 0.0
        if guard.t is not None:
            d = distance(guard, members)
            scale = float(s) * float(n) * (len(set(codes)) - 1 if guard.ordered else 2.0)
            exact = d * s * n * (len(set(codes)) - 1 if guard.ordered else 2)
            assert exact.denominator == 1
            own_short += max(0.0, (float(exact) / scale if scale else 0.0) - guard.t * (1 - 1e-12))
        found = len({codes[i] for i in members} - {-1})
        if guard.l is not None and found < guard.l:
            own_short += (guard.l - found) / guard.l
        if guard.entropy is not None and effective(codes, members) < guard.entropy * (1 + 1e-12):
            missed = 1 - effective(codes, members) / guard.entropy
            own_short += max(1.0, math.floor(missed * 2.0**40 + 0.5)) / 2.0**40
        short += own_short
    return short


# --- literal versions of the rules ---


def literal_merge(X, k, groups, guards):
    X = X.tolist()
    groups = sorted((sorted(g) for g in groups), key=min)
    centres = [centroid(X, g) for g in groups]
    short = [lacking(guards, k, g) for g in groups]
    while len(groups) > 1:
        worst = short.index(max(short))
        if short[worst] == 0:
            break
        others = [g for g in range(len(groups)) if g != worst]
        other = min(others, key=lambda g: (d2(centres[g], centres[worst]), g))
        a, b = sorted((worst, other))
        s, o = len(groups[a]), len(groups[b])
        centres[a] = [(s * x + o * y) / (s + o) for x, y in zip(centres[a], centres[b], strict=True)]
        groups[a] = groups[a] + groups[b]
        short[a] = lacking(guards, k, groups[a])
        del groups[b], centres[b], short[b]
    return groups


def literal_k_first(X, k, guards, near, blocks):
    s = least_size(watch(guards), k, ROOM)
    rows = X.tolist()
    codes = next((g for g in guards if g.t is not None), guards[0]).codes.tolist()
    codes = [c if c >= 0 else math.inf for c in codes]
    block = [sum(c < own for c in codes) * blocks // len(codes) for own in codes]
    free, groups, r = list(range(len(rows))), [], None
    while len(free) >= 2 * s:
        r = farthest(rows, free, centroid(rows, free) if len(groups) % 2 == 0 else rows[r])
        others = nearest(rows, [i for i in free if i != r], rows[r], len(free))
        group = [r, *others[: s - 1]]
        far = others[s - 1 + near :]
        firsts = [i for h, i in enumerate(far) if block[i] not in {block[x] for x in far[:h]}]
        for y in others[s - 1 : s - 1 + near] + firsts:
            if lacking(guards, 1, group) == 0:
                break
            trials = [[i for i in group if i != out] + [y] for out in reversed(group[1:])]
            best = min(trials, key=lambda g: lacking(guards, 1, g))
            if lacking(guards, 1, best) < lacking(guards, 1, group):
                group = best
        groups.append(group)
        free = [i for i in free if i not in group]
    groups.append(free)
    return literal_merge(X, k, groups, guards)


def literal_t_first(X, k, guards, codes, cut):
    rows = X.tolist()
    order = sorted(range(len(rows)), key=lambda i: (codes[i], i))
    quotas = [(j + 1) * cut.size // cut.blocks - j * cut.size // cut.blocks for j in range(cut.blocks)]
    blocks = []
    for j, quota in enumerate(quotas):
        m = quota * cut.groups + (cut.surplus if j == cut.blocks // 2 else 0)
        blocks.append(order[:m])
        order = order[m:]
    groups, r = [], None
    while any(blocks):
        free = sorted(itertools.chain(*blocks))
        r = farthest(rows, free, centroid(rows, free) if len(groups) % 2 == 0 else rows[r])
        group = []
        for j, block in enumerate(blocks):
            quota = quotas[j] + (j == cut.blocks // 2 and len(groups) < cut.surplus)
            block.sort(key=lambda i: (i != r, d2(rows[i], rows[r]), i))
            group += block[:quota]
            del block[:quota]
        groups.append(group)
    return literal_merge(X, k, groups, guards)
