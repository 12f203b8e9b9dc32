"""Records of topics as rows of a plan."""

from __future__ import annotations

import struct
from base64 import b64encode
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from streams_sql.formats.serde import Decode, DecodeColumns, Undecodable
from streams_sql.functions.library import LIBRARY
from streams_sql.language.statements import WindowKind
from streams_sql.plan.column_batch import ColumnBatch
from streams_sql.plan.nodes import Read
from streams_sql.plan.pipeline import Batch, Row
from streams_sql.sources import (
    ROWOFFSET,
    ROWPARTITION,
    ROWTIME,
    WINDOWEND,
    WINDOWSTART,
    HeaderColumn,
    KeyWindow,
    RecordColumn,
    RecordPart,
    TimestampRule,
)

_TIME_WINDOW: Final = struct.Struct(">q")
_SESSION_WINDOW: Final = struct.Struct(">qq")
_SCHEMA_FRAME: Final = struct.Struct(">bi")
"""What a record of the registry begins with: a zero, and the number of its schema."""

RAW_BYTES_MAX: Final = 1024
"""Of a record or a row that was looked at in vain, in what is told of it."""

Headers: TypeAlias = Sequence[tuple[str, bytes | None]]


@dataclass(frozen=True, slots=True)
class Records:
    """Records of one topic, field by field. `headers` is empty where no column asks for them."""

    keys: Sequence[bytes | None]
    values: Sequence[bytes | None]
    timestamps: Sequence[int]
    partitions: Sequence[int]
    offsets: Sequence[int]
    headers: Sequence[Headers] = ()


class ProblemKind(StrEnum):
    """As ksqlDB's processing log calls them."""

    DESERIALIZATION = "DESERIALIZATION_ERROR"
    PROCESSING = "RECORD_PROCESSING_ERROR"
    SERIALIZATION = "SERIALIZATION_ERROR"


class Problem(NamedTuple):
    """A record that was passed over, or with PROCESSING an expression that gave NULL, and why. `part` is key or value, where it is one of
    them; `raw` is what was looked at: bytes as base64, or the row as JSON, and no more than the beginning of it. `times` is how many
    problems this one stands for: a warning about a join (`part` names it) stands for none."""

    topic: str
    partition: int
    offset: int
    reason: str
    kind: str = ProblemKind.DESERIALIZATION
    part: str = ""
    raw: str | None = None
    times: int = 1


def problem_text(topic: str, partition: int, offset: int, reason: str) -> str:
    """Where it was, and what."""
    if offset < 0:
        return f"a row for {topic}: {reason}" if topic else reason
    return f"{topic}, partition {partition}, offset {offset}: {reason}"


OnProblem: TypeAlias = Callable[[Problem], None]


