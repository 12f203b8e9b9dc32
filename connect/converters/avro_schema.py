"""Schemas of Connect as Avro schemas, with the names and properties that Confluent's converter gives them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from connect.converters import avro_names as names
from connect.converters.avro_defaults import AvroDefaults
from connect.converters.avro_names import (
    NAMESPACE,
    has_plain_keys,
    is_enum,
    is_fixed,
    is_union,
    scrubbed,
    scrubbed_full,
)
from connect.data.schema import DECIMAL, Field, Schema, Type
from connect.errors import DataError

_TYPES: Final = {
    Type.BOOLEAN: "boolean",
    Type.INT8: "int",
    Type.INT16: "int",
    Type.INT32: "int",
    Type.INT64: "long",
    Type.FLOAT32: "float",
    Type.FLOAT64: "double",
    Type.BYTES: "bytes",
    Type.STRING: "string",
}
# Types of Connect that Avro does not tell apart.
_NARROW: Final = (Type.INT8, Type.INT16)


@dataclass(frozen=True, slots=True)
class AvroOptions:
    """The choices that Confluent's converter leaves for schemas."""

    keeps_metadata: bool = True
    is_enhanced: bool = False
    scrubs_names: bool = False
    allows_optional_keys: bool = False
    flattens_singletons: bool = True


