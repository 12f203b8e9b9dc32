"""Which fields of a record become columns, and which of them are the key."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from connect.api.record import Record
from connect.connectors.jdbc.writing.modes import KeyMode
from connect.data.schema import INT32, INT64, STRING, Schema, Type
from connect.errors import DataError

COORDINATES: Final = ("__connect_topic", "__connect_partition", "__connect_offset")
_COORDINATE_SCHEMAS: Final = (STRING, INT32, INT64)


class Part(Enum):
    """Where in a record the value of a column stands."""

    KEY = auto()
    KEY_FIELD = auto()
    VALUE = auto()
    VALUE_FIELD = auto()
    TOPIC = auto()
    PARTITION = auto()
    OFFSET = auto()


class RowField(NamedTuple):
    """A field that becomes a column. `schema` is None if the record came without one: then the table knows the type."""

    name: str
    part: Part
    schema: Schema | None
    is_key: bool = False

    def column(self, records: Sequence[Record]) -> list[Any]:
        """The values of all records, one after the other; DataError if a record has none of the kind."""
        match self.part:
            case Part.VALUE_FIELD:
                return _items([record.value for record in records], self.name)
            case Part.KEY_FIELD:
                return _items([record.key for record in records], self.name)
            case Part.VALUE:
                return [record.value for record in records]
            case Part.KEY:
                return _required([record.key for record in records])
            case Part.TOPIC:
                return [record.topic for record in records]
            case Part.PARTITION:
                return [record.partition for record in records]
            case Part.OFFSET:
                return [record.offset for record in records]


def _items(structs: Sequence[Any], name: str) -> list[Any]:
    try:
        return [struct[name] for struct in structs]
    except KeyError:
        return [struct.get(name) for struct in structs]
    except TypeError:
        bad = next(struct for struct in structs if not isinstance(struct, dict))
        raise DataError(f"there is no field {name}, since it is {_kind(bad)} where fields are wanted") from None


def _required(keys: list[Any]) -> list[Any]:
    if None in keys:
        raise DataError("the record has no key, and pk.mode=record_key takes the primary key from there")
    return keys


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__


class RecordShape(NamedTuple):
    """What records have in common whose rows have the same columns. A part without schema is told by `…_names`: those of its fields, or
    None if it has no fields.
    """

    key_schema: Schema | None
    value_schema: Schema | None
    key_names: Collection[str] | None = None
    value_names: Collection[str] | None = None


@dataclass(frozen=True, slots=True)
class FieldRules:
    """`whitelist` are the fields of the value that are wanted besides the key; empty: all."""

    key_mode: KeyMode
    key_fields: tuple[str, ...]
    whitelist: frozenset[str]
    text_column: str

    def of(self, shape: RecordShape) -> tuple[RowField, ...]:
        """The columns of rows, those of the key first."""
        value = self._value_fields(shape)
        keys = tuple(self._keys(shape, value))
        names = {field.name for field in keys}
        rest = [field for field in value if field.name not in names]
        found = (*keys, *(field for field in rest if not self.whitelist or field.name in self.whitelist))
        if not found:
            raise DataError(
                "the record has no field that is to be written: its value has none, or fields.whitelist none of them"
            )
        return found

    def keys_of(self, shape: RecordShape) -> tuple[RowField, ...]:
        """The columns of the key alone, which is all that a record has that deletes a row."""
        return tuple(self._keys(shape, ()))

    def _keys(self, shape: RecordShape, value: Sequence[RowField]) -> Iterator[RowField]:
        match self.key_mode:
            case KeyMode.NONE:
                return
            case KeyMode.KAFKA:
                parts = zip((Part.TOPIC, Part.PARTITION, Part.OFFSET), _COORDINATE_SCHEMAS, strict=True)
                for name, (part, schema) in zip(self.key_fields or COORDINATES, parts, strict=True):
                    yield RowField(name, part, schema, is_key=True)
            case KeyMode.RECORD_KEY:
                yield from self._wanted("key", self._record_key(shape))
            case KeyMode.RECORD_VALUE:
                yield from self._wanted("value", value)

    def _wanted(self, part: str, fields: Iterable[RowField]) -> Iterator[RowField]:
        found = {field.name: field for field in fields}
        if not found:
            raise DataError(f"the record's {part} has no field for a primary key")
        for name in self.key_fields or found:
            if name not in found:
                raise DataError(
                    f"the record's {part} has no field {name}, which pk.fields names; it has {', '.join(found) or 'none'}"
                )
            yield found[name]._replace(is_key=True)

    def _record_key(self, shape: RecordShape) -> tuple[RowField, ...]:
        fields = _fields_of(shape.key_schema, shape.key_names, Part.KEY_FIELD)
        if fields is not None:
            return fields
        if len(self.key_fields) != 1:
            raise DataError("the record's key is null or has no fields: give its column one name with pk.fields")
        return (RowField(self.key_fields[0], Part.KEY, shape.key_schema),)

    def _value_fields(self, shape: RecordShape) -> tuple[RowField, ...]:
        fields = _fields_of(shape.value_schema, shape.value_names, Part.VALUE_FIELD)
        if fields is not None:
            return fields
        schema = shape.value_schema
        if schema is None or schema.type is not Type.STRING:
            kind = "no object" if schema is None else f"of type {schema.type.value}"
            raise DataError(
                f"the record's value is {kind}, and has no fields for columns: "
                "make it a struct or a JSON object, with the transform HoistField, for one"
            )
        return (RowField(self.text_column, Part.VALUE, schema),)


def _fields_of(schema: Schema | None, names: Collection[str] | None, part: Part) -> tuple[RowField, ...] | None:
    """None: it has no fields."""
    if schema is not None:
        is_struct = schema.type is Type.STRUCT
        return tuple(RowField(each.name, part, each.schema) for each in schema.fields) if is_struct else None
    return None if names is None else tuple(RowField(name, part, None) for name in names)