class RecordReader:
    """Decodes the records of a source. One that cannot be decoded is handed to `on_problem`, and is a row only where the query asks for
    what is wrong with it."""

    def __init__(
        self,
        read: Read,
        decode_key: Decode,
        decode_value: Decode,
        on_problem: OnProblem,
        key_columns: DecodeColumns | None = None,
        value_columns: DecodeColumns | None = None,
    ) -> None:
        source = read.source
        self._source = source
        self._read_key = partial(_Part, decode_key, key_columns)
        self._read_value = partial(_Part, decode_value, value_columns)
        self._on_problem = on_problem
        self._no_key = (None,) * len(source.schema.key)
        self._no_value = (None,) * len(source.schema.value)
        self._places = _places(read)
        self._record_columns = source.record_columns
        self._shows_errors = any(column.part is RecordPart.ERROR for column in source.record_columns)
        self._timestamp = None if source.timestamp is None else _extractor(read, source.timestamp)

    def rows(self, records: Records) -> list[Row]:
        batch = self.batch(records)
        return batch.rows() if isinstance(batch, ColumnBatch) else batch

    def batch(self, records: Records) -> Batch:
        """Columns where all records have a key and a value that could be decoded: rows of them take three times as long."""
        if not records.offsets:
            return []
        keys, bounds = self._keys(records.keys)
        values = self._read_value(records.values)
        headers = self._headers(records)
        rows: list[Row]
        if keys.columns is None or values.columns is None or self._record_columns:
            rows = self._sound_rows(zip(keys.rows, values.rows, bounds, headers, strict=True), records)
        else:
            others = [column for part in (bounds, headers) if part[0] for column in zip(*part, strict=True)]
            fields = [*keys.columns, *values.columns, *others, records.timestamps, records.partitions, records.offsets]
            whole = ColumnBatch([fields[place] for place in self._places], records.partitions, records.offsets)
            if self._timestamp is None:
                return whole
            rows = whole.rows()
        return rows if self._timestamp is None else self._timed(rows)

    def _sound_rows(self, parts: Iterable[tuple[Any, Any, Any, Any]], records: Records) -> list[Row]:
        """Of records of which some may be without a key or a value, or may have one that could not be decoded."""
        rows: list[Row] = []
        places = zip(records.timestamps, records.partitions, records.offsets, strict=True)
        for index, ((key, value, bound, header), place) in enumerate(zip(parts, places, strict=True)):
            # A record without a value is a row for who asks for its bytes or its error: nothing of it may vanish then.
            is_deleted = value is None and not self._shows_errors
            if key is None and not self._source.is_table:
                key = self._no_key
            if value is None:
                value = self._no_value
            error = None
            if key.__class__ is not tuple or value.__class__ is not tuple:
                error = self._refuse(key, value, place, records.keys[index], records.values[index])
                if error is None or not self._shows_errors:
                    continue
                key, value = _or(key, self._no_key), _or(value, self._no_value)
            fields = key + value + bound + header + place
            if self._record_columns:
                fields += tuple(_record_part(column, records, index, error) for column in self._record_columns)
            rows.append((*[fields[at] for at in self._places], (is_deleted, place[1], place[2])))
        return rows

    def _keys(self, keys: Sequence[bytes | None]) -> tuple[_Part, Sequence[tuple[int | None, ...]]]:
        """Decoded keys, and the bounds of windows behind them."""
        window = self._source.key_window
        if not self._source.schema.key:
            return _Part(_nothing, _no_columns, keys), [()] * len(keys)
        if window is None:
            return self._read_key(keys), [()] * len(keys)
        width = _SESSION_WINDOW.size if window.kind is WindowKind.SESSION else _TIME_WINDOW.size
        stripped = [None if key is None else key[:-width] for key in keys]
        return self._read_key(stripped), [_bounds(key, window) for key in keys]

    def _headers(self, records: Records) -> Sequence[tuple[Any, ...]]:
        columns = self._source.schema.headers
        if not columns:
            return [()] * len(records.keys)
        return [tuple(_header(column, headers) for column in columns) for headers in records.headers]

    def _refuse(
        self, key: Any, value: Any, place: tuple[int, int, int], raw_key: bytes | None, raw_value: bytes | None
    ) -> str | None:
        """What is wrong with it. A record of a table without a key has no place in it, and is no fault."""
        if key is None and not isinstance(value, Undecodable):
            return None
        part, wrong, raw = ("key", key, raw_key) if isinstance(key, Undecodable) else ("value", value, raw_value)
        reason = f"The {part} cannot be decoded: {wrong.reason}"
        kind = ProblemKind.DESERIALIZATION
        self._on_problem(Problem(self._source.topic, place[1], place[2], reason, kind, part, _shown(raw)))
        return reason

    def _timed(self, rows: list[Row]) -> list[Row]:
        assert self._timestamp is not None
        timed = []
        for row in rows:
            try:
                timed.append(self._timestamp(row))
            except Exception as error:  # noqa: BLE001 - whatever is wrong with one record must not stop the query
                _, partition, offset = row[-1]
                reason = f"No timestamp can be had from it: {error}"
                self._on_problem(Problem(self._source.topic, partition, offset, reason))
        return timed


class _Part:
    """The keys or the values of records, decoded. `columns` are there where all of them could be."""

    __slots__ = ("_count", "_rows", "columns")

    def __init__(self, decode: Decode, decode_columns: DecodeColumns | None, payloads: Sequence[bytes | None]) -> None:
        self._count = len(payloads)
        self._rows: Sequence[Any] | None = None
        self.columns = None if decode_columns is None else decode_columns(payloads)
        if self.columns is None:
            self._rows = rows = decode(payloads)
            if {tuple}.issuperset(map(type, rows)):
                self.columns = list(zip(*rows, strict=True))

    @property
    def rows(self) -> Sequence[Any]:
        """A tuple each, None, or why it cannot be decoded."""
        if self._rows is None:
            self._rows = list(zip(*self.columns, strict=True)) if self.columns else [()] * self._count
        return self._rows


