from __future__ import annotations

import struct

import pytest

from barnabas.wire.batch import Record, build_batch, compute_crc, iterate_batches
from barnabas.wire.compression import Compression
from barnabas.wire.errors import ErrorCode
from barnabas.wire.frames import encode_request
from barnabas.wire.messages.produce import ProduceResponse
from tests.core_broker.broker_client import BrokerClient, now_ms, produce_request, records, records_in, values

HOUR_MS = 3_600_000


@pytest.mark.parametrize("version", range(3, 13))
def test_every_version_appends_and_is_read_back(broker_address: str, topic: str, version: int) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic)
        # The last one waits for both.
        offsets = [
            client.produce(topic, build_batch(records(b"a", b"b")), acks=acks, version=version).base_offset
            for acks in (1, -1)
        ]
        assert offsets == [0, 2]
        assert values(client.read_all(topic)) == [b"a", b"b"] * 2


@pytest.mark.parametrize("compression", list(Compression))
def test_batches_are_stored_as_they_were_sent(broker_address: str, topic: str, compression: Compression) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic)
        sent = build_batch(
            [*records(b"x" * 1000), Record(1, now_ms(), None, None, (("h", b"v"), ("n", None)))],
            compression=compression,
        )
        assert client.produce(topic, sent).base_offset == 0
        stored = bytes(client.fetch(topic, 0).records or b"")
        assert stored[16:] == bytes(sent[16:]), "only base offset and leader epoch may differ"


def test_one_bad_partition_fails_alone(broker_address: str, topic: str) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic, partitions=2)
        good, damaged = build_batch(records(b"a")), build_batch(records(b"b"))
        damaged[-1] ^= 1
        request = produce_request({(topic, 0): good, (topic, 1): damaged, (topic, 7): good, (f"{topic}-none", 0): good})
        answer = client.ask(request, ProduceResponse, 9)
        codes = [part.error_code for answered in answer.responses for part in answered.partition_responses]
        unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert codes == [ErrorCode.NONE, ErrorCode.CORRUPT_MESSAGE, unknown, unknown]
        assert values(client.read_all(topic)) == [b"a"]


def altered(**header: int) -> bytearray:
    """A sound batch with other values in its header, and the checksum that goes with them."""
    places = {
        "base_offset": (">q", 0),
        "magic": (">b", 16),
        "attributes": (">h", 21),
        "last_offset_delta": (">i", 23),
        "max_timestamp": (">q", 35),
        "producer_id": (">q", 43),
        "base_sequence": (">i", 53),
        "record_count": (">i", 57),
    }
    batch = build_batch(records(b"a", b"b"))
    for name, value in header.items():
        form, position = places[name]
        struct.pack_into(form, batch, position, value)
    struct.pack_into(">I", batch, 17, compute_crc(batch, 0, len(batch)))
    return batch


@pytest.mark.parametrize(
    ("batch", "code"),
    [
        (None, ErrorCode.INVALID_RECORD),
        (b"", ErrorCode.INVALID_RECORD),
        (b"short", ErrorCode.CORRUPT_MESSAGE),
        (build_batch(records(b"a"))[:-1], ErrorCode.CORRUPT_MESSAGE),
        (build_batch(records(b"a")) * 2, ErrorCode.INVALID_RECORD),
        (altered(magic=1), ErrorCode.INVALID_RECORD),
        (altered(base_offset=5), ErrorCode.INVALID_RECORD),
        (altered(attributes=0x20), ErrorCode.INVALID_RECORD),
        (altered(attributes=0x10, producer_id=1, base_sequence=0), ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
        (altered(producer_id=1, base_sequence=-1), ErrorCode.INVALID_RECORD),
        (altered(record_count=3), ErrorCode.INVALID_RECORD),
        (altered(record_count=0, last_offset_delta=-1), ErrorCode.INVALID_RECORD),
        (altered(max_timestamp=now_ms() + 2 * HOUR_MS), ErrorCode.INVALID_TIMESTAMP),
        (build_batch(records(b"x" * 1_100_000)), ErrorCode.MESSAGE_TOO_LARGE),
    ],
)
def test_what_cannot_be_stored_is_refused(
    broker_address: str, topic: str, batch: bytes | bytearray | None, code: ErrorCode
) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic)
        answer = client.produce(topic, batch)
        assert ErrorCode(answer.error_code) == code
        assert answer.error_message
        assert client.append(topic, b"next") == 0


def test_zstd_needs_a_version_that_knows_it(broker_address: str, topic: str) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic)
        batch = build_batch(records(b"a"), compression=Compression.ZSTD)
        assert client.produce(topic, batch, version=6).error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
        assert client.produce(topic, batch, version=7).error_code == ErrorCode.NONE


def test_impossible_acks_are_refused(broker_address: str, topic: str) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic)
        assert client.produce(topic, build_batch(records(b"a")), acks=2).error_code == ErrorCode.INVALID_REQUIRED_ACKS


