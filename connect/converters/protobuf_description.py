"""Schemas of Connect as Protobuf files, with the names that Confluent's converter gives them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from connect.converters import protobuf_names as names
from connect.converters.protobuf_names import ProtobufOptions, is_enum, is_union, scalar, valid_name
from connect.data.schema import DECIMAL, SCALE, Field, Schema, Type
from connect.errors import DataError

_NARROW: Final = (Type.INT8, Type.INT16)
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


class ProtobufDescription:
    """A file under construction: one message, with the others inside of it."""

    def __init__(self, options: ProtobufOptions) -> None:
        self._options = options
        self._unnamed = 0
        # In the order of their first use.
        self._imports: dict[str, None] = {}

    def text(self, schema: Schema) -> str:
        if schema.type is not Type.STRUCT:
            return _wrapper_file(schema)
        package, _, name = (schema.name or self._default_name()).rpartition(".")
        message = "\n".join(self._message(schema, self._valid(name)))
        package = ".".join(map(self._valid, package.split("."))) if package else ""
        head = 'syntax = "proto3";\n' + (f"package {package};\n" if package else "")
        imports = "".join([f'import "{each}";\n' for each in self._imports])
        return f"{head}\n{imports}\n{message}\n" if imports else f"{head}\n{message}\n"

    def _message(self, schema: Schema, name: str, *, is_entry: bool = False) -> Iterator[str]:
        lines: list[str] = []
        nested: dict[str, list[str]] = {}
        place = 1
        for each in schema.fields:
            if is_union(each.schema):
                lines += self._one_of(each.schema, place, nested)
                place += len(each.schema.fields)
            else:
                # Confluent's converter calls nothing optional inside of an entry of a map.
                label = "" if is_entry else self._label(each.schema)
                lines += self._field(each, place, nested, label=label)
                place += 1
        yield f"message {name} {{"
        yield from _indented(lines)
        if nested:
            yield ""
            for inside in nested.values():
                yield from _indented(inside)
        yield "}"

    def _one_of(self, union: Schema, place: int, nested: dict[str, list[str]]) -> Iterator[str]:
        name = (union.name or "").removeprefix(f"{names.UNION}.").rpartition(".")[2]
        yield f"oneof {self._valid(name)} {{"
        for number, each in enumerate(union.fields):
            yield from _indented(list(self._field(each, place + number, nested, in_union=True)))
        yield "}"

    def _label(self, schema: Schema) -> str:
        if schema.type is Type.ARRAY or schema.type is Type.MAP:
            return "repeated "
        return "optional " if self._options.optional_for_nullables and schema.optional else ""

    def _field(
        self, field: Field, place: int, nested: dict[str, list[str]], *, label: str = "", in_union: bool = False
    ) -> Iterator[str]:
        schema, name = field.schema, self._valid(field.name)
        inside = schema.values if schema.type is Type.ARRAY and schema.values is not None else schema
        if inside.type is Type.ARRAY or (inside.type is Type.MAP and inside is not schema):
            raise DataError(f"the field {field.name!r} is an array of arrays or maps, which Protobuf cannot say")
        wraps = self._options.wrapper_for_nullables and inside.optional and not in_union
        kind = self._kind(inside, name, nested, wraps=wraps)
        tag = schema.parameter(names.TAG) or place
        yield from _with_meta(f"{label}{kind} {name} = {tag}", inside)

    def _kind(self, schema: Schema, field_name: str, nested: dict[str, list[str]], *, wraps: bool) -> str:
        logical = names.LOGICAL_MESSAGES.get(schema.name or "")
        if logical is not None:
            self._imports[logical[1]] = None
            return logical[0]
        if is_enum(schema):
            name = self._type_name(schema)
            nested.setdefault(name, list(_enum(schema, name)))
            return name
        if schema.type is Type.MAP:
            name = _map_entry_name(self._type_name(schema))
            nested[name] = list(self._entry(schema, name))
            return name
        if schema.type is Type.STRUCT:
            name = self._type_name(schema)
            # A message and a field cannot have the same name.
            name = f"{name}Message" if name == field_name else name
            if name not in nested:
                nested[name] = []
                nested[name] = list(self._message(schema, name))
            return name
        if wraps:
            self._imports[names.WRAPPERS_FILE] = None
            return f"google.protobuf.{_wrapper(schema)}"
        return scalar(schema)

    def _entry(self, schema: Schema, name: str) -> Iterator[str]:
        assert schema.keys is not None, "maps say what their keys are"
        assert schema.values is not None, "maps say what they hold"
        if schema.values.type in (Type.ARRAY, Type.MAP):
            raise DataError(
                "a map whose values are arrays or maps cannot be written as Protobuf: put a struct around them"
            )
        yield from self._message(
            Schema(Type.STRUCT, fields=(Field("key", schema.keys), Field("value", schema.values))), name, is_entry=True
        )

    def _type_name(self, schema: Schema) -> str:
        return self._valid((schema.name or self._default_name()).rpartition(".")[2])

    def _default_name(self) -> str:
        self._unnamed += 1
        return f"{names.DEFAULT_NAME}{self._unnamed}"

    def _valid(self, name: str) -> str:
        if self._options.scrubs_names:
            return valid_name(name)
        if not _NAME.fullmatch(name):
            raise DataError(
                f"{name!r} is no name in Protobuf: rename the field or the schema, or set scrub.invalid.names"
            )
        return name


def _indented(lines: list[str]) -> Iterator[str]:
    return (f"  {line}" for line in lines)


def _with_meta(field: str, schema: Schema) -> Iterator[str]:
    """A field, and what only Connect knows of it as Confluent's option."""
    parameters = _parameters(schema)
    if not parameters:
        yield f"{field};"
        return
    yield f"{field} [(confluent.field_meta) = {{"
    yield "  params: ["
    for place, (name, value) in enumerate(parameters.items(), 1):
        comma = "," if place < len(parameters) else ""
        yield from ("    {", f'      key: "{name}",', f'      value: "{value}"', f"    }}{comma}")
    yield from ("  ]", "}];")