def _nothing(payloads: Sequence[bytes | None]) -> list[Any]:
    return [()] * len(payloads)


def _no_columns(payloads: Sequence[bytes | None]) -> Sequence[Sequence[Any]]:
    return ()


def _shown(raw: bytes | None) -> str | None:
    return None if raw is None else b64encode(raw[:RAW_BYTES_MAX]).decode()


def _places(read: Read) -> list[int]:
    """Where the columns of the relation are among the fields of a record: its key, value, bounds, headers and place."""
    schema = read.source.schema
    names = [column.name for column in (*schema.key, *schema.value)]
    names += [WINDOWSTART, WINDOWEND] if read.source.key_window is not None else []
    names += [column.name for column in schema.headers]
    names += [ROWTIME, ROWPARTITION, ROWOFFSET]
    names += [column.name for column in read.source.record_columns]
    # ROWTIME alone keeps its name where columns are prefixed and it is not asked for by the other.
    places = {read.prefix + name: place for place, name in enumerate(names)}
    places.setdefault(ROWTIME, names.index(ROWTIME))
    return [places[column.name] for column in read.shape.columns]


def _or(part: Any, nothing: tuple[None, ...]) -> tuple[Any, ...]:
    return part if part.__class__ is tuple else nothing


def _record_part(column: RecordColumn, records: Records, index: int, error: str | None) -> Any:
    match column.part:
        case RecordPart.KEY_BYTES:
            return records.keys[index]
        case RecordPart.VALUE_BYTES:
            return records.values[index]
        case RecordPart.SCHEMA_ID:
            return _schema_id(records.values[index])
        case RecordPart.ERROR:
            return error
    return _header(HeaderColumn(column.name, column.header), records.headers[index])


def _schema_id(value: bytes | None) -> int | None:
    if value is None or len(value) < _SCHEMA_FRAME.size:
        return None
    magic, schema_id = _SCHEMA_FRAME.unpack_from(value)
    return schema_id if magic == 0 and schema_id > 0 else None


def _bounds(key: bytes | None, window: KeyWindow) -> tuple[int | None, int | None]:
    if key is None:
        return None, None
    if window.kind is WindowKind.SESSION:
        end, start = _SESSION_WINDOW.unpack(key[-_SESSION_WINDOW.size :].rjust(_SESSION_WINDOW.size, b"\0"))
        return start, end
    (start,) = _TIME_WINDOW.unpack(key[-_TIME_WINDOW.size :].rjust(_TIME_WINDOW.size, b"\0"))
    return start, None if window.size_ms is None else start + window.size_ms


def window_suffix(window: KeyWindow, start: int, end: int) -> bytes:
    """What stands behind the bytes of a key to tell its window."""
    return _SESSION_WINDOW.pack(end, start) if window.kind is WindowKind.SESSION else _TIME_WINDOW.pack(start)


def _header(column: HeaderColumn, headers: Headers) -> Any:
    if column.header is None:
        return [{"KEY": key, "VALUE": value} for key, value in headers]
    return next((value for key, value in reversed(headers) if key == column.header), None)


def _extractor(read: Read, rule: TimestampRule) -> Callable[[Row], Row]:
    """What puts the record's own idea of its time into ROWTIME."""
    names = [column.name for column in read.shape.columns]
    source = names.index(read.prefix + rule.column)
    targets = [place for place, name in enumerate(names) if name in (ROWTIME, read.prefix + ROWTIME)]
    parse = None if rule.pattern is None else LIBRARY.scalars["STRINGTOTIMESTAMP"].overloads[0].reference

    def extract(row: Row) -> Row:
        value = row[source] if parse is None else parse(row[source], rule.pattern)
        if not isinstance(value, int) or value < 0:
            raise ValueError(f"column {rule.column} is {'NULL' if value is None else repr(value)}")
        fields = list(row)
        for target in targets:
            fields[target] = value
        return tuple(fields)

    return extract
