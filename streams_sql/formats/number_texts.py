"""Numbers in texts, as Java's parsers take them: bounded in length, since Python reads long ones slowly."""

from __future__ import annotations

import decimal
import math
import re
from typing import Final

from streams_sql.evaluation.casts import BLANKS
from streams_sql.evaluation.time_texts import MS_PER_DAY
from streams_sql.formats.mismatch import Mismatch
from streams_sql.sql_types import Decimal

_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,40}")
_DECIMAL: Final = re.compile(r"[+-]?(?:[0-9]{1,400}\.?[0-9]{0,400}|\.[0-9]{1,400})(?:[eE][+-]?[0-9]{1,9})?")
_DOUBLE: Final = re.compile(rf"({_DECIMAL.pattern})[fFdD]?")
_SPECIAL_DOUBLES: Final = {
    f"{sign}{name}": factor * value
    for sign, factor in (("", 1), ("+", 1), ("-", -1))
    for name, value in (("NaN", math.nan), ("Infinity", math.inf))
}
EXACT: Final = decimal.Context(prec=1000, traps=[decimal.Inexact, decimal.InvalidOperation, decimal.Overflow])
"""Enough for a number of 38 digits and for what it loses when it is brought to its scale. Python's own context rounds to 28 digits."""


def whole_number(text: str, maximum: int) -> int:
    """ValueError for all else, blanks around it included."""
    value = int(text) if _WHOLE.fullmatch(text) else maximum + 1
    if not -maximum - 1 <= value <= maximum:
        raise ValueError(text)
    return value


def double(text: str) -> float:
    text = text.strip(BLANKS)
    special = _SPECIAL_DOUBLES.get(text)
    if special is not None:
        return special
    match = _DOUBLE.fullmatch(text)
    value = float(match[1]) if match else math.inf
    if math.isinf(value):
        raise ValueError(text)
    return value


def decimal_number(text: str) -> decimal.Decimal:
    if not _DECIMAL.fullmatch(text):
        raise ValueError(text)
    return decimal.Decimal(text)


def fitted(value: decimal.Decimal, type_: Decimal) -> decimal.Decimal:
    """The value with the scale of the type; Mismatch where digits would be lost."""
    whole = type_.precision - type_.scale
    if value and value.adjusted() >= whole:
        raise Mismatch(
            f"Numeric field overflow: A field with precision {type_.precision} and scale {type_.scale} must round to an absolute "
            f"value less than 10^{whole}. Got {value!s:.80}"
        )
    try:
        return value.quantize(decimal.Decimal((0, (1,), -type_.scale)), context=EXACT)
    except (decimal.Inexact, decimal.InvalidOperation):
        raise Mismatch(f"Cannot fit decimal '{value!s:.80}' into {type_} without rounding.") from None


def time_of_day(ms: int) -> int:
    if not 0 <= ms <= MS_PER_DAY:
        raise Mismatch(f"Time values must use number of milliseconds greater than 0 and less than {MS_PER_DAY}.")
    return ms
