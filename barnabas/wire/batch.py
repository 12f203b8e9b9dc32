"""Record batches, format 2: the 61-byte header, building, walking and stamping.

    baseOffset 8 | batchLength 4 | leaderEpoch 4 | magic 1 | crc 4 | attributes 2 | lastOffsetDelta 4 | baseTimestamp 8
    | maxTimestamp 8 | producerId 8 | producerEpoch 2 | baseSequence 4 | recordCount 4 | records

The CRC covers everything from the attributes on, so base offset and leader epoch can be stamped without touching it.
"""

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from crc32c import crc32c

from barnabas.wire.compression import INFLATED_MAX_BYTES, compress, decompress
from barnabas.wire.fields import Blob
from barnabas.wire.varint import read_varlong, varlong
from barnabas.wire.wire_error import WireError

HEADER_BYTES: Final = 61
LENGTH_OVERHEAD_BYTES: Final = 12  # what batchLength does not count: base offset and itself
CRC_START_BYTES: Final = 21
MAGIC: Final = 2

COMPRESSION_MASK: Final = 0x07
LOG_APPEND_TIME: Final = 0x08
TRANSACTIONAL: Final = 0x10
CONTROL: Final = 0x20
DELETE_HORIZON: Final = 0x40

NO_TIMESTAMP: Final = -1
NO_PRODUCER_ID: Final = -1
NO_PRODUCER_EPOCH: Final = -1
NO_SEQUENCE: Final = -1
NO_LEADER_EPOCH: Final = -1

_header = struct.Struct(">qiibIhiqqqhii")
_base_offset = struct.Struct(">q")
_leader_epoch = struct.Struct(">i")
_crc = struct.Struct(">I")
_attributes = struct.Struct(">h")
_max_timestamp = struct.Struct(">q")
_LEADER_EPOCH_POSITION: Final = 12
_CRC_POSITION: Final = 17
_ATTRIBUTES_POSITION: Final = 21
_MAX_TIMESTAMP_POSITION: Final = 35
# Hold on to the GIL while summing: giving it up costs a switch interval as soon as another thread is busy.
KEEP_GIL: Final = 0


class Record(NamedTuple):
    """One record with its absolute offset and its timestamp in milliseconds."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()


class BatchHeader(NamedTuple):
    """The 61 bytes in front of the records."""

    base_offset: int
    batch_length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    record_count: int

    @property
    def size_bytes(self) -> int:
        """The whole batch, header included."""
        return self.batch_length + LENGTH_OVERHEAD_BYTES

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def last_sequence(self) -> int:
        """The sequence number of the last record; numbers start again at 0 behind the largest 32-bit integer."""
        if self.base_sequence == NO_SEQUENCE:
            return NO_SEQUENCE
        return (self.base_sequence + self.last_offset_delta) & 0x7FFFFFFF

    @property
    def compression(self) -> int:
        return self.attributes & COMPRESSION_MASK

    @property
    def is_log_append_time(self) -> bool:
        return self.attributes & LOG_APPEND_TIME != 0

    @property
    def is_transactional(self) -> bool:
        return self.attributes & TRANSACTIONAL != 0

    @property
    def is_control(self) -> bool:
        return self.attributes & CONTROL != 0

    @property
    def has_delete_horizon(self) -> bool:
        """Whether baseTimestamp holds the time from which the cleaner may drop the batch's tombstones."""
        return self.attributes & DELETE_HORIZON != 0


# What the classes' own constructors end in; without the detour they are made in half the time.
_new_header: Callable[[type[BatchHeader], tuple[Any, ...]], BatchHeader] = tuple.__new__
_new_record: Callable[[type[Record], tuple[Any, ...]], Record] = tuple.__new__


def parse_header(buffer: Blob, position: int = 0) -> BatchHeader:
    """The header at `position`, taken as it stands: whether its values make sense is for the caller to judge."""
    try:
        return _new_header(BatchHeader, _header.unpack_from(buffer, position))
    except struct.error:
        left = len(buffer) - position
        raise WireError(f"batch at byte {position}: {left} bytes are left, a header takes {HEADER_BYTES}") from None


