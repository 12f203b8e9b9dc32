"""Whether Protobuf itself can make types of a file: the last word on what the rules of this package do not know."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from google.protobuf import descriptor_pb2, descriptor_pool

from schema_registry.formats.parsed_schema import InvalidSchema
from schema_registry.formats.protobuf.descriptors import descriptor_of
from schema_registry.formats.protobuf.elements import ProtoFile, excerpt
from schema_registry.formats.protobuf.scope import Scope

_CHECKED_NAME: Final = "schema.proto"
_OWN_LIMITS: Final = "Error building mini table"
"""How this implementation tells that it cannot lay out a message of many thousand fields, which others can."""
_UNRESOLVED: Final = "couldn't resolve name"
_PLAIN_DEFAULT = re.compile(r"-?[0-9]+|[A-Za-z_][A-Za-z0-9_]*")
_POOL_PREFIX = re.compile(r"^Couldn't build (?:proto )?file into descriptor pool!?:? *")


def check_buildable(file: ProtoFile, imports: Mapping[str, ProtoFile], scope: Scope) -> None:
    """InvalidSchema says why no types can be made of the file."""
    pool = descriptor_pool.DescriptorPool()
    try:
        for path in _import_order(file, imports):
            imported = imports[path]
            pool.AddSerializedFile(_bare(imported, path, imports, scope.of_import(imported)))
    except TypeError:
        # Whoever registered the import may have been less strict; then nothing can be said of what builds on it.
        return
    try:
        pool.AddSerializedFile(_bare(file, _CHECKED_NAME, imports, scope))
    except TypeError as error:
        reason = excerpt(_POOL_PREFIX.sub("", str(error)).strip())
        if reason.startswith(_OWN_LIMITS):
            return
        advice = "; import the file that declares it" if _UNRESOLVED in reason else ""
        raise InvalidSchema(f"Invalid protobuf schema definition: {reason}{advice}") from None


def _import_order(file: ProtoFile, imports: Mapping[str, ProtoFile]) -> list[str]:
    """The paths of all imports, each behind those that it builds on."""
    order: dict[str, None] = {}
    opened: set[str] = set()
    waiting = [(path, False) for path in reversed(_paths(file))]
    while waiting:
        path, finished = waiting.pop()
        if finished:
            order[path] = None
        elif path in imports and path not in opened:
            opened.add(path)
            waiting.append((path, True))
            waiting += [(one, False) for one in reversed(_paths(imports[path]))]
    return list(order)


def _paths(file: ProtoFile) -> tuple[str, ...]:
    return (*file.imports, *file.public_imports, *file.weak_imports)


def _bare(file: ProtoFile, name: str, imports: Mapping[str, ProtoFile], scope: Scope) -> bytes:
    """The descriptor without what no type needs: a text may set options and defaults in ways that only its own compiler knows."""
    made = descriptor_of(file, name, scope, imports)
    made.dependency.extend(path for path in file.weak_imports if path in imports and path not in made.dependency)
    made.ClearField("options")
    for service in made.service:
        service.ClearField("options")
        for method in service.method:
            method.ClearField("options")
    _strip_fields(made.extension)
    for enum in made.enum_type:
        _strip_enum(enum)
    waiting = list(made.message_type)
    while waiting:
        message = waiting.pop()
        _strip_message(message)
        waiting += message.nested_type
    return bytes(made.SerializeToString())


def _strip_message(message: descriptor_pb2.DescriptorProto) -> None:
    map_entry = message.options.map_entry
    message.ClearField("options")
    if map_entry:
        message.options.map_entry = True
    for part in (*message.oneof_decl, *message.extension_range):
        part.ClearField("options")
    _strip_fields(message.field)
    _strip_fields(message.extension)
    for enum in message.enum_type:
        _strip_enum(enum)


def _strip_fields(fields: Iterable[descriptor_pb2.FieldDescriptorProto]) -> None:
    for field in fields:
        field.ClearField("options")
        # Names that differ in JSON alone are no reason to refuse a schema.
        field.json_name = field.name
        if not _PLAIN_DEFAULT.fullmatch(field.default_value) or field.type == field.TYPE_BYTES:
            field.ClearField("default_value")


def _strip_enum(enum: descriptor_pb2.EnumDescriptorProto) -> None:
    allow_alias = enum.options.allow_alias
    enum.ClearField("options")
    if allow_alias:
        enum.options.allow_alias = True
    for value in enum.value:
        value.ClearField("options")