def _parameters(schema: Schema) -> dict[str, str]:
    if schema.name == DECIMAL:
        given = (("precision", schema.parameter(names.PRECISION)), ("scale", schema.parameter(SCALE)))
        return {name: value for name, value in given if value is not None}
    return {"connect.type": schema.type.value} if schema.type in _NARROW else {}


def _enum(schema: Schema, name: str) -> Iterator[str]:
    prefix = f"{names.ENUM}."
    yield f"enum {name} {{"
    for key, number in schema.parameters:
        if key.startswith(prefix):
            yield f"  {key.removeprefix(prefix)} = {number};"
    yield "}"


def _map_entry_name(name: str) -> str:
    """In camel case if the name has underscores, as Protobuf's compiler calls entries of maps."""
    if "_" in name:
        name = "".join([part[:1].upper() + part[1:].lower() for part in name.split("_")])
    return name + names.MAP_ENTRY_SUFFIX


def _wrapper(schema: Schema) -> str:
    """The message of Protobuf's own that holds a single value."""
    return names.WRAPPERS.get(scalar(schema)) or names.WRAPPERS[names.SCALARS[schema.type]]


def _wrapper_file(schema: Schema) -> str:
    if schema.type not in names.SCALARS or schema.name in names.LOGICAL_MESSAGES:
        raise DataError(
            f"a value of the type {schema.name or schema.type.value} alone cannot be written as Protobuf: put a struct around it"
        )
    kind = names.SCALARS[schema.type]
    return (
        f'syntax = "proto3";\npackage google.protobuf;\n\nmessage {names.WRAPPERS[kind]} {{\n  {kind} value = 1;\n}}\n'
    )
