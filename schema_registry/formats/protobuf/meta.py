"""The registry's own metadata in a descriptor: the extension `confluent.*_meta` of the options of files, messages, fields and enums."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from schema_registry.formats.parsed_schema import InvalidSchema
from schema_registry.formats.protobuf.elements import Option, OptionValue, text_of

EXTENSION_NUMBER: Final = 1088
_PACKAGE: Final = "confluent"
_EXTENDED: Final = {
    "FileOptions": "file_meta",
    "MessageOptions": "message_meta",
    "FieldOptions": "field_meta",
    "EnumOptions": "enum_meta",
    "EnumValueOptions": "enum_value_meta",
}
_RULE_FIELDS: Final = ("name", "doc", "expr", "sql")
_VALUE_FIRST: Final = ("precision", "scale")
"""Parameters that texts have always written with the value in front of the key."""


def _meta_file() -> descriptor_pb2.FileDescriptorProto:
    """The metadata's messages.

    `params` is a map in the published file. Here it is what a map is on the wire, a list of entries, because the order in which they
    were written is part of the text.
    """
    string = descriptor_pb2.FieldDescriptorProto.TYPE_STRING
    message = descriptor_pb2.FieldDescriptorProto.TYPE_MESSAGE
    once = descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL
    repeated = descriptor_pb2.FieldDescriptorProto.LABEL_REPEATED
    file = descriptor_pb2.FileDescriptorProto(
        name="confluent/meta.proto",
        package=_PACKAGE,
        syntax="proto3",
        dependency=[descriptor_pb2.DESCRIPTOR.name],
    )
    meta = file.message_type.add(name="Meta")
    meta.field.add(name="doc", number=1, type=string, label=once)
    meta.field.add(name="params", number=2, type=message, label=repeated, type_name=".confluent.Param")
    meta.field.add(name="tags", number=3, type=string, label=repeated)
    meta.field.add(name="rules", number=4, type=message, label=repeated, type_name=".confluent.Rule")
    for name, fields in (("Param", ("key", "value")), ("Rule", _RULE_FIELDS)):
        entry = file.message_type.add(name=name)
        for number, field in enumerate(fields, 1):
            entry.field.add(name=field, number=number, type=string, label=once)
    for options, name in _EXTENDED.items():
        file.extension.add(
            name=name,
            number=EXTENSION_NUMBER,
            type=message,
            label=once,
            type_name=".confluent.Meta",
            extendee=f".google.protobuf.{options}",
        )
    return file


_POOL: Final = descriptor_pool.DescriptorPool()
_POOL.AddSerializedFile(descriptor_pb2.DESCRIPTOR.serialized_pb)
_POOL.AddSerializedFile(_meta_file().SerializeToString())

FileDescriptor: Final = cast(
    "type[descriptor_pb2.FileDescriptorProto]",
    message_factory.GetMessageClass(_POOL.FindMessageTypeByName("google.protobuf.FileDescriptorProto")),
)
"""Descriptors that know the metadata and no other extension, whatever else this process has loaded."""


def _extension_of(options: Any) -> Any:
    name = _EXTENDED.get(options.DESCRIPTOR.name)
    return None if name is None else _POOL.FindExtensionByName(f"{_PACKAGE}.{name}")


def meta_option(options: Any) -> Option | None:
    """The metadata in a descriptor's options as an option of the text."""
    extension = _extension_of(options)
    if extension is None or not options.HasExtension(extension):
        return None
    meta = options.Extensions[extension]
    value: dict[str, OptionValue] = {}
    if meta.doc:
        value["doc"] = meta.doc
    if meta.params:
        params = {param.key: param.value for param in meta.params}
        value["params"] = tuple(_param(key, text) for key, text in params.items())
    if meta.tags:
        value["tags"] = tuple(meta.tags)
    rules = [_rule(rule) for rule in meta.rules]
    if any(rules):
        value["rules"] = tuple(rule for rule in rules if rule)
    return Option(extension.full_name, value, custom=True) if value else None


def _param(key: str, value: str) -> OptionValue:
    return {"value": value, "key": key} if key in _VALUE_FIRST else {"key": key, "value": value}


def _rule(rule: Any) -> Mapping[str, OptionValue]:
    return {name: getattr(rule, name) for name in _RULE_FIELDS if getattr(rule, name)}


def set_meta(options: Any, merged: Mapping[str, Option]) -> None:
    """Put the metadata that the options of the text name, if any, into the options of a descriptor."""
    extension = _extension_of(options)
    option = merged.get(extension.full_name) if extension is not None else None
    if option is None:
        return
    if not isinstance(option.value, Mapping):
        raise InvalidSchema(
            f'({option.name}) at {option.position} must be a message, as in ({option.name}) = {{doc: "…"}}'
        )
    meta: Any = message_factory.GetMessageClass(extension.message_type)()
    value = option.value
    meta.doc = text_of(value.get("doc", ""))
    for entry in _messages(option, "params"):
        meta.params.add(key=text_of(entry.get("key", "")), value=text_of(entry.get("value", "")))
    meta.tags.extend(text_of(tag) for tag in _several(value.get("tags", ())))
    for entry in _messages(option, "rules"):
        fields = {name: text_of(entry[name]) for name in _RULE_FIELDS if entry.get(name)}
        if fields:
            meta.rules.add(**fields)
    if meta.ByteSize():
        options.Extensions[extension].CopyFrom(meta)


def _messages(option: Option, name: str) -> Iterable[Mapping[str, OptionValue]]:
    entries = _several(option.value.get(name, ())) if isinstance(option.value, Mapping) else ()
    for entry in entries:
        if not isinstance(entry, Mapping):
            raise InvalidSchema(f"{name} of ({option.name}) at {option.position} must be messages in braces")
        yield entry


def _several(value: OptionValue) -> tuple[OptionValue, ...]:
    return value if isinstance(value, tuple) else (value,)
