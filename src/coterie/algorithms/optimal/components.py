"""Components: groups that share records, directly or through others. Each component is a problem of its own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def components(groups: Ints, n: int) -> Ints:
    """The component of each group, from 0 on. A row of `groups` holds -1 after its last record."""
    g, column = np.nonzero(groups >= 0)
    records = groups[g, column]
    label = np.arange(n)
    while True:  # every record takes the least label that it meets in a group, and that label's own
        least = np.full(len(groups), n)
        np.minimum.at(least, g, label[records])
        new = label.copy()
        np.minimum.at(new, records, least[g])
        new = new[new]
        if np.array_equal(new, label):
            break
        label = new
    return np.unique(least, return_inverse=True)[1].astype(np.int64)
