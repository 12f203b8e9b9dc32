"""A walk through the batches of a segment: what recovery and the rebuilding of indexes have in common."""

from __future__ import annotations

import struct
import sys
import zlib
from typing import Final

from crc32c import crc32c

from barnabas.wire.batch import (
    CONTROL,
    CRC_START_BYTES,
    HEADER_BYTES,
    LENGTH_OVERHEAD_BYTES,
    MAGIC,
    BatchHeader,
)
from core_broker.log.disk import Disk
from core_broker.log.epochs import LeaderEpochs
from core_broker.log.marker import read_marker
from core_broker.log.producer_state import Producers
from core_broker.log.segment import LENGTH_MIN, LOG, RELATIVE_OFFSET_MAX, Segment

NOWHERE: Final = sys.maxsize  # in place of a position or an offset from which on something is done

_CHUNK_BYTES: Final = 4 * 1024 * 1024
_KEEP_GIL: Final = 0  # releasing it costs more than a batch takes
_HEADER: Final = struct.Struct(">qiibIhiqqqhii")
_OLD_CRC: Final = struct.Struct(">I")
_OLD_CRC_AT: Final = 12
_OLD_BODY_AT: Final = 16
_OLD_FORMATS: Final = (0, 1)


class UnsupportedFormatError(OSError):
    """A segment that an old Kafka wrote in message format 0 or 1."""


class SegmentWalk:
    """Goes from batch to batch; each `_from` says from where on something happens on the way.

    `verify_from`: the checksum is verified from this byte on. `index_from`: batches are entered in the segment's indexes from
    this byte on. `producers_from`: batches change the producers' state from this offset on, and with `collects_aborted` the
    transactions that end so are entered in the segment's transaction index.
    """

    def __init__(
        self,
        segment: Segment,
        disk: Disk,
        *,
        producers: Producers,
        epochs: LeaderEpochs,
        index_interval_bytes: int,
        verify_from: int = NOWHERE,
        index_from: int = NOWHERE,
        producers_from: int = NOWHERE,
        collects_aborted: bool = False,
    ) -> None:
        self._segment = segment
        self._disk = disk
        self._producers = producers
        self._epochs = epochs
        self._index_interval_bytes = index_interval_bytes
        self._verify_from = verify_from
        self._index_from = index_from
        self._producers_from = producers_from
        self._collects_aborted = collects_aborted
        self._buffer = memoryview(b"")
        self._damaged = False
        self.next_offset = segment.base_offset

    def run(self, position: int = 0) -> int:
        """Walk from a batch's start to the end and return where the good batches end: at `size`, if all is well."""
        segment = self._segment
        buffer = self._buffer = memoryview(bytearray(min(_CHUNK_BYTES, max(segment.size - position, 0))))
        while segment.size - position >= HEADER_BYTES and not self._damaged:
            wanted = min(len(buffer), segment.size - position)
            filled = self._disk.pread_into(segment.descriptor, buffer[:wanted], position)
            used = self._walk_chunk(filled, position)
            if used == 0 and not self._damaged:
                used = self._walk_large_batch(filled, position)
            if used == 0:
                break
            position += used
        return position

    def _walk_chunk(self, filled: int, position: int) -> int:
        """Walk the batches that lie wholly in the buffer; say how many bytes they take."""
        buffer, unpack = self._buffer, _HEADER.unpack_from
        cursor, last = 0, filled - HEADER_BYTES
        while cursor <= last:
            fields = unpack(buffer, cursor)
            end = cursor + fields[1] + LENGTH_OVERHEAD_BYTES
            if fields[1] < LENGTH_MIN or end > filled:
                break
            if position + cursor >= self._verify_from:
                crc = crc32c(buffer[cursor + CRC_START_BYTES : end], gil_release_mode=_KEEP_GIL)
                if crc != fields[4]:
                    self._refuse_old_format(fields[3], buffer[cursor:end])
                    self._damaged = True
                    break
            if not self._visit(fields, position + cursor, buffer[cursor:end]):
                break
            cursor = end
        return cursor

    def _walk_large_batch(self, filled: int, position: int) -> int:
        """The batch at the start of the buffer does not fit it: check it piece by piece. 0 if it is cut off or damaged."""
        if filled < HEADER_BYTES:
            return 0
        fields = _HEADER.unpack_from(self._buffer)
        size: int = fields[1] + LENGTH_OVERHEAD_BYTES
        if fields[1] < LENGTH_MIN or position + size > self._segment.size:
            return 0
        if position >= self._verify_from:
            crc = crc32c(self._buffer[CRC_START_BYTES:filled], gil_release_mode=_KEEP_GIL)
            done = filled
            while done < size:
                piece = self._buffer[: min(len(self._buffer), size - done)]
                got = self._disk.pread_into(self._segment.descriptor, piece, position + done)
                if got == 0:
                    return 0
                crc = crc32c(piece[:got], crc, gil_release_mode=_KEEP_GIL)
                done += got
            if crc != fields[4]:
                return 0
        return size if self._visit(fields, position, None) else 0

    def _visit(self, fields: tuple[int, ...], position: int, batch: memoryview | None) -> bool:
        """Take note of a batch; False if it cannot stand here."""
        segment = self._segment
        base_offset = fields[0]
        last_offset = base_offset + fields[6]
        if (
            fields[3] != MAGIC
            or fields[6] < 0
            or base_offset < self.next_offset
            or last_offset - segment.base_offset > RELATIVE_OFFSET_MAX
        ):
            if batch is not None:
                self._refuse_old_format(fields[3], batch)
            self._damaged = True
            return False
        if position >= self._index_from:
            size = fields[1] + LENGTH_OVERHEAD_BYTES
            segment.note_batch(position, size, last_offset, fields[8], self._index_interval_bytes)
        if fields[2] > self._epochs.latest:
            self._epochs.assign(fields[2], base_offset)
        if fields[9] >= 0 and base_offset >= self._producers_from:
            self._visit_producer(BatchHeader._make(fields), batch)
        self.next_offset = last_offset + 1
        return True

    def _visit_producer(self, header: BatchHeader, batch: memoryview | None) -> None:
        if not header.attributes & CONTROL:
            self._producers.apply(header, header.base_offset)
            return
        # A marker takes less than a hundred bytes, so it always fits the buffer.
        marker = read_marker(batch) if batch is not None else None
        if marker is None:
            return
        aborted = self._producers.apply_marker(header, header.base_offset, marker)
        if aborted is not None and self._collects_aborted:
            assert self._segment.transaction_index is not None
            self._segment.transaction_index.entries.append(aborted)

    def _refuse_old_format(self, magic: int, batch: memoryview) -> None:
        """Tell data of an old Kafka from damage: it must not be cut off."""
        if magic not in _OLD_FORMATS:
            return
        (crc,) = _OLD_CRC.unpack_from(batch, _OLD_CRC_AT)
        if zlib.crc32(batch[_OLD_BODY_AT:]) == crc:
            raise UnsupportedFormatError(
                f"{self._segment.path(LOG)} holds messages in format {magic}, which Kafka wrote before 0.11; "
                "only format 2 can be read: let Kafka copy the topic into a new one and use that"
            )
