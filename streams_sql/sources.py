"""Streams and tables: what the catalogue knows of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from streams_sql.language.statements import Kind, Window, WindowKind
from streams_sql.sql_types import BIGINT, BYTES, INTEGER, STRING, Array, Field, SqlType, Struct, quoted

ROWTIME: Final = "ROWTIME"
ROWPARTITION: Final = "ROWPARTITION"
ROWOFFSET: Final = "ROWOFFSET"
WINDOWSTART: Final = "WINDOWSTART"
WINDOWEND: Final = "WINDOWEND"

PSEUDO_COLUMNS: Final = {ROWTIME: BIGINT, ROWPARTITION: INTEGER, ROWOFFSET: BIGINT}
WINDOW_BOUNDS: Final = {WINDOWSTART: BIGINT, WINDOWEND: BIGINT}
HEADERS_TYPE: Final = Array(Struct((Field("KEY", STRING), Field("VALUE", BYTES))))


@dataclass(frozen=True, slots=True)
class Column:
    name: str
    type: SqlType

    def __str__(self) -> str:
        return f"{quoted(self.name)} {self.type}"


@dataclass(frozen=True, slots=True)
class HeaderColumn:
    """All headers, or with `header` the value of the last one of that name."""

    name: str
    header: str | None = None

    @property
    def type(self) -> SqlType:
        return HEADERS_TYPE if self.header is None else BYTES


@dataclass(frozen=True, slots=True)
class Schema:
    """What is in the key and what in the value of a record, in order, and what of its headers is shown."""

    key: tuple[Column, ...]
    value: tuple[Column, ...]
    headers: tuple[HeaderColumn, ...] = ()

    def __str__(self) -> str:
        """As clients of ksqlDB are shown it."""
        keys = [f"{column} KEY" for column in self.key]
        return ", ".join([*keys, *map(str, self.value)])

    def columns(self) -> Iterator[Column]:
        """What `*` stands for."""
        yield from self.key
        yield from self.value
        for column in self.headers:
            yield Column(column.name, column.type)


@dataclass(frozen=True, slots=True)
class InferredSchema:
    """The columns that the registry has for a topic; None for what was not asked for."""

    key: tuple[Column, ...] | None
    value: tuple[Column, ...] | None


@dataclass(frozen=True, slots=True)
class FormatUse:
    """How keys or values are written. `delimiter` is DELIMITED's; `is_wrapped` tells whether a single column stands in a record of its
    own (None: as the format does by itself); the others are for formats of the registry."""

    name: str
    delimiter: str = ","
    is_wrapped: bool | None = None
    schema_id: int | None = None
    full_name: str | None = None
    nullable_as: str | None = None


@dataclass(frozen=True, slots=True)
class KeyWindow:
    """Keys carry the bounds of a window. `size_ms` is not known for sessions."""

    kind: WindowKind
    size_ms: int | None


@dataclass(frozen=True, slots=True)
class TimestampRule:
    """ROWTIME comes from a column: a number, a TIMESTAMP, or a text of this (Java's) pattern."""

    column: str
    pattern: str | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A stream or a table. `query_id` is that of the query that fills it, if one made it; `window` is the window of that query, whose
    retention says how long a view keeps what is in it. `is_read_only`: CREATE SOURCE …"""

    name: str
    kind: Kind
    schema: Schema
    topic: str
    key_format: FormatUse
    value_format: FormatUse
    statement: str
    key_window: KeyWindow | None = None
    window: Window | None = None
    timestamp: TimestampRule | None = None
    query_id: str | None = None
    is_read_only: bool = False

    @property
    def is_table(self) -> bool:
        return self.kind is Kind.TABLE
