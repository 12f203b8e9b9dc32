"""COUNT_DISTINCT: exact while there are few values, then a sketch (HyperLogLog) with an error below 1 %."""

from __future__ import annotations

import hashlib
import math
from typing import Any, Final

from streams_sql.functions.json_texts import text_of_value
from streams_sql.functions.registration import aggregate

EXACT_MAX: Final = 1024
"""Different values up to which their hashes are kept."""

_INDEX_BITS: Final = 14
_REGISTERS: Final = 1 << _INDEX_BITS
_HASH_BYTES: Final = 8
_RANK_BITS: Final = 8 * _HASH_BYTES - _INDEX_BITS
# Of the sketch's authors: what makes up for the bias of its mean.
_BIAS: Final = 0.7213 / (1 + 1.079 / _REGISTERS)
# Up to this multiple of the registers, those that are still empty tell more.
_SMALL: Final = 2.5


@aggregate(
    "COUNT_DISTINCT",
    "T -> BIGINT",
    doc="About how many different values a group has; NULLs do not count. The error is below 1 %.",
    parameters=("val",),
    spark="hll_sketch_estimate(hll_sketch_agg(CASE WHEN {0} IS NOT NULL THEN to_json(named_struct('v', {0})) END, 14))",
)
class CountDistinct:
    """State: the hashes of the values, or the registers of the sketch."""

    def start(self) -> set[int] | bytearray:
        return set()

    def add(self, state: set[int] | bytearray, value: Any) -> set[int] | bytearray:
        if value is None:
            return state
        number = _hash(value)
        if isinstance(state, bytearray):
            _register(state, number)
            return state
        state.add(number)
        return state if len(state) <= EXACT_MAX else _sketch(state)

    def merge(self, one: set[int] | bytearray, other: set[int] | bytearray) -> set[int] | bytearray:
        if isinstance(one, set) and isinstance(other, set):
            both = one | other
            return both if len(both) <= EXACT_MAX else _sketch(both)
        sketches = [_sketch(state) if isinstance(state, set) else state for state in (one, other)]
        return bytearray(map(max, *sketches))

    def result(self, state: set[int] | bytearray) -> int:
        return _estimate(state) if isinstance(state, bytearray) else len(state)


def _hash(value: Any) -> int:
    text = value.hex() if isinstance(value, bytes) else text_of_value(value)
    return int.from_bytes(hashlib.blake2b(text.encode(errors="surrogatepass"), digest_size=_HASH_BYTES).digest())


def _sketch(hashes: set[int]) -> bytearray:
    registers = bytearray(_REGISTERS)
    for number in hashes:
        _register(registers, number)
    return registers


def _register(registers: bytearray, number: int) -> None:
    """A register keeps the greatest number of leading zeros (and one) of the hashes that belong to it."""
    index = number >> _RANK_BITS
    rank = _RANK_BITS - (number & ((1 << _RANK_BITS) - 1)).bit_length() + 1
    registers[index] = max(registers[index], rank)


def _estimate(registers: bytearray) -> int:
    estimate = _BIAS * _REGISTERS * _REGISTERS / math.fsum(2.0**-rank for rank in registers)
    empty = registers.count(0)
    if estimate <= _SMALL * _REGISTERS and empty:
        estimate = _REGISTERS * math.log(_REGISTERS / empty)
    return round(estimate)