def test_acks_0_is_silent_in_success_and_hangs_up_in_failure(broker_address: str, topic: str) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic)
        client.send(produce_request({(topic, 0): build_batch(records(b"a"))}, acks=0), 9)
        assert client.append(topic, b"b") == 1, "the next answer belongs to the next request"
        client.send(produce_request({(topic, 9): build_batch(records(b"c"))}, acks=0), 9)
        assert client.is_closed_by_peer()


def test_the_brokers_time_where_the_topic_wants_it(broker_address: str, topic: str) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic, message_timestamp_type="LogAppendTime")
        before = now_ms()
        answer = client.produce(topic, build_batch(records(b"a", b"b", timestamp=12345)))
        assert before <= answer.log_append_time_ms <= now_ms()
        assert [record.timestamp for record in client.read_all(topic)] == [answer.log_append_time_ms] * 2
        blob = client.fetch(topic, 0).records or b""
        _, header = next(iter(iterate_batches(blob)))
        assert compute_crc(blob, 0, header.size_bytes) == header.crc


def test_compacted_topics_take_no_record_without_a_key(broker_address: str, topic: str) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic, cleanup_policy="compact")
        mixed = [*records(b"a"), Record(1, now_ms(), None, b"b"), Record(2, now_ms(), b"k", b"c")]
        for compression in (Compression.NONE, Compression.LZ4):
            answer = client.produce(topic, build_batch(mixed, compression=compression))
            assert answer.error_code == ErrorCode.INVALID_RECORD
            assert [error.batch_index for error in answer.record_errors] == [1]
        assert client.append(topic, b"with a key") == 0


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd", "uncompressed"])
def test_a_topic_may_choose_its_own_codec(broker_address: str, topic: str, codec: str) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic, compression_type=codec)
        sent = records(b"a" * 500, b"b" * 500)
        for compression in Compression:
            assert client.produce(topic, build_batch(sent, compression=compression)).error_code == ErrorCode.NONE
        data = client.fetch(topic, 0)
        expected = 0 if codec == "uncompressed" else int(Compression[codec.upper()])
        assert {header.compression for _, header in iterate_batches(data.records or b"")} == {expected}
        assert values(records_in(data)) == values(sent) * len(Compression)


def test_strict_validation_looks_into_the_records(broker_address: str, topic: str) -> None:
    with BrokerClient(broker_address) as client:
        batch = build_batch([Record(0, now_ms(), b"k", b"a"), Record(0, now_ms(), b"k", b"b")], last_offset=1)
        client.create(topic)
        assert client.produce(topic, batch).error_code == ErrorCode.NONE, "the header alone does not tell"
        client.create(f"{topic}-strict", validation="strict")
        assert client.produce(f"{topic}-strict", batch).error_code == ErrorCode.INVALID_RECORD


def test_an_idempotent_producer_is_told_the_first_offset_again(broker_address: str, topic: str) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic)

        def send(sequence: int, count: int = 2, epoch: int = 0) -> tuple[ErrorCode, int]:
            batch = build_batch(records(*[b"v"] * count), producer_id=77, producer_epoch=epoch, base_sequence=sequence)
            answer = client.produce(topic, batch)
            return ErrorCode(answer.error_code), answer.base_offset

        assert [send(2 * number) for number in range(6)] == [(ErrorCode.NONE, 2 * number) for number in range(6)]
        assert send(10) == (ErrorCode.NONE, 10), "the last batch again"
        assert send(2) == (ErrorCode.NONE, 2), "the fifth last again"
        assert send(0)[0] == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, "older ones are forgotten"
        assert send(14)[0] == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        assert send(5, epoch=1)[0] == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, "a new epoch starts at 0"
        assert send(0, epoch=1) == (ErrorCode.NONE, 12)
        assert send(12)[0] == ErrorCode.INVALID_PRODUCER_EPOCH
        assert len(client.read_all(topic)) == 14


def test_requests_overlap_in_a_commit_round_and_answers_keep_their_order(broker_address: str, topic: str) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic, durability="durable")
        request = produce_request({(topic, 0): build_batch(records(b"a"))})
        client.socket.sendall(b"".join(encode_request(request, 9, number, "c") for number in range(200)))
        answers = [client.receive(ProduceResponse, 9) for _ in range(200)]
        assert [correlation_id for correlation_id, _ in answers] == list(range(200))
        assert [a.responses[0].partition_responses[0].base_offset for _, a in answers] == list(range(200))


def test_large_and_small_batches_keep_their_order(broker_address: str, topic: str) -> None:
    """Large ones go through the writer thread, small ones do not; they must not overtake each other."""
    with BrokerClient(broker_address) as client:
        client.create(topic)
        sent = [bytes([number]) * (100_000 if number % 3 == 0 else 10) for number in range(60)]
        requests = [produce_request({(topic, 0): build_batch(records(value))}) for value in sent]
        client.socket.sendall(b"".join(encode_request(request, 9, n, "c") for n, request in enumerate(requests)))
        offsets = [client.receive(ProduceResponse, 9)[1].responses[0].partition_responses[0].base_offset for _ in sent]
        assert offsets == list(range(60))
        assert values(client.read_all(topic)) == sent
