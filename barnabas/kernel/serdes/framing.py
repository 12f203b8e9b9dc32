"""How records say which schema their bytes have: in front of the bytes, or in a header.

In front stands a zero and the id as four bytes, or a one and the GUID as sixteen; a header holds either. Protobuf adds
which message of the file it is: its number, and the number inside that one for a nested message, and so on.
"""

from __future__ import annotations

import struct
import uuid
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from barnabas.kernel.serdes.serdes_error import SerdesError

KEY_HEADER: Final = "__key_schema_id"
VALUE_HEADER: Final = "__value_schema_id"
NESTING_MAX_LEVELS: Final = 100

_ID_MAGIC: Final = 0
_GUID_MAGIC: Final = 1
_ID_FRAME: Final = struct.Struct(">BI")
_ID_FRAME_BYTES: Final = 5
_GUID_FRAME_BYTES: Final = 17
_VARINT_MAX_BYTES: Final = 5
_ID_LIMIT: Final = 1 << 31

Headers = Iterable[tuple[str, bytes | None]]


class Frame(NamedTuple):
    """A schema, and what is to be read with it: for Protobuf the message's numbers first, wherever they stood."""

    key: int | uuid.UUID
    body: bytes


def id_prefix(schema_id: int) -> bytes:
    return _ID_FRAME.pack(_ID_MAGIC, schema_id)


def guid_prefix(guid: uuid.UUID) -> bytes:
    return bytes((_GUID_MAGIC,)) + guid.bytes


def header_name(*, is_key: bool) -> str:
    return KEY_HEADER if is_key else VALUE_HEADER


def read_frame(data: bytes, headers: Headers = (), *, is_key: bool = False) -> Frame | None:
    """The frame of a record's key or value: that of a header counts first. None when there is none."""
    wanted = KEY_HEADER if is_key else VALUE_HEADER
    for name, value in headers:
        if name == wanted and value is not None:
            found = _split(value)
            if found is not None:
                return Frame(found.key, found.body + data)
    return _split(data)


def _split(data: bytes) -> Frame | None:
    if len(data) >= _ID_FRAME_BYTES and data[0] == _ID_MAGIC:
        schema_id = _ID_FRAME.unpack_from(data)[1]
        return Frame(schema_id, data[_ID_FRAME_BYTES:]) if schema_id < _ID_LIMIT else None
    if len(data) >= _GUID_FRAME_BYTES and data[0] == _GUID_MAGIC:
        return Frame(uuid.UUID(bytes=data[1:_GUID_FRAME_BYTES]), data[_GUID_FRAME_BYTES:])
    return None


def write_message_indexes(indexes: Sequence[int]) -> bytes:
    """A count and the numbers, each as a zig-zag varint; the first message of a file is one zero byte alone."""
    if list(indexes) == [0]:
        return b"\0"
    return b"".join([_varint(number) for number in (len(indexes), *indexes)])


def read_message_indexes(body: bytes) -> tuple[tuple[int, ...], int]:
    """The numbers, and where they end."""
    count, place = _read_varint(body, 0)
    if not 0 <= count <= NESTING_MAX_LEVELS:
        raise SerdesError(f"the frame names a message {count} levels deep; {NESTING_MAX_LEVELS} are the most")
    if count == 0:
        return (0,), place
    indexes = []
    for _ in range(count):
        number, place = _read_varint(body, place)
        indexes.append(number)
    return tuple(indexes), place


def _varint(number: int) -> bytes:
    left = number << 1 if number >= 0 else (-number << 1) - 1
    out = bytearray()
    while left > 0x7F:
        out.append(left & 0x7F | 0x80)
        left >>= 7
    out.append(left)
    return bytes(out)


def _read_varint(data: bytes, place: int) -> tuple[int, int]:
    bits = 0
    for count, byte in enumerate(data[place : place + _VARINT_MAX_BYTES]):
        bits |= (byte & 0x7F) << (7 * count)
        if byte < 0x80:
            return (bits >> 1) ^ -(bits & 1), place + count + 1
    raise SerdesError("the frame ends, or goes astray, among the numbers of its Protobuf message")