class AvroDescription:
    """An Avro schema under construction: types with a name are described once and named from then on."""

    def __init__(self, options: AvroOptions) -> None:
        self._options = options
        self._defaults = AvroDefaults(allows_optional_keys=options.allows_optional_keys)
        self._defined: dict[str, Schema] = {}
        self._unnamed: dict[Schema, str] = {}
        self._entries: dict[tuple[Schema, Schema], str] = {}

    def describe(self, schema: Schema, space: str | None = None) -> Any:
        """The JSON of a schema inside a namespace."""
        if schema.type is Type.STRUCT and is_union(schema):
            members = [self._base(each.schema.as_required(), space) for each in schema.fields]
            return ["null", *members] if schema.optional else members
        base = self._base(schema, space)
        if not schema.optional:
            return base
        # A default must be of the first type of a union. Structs stay behind null, whatever their default.
        null_first = schema.default_value is None or schema.type is Type.STRUCT
        return ["null", base] if null_first else [base, "null"]

    def full_name(self, schema: Schema) -> str:
        """The name of a record, an enum or a fixed type, by which unions know it."""
        if is_enum(schema) and self._options.is_enhanced:
            return schema.parameter(names.ENUM) or ""
        if schema.name is not None:
            return scrubbed_full(schema.name) if self._options.scrubs_names else schema.name
        key = schema.as_required()
        if key not in self._unnamed:
            number = len(self._unnamed) + 1
            self._unnamed[key] = names.DEFAULT_FULL_NAME + (str(number) if number > 1 else "")
        return self._unnamed[key]

    def _base(self, schema: Schema, space: str | None) -> Any:
        if schema.type is Type.STRUCT or is_fixed(schema) or (is_enum(schema) and self._options.is_enhanced):
            return self._named(schema, self.full_name(schema), space)
        properties = self._properties(schema)
        if schema.type is Type.ARRAY and schema.values is not None:
            return {"type": "array", "items": self.describe(schema.values, space), **properties}
        if schema.type is Type.MAP and schema.values is not None:
            return {**self._map(schema, schema.values, space), **properties}
        kind = _TYPES[schema.type]
        return {"type": kind, **properties} if properties else kind

    def _named(self, schema: Schema, full_name: str, space: str | None) -> Any:
        namespace, _, name = full_name.rpartition(".")
        known = self._defined.get(full_name)
        if known is not None:
            if (known.type, known.fields) != (schema.type, schema.fields):
                raise DataError(
                    f"two different types are called {full_name}, which Avro does not allow: rename one of them"
                )
            return name if namespace == (space or "") else full_name
        self._defined[full_name] = schema
        head: dict[str, Any] = {"type": "record", "name": name}
        if namespace != (space or ""):
            head["namespace"] = namespace
        properties = self._properties(schema)
        if schema.type is Type.BYTES:
            return {**head, "type": "fixed", "size": int(schema.parameter(names.FIXED_SIZE) or 0), **properties}
        if schema.type is Type.STRING:
            return {**head, "type": "enum", **_enum(schema, name), **properties}
        doc = schema.parameter(names.RECORD_DOC)
        described = {} if doc is None else {"doc": doc}
        fields = [self._field(schema, each, namespace) for each in schema.fields]
        return {**head, **described, "fields": fields, **properties}

    def _field(self, record: Schema, field: Field, space: str) -> dict[str, Any]:
        schema = field.schema
        described = {"name": self._name(field.name), "type": self.describe(schema, space)}
        doc = record.parameter(names.FIELD_DOC + field.name)
        if doc is not None:
            described["doc"] = doc
        if schema.default_value is not None:
            if _has_plain_default(schema, self._options):
                described["default"] = self._defaults.default(schema)
        elif schema.optional:
            described["default"] = None
        return described

    def _name(self, name: str) -> str:
        return scrubbed(name) if self._options.scrubs_names else name

    def _map(self, schema: Schema, values: Schema, space: str | None) -> dict[str, Any]:
        if has_plain_keys(schema, allows_optional=self._options.allows_optional_keys):
            return {"type": "map", "values": self.describe(values, space)}
        assert schema.keys is not None, "maps say what their keys are"
        entry = Schema(Type.STRUCT, fields=(Field("key", schema.keys), Field("value", values)))
        full_name = self.full_name(schema) if schema.name is not None else self._entry_name(schema.keys, values)
        described = self._named(entry, full_name, space)
        if isinstance(described, dict) and full_name != f"{NAMESPACE}.{names.MAP_ENTRY}":
            described[names.INTERNAL_TYPE] = names.MAP_ENTRY
        return {"type": "array", "items": described}

    def _entry_name(self, keys: Schema, values: Schema) -> str:
        """Entries of different types need different names; the first has the one that Confluent's converter knows."""
        number = len(self._entries) + 1
        return self._entries.setdefault((keys, values), f"{NAMESPACE}.{names.MAP_ENTRY}{number if number > 1 else ''}")

    def _properties(self, schema: Schema) -> dict[str, Any]:
        """What Avro has no words for, in the order in which Confluent's converter writes it."""
        properties: dict[str, Any] = {}
        if schema.name == DECIMAL:
            precision = int(schema.parameter(names.PRECISION) or names.PRECISION_DEFAULT)
            properties |= {"scale": schema.scale, "precision": precision}
        if self._options.keeps_metadata:
            properties |= self._metadata(schema)
        if schema.name in names.LOGICAL_TYPES:
            properties["logicalType"] = names.LOGICAL_TYPES[schema.name]
        return properties | {name: value for name, value in schema.parameters if name.startswith("avro")}

    def _metadata(self, schema: Schema) -> dict[str, Any]:
        parameters = {name: value for name, value in schema.parameters if name != names.FIELD_DEFAULT}
        has_default = schema.default_value is not None and schema.parameter(names.FIELD_DEFAULT) is None
        given = {
            "connect.doc": schema.doc,
            "connect.version": schema.version,
            "connect.parameters": parameters or None,
            "connect.default": self._defaults.default(schema) if has_default else None,
            "connect.name": schema.name,
            "connect.type": schema.type.value if schema.type in _NARROW else None,
        }
        return {name: value for name, value in given.items() if value is not None}


def _enum(schema: Schema, name: str) -> dict[str, Any]:
    prefix = f"{names.ENUM}."
    doc, default = schema.parameter(names.ENUM_DOC + name), schema.parameter(names.ENUM_DEFAULT + name)
    symbols = [key.removeprefix(prefix) for key, _ in schema.parameters if key.startswith(prefix)]
    return {
        **({} if doc is None else {"doc": doc}),
        "symbols": symbols,
        **({} if default is None else {"default": default}),
    }


def _has_plain_default(schema: Schema, options: AvroOptions) -> bool:
    """Whether the default of a field is one in Avro: maps whose keys are no strings have none there."""
    if schema.type is Type.MAP and not has_plain_keys(schema, allows_optional=options.allows_optional_keys):
        return False
    inside = [each.schema for each in schema.fields]
    inside += [] if schema.values is None else [schema.values]
    return all(_has_plain_default(each, options) for each in inside)
