"""A literal, slow version of every method, to be read beside its paper.

Nothing here is shared with the package. Distances are squared and summed column after column; a centroid is the
correctly rounded sum (`math.fsum`) over the size; equal distances go to the lowest index.
"""

from __future__ import annotations

import math

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


TWINS = {"md": md, "mdav": mdav, "mdav1": mdav1, "mdav+": mdav_plus, "v-mdav": v_mdav, "mdav*": mdav_star}
