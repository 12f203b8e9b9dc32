"""The normal form of numbers in options: as Java writes a number that it has read, which is where the registry's texts come from."""

from __future__ import annotations

import re
import struct
from decimal import ROUND_HALF_EVEN, Context, Decimal
from math import isfinite
from typing import Final

FRACTION_MAX_DIGITS: Final = 3
"""More digits behind the point are rounded away."""

DIGITS_MAX: Final = 400
"""A longer number, or one with a greater exponent, stays as it is: nobody means it, and it would cost memory to write it out."""

_HEXADECIMAL = re.compile(r"(-?)0[xX]([0-9a-fA-F]+)")
_WHOLE = re.compile(r"(-?[0-9]+)[lL]?")
_LEADING_ZERO = re.compile(r"-?0[0-9]+")
_OCTAL = re.compile(r"-?[0-7]+")
_FRACTION = re.compile(r"(-?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?)[fFdD]?")
_ROUNDING: Final = Context(prec=4 * DIGITS_MAX, rounding=ROUND_HALF_EVEN)
_SMALLEST_STEP: Final = Decimal(1).scaleb(-FRACTION_MAX_DIGITS)
_FLOAT_MAX_DIGITS: Final = 9


def normal_number(text: str) -> str:
    """The number in plain decimal digits; what is no number (`inf`, `nan`) stays as it is."""
    if len(text) > DIGITS_MAX:
        return text
    hexadecimal = _HEXADECIMAL.fullmatch(text)
    if hexadecimal:
        return str(int(hexadecimal[1] + hexadecimal[2], 16))
    whole = _WHOLE.fullmatch(text)
    if whole:
        return _normal_whole(text, whole[1])
    fraction = _FRACTION.fullmatch(text)
    if fraction is None or abs(Decimal(fraction[1]).adjusted()) > DIGITS_MAX:
        return text
    return _plain(_rounded(Decimal(fraction[1])))


def _normal_whole(text: str, digits: str) -> str:
    """A zero in front makes a number octal."""
    if not _LEADING_ZERO.fullmatch(digits):
        return str(int(digits))
    return str(int(digits, 8)) if _OCTAL.fullmatch(digits) else text


def _rounded(written: Decimal) -> Decimal:
    """To three digits behind the point, by the value that Java holds: the narrowest type that tells the number from others."""
    held = float(written)
    single = _single_precision(held)
    if single is not None:
        held = single
    elif not isfinite(held) or Decimal(repr(held)) != written:
        return written.quantize(_SMALLEST_STEP, context=_ROUNDING)
    shortest = Decimal(repr(held))
    exponent = shortest.as_tuple().exponent
    if isinstance(exponent, int) and exponent >= -FRACTION_MAX_DIGITS:
        return shortest
    return Decimal(held).quantize(_SMALLEST_STEP, context=_ROUNDING)


def _single_precision(number: float) -> float | None:
    """The nearest number of 32 bits, if its shortest text is that of the number itself."""
    try:
        (single,) = struct.unpack("f", struct.pack("f", number))
    except OverflowError:
        return None
    if not isfinite(single) or (single == 0 and number != 0):
        return None
    for digits in range(1, _FLOAT_MAX_DIGITS + 1):
        shortest = float(f"{single:.{digits}g}")
        if struct.pack("f", shortest) == struct.pack("f", single):
            return float(single) if repr(shortest) == repr(number) else None
    return None


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
