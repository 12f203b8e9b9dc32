"""Idempotent and transactional producers, with the errors that Kafka gives."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from barnabas.wire.batch import BatchHeader, parse_header
from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.log.producer_state import AppendedBatch, Marker, Origin, Producers
from core_broker.log.transaction_index import AbortedTransaction
from tests.core_broker.log.batches import START_MS, batch, marker

LARGEST_SEQUENCE = 2**31 - 1


class Partition:
    """Producers, and the offset that the next batch gets."""

    def __init__(self) -> None:
        self.producers = Producers("topic-0")
        self.end = 0

    def append(self, header: BatchHeader, origin: Origin = Origin.CLIENT) -> AppendedBatch | None:
        known = self.producers.check(header, origin)
        if known is None:
            self.producers.apply(header, self.end)
            self.end += header.last_offset_delta + 1
        return known

    def end_transaction(self, producer_id: int, *, commits: bool, epoch: int = 0) -> AbortedTransaction | None:
        header = parse_header(marker(producer_id, commits=commits, epoch=epoch))
        mark = Marker(commits, 0)
        self.producers.check_marker(header, mark)
        self.end += 1
        return self.producers.apply_marker(header, self.end - 1, mark)


def header(
    sequence: int, count: int = 1, *, producer_id: int = 7, epoch: int = 0, transactional: bool = False
) -> BatchHeader:
    data = batch(count, producer_id=producer_id, epoch=epoch, sequence=sequence, transactional=transactional)
    return parse_header(data)


def refusal(partition: Partition, batch_header: BatchHeader) -> ErrorCode:
    with pytest.raises(KafkaError) as caught:
        partition.append(batch_header)
    return caught.value.code


def test_sequences_must_follow_each_other() -> None:
    partition = Partition()
    assert partition.append(header(0, 3)) is None
    assert partition.append(header(3, 2)) is None
    assert refusal(partition, header(6)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert refusal(partition, header(4, 2)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


@given(st.lists(st.integers(1, 4), min_size=1, max_size=12))
def test_the_last_five_batches_are_known_again_and_older_ones_are_not(counts: list[int]) -> None:
    partition = Partition()
    sent = []
    sequence = 0
    for count in counts:
        sent.append((sequence, count, partition.end))
        partition.append(header(sequence, count))
        sequence += count
    for first, count, offset in sent[-5:]:
        known = partition.append(header(first, count))
        assert known is not None
        assert (known.first_offset, known.last_offset) == (offset, offset + count - 1)
    for first, count, _ in sent[:-5]:
        assert refusal(partition, header(first, count)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_a_repetition_must_have_the_same_first_and_last_sequence() -> None:
    partition = Partition()
    partition.append(header(0, 3))
    assert refusal(partition, header(0, 2)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER


def test_sequences_start_over_after_the_largest() -> None:
    partition = Partition()
    partition.append(header(LARGEST_SEQUENCE - 1, 2))
    partition.append(header(0, 2))
    known = partition.append(header(LARGEST_SEQUENCE - 1, 2))
    assert known is not None
    assert known.first_offset == 0


def test_a_batch_may_itself_pass_the_largest_sequence() -> None:
    partition = Partition()
    partition.append(header(LARGEST_SEQUENCE - 1, 4))
    assert partition.append(header(2)) is None


def test_where_nothing_is_known_any_sequence_is_the_next() -> None:
    assert Partition().append(header(1234)) is None


def test_a_new_epoch_begins_with_zero() -> None:
    partition = Partition()
    partition.append(header(0))
    assert refusal(partition, header(1, epoch=1)) is ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert partition.append(header(0, epoch=1)) is None
    assert refusal(partition, header(1, epoch=0)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_an_old_epoch_is_no_repetition() -> None:
    partition = Partition()
    partition.append(header(0))
    partition.append(header(0, epoch=1))
    assert refusal(partition, header(0)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_coordinator_need_not_count() -> None:
    partition = Partition()
    partition.append(header(0))
    without_sequence = header(0)._replace(base_sequence=-1)
    assert partition.append(without_sequence, Origin.COORDINATOR) is None
    assert partition.append(without_sequence, Origin.COORDINATOR) is None


def test_records_outside_of_an_open_transaction_are_refused() -> None:
    partition = Partition()
    partition.append(header(0, transactional=True))
    assert refusal(partition, header(1)) is ErrorCode.INVALID_TXN_STATE
    partition.end_transaction(7, commits=True)
    assert partition.append(header(1)) is None


def test_the_first_unstable_offset_follows_the_transactions() -> None:
    partition = Partition()
    producers = partition.producers
    partition.append(header(0, 2, producer_id=1, transactional=True))
    partition.append(header(0, 3, producer_id=2, transactional=True))
    assert producers.first_unstable_offset(5) == 0
    partition.end_transaction(1, commits=True)
    assert producers.first_unstable_offset(5) == 0, "the marker lies above the high watermark"
    assert producers.first_unstable_offset(6) == 2
    partition.end_transaction(2, commits=False)
    assert producers.first_unstable_offset(7) is None


def test_a_marker_above_the_high_watermark_holds_even_if_it_came_first() -> None:
    partition = Partition()
    partition.append(header(0, producer_id=1, transactional=True))
    partition.append(header(0, producer_id=2, transactional=True))
    partition.end_transaction(2, commits=True)
    partition.end_transaction(1, commits=True)
    assert partition.producers.first_unstable_offset(3) == 0
    assert partition.producers.first_unstable_offset(4) is None


def test_an_aborted_transaction_tells_what_was_stable_then() -> None:
    partition = Partition()
    partition.append(header(0, 2, producer_id=1, transactional=True))
    partition.append(header(0, 3, producer_id=2, transactional=True))
    assert partition.end_transaction(2, commits=False) == AbortedTransaction(2, 2, 5, 0)
    assert partition.end_transaction(1, commits=False) == AbortedTransaction(1, 0, 6, 7)


def test_a_transaction_without_records_leaves_no_trace_but_its_epoch() -> None:
    partition = Partition()
    assert partition.end_transaction(7, commits=False, epoch=3) is None
    assert refusal(partition, header(0, epoch=2)) is ErrorCode.INVALID_PRODUCER_EPOCH


def test_a_marker_of_an_old_epoch_or_coordinator_is_refused() -> None:
    producers = Producers("topic-0")
    producers.apply_marker(parse_header(marker(7, commits=True, epoch=2)), 0, Marker(True, 5))
    with pytest.raises(KafkaError) as caught:
        producers.check_marker(parse_header(marker(7, commits=True, epoch=1)), Marker(True, 5))
    assert caught.value.code is ErrorCode.INVALID_PRODUCER_EPOCH
    with pytest.raises(KafkaError) as caught:
        producers.check_marker(parse_header(marker(7, commits=True, epoch=2)), Marker(True, 4))
    assert caught.value.code is ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_silent_producers_are_forgotten_unless_a_transaction_is_open() -> None:
    partition = Partition()
    partition.append(header(0, producer_id=1))
    partition.append(header(0, producer_id=2, transactional=True))
    partition.producers.remove_expired(START_MS + 1000, 1001)
    assert set(partition.producers.by_id) == {1, 2}
    partition.producers.remove_expired(START_MS + 1001, 1001)
    assert set(partition.producers.by_id) == {2}
    assert partition.producers.has_open_transaction(2)
    assert not partition.producers.has_open_transaction(1)
