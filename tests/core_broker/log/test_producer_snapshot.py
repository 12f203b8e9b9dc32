"""Snapshots of the producers, byte for byte as Kafka writes them."""

from __future__ import annotations

import pytest

from core_broker.log.producer_snapshot import decode_snapshot, encode_snapshot
from core_broker.log.producer_state import AppendedBatch, Producer, Producers

# Written by Apache Kafka 4.3.0 for an idempotent producer (id 0) and a transactional one (id 1).
KAFKA = bytes.fromhex(
    "0001821eda2c0000000200000000000000000000000007cf000000000000"
    "07cf00000030000001a1e2590c19ffffffffffffffffffffffff00000000"
    "0000000100000000000300000000000007d600000000000001a1e259111f"
    "00000000ffffffffffffffff"
)


def test_what_kafka_wrote_is_read() -> None:
    idempotent, transactional = decode_snapshot(KAFKA)
    assert (idempotent.producer_id, idempotent.epoch, idempotent.coordinator_epoch) == (0, 0, -1)
    assert list(idempotent.batches) == [AppendedBatch(1951, 1999, 1951, 1999, 1794798849049)]
    assert (transactional.producer_id, transactional.coordinator_epoch, transactional.last_sequence) == (1, 0, 3)
    assert transactional.transaction_offset == -1


def test_it_is_written_as_kafka_does() -> None:
    assert encode_snapshot(decode_snapshot(KAFKA)) == KAFKA


def test_an_open_transaction_is_open_again_afterwards() -> None:
    producer = Producer(9)
    producer.epoch = 4
    producer.transaction_offset = 1234
    producers = Producers("topic-0")
    producers.restore(decode_snapshot(encode_snapshot([producer])))
    assert producers.first_unstable_offset(5000) == 1234
    assert producers.by_id[9].last_sequence == -1


def test_the_first_sequence_may_lie_before_the_start_over() -> None:
    producer = Producer(9)
    producer.last_timestamp = 5
    producer.batches.append(AppendedBatch(2**31 - 2, 1, 100, 103, 5))
    (decoded,) = decode_snapshot(encode_snapshot([producer]))
    assert decoded.batches[0] == producer.batches[0]


@pytest.mark.parametrize(
    "data",
    [KAFKA[:-1], KAFKA[:5], b"", b"\0\2" + KAFKA[2:], KAFKA[:20] + b"\xff" + KAFKA[21:]],
    ids=["cut off", "cut off early", "empty", "another version", "changed"],
)
def test_damage_is_noticed(data: bytes) -> None:
    with pytest.raises(ValueError, match="snapshot"):
        decode_snapshot(data)
