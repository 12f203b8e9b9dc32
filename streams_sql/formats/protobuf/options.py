"""What Confluent's option of a Protobuf field says of it."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

_META_NUMBER: Final = 1088
_PARAMETERS_NUMBER: Final = 2


def field_parameters(field: Any) -> dict[str, str]:
    """The library knows the option only if somebody registered it, so that it is read from the bytes of all options."""
    options = _options_class()()
    options.ParseFromString(field.GetOptions().SerializeToString())
    return {entry.key: entry.value for entry in options.meta.parameters}


def options_of_decimal(precision: int, scale: int) -> bytes:
    """Those of a field, in which a decimal says how many digits it has."""
    options = _options_class()()
    for key, value in (("precision", precision), ("scale", scale)):
        options.meta.parameters.add(key=key, value=str(value))
    data: bytes = options.SerializeToString()
    return data


@cache
def _options_class() -> Any:
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="options.proto", package="streams_sql", syntax="proto3")
    entry = file.message_type.add(name="Entry")
    for number, name in enumerate(("key", "value"), 1):
        entry.field.add(name=name, number=number, type=kinds.TYPE_STRING)
    meta = file.message_type.add(name="Meta")
    meta.field.add(
        name="parameters",
        number=_PARAMETERS_NUMBER,
        label=kinds.LABEL_REPEATED,
        type=kinds.TYPE_MESSAGE,
        type_name=".streams_sql.Entry",
    )
    options = file.message_type.add(name="Options")
    options.field.add(name="meta", number=_META_NUMBER, type=kinds.TYPE_MESSAGE, type_name=".streams_sql.Meta")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("streams_sql.Options"))
