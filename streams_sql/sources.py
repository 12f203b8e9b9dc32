"""Streams and tables: what the catalogue knows of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
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
    """`written` is how the name was written where that was not in capitals; it makes no other column."""

    name: str
    type: SqlType
    written: str | None = field(default=None, compare=False, repr=False)

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


class RecordPart(Enum):
    """What can be asked of a record besides its columns, by the name under which it is asked for."""

    KEY_BYTES = "ROWKEY_BYTES"
    VALUE_BYTES = "ROWVALUE_BYTES"
    HEADERS = "HEADERS"
    HEADER = "HEADER"
    SCHEMA_ID = "ROWSCHEMA"
    ERROR = "ROWERROR"


_PART_TYPES: Final[dict[RecordPart, SqlType]] = {
    RecordPart.KEY_BYTES: BYTES,
    RecordPart.VALUE_BYTES: BYTES,
    RecordPart.HEADERS: HEADERS_TYPE,
    RecordPart.HEADER: BYTES,
    RecordPart.SCHEMA_ID: INTEGER,
    RecordPart.ERROR: STRING,
}


@dataclass(frozen=True, slots=True)
class RecordColumn:
    """A column that a query asks for by its name and that `*` does not stand for. `header` names the one of HEADER('name')."""

    name: str
    part: RecordPart
    header: str | None = None

    @property
    def type(self) -> SqlType:
        return _PART_TYPES[self.part]


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
class MissingSchema:
    """What has to be looked up in the registry: the schema of the topic's keys, of its values, or both. Keys that are no record are a
    column of their own, values where WRAP_SINGLE_VALUE says so."""

    topic: str
    key: FormatUse | None
    value: FormatUse | None


@dataclass(frozen=True, slots=True)
class InferredSchema:
    """The columns that the registry has for a topic; None for what was not asked for."""

    key: tuple[Column, ...] | None
    value: tuple[Column, ...] | None


@dataclass(frozen=True, slots=True)
class FormatUse:
    """How keys or values are written. `delimiter` is DELIMITED's; `is_wrapped` tells whether a single column stands in a record of its
    own (None: as the format does by itself); `keeps_case`: fields have the names that statements have written; the others are for formats
    of the registry."""

    name: str
    delimiter: str = ","
    is_wrapped: bool | None = None
    schema_id: int | None = None
    full_name: str | None = None
    nullable_as: str | None = None
    keeps_case: bool = False

    def __str__(self) -> str:
        """The name, and what a statement has said of it."""
        wrapping = {None: "", True: "wrapped", False: "not wrapped"}[self.is_wrapped]
        said = (
            "" if self.delimiter == "," else f"delimiter '{self.delimiter}'",
            wrapping,
            "" if self.schema_id is None else f"schema id {self.schema_id}",
            "" if self.full_name is None else f"schema {self.full_name}",
            "" if self.nullable_as is None else f"nullable as {self.nullable_as}",
            "names in their case" if self.keeps_case else "",
        )
        texts = ", ".join(filter(None, said))
        return f"{self.name} ({texts})" if texts else self.name


@dataclass(frozen=True, slots=True)
class KeyWindow:
    """Keys carry the bounds of a window. `size_ms` is not known for sessions."""

    kind: WindowKind
    size_ms: int | None

    def __str__(self) -> str:
        return self.kind.value if self.size_ms is None else f"{self.kind.value} (SIZE {self.size_ms} MILLISECONDS)"


@dataclass(frozen=True, slots=True)
class TimestampRule:
    """ROWTIME comes from a column: a number, a TIMESTAMP, or a text of this (Java's) pattern."""

    column: str
    pattern: str | None = None

    def __str__(self) -> str:
        return self.column if self.pattern is None else f"{self.column} (format '{self.pattern}')"


@dataclass(frozen=True, slots=True)
class Index:
    """Columns by which rows of a table's view are found."""

    name: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.name} ({', '.join(self.columns)})"


@dataclass(frozen=True, slots=True)
class Source:
    """A stream or a table. `query_id` is that of the query that fills it, if one made it; `window` is the window of that query, whose
    retention says how long a view keeps what is in it. `makes_keys`: PARTITION BY makes its keys, so that a key of several columns is an
    object even if all of them are NULL. `is_read_only`: CREATE SOURCE … `is_topic`: a topic that nobody has declared;
    `record_columns` are there for the one query that asks for them."""

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
    makes_keys: bool = False
    is_read_only: bool = False
    indexes: tuple[Index, ...] = ()
    is_topic: bool = False
    record_columns: tuple[RecordColumn, ...] = ()

    @property
    def is_row(self) -> bool:
        """Whether it stands for the one row of a SELECT without FROM: it has no topic."""
        return not self.topic

    @property
    def has_headers(self) -> bool:
        """Whether the headers of records are looked at."""
        parts = {column.part for column in self.record_columns}
        return bool(self.schema.headers) or RecordPart.HEADERS in parts or RecordPart.HEADER in parts

    @property
    def has_view(self) -> bool:
        """Whether the server keeps its rows: tables that queries fill, and those that are declared for being asked."""
        return self.is_table and bool(self.schema.key) and (self.query_id is not None or self.is_read_only)

    @property
    def is_table(self) -> bool:
        return self.kind is Kind.TABLE


SINGLE_ROW: Final = Source("", Kind.STREAM, Schema((), ()), "", FormatUse("NONE"), FormatUse("NONE"), "")
"""What a SELECT without FROM reads: one row without columns."""
