"""A whole batch somewhere in bytes that begin with damage: how a write that was torn is told from damage to what was on disk."""

from __future__ import annotations

import struct
from typing import Final

from crc32c import crc32c

from barnabas.wire.batch import CRC_START_BYTES, HEADER_BYTES, LENGTH_OVERHEAD_BYTES, MAGIC
from core_broker.log.segment import LENGTH_MIN

_MAGIC_AT: Final = 16
_FIELDS: Final = struct.Struct(">qiibI")  # base offset, length, leader epoch, magic, checksum


def find_sound_batch(data: bytes) -> int | None:
    """Where the first batch lies whose checksum is right, at whatever byte it begins."""
    view = memoryview(data)
    magic = bytes([MAGIC])
    place = data.find(magic, _MAGIC_AT)
    while place >= 0:
        start = place - _MAGIC_AT
        if start + HEADER_BYTES > len(data):
            return None
        base_offset, length, _, _, checksum = _FIELDS.unpack_from(data, start)
        end = start + LENGTH_OVERHEAD_BYTES + length
        is_possible = base_offset >= 0 and length >= LENGTH_MIN and end <= len(data)
        if is_possible and crc32c(view[start + CRC_START_BYTES : end]) == checksum:
            return start
        place = data.find(magic, place + 1)
    return None