def iterate_batches(buffer: Blob, position: int = 0) -> Iterator[tuple[int, BatchHeader]]:
    """Position and header of every whole batch; a batch that the buffer cuts off ends the walk, as fetches do it."""
    end = len(buffer)
    while end - position >= HEADER_BYTES:
        header = parse_header(buffer, position)
        if header.batch_length < HEADER_BYTES - LENGTH_OVERHEAD_BYTES:
            raise WireError(f"batch at byte {position}: length {header.batch_length} is less than its own header takes")
        if position + header.size_bytes > end:
            return
        yield position, header
        position += header.size_bytes


def compute_crc(buffer: Blob, position: int, size_bytes: int) -> int:
    """The checksum that the batch of `size_bytes` at `position` should carry."""
    view = memoryview(buffer)
    return int(crc32c(view[position + CRC_START_BYTES : position + size_bytes], gil_release_mode=KEEP_GIL))


def stamp(buffer: bytearray | memoryview, position: int, base_offset: int, leader_epoch: int) -> None:
    """Writes base offset and leader epoch in place; both lie outside the CRC."""
    _base_offset.pack_into(buffer, position, base_offset)
    _leader_epoch.pack_into(buffer, position + _LEADER_EPOCH_POSITION, leader_epoch)


def stamp_log_append_time(buffer: bytearray | memoryview, position: int, header: BatchHeader, timestamp: int) -> None:
    """Gives every record of the batch the broker's `timestamp`, in place, and sums the batch anew."""
    _attributes.pack_into(buffer, position + _ATTRIBUTES_POSITION, header.attributes | LOG_APPEND_TIME)
    _max_timestamp.pack_into(buffer, position + _MAX_TIMESTAMP_POSITION, timestamp)
    _crc.pack_into(buffer, position + _CRC_POSITION, compute_crc(buffer, position, header.size_bytes))


def build_batch(
    records: Sequence[Record],
    *,
    base_offset: int | None = None,
    last_offset: int | None = None,
    leader_epoch: int = NO_LEADER_EPOCH,
    compression: int = 0,
    level: int | None = None,
    log_append_time: int | None = None,
    delete_horizon: int | None = None,
    transactional: bool = False,
    control: bool = False,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
    base_sequence: int = NO_SEQUENCE,
) -> bytearray:
    """A whole batch. The offsets are the records' own; compaction, which leaves gaps, keeps the original first and last
    offset by giving them, and may leave no record at all."""
    base_offset = records[0].offset if base_offset is None else base_offset
    last_offset = records[-1].offset if last_offset is None else last_offset
    first_timestamp = records[0].timestamp if records else NO_TIMESTAMP
    base_timestamp = first_timestamp if delete_horizon is None else delete_horizon
    max_timestamp = max([record.timestamp for record in records], default=NO_TIMESTAMP)
    attributes = compression
    if log_append_time is not None:
        attributes |= LOG_APPEND_TIME
        max_timestamp = log_append_time
    if transactional:
        attributes |= TRANSACTIONAL
    if control:
        attributes |= CONTROL
    if delete_horizon is not None:
        attributes |= DELETE_HORIZON
    body = compress(compression, encode_records(records, base_offset, base_timestamp), level)
    out = bytearray(HEADER_BYTES)
    _header.pack_into(
        out, 0, base_offset, HEADER_BYTES - LENGTH_OVERHEAD_BYTES + len(body), leader_epoch, MAGIC, 0, attributes,
        last_offset - base_offset, base_timestamp, max_timestamp, producer_id, producer_epoch, base_sequence, len(records),
    )  # fmt: skip
    out += body
    _crc.pack_into(out, _CRC_POSITION, compute_crc(out, 0, len(out)))
    return out


def seal(
    batch: bytearray,
    *,
    record_count: int,
    timestamp: int,
    transactional: bool = False,
    producer_id: int = NO_PRODUCER_ID,
    producer_epoch: int = NO_PRODUCER_EPOCH,
) -> None:
    """Fills in the header of a batch whose records, all of one time and not compressed, stand behind the room for it."""
    _header.pack_into(
        batch, 0, 0, len(batch) - LENGTH_OVERHEAD_BYTES, NO_LEADER_EPOCH, MAGIC, 0, TRANSACTIONAL if transactional else 0,
        record_count - 1, timestamp, timestamp, producer_id, producer_epoch, NO_SEQUENCE, record_count,
    )  # fmt: skip
    _crc.pack_into(batch, _CRC_POSITION, compute_crc(batch, 0, len(batch)))


