"""How the values of an Avro schema look in Python."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from barnabas.kernel.serdes.avro_types import FixedType, PrimitiveType, UnionType

LeafType = PrimitiveType | FixedType
Convert = Callable[[Any], Any]


class Wrapping(Enum):
    """Which values of unions are `{branch: value}` when they are read. Null never is."""

    ALWAYS = auto()
    """As in Avro's JSON encoding."""
    AMBIGUOUS = auto()
    """Where a union has several types beside null: it is lost otherwise which of them it was."""
    NEVER = auto()


def _as_it_is(_kind: LeafType) -> Convert | None:
    return None


@dataclass(frozen=True, slots=True)
class AvroForm:
    """`reader` and `writer` convert single values from and to what fastavro has: numbers, strings, bytes. None: they are that."""

    wrapping: Wrapping = Wrapping.AMBIGUOUS
    reader: Callable[[LeafType], Convert | None] = _as_it_is
    writer: Callable[[LeafType], Convert | None] = _as_it_is

    def wraps(self, union: UnionType) -> bool:
        if self.wrapping is Wrapping.AMBIGUOUS:
            return sum(branch.name != "null" for branch in union.branches) > 1
        return self.wrapping is Wrapping.ALWAYS


NATIVE: Final = AvroForm()
"""Logical types are what they are underneath: a date is a number, a decimal is bytes."""
