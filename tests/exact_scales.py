"""What a whole column comes to, by the code that takes it in pieces."""

from __future__ import annotations

from coterie.protection.noise import Digits
from coterie.protection.scales import Moments


def scale_of(x):
    moments = Moments()
    moments.add(x)
    return moments.scale()


def decimals_of(x):
    digits = Digits()
    digits.add(x)
    return digits.places()