def encode_records(records: Iterable[Record], base_offset: int, base_timestamp: int) -> bytearray:
    """The records one after the other, each with its length in front, not compressed."""
    out = bytearray()
    for record in records:
        parts = [b"\0", varlong(record.timestamp - base_timestamp), varlong(record.offset - base_offset)]
        for blob in (record.key, record.value):
            if blob is None:
                parts.append(b"\x01")
            else:
                parts.append(varlong(len(blob)))
                parts.append(blob)
        parts.append(varlong(len(record.headers)))
        for name, value in record.headers:
            encoded = name.encode()
            parts.append(varlong(len(encoded)))
            parts.append(encoded)
            if value is None:
                parts.append(b"\x01")
            else:
                parts.append(varlong(len(value)))
                parts.append(value)
        body = b"".join(parts)
        out += varlong(len(body))
        out += body
    return out


def iterate_records(
    buffer: Blob, position: int = 0, *, inflated_max_bytes: int = INFLATED_MAX_BYTES
) -> Iterator[Record]:
    """The records of the batch at `position`. WireError where the batch is damaged; the CRC is not checked here."""
    header = parse_header(buffer, position)
    if header.magic != MAGIC:
        raise WireError(f"batch at byte {position}: format {header.magic}; only format {MAGIC} can be read")
    size = header.size_bytes
    if not HEADER_BYTES <= size <= len(buffer) - position:
        raise WireError(f"batch at byte {position}: {size} bytes, but {len(buffer) - position} are left")
    body = decompress(
        header.compression, memoryview(buffer)[position + HEADER_BYTES : position + size], inflated_max_bytes
    )
    yield from _walk(bytes(body), header)


def _walk(body: bytes, header: BatchHeader) -> Iterator[Record]:
    """The records in `body`: bytes, since indexing and slicing bytes is much faster than doing so with a memoryview."""
    if header.record_count < 0:
        raise WireError(f"record count {header.record_count} is negative")
    append_time = header.max_timestamp if header.is_log_append_time else None
    base_offset, base_timestamp = header.base_offset, header.base_timestamp
    end_of_body = len(body)
    number = position = 0
    try:
        while number < header.record_count:
            size, position = read_varlong(body, position)
            end = position + size
            if not position < end <= end_of_body:
                raise WireError(f"its size is {size}, but {end_of_body - position} bytes are left")
            timestamp, position = read_varlong(body, position + 1)
            offset, position = read_varlong(body, position)
            key, position = _read_blob(body, position, end)
            value, position = _read_blob(body, position, end)
            headers, position = _read_headers(body, position, end) if body[position] else ((), position + 1)
            if position != end:
                raise WireError(f"it ends at byte {position}, but its size says {end}")
            timestamp = base_timestamp + timestamp if append_time is None else append_time
            yield _new_record(Record, (base_offset + offset, timestamp, key, value, headers))
            number += 1
    except IndexError:
        raise WireError(f"record {number} of {header.record_count}: the batch ends inside it") from None
    except WireError as error:
        raise WireError(f"record {number} of {header.record_count}: {error}") from None
    if position != end_of_body:
        raise WireError(f"{end_of_body - position} bytes follow the last of {header.record_count} records")


def _read_blob(body: bytes, position: int, end: int) -> tuple[bytes | None, int]:
    size, position = read_varlong(body, position)
    if size < 0:
        return None, position
    stop = position + size
    if stop > end:
        raise WireError(f"a field of {size} bytes, but {end - position} are left in the record")
    return body[position:stop], stop


def _read_headers(body: bytes, position: int, end: int) -> tuple[tuple[tuple[str, bytes | None], ...], int]:
    count, position = read_varlong(body, position)
    if not 0 < count <= end - position:
        raise WireError(f"{count} headers cannot fit the {end - position} bytes left in the record")
    headers = []
    for _ in range(count):
        name, position = _read_blob(body, position, end)
        if name is None:
            raise WireError("a header without a key")
        value, position = _read_blob(body, position, end)
        try:
            headers.append((str(name, "utf-8"), value))
        except UnicodeDecodeError:
            raise WireError(f"header key {name!r} is not valid UTF-8") from None
    return tuple(headers), position
