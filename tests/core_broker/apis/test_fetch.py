from __future__ import annotations

import socket
import threading

import pytest

from barnabas.wire.batch import build_batch
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from tests.core_broker.broker_client import BrokerClient, now_ms, records, records_in, values

LONG_WAIT_MS = 15_000


@pytest.mark.parametrize("version", range(4, 13))
def test_every_version_by_name(broker_address: str, topic: str, version: int) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic)
        client.append(topic, b"a", b"b")
        data = client.fetch(topic, 0, version=version)
        assert values(records_in(data)) == [b"a", b"b"]
        assert data.high_watermark == 2


@pytest.mark.parametrize("version", range(13, 19))
def test_every_version_by_topic_id(broker_address: str, topic: str, version: int) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic)
        client.append(topic, b"a")
        metadata = client.ask(MetadataRequest(topics=[MetadataRequestTopic(name=topic)]), MetadataResponse, 12)
        asked = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000)

        def fetch(topic_id: bytes) -> FetchResponse:
            topics = [FetchTopic(topic_id=topic_id, partitions=[asked])]
            return client.ask(FetchRequest(max_wait_ms=0, topics=topics), FetchResponse, version)

        data = fetch(metadata.topics[0].topic_id).responses[0].partitions[0]
        assert values(records_in(data)) == [b"a"]
        unknown = fetch(b"\1" * 16).responses[0].partitions[0]
        assert unknown.error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_an_offset_inside_a_batch_brings_the_batch_that_contains_it(broker_address: str, topic: str) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic)
        for base in range(0, 30, 3):
            client.append(topic, *[b"%d" % (base + n) for n in range(3)])
        for offset in range(30):
            found = records_in(client.fetch(topic, offset, max_bytes=1))
            assert found[0].offset == offset - offset % 3
            assert len(found) == 3, "one whole batch, however small the limit"


def test_byte_limits_cut_between_batches(broker_address: str, topic: str) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic)
        for _ in range(50):
            client.append(topic, b"x" * 1000)
        one = len(client.fetch(topic, 0, max_bytes=1).records or b"")
        for limit in (one, one + 1, 3 * one - 1, 3 * one, 10 * one + 7):
            size = len(client.fetch(topic, 0, max_bytes=limit).records or b"")
            assert size % one == 0, "whole batches"
            assert 0 < size <= limit
            # The index knows a place every 4096 bytes, and the end is cut there.
            assert size > limit - one - 2 * 4096


@pytest.mark.parametrize("receive_bytes", [100_000, 1_000_000])
def test_a_large_answer_reaches_a_slow_reader_whole(broker_address: str, topic: str, receive_bytes: int) -> None:
    """Many partitions with much data each: the socket fills up again and again while the answer goes out."""
    partitions = 6
    with BrokerClient(broker_address) as client:
        client.create(topic, partitions=partitions)
        sent = {index: bytes([index]) * 900_000 for index in range(partitions)}
        for index, value in sent.items():
            client.append(topic, value, partition=index)
        client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        asked = [FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=2_000_000) for index in sent]
        request = FetchRequest(max_wait_ms=0, topics=[FetchTopic(topic=topic, partitions=asked)])
        for _ in range(3):
            answer = client.ask(request, FetchResponse, 12)
            found = {data.partition_index: values(records_in(data)) for data in answer.responses[0].partitions}
            assert found == {index: [value] for index, value in sent.items()}


def test_offsets_out_of_range(broker_address: str, topic: str) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic)
        client.append(topic, b"a")
        assert client.fetch(topic, 2).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
        assert client.fetch(topic, -1).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
        at_end = client.fetch(topic, 1)
        assert at_end.error_code == ErrorCode.NONE
        assert not at_end.records
        assert client.fetch(topic, 0, partition=5).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_leader_epochs_are_compared(broker_address: str, topic: str) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic)
        asked = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1000, current_leader_epoch=5)
        request = FetchRequest(max_wait_ms=0, topics=[FetchTopic(topic=topic, partitions=[asked])])
        answer = client.ask(request, FetchResponse, 12)
        assert answer.responses[0].partitions[0].error_code == ErrorCode.UNKNOWN_LEADER_EPOCH


