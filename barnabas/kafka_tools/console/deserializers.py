"""Java's deserializers by class name: bytes as the text that `toString` of the object would be."""

from __future__ import annotations

import struct
import uuid
from collections.abc import Callable, Mapping
from typing import Final

from barnabas.kernel.java.numbers import double_text

PACKAGE: Final = "org.apache.kafka.common.serialization."

Deserializer = Callable[[bytes], str]


class DeserializationError(Exception):
    """Bytes that are no such object, in Kafka's words."""


def find(class_name: str, encoding: str = "utf-8") -> Deserializer | None:
    """The deserializer of a class, with or without its package; None when there is none."""
    short = class_name.removeprefix(PACKAGE)
    if short == "StringDeserializer":
        return lambda data: data.decode(encoding, "replace")
    return _DESERIALIZERS.get(short)


def encoding_of(properties: Mapping[str, str], part: str) -> str:
    """The character set that a string deserializer was configured with; LookupError when there is no such set."""
    name = properties.get(f"{part}.deserializer.encoding") or properties.get("deserializer.encoding") or "utf-8"
    "".encode(name)
    return name


def _number(name: str, layout: str, show: Callable[..., str] = str) -> Deserializer:
    form = struct.Struct(layout)

    def deserialize(data: bytes) -> str:
        if len(data) != form.size:
            raise DeserializationError(f"Size of data received by {name} is not {form.size}")
        return show(form.unpack(data)[0])

    return deserialize


def _boolean(data: bytes) -> str:
    if len(data) != 1:
        raise DeserializationError("Size of data received by BooleanDeserializer is not 1")
    if data not in (b"\0", b"\1"):
        raise DeserializationError(f"Unexpected byte received by BooleanDeserializer: {data[0]}")
    return "true" if data == b"\1" else "false"


def _float(value: float) -> str:
    """The shortest text that stands for the same 32-bit number."""
    for digits in range(1, 10):
        shown = f"{value:.{digits}g}"
        if struct.pack(">f", float(shown)) == struct.pack(">f", value):
            return double_text(float(shown))
    return double_text(value)


def _uuid(data: bytes) -> str:
    try:
        return str(uuid.UUID(data.decode()))
    except ValueError as error:
        raise DeserializationError(f"Error parsing data into UUID: {error}") from None


def _escaped(data: bytes) -> str:
    """As Bytes.toString: printable ASCII as it is, the rest as \\xNN."""
    return "".join([chr(byte) if 0x20 <= byte <= 0x7E and byte != 0x5C else f"\\x{byte:02X}" for byte in data])


def _void(_: bytes) -> str:
    raise DeserializationError("Data should be null for a VoidDeserializer.")


_DESERIALIZERS: Final[Mapping[str, Deserializer]] = {
    "IntegerDeserializer": _number("IntegerDeserializer", ">i"),
    "LongDeserializer": _number("LongDeserializer", ">q"),
    "ShortDeserializer": _number("ShortDeserializer", ">h"),
    "FloatDeserializer": _number("FloatDeserializer", ">f", _float),
    "DoubleDeserializer": _number("DoubleDeserializer", ">d", double_text),
    "BooleanDeserializer": _boolean,
    "UUIDDeserializer": _uuid,
    "BytesDeserializer": _escaped,
    # Java prints the object's address for these; hexadecimal digits say more.
    "ByteArrayDeserializer": bytes.hex,
    "ByteBufferDeserializer": bytes.hex,
    "VoidDeserializer": _void,
}
