"""Searching the binary64 numbers in (0, 1) for the exact place where a monotone answer changes."""

import math
import struct
from collections.abc import Callable
from typing import Final

SMALLEST: Final = math.nextafter(0.0, 1.0)
LARGEST: Final = math.nextafter(1.0, 0.0)


def least_float(holds: Callable[[float], bool], guess: float) -> float:
    """The least binary64 number in (0, 1) where `holds`, which is false then true; from a guess.

    1.0 if it holds nowhere. The better the guess, the fewer calls; any guess will do.
    """
    start = _bits(min(max(guess, SMALLEST), LARGEST))
    top = _bits(LARGEST)
    low = high = start
    step = 4
    if holds(_number(start)):
        while low > 0 and (low == start or holds(_number(low))):
            low, high, step = max(low - step, 0), low, step * 4
    else:
        while high == start or not holds(_number(high)):
            if high == top:
                return 1.0
            low, high, step = high, min(high + step, top), step * 4
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(_number(middle)) else (middle, high)
    return _number(high)


def _bits(number: float) -> int:
    """Position of a number >= 0 among the binary64 numbers, from 0."""
    bits: int = struct.unpack("<q", struct.pack("<d", number))[0]
    return bits


def _number(bits: int) -> float:
    number: float = struct.unpack("<d", struct.pack("<q", bits))[0]
    return number
