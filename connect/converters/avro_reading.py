"""Avro schemas as schemas of Connect, with what makes values of Connect from those that the codec gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from barnabas.kernel.serdes.avro_names import NAMED_KINDS, AvroNames, parsed
from connect.converters import avro_names as names
from connect.converters.avro_defaults import AvroDefaultReading
from connect.converters.avro_names import NAMESPACE
from connect.converters.avro_schema import AvroOptions
from connect.data import logical
from connect.data.conversion import Convert, shortest_float32
from connect.data.mismatch import Mismatch
from connect.data.schema import (
    DATE_SCHEMA,
    DECIMAL,
    SCALE,
    STRING,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    Field,
    Schema,
    Type,
    array_of,
    map_of,
)
from connect.errors import DataError

_PRIMITIVES: Final = {
    "boolean": Type.BOOLEAN,
    "int": Type.INT32,
    "long": Type.INT64,
    "float": Type.FLOAT32,
    "double": Type.FLOAT64,
    "bytes": Type.BYTES,
    "string": Type.STRING,
}
_NARROW: Final = {"int8": Type.INT8, "int16": Type.INT16}
_LOGICAL: Final[Mapping[tuple[str, str], tuple[Schema, Convert]]] = {
    ("int", "date"): (DATE_SCHEMA, logical.date_of),
    ("int", "time-millis"): (TIME_SCHEMA, logical.time_of),
    ("long", "timestamp-millis"): (TIMESTAMP_SCHEMA, logical.timestamp_of),
}
_DEFAULTS: Final = AvroDefaultReading()


class Part(NamedTuple):
    """A part of an Avro schema: the schema of Connect, what makes its values (None: they are what they are), and the name in unions."""

    schema: Schema
    convert: Convert | None
    branch: str


class AvroReading:
    """Reads one schema; types that have a name are known from then on."""

    def __init__(self, options: AvroOptions) -> None:
        self._options = options
        self._names = AvroNames(())
        self._open: set[str] = set()

    def read(self, text: str, referenced: Sequence[str] = ()) -> Part:
        described, self._names = parsed(text, referenced)
        return self._part(described, "")

    def _part(self, described: Any, space: str) -> Part:
        if isinstance(described, list):
            return self._union(described, space)
        named = self._names.named(described, space)
        if named is not None:
            return self._with_properties(self._named_part(named), named)
        if isinstance(described, str):
            if described not in _PRIMITIVES:
                raise DataError(
                    f"an Avro schema that stands for {described!r} alone cannot be read: it holds nothing but null"
                )
            described = {"type": described}
        kind = described["type"]
        if isinstance(kind, dict | list):
            return self._part(kind, space)
        if kind == "array":
            part = self._array(described, space)
        elif kind == "map":
            part = _map(self._part(described["values"], space))
        elif kind in _PRIMITIVES:
            part = _primitive(described)
        else:
            return self._part(kind, space)
        return self._with_properties(part, described)

    def _named_part(self, described: dict[str, Any]) -> Part:
        if described["type"] == "fixed":
            return _fixed(described)
        return _enum(described, self._options) if described["type"] == "enum" else self._record(described)

    def _record(self, described: dict[str, Any]) -> Part:
        full_name = described["name"]
        if full_name in self._open:
            raise DataError(f"the Avro record {full_name} holds itself, which schemas of Connect cannot say")
        self._open.add(full_name)
        space = full_name.rpartition(".")[0]
        parameters: list[tuple[str, str]] = []
        if self._options.keeps_metadata and described.get("doc") is not None:
            parameters.append((names.RECORD_DOC, described["doc"]))
        fields: list[Field] = []
        converts: list[tuple[str, Convert]] = []
        for each in described["fields"]:
            part = self._part(each["type"], space)
            if self._options.keeps_metadata and each.get("doc") is not None:
                parameters.append((names.FIELD_DOC + each["name"], each["doc"]))
            fields.append(Field(each["name"], self._field_schema(part, each)))
            if part.convert is not None:
                converts.append((each["name"], part.convert))
        self._open.discard(full_name)
        schema = Schema(Type.STRUCT, parameters=tuple(parameters), fields=tuple(fields))
        return Part(schema, _fields_converted(converts), full_name)

    def _field_schema(self, part: Part, field: dict[str, Any]) -> Schema:
        is_flattened = isinstance(field["type"], list) and part.schema.name != names.UNION
        if "default" not in field or is_flattened:
            # From a union that is none in Connect, no default is taken: the type itself has it as a property.
            return part.schema
        schema = part.schema if field["default"] is None else _with_default(part.schema, field["default"])
        if self._options.keeps_metadata and not part.schema.has_default:
            schema = replace(schema, parameters=(*schema.parameters, (names.FIELD_DEFAULT, "true")))
        return schema

    def _array(self, described: dict[str, Any], space: str) -> Part:
        items = self._part(described["items"], space)
        if not self._is_entry(items):
            convert = items.convert
            return Part(array_of(items.schema), None if convert is None else _items_converted(convert), "array")
        key, value = items.schema.field_of("key"), items.schema.field_of("value")
        if key is None or value is None or len(items.schema.fields) != 2:
            raise DataError("an Avro array of map entries must hold records of a key and a value")

        def convert_entries(entries: Any) -> Any:
            read = items.convert
            pairs = [entry if read is None else read(entry) for entry in entries]
            return {entry["key"]: entry["value"] for entry in pairs}

        return Part(map_of(key.schema, value.schema), convert_entries, "array")

    def _is_entry(self, items: Part) -> bool:
        found = self._names.named(items.branch, "")
        if found is None or found["type"] != "record" or items.schema.optional:
            return False
        return items.branch == f"{NAMESPACE}.{names.MAP_ENTRY}" or found.get(names.INTERNAL_TYPE) == names.MAP_ENTRY

    def _union(self, described: list[Any], space: str) -> Part:
        members = [self._part(each, space) for each in described if each != "null" and each != {"type": "null"}]
        has_null = len(members) < len(described)
        if len(members) == 1 and (has_null or self._options.flattens_singletons):
            (member,) = members
            schema = member.schema.as_optional() if has_null else member.schema
            return Part(schema, _unless_null(member.convert), member.branch)
        fields = [(self._member_name(each), each) for each in members]
        if len({name for name, _ in fields}) < len(fields):
            raise DataError(
                "an Avro union has types of the same name in different namespaces: set enhanced.avro.schema.support"
            )
        schema = Schema(
            Type.STRUCT,
            has_null,
            names.UNION,
            fields=tuple(Field(name, each.schema.as_optional()) for name, each in fields),
        )
        return Part(schema, _union_converted(fields), "union")

    def _member_name(self, member: Part) -> str:
        return member.branch if self._options.is_enhanced else member.branch.rpartition(".")[2]

    def _with_properties(self, part: Part, described: dict[str, Any]) -> Part:
        schema = part.schema
        keeps = self._options.keeps_metadata
        doc, version, name = (
            described.get("connect.doc"),
            described.get("connect.version"),
            described.get("connect.name"),
        )
        if name is None and described["type"] in NAMED_KINDS and schema.name != DECIMAL:
            name = described["name"]
        if name is not None and name.startswith(names.DEFAULT_FULL_NAME):
            name = None
        given = described.get("connect.parameters") if keeps else None
        parameters = dict(schema.parameters) | (given or {})
        parameters |= {key: str(value) for key, value in described.items() if key.startswith("avro")}
        schema = replace(
            schema,
            name=schema.name or name,
            version=version if schema.version is None else schema.version,
            doc=doc if keeps else None,
            parameters=tuple(parameters.items()),
        )
        default = described.get("connect.default")
        return part._replace(schema=schema if default is None else _with_default(schema, default))


def _primitive(described: dict[str, Any]) -> Part:
    kind, logical_type = described["type"], described.get("logicalType")
    found = _LOGICAL.get((kind, str(logical_type)))
    if found is not None:
        return Part(*found, kind)
    if kind == "bytes":
        return _binary(described, kind, ())
    if kind == "float":
        return Part(Schema(Type.FLOAT32), shortest_float32, kind)
    narrow = _NARROW.get(str(described.get("connect.type"))) if kind == "int" and logical_type is None else None
    return Part(Schema(narrow or _PRIMITIVES[kind]), None, kind)


def _binary(described: dict[str, Any], branch: str, parameters: tuple[tuple[str, str], ...]) -> Part:
    if described.get("logicalType") != "decimal":
        return Part(Schema(Type.BYTES, parameters=parameters), None, branch)
    scale, precision = described.get("scale", 0), described.get("precision", names.PRECISION_DEFAULT)
    if type(scale) is not int:
        raise DataError(f"the Avro schema has a decimal whose scale is {scale!r}, which is no whole number")
    given = [(SCALE, str(scale))]
    if precision != names.PRECISION_DEFAULT:
        given.append((names.PRECISION, str(precision)))
    schema = Schema(Type.BYTES, name=DECIMAL, version=1, parameters=(*given, *parameters))
    return Part(schema, lambda value: logical.decimal_of(value, scale), branch)


def _fixed(described: dict[str, Any]) -> Part:
    return _binary(described, described["name"], ((names.FIXED_SIZE, str(described["size"])),))


def _enum(described: dict[str, Any], options: AvroOptions) -> Part:
    full_name, symbols = described["name"], described["symbols"]
    name = full_name.rpartition(".")[2]
    parameters: list[tuple[str, str]] = []
    if options.keeps_metadata:
        kept = ((names.ENUM_DOC, described.get("doc")), (names.ENUM_DEFAULT, described.get("default")))
        parameters += [(prefix + name, value) for prefix, value in kept if value is not None]
    parameters += [(names.ENUM, full_name), *((f"{names.ENUM}.{symbol}", symbol) for symbol in symbols)]
    return Part(Schema(Type.STRING, parameters=tuple(parameters)), None, full_name)


def _map(values: Part) -> Part:
    convert = values.convert
    if convert is None:
        return Part(map_of(STRING, values.schema), None, "map")
    return Part(
        map_of(STRING, values.schema), lambda given: {name: convert(item) for name, item in given.items()}, "map"
    )


def _fields_converted(fields: Sequence[tuple[str, Convert]]) -> Convert | None:
    if not fields:
        return None

    def convert(record: Any) -> Any:
        # The codec has made the dict for us alone.
        name = ""
        try:
            for name, convert_field in fields:
                record[name] = convert_field(record[name])
        except Mismatch as error:
            raise error.inside(name) from None
        return record

    return convert


def _items_converted(convert: Convert) -> Convert:
    return lambda items: [convert(item) for item in items]


def _unless_null(convert: Convert | None) -> Convert | None:
    return None if convert is None else lambda value: None if value is None else convert(value)


def _union_converted(members: Sequence[tuple[str, Part]]) -> Convert:
    by_branch = {part.branch: (name, part.convert) for name, part in members}
    # The codec has the branch only where there is a choice.
    only = members[0][1].branch if len(members) == 1 else None

    def convert(value: Any) -> Any:
        if value is None:
            return None
        branch, item = (only, value) if only is not None else next(iter(value.items()))
        name, convert_member = by_branch[branch]
        return {name: item if convert_member is None else convert_member(item)}

    return convert


def _with_default(schema: Schema, default: Any) -> Schema:
    """The schema with a default in Avro's JSON, which names no types of unions; one that does not fit is passed over."""
    try:
        return replace(schema, default=_DEFAULTS.compile(schema)(default))
    except Mismatch:
        return schema