def test_a_parked_fetch_is_woken_by_an_append(broker_address: str, topic: str) -> None:
    with BrokerClient(broker_address) as reader, BrokerClient(broker_address) as writer:
        writer.create(topic)
        for durability in ("durable", "relaxed"):
            name = f"{topic}-{durability}"
            writer.create(name, durability=durability)
            start = now_ms()
            answer: list[bytes | None] = []
            thread = threading.Thread(
                target=lambda name=name, answer=answer: answer.extend(
                    values(records_in(reader.fetch(name, 0, max_wait_ms=LONG_WAIT_MS)))
                )
            )
            thread.start()
            writer.append(name, b"wake up")
            thread.join(LONG_WAIT_MS / 1000)
            assert answer == [b"wake up"]
            assert now_ms() - start < LONG_WAIT_MS


def test_a_parked_fetch_waits_for_the_bytes_it_asked_for(broker_address: str, topic: str) -> None:
    with BrokerClient(broker_address) as reader, BrokerClient(broker_address) as writer:
        writer.create(topic)
        answer: list[bytes | None] = []
        thread = threading.Thread(
            target=lambda: answer.extend(
                values(records_in(reader.fetch(topic, 0, max_wait_ms=LONG_WAIT_MS, min_bytes=5000)))
            )
        )
        thread.start()
        for number in range(10):
            writer.append(topic, b"%d" % number + b"x" * 1000)
        thread.join(LONG_WAIT_MS / 1000)
        assert 5 <= len(answer) < 10


def test_nothing_new_is_told_when_the_time_is_up(broker_address: str, topic: str) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic)
        start = now_ms()
        assert not client.fetch(topic, 0, max_wait_ms=300).records
        assert now_ms() - start >= 299


def test_deleting_a_topic_ends_the_wait_for_it(broker_address: str, topic: str) -> None:
    with BrokerClient(broker_address) as reader, BrokerClient(broker_address) as other:
        other.create(topic)
        other.append(topic, b"a")
        codes: list[int] = []
        thread = threading.Thread(
            target=lambda: codes.append(reader.fetch(topic, 1, max_wait_ms=LONG_WAIT_MS).error_code)
        )
        thread.start()
        while not other.fetch(topic, 0).records:
            pass
        state = DeleteTopicState(name=topic)
        deleted = other.ask(DeleteTopicsRequest(topics=[state], timeout_ms=1000), DeleteTopicsResponse, 6)
        assert deleted.responses[0].error_code == ErrorCode.NONE
        thread.join(LONG_WAIT_MS / 1000)
        assert codes == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


def test_a_session_tells_only_what_is_new(broker_address: str, topic: str) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic, partitions=3)

        def ask(session_id: int, epoch: int, *offsets: tuple[int, int]) -> FetchResponse:
            asked = [FetchPartition(partition=p, fetch_offset=o, partition_max_bytes=10_000) for p, o in offsets]
            return client.ask(
                FetchRequest(
                    max_wait_ms=0,
                    session_id=session_id,
                    session_epoch=epoch,
                    topics=[FetchTopic(topic=topic, partitions=asked)] if asked else [],
                ),
                FetchResponse,
                12,
            )

        first = ask(0, 0, (0, 0), (1, 0), (2, 0))
        assert first.session_id > 0
        assert [data.partition_index for data in first.responses[0].partitions] == [0, 1, 2]
        assert ask(first.session_id, 1).responses == []
        client.append(topic, b"a", partition=1)
        news = ask(first.session_id, 2)
        assert [data.partition_index for data in news.responses[0].partitions] == [1]
        assert ask(first.session_id, 3, (1, 1)).responses == []
        assert ask(first.session_id, 3).error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
        assert ask(first.session_id + 1, 1).error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


@pytest.mark.parametrize("version", range(1, 12))
def test_list_offsets(broker_address: str, topic: str, version: int) -> None:
    with BrokerClient(broker_address) as client:
        client.create(topic)
        start = now_ms() - 10_000
        for number in range(5):
            client.produce(topic, build_batch(records(b"a", b"b", timestamp=start + 1000 * number)))

        def look_up(timestamp: int) -> tuple[int, int]:
            found = client.list_offset(topic, timestamp, version=version)
            assert found.error_code == ErrorCode.NONE
            return found.offset, found.timestamp

        assert look_up(-1) == (10, -1)
        assert look_up(-2) == (0, -1)
        assert look_up(start) == (0, start)
        assert look_up(start + 1) == (2, start + 1000)
        assert look_up(start + 4001) == (-1, -1)
        if version >= 7:
            assert look_up(-3) == (8, start + 4000)
        if version >= 8:
            assert look_up(-4) == (0, -1)
        if version >= 9:
            assert look_up(-5) == (-1, -1)
