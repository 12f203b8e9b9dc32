"""Protobuf messages as schemas of Connect, with what makes values of Connect from those that the codec gives."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from datetime import UTC, date, datetime, time
from functools import cache
from typing import Any, Final, NamedTuple

from connect.converters import protobuf_names as names
from connect.converters.protobuf_names import ProtobufOptions
from connect.data import logical
from connect.data.conversion import Convert
from connect.data.mismatch import Mismatch
from connect.data.schema import (
    DATE_SCHEMA,
    SCALE,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Field,
    Schema,
    Type,
    array_of,
    decimal,
    map_of,
)
from connect.errors import DataError

# Numbers that descriptors have for types of fields.
_DOUBLE, _FLOAT, _BOOL, _STRING, _MESSAGE, _BYTES, _ENUM = 1, 2, 8, 9, 11, 12, 14
_INT32: Final = {5: "int32", 15: "sfixed32", 17: "sint32"}
_INT64: Final = {3: "int64", 4: "uint64", 6: "fixed64", 7: "fixed32", 13: "uint32", 16: "sfixed64", 18: "sint64"}
_META_NUMBER: Final = 1088
_UPPER: Final = re.compile(r"(?<!^)(?=[A-Z])")
_NARROW: Final = {"int8": Type.INT8, "int16": Type.INT16}
_WRAPPED: Final = {
    "google.protobuf.DoubleValue": Type.FLOAT64,
    "google.protobuf.FloatValue": Type.FLOAT32,
    "google.protobuf.Int64Value": Type.INT64,
    "google.protobuf.UInt64Value": Type.INT64,
    "google.protobuf.Int32Value": Type.INT32,
    "google.protobuf.UInt32Value": Type.INT64,
    "google.protobuf.BoolValue": Type.BOOLEAN,
    "google.protobuf.StringValue": Type.STRING,
    "google.protobuf.BytesValue": Type.BYTES,
}


class Part(NamedTuple):
    """The schema of Connect, and what makes its values; None: they are what they are."""

    schema: Schema
    convert: Convert | None


class ProtobufReading:
    """Reads descriptors of messages."""

    def __init__(self, options: ProtobufOptions) -> None:
        self._options = options
        self._open: set[str] = set()

    def root(self, descriptor: Any) -> Part:
        wrapped = _WRAPPED.get(descriptor.full_name)
        if wrapped is None:
            return self._message(descriptor)
        part = _scalar(wrapped)
        return Part(part.schema, lambda message: _converted(part.convert, message["value"]))

    def _message(self, descriptor: Any) -> Part:
        full_name = descriptor.full_name
        if full_name in self._open:
            raise DataError(f"the Protobuf message {full_name} holds itself, which schemas of Connect cannot say")
        if full_name.startswith("google.protobuf."):
            raise DataError(f"the Protobuf schema uses {full_name}, which this converter cannot read")
        self._open.add(full_name)
        fields: list[Field] = []
        converts: list[tuple[str, Convert]] = []
        unions: list[tuple[str, dict[str, Convert | None]]] = []
        for each in _real_unions(descriptor):
            union, members = self._union(each)
            fields.append(union)
            unions.append((union.name, members))
        for each in descriptor.fields:
            if _real_union(each) is None:
                part = self._field(each, in_union=False)
                fields.append(Field(each.name, part.schema))
                if part.convert is not None:
                    converts.append((each.name, part.convert))
        self._open.discard(full_name)
        schema = Schema(Type.STRUCT, name=self._name(descriptor), fields=tuple(fields))
        return Part(schema, _struct([each.name for each in fields], converts, unions))

    def _name(self, descriptor: Any) -> str:
        name: str = descriptor.full_name if self._options.is_enhanced else descriptor.name
        return name

    def _union(self, one_of: Any) -> tuple[Field, dict[str, Convert | None]]:
        members = [(each.name, self._field(each, in_union=True)) for each in one_of.fields]
        schema = Schema(
            Type.STRUCT,
            optional=True,
            name=f"{names.UNION}.{self._name(one_of)}",
            fields=tuple(Field(name, part.schema) for name, part in members),
        )
        name = f"{one_of.name}_{one_of.index}" if self._options.index_for_unions else one_of.name
        return Field(name, schema), {name: part.convert for name, part in members}

    def _field(self, field: Any, *, in_union: bool) -> Part:
        part = self._single(field)
        schema, convert = part
        is_message = field.type in (_MESSAGE, _ENUM)
        if field.is_repeated and schema.type is not Type.MAP:
            schema = array_of(schema.as_optional(), optional=True)
            convert = None if part.convert is None else _items(part.convert)
        elif in_union or is_message or self._is_nullable(field):
            schema = schema.as_optional()
        tagged = (*schema.parameters, (names.TAG, str(field.number)))
        return Part(replace(schema, parameters=tagged), convert)

    def _is_nullable(self, field: Any) -> bool:
        if self._options.optional_for_nullables:
            return bool(field.has_presence) and not field.is_required
        return not self._options.wrapper_for_nullables

    def _single(self, field: Any) -> Part:
        if field.type == _MESSAGE:
            return self._message_field(field)
        if field.type == _ENUM:
            return self._enum(field.enum_type)
        if field.type in _INT32:
            narrow = _NARROW.get(_meta(field).get("connect.type", ""))
            return Part(Schema(narrow), None) if narrow else Part(_number(Type.INT32, _INT32[field.type]), None)
        if field.type in _INT64:
            # Numbers of 64 bits are strings in JSON.
            return Part(_number(Type.INT64, _INT64[field.type]), int)
        kinds = {
            _DOUBLE: Type.FLOAT64,
            _FLOAT: Type.FLOAT32,
            _BOOL: Type.BOOLEAN,
            _STRING: Type.STRING,
            _BYTES: Type.BYTES,
        }
        if field.type not in kinds:
            raise DataError(f"the Protobuf field {field.full_name} is a group, which this converter cannot read")
        return _scalar(kinds[field.type])

    def _message_field(self, field: Any) -> Part:
        descriptor = field.message_type
        logical_part = _logical(descriptor.full_name, field)
        if logical_part is not None:
            return logical_part
        wrapped = _WRAPPED.get(descriptor.full_name)
        if wrapped is not None:
            return self._wrapper(descriptor, _scalar(wrapped))
        return self._map(descriptor) if _is_map(field) else self._message(descriptor)

    def _wrapper(self, descriptor: Any, inside: Part) -> Part:
        """A value in a message of its own, which the codec gives as the value."""
        if self._options.wrapper_for_nullables:
            return inside
        value = replace(inside.schema, optional=True, parameters=((names.TAG, "1"),))
        schema = Schema(Type.STRUCT, name=self._name(descriptor), fields=(Field("value", value),))
        convert = inside.convert
        return Part(schema, lambda given: {"value": given if convert is None else convert(given)})

    def _map(self, descriptor: Any) -> Part:
        key, value = (self._field(each, in_union=False) for each in descriptor.fields)
        name = self._name(descriptor).removesuffix(names.MAP_ENTRY_SUFFIX)
        head, dot, last = name.rpartition(".")
        schema = replace(map_of(key.schema, value.schema), name=head + dot + _UPPER.sub("_", last).lower())
        is_real = descriptor.GetOptions().map_entry

        def convert(given: Any) -> Any:
            pairs = given.items() if is_real else [(entry.get("key"), entry.get("value")) for entry in given]
            return {
                _converted(key.convert, _map_key(name, key.schema) if is_real else name): _converted(
                    value.convert, item
                )
                for name, item in pairs
            }

        return Part(schema, convert)

    def _enum(self, descriptor: Any) -> Part:
        symbols = ((f"{names.ENUM}.{each.name}", str(each.number)) for each in descriptor.values)
        parameters = ((names.ENUM, descriptor.name), *symbols)
        # A number that the schema does not know has no symbol.
        return Part(Schema(Type.STRING, name=self._name(descriptor), parameters=parameters), str)


def _number(kind: Type, word: str) -> Schema:
    is_usual = word in ("int32", "int64")
    return Schema(kind) if is_usual else Schema(kind, parameters=((names.NUMBER_TYPE, word),))


def _scalar(kind: Type) -> Part:
    converts: dict[Type, Convert] = {
        Type.FLOAT32: float,
        Type.FLOAT64: float,
        Type.INT64: int,
        Type.BYTES: base64.b64decode,
    }
    return Part(Schema(kind), converts.get(kind))


def _logical(full_name: str, field: Any) -> Part | None:
    if full_name == "confluent.type.Decimal":
        meta = _meta(field)
        scale = meta.get("scale", "")
        schema = decimal(int(scale) if scale.removeprefix("-").isdecimal() else 0)
        if "precision" in meta:
            schema = replace(schema, parameters=((SCALE, str(schema.scale)), (names.PRECISION, meta["precision"])))
        return Part(schema, _read_decimal)
    found: dict[str, Part] = {
        "google.type.Date": Part(DATE_SCHEMA, _read_date),
        "google.type.TimeOfDay": Part(TIME_SCHEMA, _read_time),
        "google.protobuf.Timestamp": Part(TIMESTAMP_SCHEMA, _read_timestamp),
    }
    return found.get(full_name)


def _read_decimal(given: Any) -> Any:
    data = base64.b64decode(given["value"])
    return logical.scaled(int.from_bytes(data, "big", signed=True), given["scale"])


def _read_date(given: Any) -> date:
    try:
        return date(given["year"], given["month"], given["day"])
    except ValueError as error:
        raise Mismatch(f"{given} is no date: {error}") from None


def _read_time(given: Any) -> time:
    try:
        return time(given["hours"], given["minutes"], given["seconds"], given["nanos"] // 1_000_000 * 1000)
    except ValueError as error:
        raise Mismatch(f"{given} is no time of a day: {error}") from None


def _read_timestamp(given: Any) -> datetime:
    found = datetime.fromisoformat(given).astimezone(UTC)
    return found.replace(microsecond=found.microsecond // 1000 * 1000)


def _converted(convert: Convert | None, value: Any) -> Any:
    return value if convert is None or value is None else convert(value)


def _items(convert: Convert) -> Convert:
    return lambda items: [convert(item) for item in items]


def _struct(
    fields: list[str], converts: list[tuple[str, Convert]], unions: list[tuple[str, dict[str, Convert | None]]]
) -> Convert:
    def convert(value: Any) -> Any:
        found: dict[str, Any] = dict.fromkeys(fields)
        for name, item in value.items():
            if name in found:
                found[name] = item
        for name, convert_field in converts:
            if found[name] is not None:
                found[name] = convert_field(found[name])
        for name, members in unions:
            given = [each for each in members if each in value]
            found[name] = {each: _converted(members[each], value[each]) for each in given} or None
        return found

    return convert


def _is_map(field: Any) -> bool:
    """Entries of maps: those that are so called count, too, since Confluent's converter writes such."""
    kind = field.message_type
    if not field.is_repeated or [each.name for each in kind.fields] != ["key", "value"]:
        return False
    return kind.name.endswith(names.MAP_ENTRY_SUFFIX) and not any(each.is_repeated for each in kind.fields)


