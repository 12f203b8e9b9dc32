"""What lines mean: text, CSV or JSON, turned into records."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

import orjson

from connect.api.record import Record
from connect.api.source import RejectedInput
from connect.connectors.file.columns import Column, ColumnError, parse_columns
from connect.connectors.file.lines import Lines
from connect.connectors.file.source_settings import CSV, JSON, FileSourceSettings
from connect.data import schema
from connect.data.schema import STRING, Field, Schema, Type

REJECTED_SHOWN_BYTES: Final = 64 * 1024
"""How much of a line that is too long is kept for the dead letters."""


class Rows(NamedTuple):
    """Records, what was no record, and the position behind the last line that they came from."""

    records: list[Record]
    rejected: list[RejectedInput]
    end: int


class LineFormat(Protocol):
    def rows(self, lines: Lines) -> Rows:
        """The rows of whole lines; `lines` is not empty."""


def line_format(settings: FileSourceSettings, *, at_start: bool) -> LineFormat:
    """The format of a file that is read from its start, or from somewhere behind it."""
    if settings.format == CSV:
        return CsvFormat(settings, at_start=at_start)
    if settings.format == JSON:
        return JsonFormat(settings)
    return TextFormat(settings)


class TextFormat:
    """A line is a string."""

    def __init__(self, settings: FileSourceSettings) -> None:
        self._topic = settings.topic
        self._encoding = settings.encoding

    def rows(self, lines: Lines) -> Rows:
        topic, encoding = self._topic, self._encoding
        try:
            records = [Record(topic, text.decode(encoding), STRING) for text in lines.texts]
        except UnicodeDecodeError:
            return self._rows_one_by_one(lines)
        return Rows(records, [], lines.ends[-1])

    def _rows_one_by_one(self, lines: Lines) -> Rows:
        rows = Rows([], [], lines.ends[-1])
        for text in lines.texts:
            try:
                rows.records.append(Record(self._topic, text.decode(self._encoding), STRING))
            except UnicodeDecodeError as error:
                rows.rejected.append(RejectedInput(self._topic, text, f"the line is no {self._encoding}: {error}"))
        return rows


@dataclass(frozen=True, slots=True)
class _Shape:
    """The fields of a record's value, and those of its key."""

    value: Schema | None
    key: Schema | None
    key_names: tuple[str, ...]

    @classmethod
    def of(cls, columns: Sequence[Column] | None, key_names: tuple[str, ...]) -> _Shape:
        if columns is None:
            return cls(None, None, key_names)
        fields = tuple(Field(column.name, column.schema) for column in columns)
        keys = tuple(field for field in fields if field.name in key_names)
        return cls(
            Schema(Type.STRUCT, fields=fields), Schema(Type.STRUCT, fields=keys) if key_names else None, key_names
        )

    def record(self, topic: str, value: dict[str, Any]) -> Record:
        key = {name: value.get(name) for name in self.key_names} if self.key_names else None
        return Record(topic, value, self.value, key, self.key)


