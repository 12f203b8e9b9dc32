"""Record batches, against aiokafka's reader and writer."""

import struct

import pytest
from aiokafka.record.default_records import (  # type: ignore[import-untyped]
    DefaultRecordBatch,
    DefaultRecordBatchBuilder,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from barnabas.wire.batch import (
    HEADER_BYTES,
    NO_PRODUCER_ID,
    NO_TIMESTAMP,
    BatchHeader,
    Record,
    build_batch,
    compute_crc,
    encode_records,
    iterate_batches,
    iterate_records,
    parse_header,
    stamp,
    stamp_log_append_time,
)
from barnabas.wire.compression import Compression
from barnabas.wire.wire_error import WireError

TIMESTAMP = 1_700_000_000_000
BLOBS = st.none() | st.binary(max_size=5) | st.sampled_from([b"", b"x" * 200, bytes(70_000)])
HEADERS = st.lists(st.tuples(st.text(max_size=3), BLOBS), max_size=2).map(tuple)


@st.composite
def record_lists(draw: st.DrawFn) -> list[Record]:
    base = draw(st.integers(0, 1 << 40))
    gaps = draw(st.lists(st.integers(1, 1 << 20), min_size=1, max_size=4))
    offset = base - 1
    records = []
    for gap in gaps:
        offset += gap
        timestamp = TIMESTAMP + draw(st.integers(-(1 << 40), 1 << 40))
        records.append(Record(offset, timestamp, draw(BLOBS), draw(BLOBS), draw(HEADERS)))
    return records


def read_by_aiokafka(batch: bytes | bytearray) -> list[Record]:
    reader = DefaultRecordBatch(bytes(batch))
    assert reader.validate_crc()
    return [Record(row.offset, row.timestamp, row.key, row.value, tuple(row.headers)) for row in reader]


def some_records(count: int, value: bytes = b"value") -> list[Record]:
    return [Record(offset, TIMESTAMP + offset, b"key-%d" % offset, value, (("h", b"v"),)) for offset in range(count)]


@pytest.mark.parametrize("compression", list(Compression))
@settings(max_examples=15, deadline=None, derandomize=True, database=None)
@given(records=record_lists())
def test_ours_is_read_by_us_and_by_aiokafka(compression: Compression, records: list[Record]) -> None:
    batch = build_batch(records, compression=compression)
    assert list(iterate_records(batch)) == records
    assert read_by_aiokafka(batch) == records
    header = parse_header(batch)
    assert header.crc == compute_crc(batch, 0, len(batch))
    assert (header.base_offset, header.last_offset) == (records[0].offset, records[-1].offset)
    assert (header.size_bytes, header.record_count) == (len(batch), len(records))
    assert header.max_timestamp == max(record.timestamp for record in records)
    assert header.compression == compression


@pytest.mark.parametrize("compression", list(Compression))
@pytest.mark.parametrize("records", [some_records(1), some_records(300), some_records(40, b"x" * 5000)], ids=len)
def test_aiokafkas_is_read_by_us(compression: Compression, records: list[Record]) -> None:
    builder = DefaultRecordBatchBuilder(
        magic=2,
        compression_type=compression,
        is_transactional=1,
        producer_id=11,
        producer_epoch=3,
        base_sequence=5,
        batch_size=1 << 24,
    )
    for record in records:
        builder.append(record.offset, record.timestamp, record.key, record.value, list(record.headers))
    batch = builder.build()
    assert list(iterate_records(batch)) == records
    header = parse_header(batch)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (11, 3, 5)
    assert header.is_transactional
    assert not header.is_control
    assert header.crc == compute_crc(batch, 0, len(batch))
    if compression == Compression.NONE:
        ours = build_batch(records, transactional=True, producer_id=11, producer_epoch=3, base_sequence=5)
        assert ours == batch


def test_header_layout() -> None:
    numbers = BatchHeader(1 << 40, 49, 7, 2, 0xDEADBEEF, 0x7F, 6, -1, TIMESTAMP, 1 << 50, 9, 10, 11)
    data = struct.pack(">qiibIhiqqqhii", *numbers)
    assert len(data) == HEADER_BYTES
    assert parse_header(b"..." + data, 3) == numbers
    assert (numbers.last_offset, numbers.size_bytes, numbers.last_sequence) == ((1 << 40) + 6, 61, 16)
    assert numbers.is_log_append_time
    assert numbers.is_transactional
    assert numbers.is_control
    assert numbers.has_delete_horizon
    with pytest.raises(WireError, match="60 bytes are left, a header takes 61"):
        parse_header(data, 1)


def test_sequence_numbers_wrap() -> None:
    batch = build_batch(some_records(3), producer_id=1, producer_epoch=0, base_sequence=(1 << 31) - 2)
    assert parse_header(batch).last_sequence == 0
    assert parse_header(build_batch(some_records(3))).last_sequence == -1


def test_stamping_leaves_the_checksum_alone() -> None:
    buffer = bytearray(b"....") + build_batch(some_records(3), compression=Compression.GZIP)
    stamp(memoryview(buffer), 4, 1000, 12)
    header = parse_header(buffer, 4)
    assert (header.base_offset, header.leader_epoch) == (1000, 12)
    assert header.crc == compute_crc(buffer, 4, header.size_bytes)
    assert [record.offset for record in iterate_records(buffer, 4)] == [1000, 1001, 1002]


def test_log_append_time_is_stamped_without_touching_the_records() -> None:
    batch = build_batch(some_records(3), compression=Compression.SNAPPY)
    stamp_log_append_time(batch, 0, parse_header(batch), TIMESTAMP + 99)
    header = parse_header(batch)
    assert header.is_log_append_time
    assert header.compression == Compression.SNAPPY
    assert {record.timestamp for record in iterate_records(batch)} == {TIMESTAMP + 99}
    assert {record.timestamp for record in read_by_aiokafka(batch)} == {TIMESTAMP + 99}
    assert build_batch(some_records(3), compression=Compression.SNAPPY, log_append_time=TIMESTAMP + 99) == batch


def test_a_compacted_batch_keeps_its_borders() -> None:
    kept = [Record(7, TIMESTAMP, b"k", b"v")]
    batch = build_batch(
        kept,
        base_offset=5,
        last_offset=9,
        producer_id=3,
        producer_epoch=1,
        base_sequence=4,
        delete_horizon=TIMESTAMP + 5,
    )
    header = parse_header(batch)
    assert (header.base_offset, header.last_offset, header.last_sequence) == (5, 9, 8)
    assert header.has_delete_horizon
    assert header.base_timestamp == TIMESTAMP + 5
    assert list(iterate_records(batch)) == kept
    empty = build_batch([], base_offset=5, last_offset=9)
    assert list(iterate_records(empty)) == []
    assert parse_header(empty).max_timestamp == NO_TIMESTAMP
    assert parse_header(empty).producer_id == NO_PRODUCER_ID


def test_a_control_batch() -> None:
    batch = build_batch([Record(0, TIMESTAMP, bytes(4), bytes(6))], control=True, transactional=True, producer_id=1)
    header = parse_header(batch)
    assert header.is_control
    assert header.is_transactional
    assert DefaultRecordBatch(bytes(batch)).is_control_batch


def test_walking_batches_stops_at_the_cut() -> None:
    first, second = build_batch(some_records(2)), build_batch(some_records(3))
    both = first + second
    assert [position for position, _ in iterate_batches(both)] == [0, len(first)]
    for cut in (1, HEADER_BYTES, len(second) - 1):
        assert [position for position, _ in iterate_batches(both[: len(first) + cut])] == [0]
    assert list(iterate_batches(b"")) == []
    both[8:12] = (48).to_bytes(4, "big")
    with pytest.raises(WireError, match="length 48 is less than its own header takes"):
        list(iterate_batches(both))


def damaged(position: int, value: int) -> bytearray:
    batch = build_batch([Record(0, TIMESTAMP, b"k", b"v", (("h", b"x"),))])
    batch[position] = value
    return batch


@pytest.mark.parametrize(
    ("batch", "reason"),
    [
        (damaged(16, 1), "format 1; only format 2"),
        (damaged(22, 5), "compression codec 5 is unknown"),
        (damaged(11, 200), "but 74 are left"),
        (damaged(57, 0x80), "record count -2147483647 is negative"),
        (damaged(60, 2), "record 1 of 2: the batch ends inside it"),
        (damaged(60, 0), "13 bytes follow the last of 0 records"),
        (damaged(61, 0x7E), "record 0 of 1: its size is 63, but 12 bytes are left"),
        (damaged(61, 0x01), "record 0 of 1: its size is -1"),
        (damaged(65, 0x7E), "record 0 of 1: a field of 63 bytes"),
        (damaged(69, 0x01), "record 0 of 1: -1 headers cannot fit"),
        (damaged(69, 0x7E), "record 0 of 1: 63 headers cannot fit"),
        (damaged(70, 0x01), "record 0 of 1: a header without a key"),
        (damaged(71, 0xFF), "is not valid UTF-8"),
        (damaged(67, 0x00), "record 0 of 1"),
    ],
)
def test_damage_is_named(batch: bytearray, reason: str) -> None:
    with pytest.raises(WireError, match=reason):
        list(iterate_records(batch))


def test_records_alone() -> None:
    assert encode_records([Record(5, 100, None, b"v")], 5, 100) == b"\x0e\x00\x00\x00\x01\x02v\x00"