def _map_key(text: Any, schema: Schema) -> Any:
    """Keys of maps are strings in JSON, whatever they are."""
    if schema.type is Type.BOOLEAN:
        return text == "true" if type(text) is str else text
    return int(text) if schema.type.bits is not None else text


def _real_union(field: Any) -> Any:
    one_of = field.containing_oneof
    if one_of is None or (len(one_of.fields) == 1 and one_of.name == f"_{field.name}"):
        # A field that is called optional has a union of its own behind the scenes.
        return None
    return one_of


def _real_unions(descriptor: Any) -> list[Any]:
    return [each for each in descriptor.oneofs if _real_union(each.fields[0]) is not None]


def _meta(field: Any) -> dict[str, str]:
    """The parameters in Confluent's option of a field, wherever the library keeps it: it knows the option only if somebody registered it."""
    options = _options_class()()
    options.ParseFromString(field.GetOptions().SerializeToString())
    return {entry.key: entry.value for entry in options.meta.params}


@cache
def _options_class() -> Any:
    """The options of fields, as far as this converter reads them."""
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="field_options.proto", package="connect", syntax="proto3")
    options, meta, parameter = (file.message_type.add(name=name) for name in ("Options", "Meta", "Parameter"))
    options.field.add(name="meta", number=_META_NUMBER, type=kinds.TYPE_MESSAGE, type_name=".connect.Meta")
    meta.field.add(
        name="params", number=2, label=kinds.LABEL_REPEATED, type=kinds.TYPE_MESSAGE, type_name=".connect.Parameter"
    )
    for number, name in enumerate(("key", "value"), 1):
        parameter.field.add(name=name, number=number, type=kinds.TYPE_STRING)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("connect.Options"))
