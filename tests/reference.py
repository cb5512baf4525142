"""A literal, slow version of every method, to be read beside its paper.

Nothing here is shared with the package. Distances are squared and summed column after column; a centroid is the
correctly rounded sum (`math.fsum`) over the size; equal distances go to the lowest index.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np


def d2(x, y):
    total = 0.0
    for a, b in zip(x, y, strict=True):
        total += (a - b) * (a - b)
    return total


def centroid(X, records):
    return [math.fsum(X[i][j] for i in records) / len(records) for j in range(len(X[0]))]


def farthest(X, records, point):
    return min(records, key=lambda i: (-d2(X[i], point), i))


def nearest(X, records, point, m):
    return sorted(records, key=lambda i: (d2(X[i], point), i))[:m]


def sse(X, records):
    c = centroid(X, records)
    total = 0.0
    for i in records:
        total += d2(X[i], c)
    return total


def labels_of(groups, n):
    labels = np.empty(n, dtype=np.int64)
    for g, members in enumerate(groups):
        labels[list(members)] = g
    return labels


def take_group(X, free, r, k):
    """r and its k - 1 nearest free records leave the free ones."""
    free.remove(r)
    group = [r, *nearest(X, free, X[r], k - 1)]
    for i in group[1:]:
        free.remove(i)
    return group


def join_nearest_centroid(X, groups, rest):
    centroids = [centroid(X, g) for g in groups]
    for i in rest:
        g = min(range(len(centroids)), key=lambda g: (d2(X[i], centroids[g]), g))
        groups[g].append(i)


def md(X, k):
    X = X.tolist()
    free, groups = list(range(len(X))), []
    while len(free) >= 2 * k:
        pairs = [(-d2(X[i], X[j]), i, j) for i in free for j in free if i < j]
        _, r, s = min(pairs)
        groups.append(take_group(X, free, r, k))
        if s not in free:  # all of the rest is equally far from r
            s = farthest(X, free, X[r])
        groups.append(take_group(X, free, s, k))
    if len(free) >= k:
        groups.append(free)
    else:
        join_nearest_centroid(X, groups, free)
    return labels_of(groups, len(X))


def mdav(X, k):
    X = X.tolist()
    free, groups = list(range(len(X))), []
    while len(free) >= 3 * k:
        r = farthest(X, free, centroid(X, free))
        s = farthest(X, [i for i in free if i != r], X[r])
        groups.append(take_group(X, free, r, k))
        if s not in free:  # all of the rest is equally far from r
            s = farthest(X, free, X[r])
        groups.append(take_group(X, free, s, k))
    if len(free) >= 2 * k:
        groups.append(take_group(X, free, farthest(X, free, centroid(X, free)), k))
    groups.append(free)
    return labels_of(groups, len(X))


def mdav_of_units(X, k, units):
    """Two groups at a time as in MDAV, of k different units each; of every unit the nearest record alone."""
    free = [i for i in range(len(X)) if units[i] >= 0]
    groups, r = [], None
    while len({units[i] for i in free}) >= k:
        r = farthest(X, free, centroid(X, free) if len(groups) % 2 == 0 else X[r])
        group = [r]
        for i in nearest(X, free, X[r], len(free)):
            if len(group) < k and units[i] not in {units[j] for j in group}:
                group.append(i)
        for i in group:
            free.remove(i)
        groups.append(group)
    join_nearest_centroid(X, groups, sorted([*free, *(i for i in range(len(X)) if units[i] < 0)]))
    return labels_of(groups, len(X))


def mdav1(X, k):
    X = X.tolist()
    free, groups = list(range(len(X))), []
    while len(free) >= 2 * k:
        groups.append(take_group(X, free, farthest(X, free, centroid(X, free)), k))
    groups.append(free)
    return labels_of(groups, len(X))


def v_mdav(X, k, gamma):
    X = X.tolist()
    free, groups = list(range(len(X))), []
    c = centroid(X, free)
    while len(free) >= k:
        group = take_group(X, free, farthest(X, free, c), k)
        while gamma > 0 and len(group) < 2 * k - 1 and free:
            d_in, e = min((d2(X[i], X[j]), j) for i in group for j in free)
            d_out = min((d2(X[e], X[j]) for j in free if j != e), default=math.inf)
            if not d_in < gamma * d_out:
                break
            group.append(e)
            free.remove(e)
        groups.append(group)
    join_nearest_centroid(X, groups, free)
    return labels_of(groups, len(X))


def mdav_plus(X, k):
    return v_mdav(X, k, 0.0)


def mdav_star(X, k):
    X = X.tolist()
    free, groups = list(range(len(X))), []
    c = centroid(X, free)

    def closest(x):
        """The group whose SSE grows least by x: for m records, by m / (m + 1) times the squared distance."""
        growths = [d2(X[x], centroid(X, g)) * (len(g) / (len(g) + 1)) for g in groups]
        g = min(range(len(groups)), key=lambda g: (growths[g], g))
        return g, growths[g]

    while len(free) >= k:
        r = farthest(X, free, c)
        others = [i for i in free if i != r]
        new = [r, *nearest(X, others, X[r], k - 1)]
        extend = False
        if groups and len(free) > k:
            g, growth = closest(r)
            y = nearest(X, others, X[r], 1)[0]
            virtual = [y, *nearest(X, [i for i in others if i != y], X[y], k - 1)]
            extend = (growth + sse(X, virtual)) / (k + 1) < sse(X, new) / k
        if extend:
            groups[g].append(r)
            free.remove(r)
        else:
            groups.append(new)
            free = [i for i in free if i not in new]
    for i in free:
        groups[closest(i)[0]].append(i)
    return labels_of(groups, len(X))


def merge_small_strata(sizes, sums, k):
    """For each stratum the one it ends in: the smallest below k joins the one whose centroid is nearest, again."""
    sizes, sums = list(sizes), [list(row) for row in sums]
    into, alive = list(range(len(sizes))), [s for s in range(len(sizes)) if sizes[s] > 0]
    while len(alive) > 1:
        a = min(alive, key=lambda s: (sizes[s], s))
        if sizes[a] >= k:
            break
        alive.remove(a)
        centres = {s: [x / sizes[s] for x in sums[s]] for s in [a, *alive]}
        b = min(alive, key=lambda s: (d2(centres[s], centres[a]), s))
        sums[b] = [x + y for x, y in zip(sums[b], sums[a], strict=True)]
        sizes[b] += sizes[a]
        into = [b if s == a else s for s in into]
    return into


def components(n, edges):
    """The connected parts of a graph on vertices 0..n-1, each in order, by their lowest vertex."""
    part = list(range(n))
    for i, j in edges:
        part = [part[i] if c == part[j] else c for c in part]
    return [[i for i in range(n) if part[i] == c] for c in dict.fromkeys(part)]


def minimum_spanning_tree(X):
    """Kruskal's: the shortest edge that closes no circle; of equally short ones that of the lowest records."""
    n = len(X)
    part, edges = list(range(n)), []
    pairs = [(d2(X[i], X[j]), i, j) for i in range(n) for j in range(i + 1, n)]
    for _, i, j in sorted(pairs):
        if part[i] != part[j]:
            part = [part[i] if c == part[j] else c for c in part]
            edges.append((i, j))
    return edges


