"""The types of columns and values.

Values are plain Python in every host: bool, int, float, decimal.Decimal, str, bytes, list, dict. Points in time are numbers, so that
no time zone can creep in: TIME is milliseconds of the day, DATE days since 1970-01-01, TIMESTAMP milliseconds since then in UTC. A
struct is a dict with all its fields, a map a dict; NULL is None.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Final, TypeAlias

DECIMAL_PRECISION_MAX: Final = 38


class Base(Enum):
    """Types that have no parts. The values are how they are written."""

    BOOLEAN = "BOOLEAN"
    INTEGER = "INTEGER"
    BIGINT = "BIGINT"
    DOUBLE = "DOUBLE"
    STRING = "STRING"
    BYTES = "BYTES"
    TIME = "TIME"
    DATE = "DATE"
    TIMESTAMP = "TIMESTAMP"

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True, slots=True)
class Decimal:
    precision: int
    scale: int

    def __str__(self) -> str:
        return f"DECIMAL({self.precision}, {self.scale})"


@dataclass(frozen=True, slots=True)
class Array:
    element: SqlType

    def __str__(self) -> str:
        return f"ARRAY<{self.element}>"


@dataclass(frozen=True, slots=True)
class Map:
    key: SqlType
    value: SqlType

    def __str__(self) -> str:
        return f"MAP<{self.key}, {self.value}>"


@dataclass(frozen=True, slots=True)
class Field:
    """`written` is how the name was written where that was not in capitals; it makes no other field."""

    name: str
    type: SqlType
    written: str | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{quoted(self.name)} {self.type}"


@dataclass(frozen=True, slots=True)
class Struct:
    fields: tuple[Field, ...]

    def __str__(self) -> str:
        return f"STRUCT<{', '.join(map(str, self.fields))}>" if self.fields else "STRUCT< >"

    def field(self, name: str) -> Field | None:
        return next((field for field in self.fields if field.name == name), None)


SqlType: TypeAlias = Base | Decimal | Array | Map | Struct
"""The text of a type is what clients of ksqlDB parse: STRUCT<`A` INTEGER>, MAP<STRING, BIGINT>, DECIMAL(4, 2)."""

BOOLEAN: Final = Base.BOOLEAN
INTEGER: Final = Base.INTEGER
BIGINT: Final = Base.BIGINT
DOUBLE: Final = Base.DOUBLE
STRING: Final = Base.STRING
BYTES: Final = Base.BYTES
TIME: Final = Base.TIME
DATE: Final = Base.DATE
TIMESTAMP: Final = Base.TIMESTAMP


def quoted(name: str) -> str:
    """A name as SQL takes it back whatever is in it."""
    return f"`{name.replace('`', '``')}`"
