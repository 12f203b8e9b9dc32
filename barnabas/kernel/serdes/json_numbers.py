"""Floating-point numbers as JSON has them, in Avro's encoding and in Protobuf's mapping alike."""

from __future__ import annotations

import math
import struct
from typing import Final

FLOAT_MAX: Final = 3.4028234663852886e38
# What JSON has no numbers for.
NOT_FINITE: Final = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}

_FLOAT: Final = struct.Struct("<f")
_FLOAT_DIGITS: Final = (6, 7, 8)


def float_number(value: float) -> float | str:
    """A number of 32 bits, as the shortest that stands for the same: 0.1, not 0.10000000149011612."""
    if not math.isfinite(value):
        return _name(value)
    packed = _FLOAT.pack(value)
    for digits in _FLOAT_DIGITS:
        short = float(f"{value:.{digits}g}")
        try:
            if _FLOAT.pack(short) == packed:
                return short
        except OverflowError:
            # The greatest float, rounded up.
            continue
    return float(f"{value:.9g}")


def double_number(value: float) -> float | str:
    return value if math.isfinite(value) else _name(value)


def _name(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"