def m_d(X, k):
    rows = X.tolist()
    edges = minimum_spanning_tree(rows)
    for edge in sorted(edges, key=lambda e: (-d2(rows[e[0]], rows[e[1]]), e)):
        rest = [e for e in edges if e != edge]
        if all(len(part) >= k for part in components(len(rows), rest)):
            edges = rest
    groups = []
    for part in components(len(rows), edges):
        inside = md(X[part], k) if len(part) >= 2 * k else np.zeros(len(part), np.int64)
        groups += [[part[i] for i in np.flatnonzero(inside == g)] for g in range(inside.max() + 1)]
    return labels_of(groups, len(rows))


def forest(X, k, turn):
    """FOREST: edges (u, v), drawn by u. The next small component is that of the record first in turn."""
    component, edges = {i: {i} for i in range(len(X))}, {}
    for x in turn:
        while len(component[x]) < k:
            (u,) = [i for i in component[x] if i not in edges]
            outside = [i for i in range(len(X)) if i not in component[x]]
            (v,) = nearest(X, outside, X[u], 1)
            assert v in nearest(X, [i for i in range(len(X)) if i != u], X[u], k - 1)
            edges[u] = v
            joined = component[u] | component[v]
            for i in joined:
                component[i] = joined
    return list(edges.items())


