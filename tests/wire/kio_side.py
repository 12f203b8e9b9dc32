"""kio, another implementation of every Kafka message, as an oracle: values for both sides, and the way from ours to kio's."""

import dataclasses
import io
import types
import typing
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from kio.index import KioIndexError, load_entity_schema
from kio.schema.errors import ErrorCode as KioErrorCode
from kio.serial import entity_reader, entity_writer

from barnabas.wire.fields import ZERO_UUID, Field
from barnabas.wire.source import element_field
from barnabas.wire.struct import Struct

INTEGER_RANGES = {
    "int8": (-(1 << 7), (1 << 7) - 1),
    "int16": (-(1 << 15), (1 << 15) - 1),
    "int32": (-(1 << 31), (1 << 31) - 1),
    "int64": (-(1 << 63), (1 << 63) - 1),
    "uint16": (0, (1 << 16) - 1),
    "uint32": (0, (1 << 32) - 1),
}
# kio turns some integers into Python's times, which reach less far than the integers do.
NARROWED = {"timedelta_i64": (-(1 << 40), 1 << 40), "datetime_i64": (0, 1 << 41)}
EPOCH = datetime.fromtimestamp(0, UTC)

# Some texts are longer than 127 bytes, so that their lengths take more than one byte.
TEXTS = st.text(max_size=6) | st.just("") | st.just("ä" * 100)
BLOBS = st.binary(max_size=6) | st.just(b"") | st.just(b"\x80" * 300)
UUIDS = st.just(ZERO_UUID) | st.binary(min_size=16, max_size=16)


def kio_class(name: str, version: int, entity_type: Any) -> Any:
    """kio's declaration of one version, or None when it has none."""
    try:
        return load_entity_schema(name, version, entity_type)
    except KioIndexError:
        return None


def kio_encode(entity: Any) -> bytes:
    out = io.BytesIO()
    entity_writer(type(entity))(out, entity)
    return out.getvalue()


def kio_decode(cls: Any, data: bytes) -> tuple[Any, int]:
    """The entity and how many bytes it took."""
    entity, size = entity_reader(cls)(data, 0)
    return entity, size


def structs(cls: type[Struct], kio: Any, version: int) -> SearchStrategy[Any]:
    """Objects of ours that `version` and kio can carry: fields that the version lacks keep their default."""
    kio_fields = {field.name: field for field in dataclasses.fields(kio)}
    values = {
        field.name: _values(field, _counterpart(kio_fields, field.name), version)
        for field in cls.FIELDS
        if field.present_in(version)
    }
    return st.builds(cls, **values)


def to_kio(ours: Struct, kio: Any, version: int) -> Any:
    """The same values as kio wants them: tuples, times, enums, and None for the zero UUID."""
    kio_fields = {field.name: field for field in dataclasses.fields(kio)}
    converted = {}
    for field in ours.FIELDS:
        if field.present_in(version):
            counterpart = _counterpart(kio_fields, field.name)
            converted[counterpart.name] = _convert(getattr(ours, field.name), field, counterpart, version)
    return kio(**converted)


def _counterpart(kio_fields: dict[str, Any], name: str) -> Any:
    return kio_fields[name] if name in kio_fields else kio_fields[name.removesuffix("_ms")]


def _inner(hint: Any) -> Any:
    """`Entity` out of `Entity`, `Entity | None`, `tuple[Entity, ...]` and `tuple[Entity, ...] | None`."""
    while typing.get_args(hint):
        hint = next(part for part in typing.get_args(hint) if part is not types.NoneType)
    return hint


def _values(field: Field, kio_field: Any, version: int) -> SearchStrategy[Any]:
    kafka_type = kio_field.metadata.get("kafka_type", "")
    if field.kind == "array":
        plain = element_field(field)
        element = (
            structs(field.element, _inner(kio_field.type), version) if plain is None else _plain(plain.kind, kafka_type)
        )
        strategy: SearchStrategy[Any] = st.lists(element, max_size=2)
    elif field.kind == "struct":
        strategy = structs(field.element, _inner(kio_field.type), version)
    else:
        strategy = _plain(field.kind, kafka_type)
        if kafka_type == "datetime_i64" and types.NoneType in typing.get_args(kio_field.type):
            strategy |= st.just(-1)
    return st.none() | strategy if field.nullable_in(version) else strategy


def _plain(kind: str, kafka_type: str) -> SearchStrategy[Any]:
    if kafka_type == "error_code":
        return st.sampled_from([int(code.value) for code in KioErrorCode])
    if kind in INTEGER_RANGES:
        low, high = NARROWED.get(kafka_type, INTEGER_RANGES[kind])
        return st.integers(low, high)
    if kind in ("bytes", "records"):
        return BLOBS
    return {
        "string": TEXTS,
        "uuid": UUIDS,
        "boolean": st.booleans(),
        "float64": st.floats(allow_nan=False),
    }[kind]


def _convert(value: Any, field: Field, kio_field: Any, version: int) -> Any:
    if value is None:
        return None
    kafka_type = kio_field.metadata.get("kafka_type", "")
    if field.kind == "array":
        plain = element_field(field)
        if plain is None:
            return tuple(to_kio(element, _inner(kio_field.type), version) for element in value)
        return tuple(_convert_plain(element, kafka_type) for element in value)
    if field.kind == "struct":
        return to_kio(value, _inner(kio_field.type), version)
    return _convert_plain(value, kafka_type)


def _convert_plain(value: Any, kafka_type: str) -> Any:
    if kafka_type == "uuid":
        return None if value == ZERO_UUID else UUID(bytes=value)
    if kafka_type in ("timedelta_i32", "timedelta_i64"):
        return timedelta(milliseconds=value)
    if kafka_type == "datetime_i64":
        return None if value == -1 else EPOCH + timedelta(milliseconds=value)
    if kafka_type == "error_code":
        return KioErrorCode(value)
    return value
