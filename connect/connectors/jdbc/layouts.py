"""Rows as records: what the columns of an answer are, and how a batch of its rows is converted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import orjson

from connect.api.record import Record
from connect.api.source import RejectedInput
from connect.connectors.jdbc.column_readings import Conversion, ReadingRules
from connect.connectors.jdbc.tables import Column
from connect.data.schema import Field, Schema, Type
from connect.errors import ConnectError

UNCONVERTIBLE: Final = (ValueError, TypeError, AttributeError, ArithmeticError)
"""What conversions raise for a value that does not fit its column's type."""

Row = Sequence[Any]


class Converted(NamedTuple):
    records: list[Record]
    rejected: list[RejectedInput]


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of an answer as a schema. `conversions` are those of the columns that need one, by their places."""

    topic: str
    schema: Schema
    names: tuple[str, ...]
    conversions: tuple[tuple[int, Conversion], ...]

    @classmethod
    def of(
        cls, topic: str, name: str | None, columns: Sequence[Column], rules: ReadingRules, sample: Sequence[Row]
    ) -> Layout:
        """`sample` are rows of the answer, which tell the types of columns that have none."""
        readings = [rules.of(column, [row[place] for row in sample]) for place, column in enumerate(columns)]
        names = tuple(column.name for column in columns)
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise ConnectError(f"the query has more than one column {twice[0]}: give them different names with AS")
        fields = tuple(Field(name, reading.schema) for name, reading in zip(names, readings, strict=True))
        conversions = ((place, reading.conversion) for place, reading in enumerate(readings))
        return cls(
            topic,
            Schema(Type.STRUCT, name=name, fields=fields),
            names,
            tuple((place, conversion) for place, conversion in conversions if conversion is not None),
        )

    def converted(self, rows: Sequence[Row]) -> Converted:
        """The records of rows; a row with a value that cannot be converted is rejected, and the others are not."""
        try:
            return Converted(self._records(rows), [])
        except UNCONVERTIBLE:
            return self._one_by_one(rows)

    def _records(self, rows: Sequence[Row]) -> list[Record]:
        if self.conversions and rows:
            columns: list[Sequence[Any]] = list(zip(*rows, strict=True))
            for place, convert in self.conversions:
                columns[place] = [None if value is None else convert(value) for value in columns[place]]
            rows = list(zip(*columns, strict=True))
        topic, names, schema = self.topic, self.names, self.schema
        # Every row has a value for each name, and the check would cost a fifth of the time.
        return [Record(topic, dict(zip(names, row)), schema) for row in rows]  # noqa: B905

    def _one_by_one(self, rows: Sequence[Row]) -> Converted:
        records: list[Record] = []
        rejected = []
        for row in rows:
            try:
                records += self._records([row])
            except UNCONVERTIBLE as error:
                data = orjson.dumps(dict(zip(self.names, row, strict=True)), default=repr)
                rejected.append(RejectedInput(self.topic, data, f"{self._culprit(row)}: {error}"))
        return Converted(records, rejected)

    def _culprit(self, row: Row) -> str:
        """The column whose value cannot be converted."""
        for place, convert in self.conversions:
            try:
                convert(row[place])
            except UNCONVERTIBLE:
                return f"column {self.names[place]}"
        return "the row"
