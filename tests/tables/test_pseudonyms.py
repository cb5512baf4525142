"""Pseudonyms: one for each unit, another with another key, none for nobody."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
import pyarrow as pa

from coterie.tables.identities import NOBODY, identities
from coterie.tables.pseudonyms import pseudonyms

KEY = "00112233445566778899aabbccddeeff"


def test_a_pseudonym_is_a_keyed_hash_of_the_number_of_a_unit():
    """By hand: BLAKE2b of the 8 bytes of 7, 10 bytes of it, and a p before."""
    told = pseudonyms(np.array([7, NOBODY, 7], np.uint64), KEY).to_pylist()
    digest = blake2b(b"\7" + bytes(7), key=bytes.fromhex(KEY), digest_size=10, person=b"coterie unit").hexdigest()
    assert told == [f"p{digest}", None, f"p{digest}"]


def test_units_differ_and_so_do_keys():
    units = np.arange(1, 5001, dtype=np.uint64)
    one, other = (pseudonyms(units, key).to_pylist() for key in (KEY, KEY[::-1]))
    assert len({*one, *other}) == 10_000
    assert {len(text) for text in one} == {21}


def test_spellings_of_one_unit_have_one_pseudonym():
    ids = pa.array(["A1", " a1", "A2", "n/a", None])
    told = pseudonyms(identities("id", ids, by_key=True), KEY).to_pylist()
    assert told[0] == told[1] != told[2]
    assert told[3:] == [None, None]


def test_nobody_at_all():
    assert pseudonyms(np.zeros(3, np.uint64), KEY).to_pylist() == [None] * 3
    assert pseudonyms(np.empty(0, np.uint64), KEY).to_pylist() == []
