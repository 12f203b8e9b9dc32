"""Transforms that work on the key or on the value of a record."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from connect.api.record import Record
from connect.converters.converter import SchemaAndValue
from connect.data.schema import Schema
from connect.transforms.transform import Transform


class SidedTransform(Transform):
    """`change` says what becomes of a schema and a value; whether that is the record's key or value is decided when it is made."""

    def __init__(self, settings: Any, *, is_key: bool) -> None:
        super().__init__(settings)
        self.is_key = is_key

    @abstractmethod
    def change(self, schema: Schema | None, value: Any, record: Record) -> SchemaAndValue: ...

    def apply(self, record: Record) -> Record | None:
        if self.is_key:
            schema, value = self.change(record.key_schema, record.key, record)
            return record._replace(key=value, key_schema=schema)
        schema, value = self.change(record.value_schema, record.value, record)
        return record._replace(value=value, value_schema=schema)

    def side(self, record: Record) -> SchemaAndValue:
        if self.is_key:
            return SchemaAndValue(record.key_schema, record.key)
        return SchemaAndValue(record.value_schema, record.value)