class CsvFormat:
    """A row of fields; one in quotes may contain line ends, so that a row may be several lines."""

    def __init__(self, settings: FileSourceSettings, *, at_start: bool) -> None:
        self._settings = settings
        self._columns = None if settings.columns is None else parse_columns(settings.columns)
        self._skips_header = settings.csv_header and at_start
        self._shape = _Shape.of(self._columns, settings.key_columns)
        self._open: list[bytes] = []

    def learn_header(self, line: bytes) -> None:
        """Take the names of the fields from the first line, for a file that is read from somewhere behind it."""
        if self._columns is None and self._settings.csv_header:
            self._name_columns(self._parse([line])[0])

    def rows(self, lines: Lines) -> Rows:
        if not self._open and not self._skips_header and self._columns is not None:
            try:
                return self._plain_rows(lines)
            except (ColumnError, UnicodeDecodeError, csv.Error):
                # One of them is bad, or not plain: one after the other shows which.
                pass
        rows = Rows([], [], lines.ends[-1])
        end = lines.ends[0] - len(lines.texts[0])
        for text, line_end in zip(lines.texts, lines.ends, strict=True):
            self._open.append(text)
            if self._in_quotes():
                continue
            whole, self._open = self._open, []
            end = line_end
            if whole != [b""]:
                self._take(whole, rows)
        # The lines of a row that goes on behind these are read again if the task ends here.
        return rows._replace(end=end if self._open else lines.ends[-1])

    def _plain_rows(self, lines: Lines) -> Rows:
        """Lines without quotes, all in one go."""
        text = b"\n".join(lines.texts).decode(self._settings.encoding)
        if self._settings.csv_quote in text:
            raise csv.Error("a quote")
        topic, record, value = self._settings.topic, self._shape.record, self._value
        parsed = csv.reader(text.split("\n"), delimiter=self._settings.delimiter, strict=True)
        return Rows([record(topic, value(fields)) for fields in parsed if fields], [], lines.ends[-1])

    def _in_quotes(self) -> bool:
        quote = self._settings.csv_quote.encode(self._settings.encoding)
        return sum(text.count(quote) for text in self._open) % 2 == 1

    def _take(self, whole: list[bytes], rows: Rows) -> None:
        try:
            fields = self._parse(whole)[0]
            if self._skips_header:
                self._skips_header = False
                if self._columns is None:
                    self._name_columns(fields)
                return
            rows.records.append(self._shape.record(self._settings.topic, self._value(fields)))
        except (ColumnError, UnicodeDecodeError, csv.Error) as error:
            rows.rejected.append(RejectedInput(self._settings.topic, b"\n".join(whole), str(error)))

    def _parse(self, whole: list[bytes]) -> list[list[str]]:
        settings = self._settings
        text = b"\n".join(whole).decode(settings.encoding)
        lines = text.splitlines(keepends=True)
        return list(csv.reader(lines, delimiter=settings.delimiter, quotechar=settings.csv_quote, strict=True))

    def _name_columns(self, names: Sequence[str]) -> None:
        self._columns = tuple(Column(name, schema.STRING.as_optional()) for name in names)
        self._shape = _Shape.of(self._columns, self._settings.key_columns)

    def _value(self, fields: Sequence[str]) -> dict[str, Any]:
        if self._columns is None:
            self._name_columns([f"column{number}" for number in range(1, len(fields) + 1)])
        columns = self._columns or ()
        if len(fields) != len(columns):
            raise ColumnError(f"the line has {len(fields)} fields, and there are {len(columns)} columns")
        return {column.name: column.parse(text) for column, text in zip(columns, fields, strict=True)}


class JsonFormat:
    """A line is a JSON value; with columns, an object of these fields."""

    def __init__(self, settings: FileSourceSettings) -> None:
        self._topic = settings.topic
        self._columns = None if settings.columns is None else parse_columns(settings.columns)
        self._shape = _Shape.of(self._columns, settings.key_columns)

    def rows(self, lines: Lines) -> Rows:
        rows = Rows([], [], lines.ends[-1])
        for text in lines.texts:
            if not text:
                continue
            try:
                rows.records.append(self._record(orjson.loads(text)))
            except (orjson.JSONDecodeError, ColumnError) as error:
                rows.rejected.append(RejectedInput(self._topic, text, f"the line cannot be read: {error}"))
        return rows

    def _record(self, value: Any) -> Record:
        if self._columns is None and not self._shape.key_names:
            return Record(self._topic, value)
        if not isinstance(value, dict):
            raise ColumnError(f"expected an object with fields, not {type(value).__name__}")
        if self._columns is not None:
            value = {column.name: _typed(column, value.get(column.name)) for column in self._columns}
        return self._shape.record(self._topic, value)


_JSON_TYPES: Final[dict[Type, tuple[type, ...]]] = {
    Type.BOOLEAN: (bool,),
    Type.FLOAT32: (int, float),
    Type.FLOAT64: (int, float),
    Type.STRING: (str,),
}


def _typed(column: Column, value: Any) -> Any:
    """A JSON value as the column's type; numbers of other widths and times are written as text or as they are."""
    declared = column.schema
    if value is None:
        if declared.optional:
            return None
        raise ColumnError(f"column {column.name} is missing")
    if declared.name is None and declared.type in _JSON_TYPES:
        if isinstance(value, _JSON_TYPES[declared.type]) and (
            declared.type is Type.BOOLEAN or not isinstance(value, bool)
        ):
            return value
        raise ColumnError(f"column {column.name}: {str(value)[:80]!r} is no {declared.type.value}")
    return column.parse(str(value))
