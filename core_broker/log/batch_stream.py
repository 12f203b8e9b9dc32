"""The batches of a sealed segment one after the other, read in large pieces by a thread that is not in a hurry."""

from __future__ import annotations

from collections.abc import Iterator

from barnabas.wire.batch import HEADER_BYTES, LENGTH_OVERHEAD_BYTES, MAGIC, BatchHeader, parse_header
from core_broker.log.disk import Disk
from core_broker.log.pace import Pace
from core_broker.log.segment import LENGTH_MIN, Segment


def stream_batches(
    disk: Disk, segment: Segment, position: int, chunk_bytes: int, pace: Pace
) -> Iterator[tuple[BatchHeader, memoryview]]:
    """Header and bytes of each batch from a batch's start on. The bytes are good until the next step.

    The segment must be sealed and pinned.
    """
    buffer = memoryview(bytearray(max(chunk_bytes, HEADER_BYTES)))
    while position < segment.size:
        wanted = min(len(buffer), segment.size - position)
        filled = disk.pread_into(segment.descriptor, buffer[:wanted], position)
        pace.moved(filled)
        cursor = 0
        size = HEADER_BYTES
        while filled - cursor >= HEADER_BYTES:
            header = parse_header(buffer, cursor)
            size = header.batch_length + LENGTH_OVERHEAD_BYTES
            if header.batch_length < LENGTH_MIN or header.magic != MAGIC or position + cursor + size > segment.size:
                raise segment.damaged(position + cursor)
            if cursor + size > filled:
                break
            pace.breathe()
            yield header, buffer[cursor : cursor + size]
            cursor += size
        if cursor == 0:
            if filled < wanted or size <= wanted:
                raise segment.damaged(position)
            buffer = memoryview(bytearray(size))  # a batch that is larger than the buffer
        position += cursor
