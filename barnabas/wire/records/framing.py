"""How internal records are wrapped: what stands in front of a message in a record's key or value.

- metadata records: frame version, record type and version as varints, then the message, all in the record's value;
- coordinator records: the type in front of the key, the version in front of the value, as 16-bit integers;
- everything else that carries its version (end markers, consumer protocol): the version as a 16-bit integer.
"""

from collections.abc import Mapping
from typing import Final, TypeVar

from barnabas.wire.codec import decode, encode
from barnabas.wire.fields import Blob
from barnabas.wire.struct import Message
from barnabas.wire.varint import read_uvarint, uvarint
from barnabas.wire.wire_error import WireError

METADATA_FRAME_VERSION: Final = 1
_PREFIX_BYTES: Final = 2

M = TypeVar("M", bound=Message)


def encode_metadata_record(record: Message, version: int) -> bytes:
    """The value of a record of `__cluster_metadata`."""
    prefix = uvarint(METADATA_FRAME_VERSION) + uvarint(record.API_KEY) + uvarint(version)
    return prefix + encode(record, version)


def decode_metadata_record(value: Blob, declarations: Mapping[int, type[Message]]) -> Message:
    """The record in `value`, its type looked up in `declarations`."""
    try:
        frame_version, position = read_uvarint(value, 0)
        record_type, position = read_uvarint(value, position)
        version, position = read_uvarint(value, position)
    except IndexError:
        raise WireError(f"metadata record of {len(value)} bytes ends inside its frame") from None
    if frame_version != METADATA_FRAME_VERSION:
        raise WireError(f"metadata record has frame version {frame_version}; known is {METADATA_FRAME_VERSION}")
    record, end = decode(_declared(declarations, record_type), version, value, position)
    return _complete(record, end, value)


def encode_key(key: Message) -> bytes:
    """The key of a coordinator's record: type, message."""
    return key.API_KEY.to_bytes(_PREFIX_BYTES, "big", signed=True) + encode(key, 0)


def decode_key(key: Blob, declarations: Mapping[int, type[Message]]) -> Message:
    """The key of a coordinator's record, its type looked up in `declarations`."""
    message, end = decode(_declared(declarations, read_prefix(key)), 0, key, _PREFIX_BYTES)
    return _complete(message, end, key)


def encode_versioned(message: Message, version: int) -> bytes:
    """Version, message: the value of a coordinator's record, an end marker, a subscription or an assignment."""
    return version.to_bytes(_PREFIX_BYTES, "big", signed=True) + encode(message, version)


def decode_versioned(cls: type[M], data: Blob) -> M:
    """The message behind its version. What follows it is left alone, since consumers may append data of their own."""
    return decode(cls, read_prefix(data), data, _PREFIX_BYTES)[0]


def decode_newest(cls: type[M], data: Blob) -> M:
    """As `decode_versioned`; a version above the newest known one is read as the newest, as consumers do it."""
    return decode(cls, min(read_prefix(data), cls.VERSIONS.high), data, _PREFIX_BYTES)[0]


def read_prefix(data: Blob) -> int:
    """The 16-bit version or type that `data` begins with."""
    if len(data) < _PREFIX_BYTES:
        raise WireError(f"record of {len(data)} bytes has no room for its version or type")
    return int.from_bytes(data[:_PREFIX_BYTES], "big", signed=True)


def _declared(declarations: Mapping[int, type[Message]], record_type: int) -> type[Message]:
    declaration = declarations.get(record_type)
    if declaration is None:
        raise WireError(f"record type {record_type} is unknown; it may stem from a newer version")
    return declaration


def _complete(record: M, end: int, data: Blob) -> M:
    if end != len(data):
        raise WireError(f"{len(data) - end} bytes follow the {type(record).__name__}")
    return record