def decompose(n, edges, k, candidates):
    """DECOMPOSE-COMPONENT: the trees, each as its records and the lengths' owners (the u of every edge).

    Vertices from n on are Steiner vertices. `links` are the edges as they are now, and who drew them.
    """
    links = {(u, v): u for u, v in edges}
    steiner = iter(range(n, 3 * n))

    def neighbours(u):
        return sorted({a for a, b in links if b == u} | {b for a, b in links if a == u})

    def subtree(v, u):
        """All vertices on v's side of the edge between u and v."""
        found = [v]
        for x in found:
            found += [y for y in neighbours(x) if y not in found and (x, y) != (v, u)]
        return found

    def size(vertices):
        return sum(x < n for x in vertices)

    def relink(old, new, moving):
        for y in moving:
            pair = (old, y) if (old, y) in links else (y, old)
            owner = links.pop(pair)
            links[tuple(new if x == old else x for x in pair)] = owner

    def whole(x):
        return sorted({x, *(z for y in neighbours(x) for z in subtree(y, x))})

    todo, trees, uncut = [], [], 0
    seen = set()
    for x in range(n):
        if x not in seen:
            seen |= set(whole(x))
            todo.append(x)
    while todo:
        tree = whole(todo.pop())
        s = size(tree)
        if s <= max(2 * k - 1, 3 * k - 5):
            trees.append(tree)
            continue
        u = min((x for x in tree if x < n), key=candidates.index)
        while True:
            sizes = {y: size(subtree(y, u)) for y in neighbours(u)}
            v = min(sizes, key=lambda y: (-sizes[y], y))
            phi = sizes[v]
            if s - phi >= k - 1 and not (s - phi == k - 1 and v >= n):
                break
            u = v
        if phi >= k and s - phi >= k:  # (a)
            links.pop((u, v) if (u, v) in links else (v, u))
            todo += [u, v]
        elif s - phi == k - 1:  # (b)
            new = next(steiner)
            relink(v, new, [y for y in neighbours(v) if y != u])
            todo += [v, new]
        elif phi == k - 1 and u < n:  # (c)
            new = next(steiner)
            relink(u, new, [y for y in neighbours(u) if y != v])
            todo += [u, new]
        else:  # (d)
            first, rest = [], list(sizes)
            while sum(sizes[y] for y in first) < (k - 1 if u < n else k):
                first.append(rest.pop(0))
            left = sum(sizes[y] for y in rest)
            if u >= n and left < k:  # left to the splitting step
                trees.append(tree)
                uncut += 1
                continue
            new = next(steiner)
            relink(u, new, first if u < n and left == k - 1 else rest)
            todo += [u, new]
    owners = [[o for (a, b), o in links.items() if a in t and b in t] for t in trees]
    return [[x for x in t if x < n] for t in trees], owners, uncut


def mu_approx(X, k, turn, candidates):
    rows = X.tolist()
    edges = forest(rows, k, turn)
    trees, _, _ = decompose(len(rows), edges, k, candidates)
    groups = []
    for tree in trees:
        inside = mdav1(X[tree], k) if len(tree) >= 2 * k else np.zeros(len(tree), np.int64)
        groups += [[tree[i] for i in np.flatnonzero(inside == g)] for g in range(inside.max() + 1)]
    return labels_of(groups, len(rows))


