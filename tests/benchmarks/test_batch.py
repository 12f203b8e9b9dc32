from __future__ import annotations

import pytest

from barnabas.wire.batch import iterate_records, parse_header
from benchmarks import batch

NOW_MS = 1_700_000_000_000


def test_a_batch_reads_back_record_by_record() -> None:
    values = [b"", b"x", b"y" * 70_000]
    encoded = batch.encode(values, NOW_MS, base_offset=5)
    assert parse_header(encoded).size_bytes == len(encoded)
    records = list(iterate_records(encoded))
    assert [(record.offset, record.timestamp, record.value) for record in records] == [
        (5, NOW_MS, b""),
        (6, NOW_MS, b"x"),
        (7, NOW_MS, b"y" * 70_000),
    ]


@pytest.mark.parametrize("record_bytes", [1, 100, 1024])
@pytest.mark.parametrize("batch_bytes", [2_000, 16_384, 1_000_000])
def test_a_batch_is_as_full_as_its_limit_allows(record_bytes: int, batch_bytes: int) -> None:
    count = batch.records_per_batch(record_bytes, batch_bytes)
    assert len(batch.encode([bytes(record_bytes)] * count, NOW_MS)) <= batch_bytes
    # The varints of the first records are shorter than those of the last, which the estimate charges throughout.
    assert len(batch.encode([bytes(record_bytes)] * count, NOW_MS)) > batch_bytes * 0.85 - record_bytes - 20


def test_a_record_above_the_limit_still_goes_alone() -> None:
    assert batch.records_per_batch(5_000, 1_000) == 1


def test_walking_yields_whole_batches_and_leaves_out_a_cut_one() -> None:
    first, second = batch.encode([b"a", b"b"], NOW_MS), batch.encode([b"c"], NOW_MS, base_offset=2)
    data = memoryview(first + second + first[:-1])
    found = list(batch.walk(data, 0, len(data)))
    assert [(b.base_offset, b.next_offset, b.records) for b in found] == [(0, 2, 2), (2, 3, 1)]
    assert found[1].end == len(first) + len(second)


def test_a_flipped_bit_fails_the_crc() -> None:
    data = bytearray(batch.encode([b"abc"], NOW_MS))
    (found,) = batch.walk(memoryview(data), 0, len(data))
    assert batch.crc_matches(memoryview(data), found)
    data[-2] ^= 1
    assert not batch.crc_matches(memoryview(data), found)
