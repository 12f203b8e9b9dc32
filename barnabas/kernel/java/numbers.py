"""Numbers as Java prints them."""

from __future__ import annotations

import math
from typing import Final

PLAIN_MIN: Final = 1e-3
PLAIN_END: Final = 1e7
"""From the first up to the second, Java prints a double without an exponent."""


def double_text(value: float) -> str:
    """Print a double as `Double.toString` does: 1.0, 1.0E7, NaN, Infinity."""
    if value != value:
        return "NaN"
    size = abs(value)
    if PLAIN_MIN <= size < PLAIN_END or size == 0:
        return repr(value)
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    # Commands of a tenth of a second need no decimals.
    from decimal import Decimal

    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    if len(digits) == 1:
        # Java prints at least two digits. Where one is enough, it chooses the nearest number of two: 4.9E-324, not 5.0E-324.
        sign, digits, exponent = Decimal(f"{value:.1e}").as_tuple()
    return f"{'-' if sign else ''}{digits[0]}.{''.join(map(str, digits[1:]))}E{int(exponent) + len(digits) - 1}"
