"""The fast bound: what each record costs beside its neighbours, raised as far as the groups around it allow.

The neighbour bound takes the least that each record can cost in any group. But records do not all have their cheapest
group: whoever is near to many is a member of one group only. Read as prices (see `lagrangian`), these least shares
leave room nearly everywhere. So all of them are raised by the same part, and lowered again where a group of k records
then costs less than its prices: one exact pricing of all groups, and a few of those that were too cheap.

That takes two to six times as long as the neighbours alone, because prices stay so low that few groups come into
question: each record's groups lie among its 4k nearest. For larger k there are too many groups, and prices rise less.
"""

from __future__ import annotations

import math
import os

import numpy as np
from numpy.typing import NDArray

from ..limits import Limits
from .lagrangian import BELOW, lagrangian_bound
from .neighbour_bound import least_shares, neighbour_bound
from .pricing import Pricing
from .relaxation import Dual
from .repair import repair
from .subset_row_cuts import NO_CUTS

Floats = NDArray[np.float64]

# No bound becomes invalid by these. No source gives them: `benchmarks/least_loss.py --only fast` measures them.
_RISE = 0.3  # of all prices, at most
_LARGE = 8.0  # divided by k squared: the rise for larger k
_MOST = 16  # the largest k for which prices are raised: above, it would be by less than a thirtieth
_LISTED = 4  # nearest records for each of k
_NODES = 100  # of one search: groups that need more count as a little cheaper than they are


def raised_bound(X: Floats, k: int, limits: Limits, threads: int = 0) -> float:
    """No partition into groups of at least k has a smaller SSE than this. O(n k) memory.

    Never below the neighbour bound. It does not depend on the threads.
    """
    n, p = X.shape
    if k > _MOST or n < 2 * k:
        return neighbour_bound(X, k)
    pricing = Pricing(X, k, max(_LISTED, 2) * k)
    least = least_shares(pricing.near.d2[:, : 2 * k - 2], k)
    total = math.fsum(least.tolist())
    plain = total * (1.0 - 2.0**-51 * (float(p) + 2 * k + 4))  # sums were rounded
    if not total > 0.0:
        return 0.0
    with limits.interruptible():
        pi = np.minimum(least * (1.0 + min(_RISE, _LARGE / k**2)), pricing.most)
        safe = repair(
            pricing,
            Dual(pi, NO_CUTS, np.empty(0)),
            limits,
            threads=threads or os.cpu_count() or 1,
            below=BELOW * total / n,
            nodes=_NODES,
        )
        return max(plain, lagrangian_bound(safe.pi, np.empty(0), np.empty(0), safe.least, k, smallest=True))
    return plain
