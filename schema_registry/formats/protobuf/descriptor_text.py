"""Reads a file from its binary descriptor, which is how clients that generate code register schemas."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError

from schema_registry.formats.parsed_schema import InvalidSchema
from schema_registry.formats.protobuf.elements import (
    Enum,
    EnumConstant,
    Extend,
    Extensions,
    Field,
    Label,
    Message,
    OneOf,
    Option,
    OptionValue,
    ProtoFile,
    Range,
    Reserved,
    Rpc,
    Service,
    Syntax,
    Word,
    WordKind,
)
from schema_registry.formats.protobuf.meta import FileDescriptor, meta_option
from schema_registry.formats.protobuf.option_table import (
    ENUM_OPTIONS,
    ENUM_VALUE_OPTIONS,
    EXTENSION_RANGE_OPTIONS,
    FIELD_OPTIONS,
    FIELDS_OF_OPTIONS,
    FILE_OPTIONS,
    MESSAGE_OPTIONS,
    METHOD_OPTIONS,
    ONEOF_OPTIONS,
    SERVICE_OPTIONS,
)

_BASE64_BLOCK_CHARACTERS: Final = 4
_LABELS: Final = {1: Label.OPTIONAL, 2: Label.REQUIRED, 3: Label.REPEATED}
_TYPE_PREFIX: Final = "TYPE_"


def decoded(text: str) -> bytes | None:
    """The bytes of a text in base64, which may go without the padding at its end; None if it is something else."""
    padding = "" if text.endswith("=") else "=" * (-len(text) % _BASE64_BLOCK_CHARACTERS)
    try:
        return base64.b64decode(f"{text}{padding}".encode("ascii"), validate=True)
    except (UnicodeEncodeError, binascii.Error):
        return None


def parse_descriptor(data: bytes) -> ProtoFile | None:
    """The file that a FileDescriptorProto describes; None if the bytes are no such message."""
    try:
        return _DescriptorReader(FileDescriptor.FromString(data)).file()
    except (DecodeError, UnicodeDecodeError):
        return None


class _DescriptorReader:
    def __init__(self, file: descriptor_pb2.FileDescriptorProto) -> None:
        self._file = file
        self._proto3 = file.syntax == Syntax.PROTO3.value

    def file(self) -> ProtoFile:
        file = self._file
        public, weak = set(file.public_dependency), set(file.weak_dependency)
        known = [syntax for syntax in Syntax if syntax.value == file.syntax]
        paths = list(enumerate(file.dependency))
        return ProtoFile(
            syntax=known[0] if known else None,
            package=file.package or None,
            imports=tuple(path for index, path in paths if index not in public and index not in weak),
            public_imports=tuple(path for index, path in paths if index in public),
            weak_imports=tuple(path for index, path in paths if index in weak and index not in public),
            options=_options(file.options, FILE_OPTIONS),
            types=(*map(self._message, file.message_type), *map(_enum, file.enum_type)),
            extends=self._extends(file.extension),
            services=tuple(map(_service, file.service)),
        )

    def _message(self, message: descriptor_pb2.DescriptorProto) -> Message:
        oneofs: list[list[Field]] = [[] for _ in message.oneof_decl]
        fields: list[Field] = []
        for field in message.field:
            if not field.HasField("oneof_index") or field.proto3_optional:
                fields.append(self._field(field, self._label(field)))
            elif 0 <= field.oneof_index < len(oneofs):
                oneofs[field.oneof_index].append(self._field(field, None))
            else:
                raise InvalidSchema(
                    f"field {field.name} of {message.name} stands in oneof {field.oneof_index}, but the message has "
                    f"{len(oneofs)} of them; generate the descriptor anew"
                )
        return Message(
            name=message.name,
            fields=tuple(fields),
            oneofs=tuple(
                OneOf(one.name, tuple(members), options=_options(one.options, ONEOF_OPTIONS))
                for one, members in zip(message.oneof_decl, oneofs, strict=True)
                if members
            ),
            types=(*map(self._message, message.nested_type), *map(_enum, message.enum_type)),
            options=_options(message.options, MESSAGE_OPTIONS),
            reserved=(
                *(Reserved((_range(one.start, one.end - 1),)) for one in message.reserved_range),
                *(Reserved((name,)) for name in message.reserved_name),
            ),
            extensions=tuple(
                Extensions((_range(one.start, one.end - 1),), _options(one.options, EXTENSION_RANGE_OPTIONS))
                for one in message.extension_range
            ),
            extends=self._extends(message.extension),
        )

    def _extends(self, fields: Iterable[descriptor_pb2.FieldDescriptorProto]) -> tuple[Extend, ...]:
        extended: dict[str, list[Field]] = {}
        for field in fields:
            extended.setdefault(field.extendee, []).append(self._field(field, self._label(field)))
        return tuple(Extend(name, tuple(several)) for name, several in extended.items())

    def _field(self, field: descriptor_pb2.FieldDescriptorProto, label: Label | None) -> Field:
        scalar = descriptor_pb2.FieldDescriptorProto.Type.Name(field.type).removeprefix(_TYPE_PREFIX).lower()
        return Field(
            name=field.name,
            tag=field.number,
            type=field.type_name if field.HasField("type_name") else scalar,
            label=label,
            default=field.default_value if field.HasField("default_value") and not self._proto3 else None,
            json_name=field.json_name if field.HasField("json_name") else None,
            options=_options(field.options, FIELD_OPTIONS),
        )

    def _label(self, field: descriptor_pb2.FieldDescriptorProto) -> Label | None:
        if field.proto3_optional:
            return Label.OPTIONAL
        label = _LABELS[field.label]
        return None if self._proto3 and label is not Label.REPEATED else label


def _enum(enum: descriptor_pb2.EnumDescriptorProto) -> Enum:
    return Enum(
        name=enum.name,
        constants=tuple(
            EnumConstant(one.name, one.number, _options(one.options, ENUM_VALUE_OPTIONS)) for one in enum.value
        ),
        options=_options(enum.options, ENUM_OPTIONS),
        reserved=(
            *(Reserved((_range(one.start, one.end),)) for one in enum.reserved_range),
            *(Reserved((name,)) for name in enum.reserved_name),
        ),
    )


def _service(service: descriptor_pb2.ServiceDescriptorProto) -> Service:
    rpcs = (
        Rpc(
            one.name,
            one.input_type,
            one.output_type,
            one.client_streaming,
            one.server_streaming,
            _options(one.options, METHOD_OPTIONS),
        )
        for one in service.method
    )
    return Service(service.name, tuple(rpcs), _options(service.options, SERVICE_OPTIONS))


def _range(start: int, end: int) -> Range:
    return Range(start, end, single=start == end)


def _options(options: Any, names: Sequence[str]) -> tuple[Option, ...]:
    found = [Option(name, value) for name in names for value in _values(options, name)]
    meta = meta_option(options)
    return tuple(found if meta is None else [*found, meta])


def _values(message: Any, name: str) -> Iterable[OptionValue]:
    """What a field of options holds: nothing, a value, or several."""
    descriptor = message.DESCRIPTOR.fields_by_name[name]
    if descriptor.is_repeated:
        return [_value(descriptor, one) for one in getattr(message, name)]
    return [_value(descriptor, getattr(message, name))] if message.HasField(name) else []


def _value(descriptor: Any, value: Any) -> OptionValue:
    if descriptor.message_type is not None:
        return _fields(value, FIELDS_OF_OPTIONS[descriptor.name])
    if descriptor.enum_type is not None:
        return Word(WordKind.ENUM, descriptor.enum_type.values_by_number[value].name)
    if isinstance(value, bool):
        return Word(WordKind.BOOLEAN, "true" if value else "false")
    return value if isinstance(value, str) else Word(WordKind.NUMBER, str(value))


def _fields(message: Any, names: Sequence[str]) -> Mapping[str, OptionValue]:
    return {name: value for name in names for value in _values(message, name)}
