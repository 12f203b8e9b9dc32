"""Variable-length integers: unsigned (lengths, tags) and zigzag (records)."""

from typing import Final

from barnabas.wire.fields import Blob
from barnabas.wire.wire_error import WireError

_UVARINT_MAX_BITS: Final = 35
_VARLONG_MAX_BITS: Final = 70
_UINT32_MAX: Final = (1 << 32) - 1
_UINT64_MAX: Final = (1 << 64) - 1


def read_uvarint(buffer: Blob, position: int) -> tuple[int, int]:
    """The unsigned 32-bit varint at `position` and the position behind it. IndexError where the buffer ends inside."""
    value = shift = 0
    while True:
        byte = buffer[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift >= _UVARINT_MAX_BITS:
            raise WireError("a varint of more than 5 bytes; the bytes are not what the version says")
    if value > _UINT32_MAX:
        raise WireError(f"varint {value} does not fit 32 bits")
    return value, position


def read_varlong(buffer: Blob, position: int) -> tuple[int, int]:
    """The zigzag varint (up to 64 bits) at `position` and the position behind it. IndexError where the buffer ends."""
    # One and two bytes are unrolled: sizes, and the deltas of offsets and timestamps, hardly ever take more.
    value = buffer[position]
    if value < 0x80:
        return (value >> 1) ^ -(value & 1), position + 1
    byte = buffer[position + 1]
    value = value & 0x7F | (byte & 0x7F) << 7
    position += 2
    if byte < 0x80:
        return (value >> 1) ^ -(value & 1), position
    shift = 14
    while True:
        byte = buffer[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
        if shift >= _VARLONG_MAX_BITS:
            raise WireError("a varint of more than 10 bytes; the bytes are not what the version says")
    if value > _UINT64_MAX:
        raise WireError(f"varint {value} does not fit 64 bits")
    return (value >> 1) ^ -(value & 1), position


def uvarint(value: int) -> bytes:
    """`value` (not negative) as an unsigned varint."""
    if value < 0x80:
        return ONE_BYTE[value]
    out = bytearray()
    while value >= 0x80:
        out.append((value & 0x7F) | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def varlong(value: int) -> bytes:
    """`value` as a zigzag varint."""
    return uvarint(value << 1 if value >= 0 else (-value << 1) - 1)


# One-byte varints are nearly all there are; a table look-up is several times faster than building them.
ONE_BYTE: Final[tuple[bytes, ...]] = tuple([bytes((value,)) for value in range(0x80)])
