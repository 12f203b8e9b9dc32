"""Makes the binary descriptor of a file, as the registry hands it to clients that ask for `serialized`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from google.protobuf import descriptor_pb2

from schema_registry.formats.parsed_schema import InvalidSchema
from schema_registry.formats.protobuf.elements import (
    Enum,
    Extend,
    Extensions,
    Field,
    Label,
    MapType,
    Message,
    Option,
    OptionValue,
    ProtoFile,
    Service,
    Syntax,
    text_of,
)
from schema_registry.formats.protobuf.merged_option import options_by_name
from schema_registry.formats.protobuf.meta import FileDescriptor, set_meta
from schema_registry.formats.protobuf.option_table import (
    ENUM_OPTIONS,
    ENUM_VALUE_OPTIONS,
    EXTENSION_RANGE_OPTIONS,
    FIELD_OPTIONS,
    FIELDS_OF_OPTIONS,
    FILE_OPTIONS,
    FORGIVEN_ENUMS,
    MESSAGE_OPTIONS,
    METHOD_OPTIONS,
    ONEOF_OPTIONS,
    SERVICE_OPTIONS,
)
from schema_registry.formats.protobuf.scalars import SCALARS, check_map_key
from schema_registry.formats.protobuf.scope import Scope

INTEGER_MAX: Final = 2**31 - 1
_FieldType: Final = descriptor_pb2.FieldDescriptorProto.Type
_LABELS: Final = {label: descriptor_pb2.FieldDescriptorProto.Label.Value(f"LABEL_{label.name}") for label in Label}


def descriptor_of(file: ProtoFile, name: str, scope: Scope, known: Iterable[str]) -> descriptor_pb2.FileDescriptorProto:
    """The descriptor of a file that imports call `name`. Imports that are not `known` are left out, as nothing can need them."""
    return _DescriptorWriter(file, scope).file(name, frozenset(known))


class _DescriptorWriter:
    """Names of types stay as they were written; only what kind of type they name is looked up."""

    def __init__(self, file: ProtoFile, scope: Scope) -> None:
        self._file = file
        self._scope = scope

    def file(self, name: str, known: frozenset[str]) -> descriptor_pb2.FileDescriptorProto:
        file = self._file
        made = FileDescriptor(name=name)
        if file.syntax is not None:
            made.syntax = file.syntax.value
        if file.package is not None:
            made.package = file.package
        for one in file.types:
            self._scope.enter(one.name)
            if isinstance(one, Message):
                self._fill_message(made.message_type.add(), one)
            else:
                _fill_enum(made.enum_type.add(), one)
            self._scope.leave()
        for service in file.services:
            _fill_service(made.service.add(), service)
        self._add_extensions(made.extension, file.extends)
        made.dependency.extend(dict.fromkeys(path for path in file.imports if path in known))
        for path in file.public_imports:
            if path in known:
                _add_public_import(made, path)
        _set_options(made, file.options, FILE_OPTIONS)
        return made

    def _fill_message(self, made: descriptor_pb2.DescriptorProto, message: Message) -> None:
        made.name = message.name
        for one in message.types:
            self._scope.enter(one.name)
            if isinstance(one, Message):
                self._fill_message(made.nested_type.add(), one)
            else:
                _fill_enum(made.enum_type.add(), one)
            self._scope.leave()
        self._add_oneofs(made, message)
        self._add_fields(made, message)
        for reserved in message.reserved:
            for value in reserved.values:
                if isinstance(value, str):
                    made.reserved_name.append(value)
                else:
                    made.reserved_range.add(start=value.start, end=_behind(value.end))
        for extensions in message.extensions:
            _add_extension_ranges(made, extensions)
        self._add_extensions(made.extension, message.extends)
        _set_options(made, message.options, MESSAGE_OPTIONS)

    def _add_oneofs(self, made: descriptor_pb2.DescriptorProto, message: Message) -> None:
        for index, oneof in enumerate(message.oneofs):
            declared = made.oneof_decl.add(name=oneof.name)
            declared.options.SetInParent()
            _set_options(declared, oneof.options, ONEOF_OPTIONS)
            for field in oneof.fields:
                self._fill_field(made.field.add(oneof_index=index), field, Label.OPTIONAL)

    def _add_fields(self, made: descriptor_pb2.DescriptorProto, message: Message) -> None:
        in_oneofs = {field.name for field in made.field}
        for field in message.fields:
            if field.name in in_oneofs:
                continue
            types = field.map_type
            if types is not None:
                self._add_map(made, field, types)
            elif field.label is Label.OPTIONAL and self._file.syntax is Syntax.PROTO3:
                # Presence in proto3 is a oneof of one field.
                added = made.field.add(oneof_index=len(made.oneof_decl), proto3_optional=True)
                made.oneof_decl.add(name=f"_{field.name}").options.SetInParent()
                self._fill_field(added, field, Label.OPTIONAL)
            else:
                self._fill_field(made.field.add(), field, field.label)

    def _add_map(self, made: descriptor_pb2.DescriptorProto, field: Field, types: MapType) -> None:
        """A map is a list of entries, each a message of its own behind all other nested messages."""
        check_map_key(types)
        entry = made.nested_type.add(name=_entry_name(field.name))
        entry.options.map_entry = True
        self._set_type(entry.field.add(name="key", number=1), types.key)
        self._set_type(entry.field.add(name="value", number=2), types.value)
        self._fill_field(made.field.add(), field, Label.REPEATED, entry.name)

    def _fill_field(
        self, made: descriptor_pb2.FieldDescriptorProto, field: Field, label: Label | None, type_name: str | None = None
    ) -> None:
        made.name = field.name
        made.number = field.tag
        self._set_type(made, field.type if type_name is None else type_name)
        if label is not None:
            made.label = _LABELS[label]
        if field.default is not None:
            made.default_value = field.default
        if field.json_name is not None:
            made.json_name = field.json_name
        _set_options(made, field.options, FIELD_OPTIONS)

    def _set_type(self, made: descriptor_pb2.FieldDescriptorProto, type_name: str) -> None:
        if type_name in SCALARS:
            made.type = _FieldType.Value(f"TYPE_{type_name.upper()}")
            return
        found = self._scope.type_named(type_name)
        if found is not None:
            made.type = _FieldType.Value("TYPE_MESSAGE" if isinstance(found.element, Message) else "TYPE_ENUM")
        made.type_name = type_name

    def _add_extensions(self, made: Any, extends: Iterable[Extend]) -> None:
        for extend in extends:
            for field in extend.fields:
                self._fill_field(made.add(extendee=extend.name), field, field.label)


def _behind(end: int) -> int:
    """The number after the last one of a range, in 32 bits as Java counts."""
    return end + 1 if end < INTEGER_MAX else -INTEGER_MAX - 1


def _entry_name(field_name: str) -> str:
    """What the registry calls the entries of a map; compilers would begin the name with a capital letter always."""
    words = field_name.split("_")
    return "".join(map(str.capitalize, words) if len(words) > 1 else words) + "Entry"


def _add_public_import(made: descriptor_pb2.FileDescriptorProto, path: str) -> None:
    if path not in made.dependency:
        made.dependency.append(path)
    made.public_dependency.append(list(made.dependency).index(path))


def _add_extension_ranges(made: descriptor_pb2.DescriptorProto, extensions: Extensions) -> None:
    for value in extensions.values:
        added = made.extension_range.add(start=value.start, end=_behind(value.end))
        added.options.SetInParent()
        _set_options(added, extensions.options, EXTENSION_RANGE_OPTIONS)


def _fill_enum(made: descriptor_pb2.EnumDescriptorProto, enum: Enum) -> None:
    made.name = enum.name
    for reserved in enum.reserved:
        for value in reserved.values:
            if isinstance(value, str):
                made.reserved_name.append(value)
            else:
                made.reserved_range.add(start=value.start, end=value.end)
    for constant in enum.constants:
        _set_options(made.value.add(name=constant.name, number=constant.tag), constant.options, ENUM_VALUE_OPTIONS)
    _set_options(made, enum.options, ENUM_OPTIONS)


def _fill_service(made: descriptor_pb2.ServiceDescriptorProto, service: Service) -> None:
    made.name = service.name
    for rpc in service.rpcs:
        method = made.method.add(
            name=rpc.name,
            input_type=rpc.request,
            output_type=rpc.response,
            client_streaming=rpc.request_streams,
            server_streaming=rpc.response_streams,
        )
        _set_options(method, rpc.options, METHOD_OPTIONS)
    _set_options(made, service.options, SERVICE_OPTIONS)


def _set_options(made: Any, options: Sequence[Option], names: Sequence[str]) -> None:
    """Carry the options that the registry knows into the descriptor; others stay in the text alone."""
    if not options:
        return
    merged = options_by_name(options)
    for name in names:
        descriptor = made.options.DESCRIPTOR.fields_by_name[name]
        if descriptor.is_repeated:
            for option in options:
                if option.name == name:
                    _add_value(getattr(made.options, name), descriptor, option)
        elif name in merged:
            _set_value(made.options, descriptor, merged[name], merged[name].value)
    set_meta(made.options, merged)


def _add_value(values: Any, descriptor: Any, option: Option) -> None:
    if descriptor.message_type is not None:
        _set_fields(values.add(), descriptor, option, option.value)
    else:
        values.append(_enum_number(descriptor, option, text_of(option.value)))


def _set_value(target: Any, descriptor: Any, option: Option, value: OptionValue) -> None:
    name = descriptor.name
    if descriptor.message_type is not None:
        getattr(target, name).SetInParent()
        _set_fields(getattr(target, name), descriptor, option, value)
    elif descriptor.enum_type is not None:
        known = descriptor.enum_type.values_by_name
        if text_of(value) in known or name not in FORGIVEN_ENUMS:
            setattr(target, name, _enum_number(descriptor, option, text_of(value)))
        elif name == "retention":
            setattr(target, name, 0)
    elif descriptor.cpp_type == descriptor.CPPTYPE_BOOL:
        setattr(target, name, text_of(value).lower() == "true")
    else:
        setattr(target, name, text_of(value))


def _set_fields(target: Any, descriptor: Any, option: Option, value: OptionValue) -> None:
    if not isinstance(value, Mapping):
        raise InvalidSchema(f"option {option.name} at {option.position} must be a message in braces")
    for name in FIELDS_OF_OPTIONS[descriptor.name]:
        if name in value:
            _set_field(target, target.DESCRIPTOR.fields_by_name[name], option, text_of(value[name]))


def _set_field(target: Any, descriptor: Any, option: Option, text: str) -> None:
    if descriptor.enum_type is not None:
        known = descriptor.enum_type.values_by_name
        # The first files with editions wrote the year alone.
        found = known.get(text) or known.get(f"EDITION_{text}")
        setattr(target, descriptor.name, found.number if found is not None else 0)
    elif descriptor.cpp_type == descriptor.CPPTYPE_BOOL:
        setattr(target, descriptor.name, text.lower() == "true")
    elif descriptor.cpp_type == descriptor.CPPTYPE_STRING:
        setattr(target, descriptor.name, text)
    else:
        _set_number(target, descriptor.name, option, text)


def _set_number(target: Any, name: str, option: Option, text: str) -> None:
    try:
        setattr(target, name, int(text))
    except ValueError:
        raise InvalidSchema(
            f"{name} of option {option.name} at {option.position} must be a whole number, not {text}"
        ) from None


def _enum_number(descriptor: Any, option: Option, text: str) -> int:
    known = descriptor.enum_type.values_by_name
    if text not in known:
        raise InvalidSchema(
            f"option {option.name} at {option.position} cannot be {text}; it is one of {', '.join(sorted(known))}"
        )
    return int(known[text].number)