def in_whole_numbers(values):
    """Numbers in order, times what makes all of them whole; and that factor. Whole numbers add up fast, and exactly."""
    values = sorted(Fraction(float(x)) for x in values)
    times = math.lcm(*(x.denominator for x in values))
    return [x.numerator * (times // x.denominator) for x in values], times


def cost_of_whole(values, cost):
    """What a group of whole numbers costs, in order, as a fraction: without rounding."""
    if cost == "maximal":
        return Fraction(values[-1] - values[0])
    if cost == "absolute":
        return Fraction(sum(abs(x - values[len(values) // 2]) for x in values))
    n, total = len(values), sum(values)
    return Fraction(sum((n * x - total) ** 2 for x in values), n * n)


def cost_of(values, cost):
    """What a group of numbers costs."""
    values, times = in_whole_numbers(values)
    return cost_of_whole(values, cost) / (times**2 if cost == "sse" else times)


def univariate(x, k, cost="sse"):
    """The least cost of any partition of numbers into groups of at least k: over the sorted values, any group size."""
    x, times = in_whole_numbers(x)
    best = [Fraction(0)] + [None] * len(x)
    for j in range(k, len(x) + 1):
        ends = [i for i in range(j - k + 1) if best[i] is not None]
        best[j] = min((best[i] + cost_of_whole(x[i:j], cost) for i in ends), default=None)
    return best[-1] / (times**2 if cost == "sse" else times)


def optimal_sse(X, k):
    """The least SSE of any partition into groups of at least k, over all of them."""
    X = X.tolist()
    known = {0: 0.0}

    def least(free):
        if free not in known:
            records = [i for i in range(len(X)) if free >> i & 1]
            known[free] = math.inf
            for rest in range(1 << (len(records) - 1)):
                group = [records[0], *(r for b, r in enumerate(records[1:]) if rest >> b & 1)]
                left = len(records) - len(group)
                if len(group) >= k and (left == 0 or left >= k):
                    value = sse(X, group) + least(free & ~sum(1 << i for i in group))
                    known[free] = min(known[free], value)
        return known[free]

    return least((1 << len(X)) - 1)


def lightest_factor(X):
    """The weight of a minimum [1,2]-factor: its components are pairs, and triples joined by their two shorter sides."""
    X = X.tolist()
    n = len(X)
    best = {0: 0.0}
    for done in range(2**n):
        free = [v for v in range(n) if not done >> v & 1]
        if done not in best or not free:
            continue
        a = free[0]
        for b in free[1:]:
            with_two = done | 1 << a | 1 << b
            weight = best[done] + d2(X[a], X[b])
            best[with_two] = min(best.get(with_two, math.inf), weight)
            for c in free[free.index(b) + 1 :]:
                sides = sorted((d2(X[a], X[b]), d2(X[a], X[c]), d2(X[b], X[c])))
                weight = best[done] + sides[0] + sides[1]
                best[with_two | 1 << c] = min(best.get(with_two | 1 << c, math.inf), weight)
    return best[2**n - 1]


def exact_sse(X, records):
    """The SSE of a group, without rounding."""
    total = Fraction(0)
    for j in range(len(X[0])):
        column = [Fraction(float(X[i][j])) for i in records]
        mean = sum(column) / len(column)
        total += sum((x - mean) ** 2 for x in column)
    return total


def cut(X, order, k):
    """The least SSE of groups of k to 2k - 1 records that follow one another in the order, without rounding."""
    n = len(order)
    best = {0: Fraction(0)}
    for j in range(k, n + 1):
        ways = [best[j - m] + exact_sse(X, order[j - m : j]) for m in range(k, 2 * k) if j - m in best]
        if ways:
            best[j] = min(ways)
    return best[n]


def compositions(n, k):
    """Every way to write n as a sum of sizes from k to 2k - 1."""
    if n == 0:
        yield []
    for m in range(k, min(2 * k - 1, n) + 1):
        for rest in compositions(n - m, k):
            yield [m, *rest]


def npn(X):
    """From the record farthest from the centroid always to the nearest not yet visited; equal ones first."""
    X = X.tolist()
    free = list(range(len(X)))
    order = [farthest(X, free, centroid(X, free))]
    free.remove(order[0])
    while free:
        here = X[order[-1]]
        order.append(min(free, key=lambda i: (X[i] != here, d2(X[i], here), i)))
        free.remove(order[-1])
    return order


def hilbert_key(cell, bits):
    """The place of a cell on the Hilbert curve, bit by bit: J. Skilling (2004), AxestoTranspose, and interleaving."""
    x = list(cell)
    q = 1 << (bits - 1)
    while q > 1:
        for i in range(len(x)):
            if x[i] & q:
                x[0] ^= q - 1
            else:
                t = (x[0] ^ x[i]) & (q - 1)
                x[0] ^= t
                x[i] ^= t
        q >>= 1
    for i in range(1, len(x)):
        x[i] ^= x[i - 1]
    t, q = 0, 1 << (bits - 1)
    while q > 1:
        if x[-1] & q:
            t ^= q - 1
        q >>= 1
    key = 0
    for b in range(bits - 1, -1, -1):
        for v in x:
            key = key << 1 | ((v ^ t) >> b & 1)
    return key


TWINS = {
    "md": md,
    "mdav": mdav,
    "mdav1": mdav1,
    "mdav+": mdav_plus,
    "v-mdav": v_mdav,
    "mdav*": mdav_star,
    "m-d": m_d,
    "mu-approx": mu_approx,
    "2-mu-approx": lightest_factor,
    "exact": optimal_sse,
    "univariate": univariate,
    "individual-ranking": univariate,
    "path": cut,
}


def cheapest_partition(groups, cost, records):
    """The least cost of groups (sets of records) that hold every record once; infinite if there are none."""
    if not records:
        return 0.0
    first = min(records)
    choices = (g for g in range(len(groups)) if first in groups[g] and groups[g] <= records)
    return min((cost[g] + cheapest_partition(groups, cost, records - groups[g]) for g in choices), default=math.inf)


def grown_set(groups, x, chosen, size):
    """A set of records, grown by the two that raise its subset-row cut's left-hand side most; these sides."""

    def left(records):
        return sum(y * (len(group & records) // 2) for group, y in zip(groups, x, strict=True))

    chosen, sides = set(chosen), []
    while len(chosen) < size:
        beside = set().union(*(group for group in groups if group & chosen)) - chosen
        pairs = itertools.combinations(sorted(beside), 2)
        best = max((left(chosen | {*pair}) for pair in pairs), default=None)
        if best is None:
            break
        sides.append(best)
        equal = [{*pair} for pair in itertools.combinations(sorted(beside), 2) if left(chosen | {*pair}) == best]
        if len(equal) > 1:  # which of them is a matter of order
            break
        chosen |= equal[0]
    return chosen, sides


def controlled_rounding(groups):
    """Round every group's mean up or down to a whole number, by trying all ways: total and least change.

    Gives what is left between the totals, and the least sum of squared changes among the ways that leave no more.
    """
    sums = [sum(Fraction(x) for x in group) for group in groups]
    means = [total / len(group) for total, group in zip(sums, groups, strict=True)]
    ways = [sorted({math.floor(mean), math.ceil(mean)}) for mean in means]
    best = None
    for way in itertools.product(*ways):
        left = sum(sums) - sum(len(group) * v for group, v in zip(groups, way, strict=True))
        change = sum(len(group) * (v - mean) ** 2 for group, v, mean in zip(groups, way, means, strict=True))
        if best is None or (abs(left), change) < best:
            best = abs(left), change
    return best


def minimal_sample_uniques(rows, depth, units=None):
    """For each record the sets of columns in which it is unique, but in no proper subset: all sets, one by one."""
    units = range(len(rows)) if units is None else units
    found = [[] for _ in rows]
    for size in range(1, depth + 1):
        for columns in itertools.combinations(range(len(rows[0])), size):
            for i, row in enumerate(rows):
                if units[i] < 0 or any(set(smaller) < set(columns) for smaller in found[i]):
                    continue
                alike = {u for other, u in zip(rows, units, strict=True) if all(other[j] == row[j] for j in columns)}
                if alike - {-1} == {units[i]}:
                    found[i].append(columns)
    return found
