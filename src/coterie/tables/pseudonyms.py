"""Pseudonyms of units: the same for all records of a unit, and telling nothing without the key.

A pseudonym is a keyed hash (BLAKE2b, RFC 7693) of the number that stands for a unit in `identities.py`. Numbers have 64
bits: that any two of 10 million units share one has a chance of 3 in a million. Pseudonyms have 80.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

from ..errors import CoterieError
from .identities import NOBODY, Hashes

_BYTES = 10
_PERSON = b"coterie unit"  # so that the key makes other hashes elsewhere


def pseudonyms(units: Hashes, key: str) -> Any:
    """The pseudonym of each unit as Arrow texts; null where nobody is named.

    They begin with a letter: a spreadsheet would take some digits around an e for a number.
    """
    import pyarrow as pa

    secret = bytes.fromhex(key)
    different, where = np.unique(units, return_inverse=True)
    texts = [None if unit == NOBODY else _pseudonym(int(unit), secret) for unit in different]
    if len(set(texts)) < len(texts):
        raise CoterieError("Every unit must have its own pseudonym.", "the same for two", "draw another key.")
    codes = np.ascontiguousarray(where.reshape(-1), np.int64)
    at = pa.Array.from_buffers(pa.int64(), len(codes), [None, pa.py_buffer(codes)])
    return pa.array(texts, pa.string()).take(at)


def _pseudonym(unit: int, key: bytes) -> str:
    return "p" + blake2b(unit.to_bytes(8, "little"), key=key, digest_size=_BYTES, person=_PERSON).hexdigest()
