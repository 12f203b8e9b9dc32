"""The requests of the load client, read by the project's own codec; the answers, written by it."""

from __future__ import annotations

import pytest

from barnabas.wire.apis import request_class, response_header_version
from barnabas.wire.codec import decode, encode
from barnabas.wire.errors import ErrorCode
from barnabas.wire.frames import decode_request_header, frame_response
from barnabas.wire.messages import create_topics, fetch, list_offsets, produce
from barnabas.wire.struct import Message
from benchmarks import wire
from benchmarks.wire import Topic, UnexpectedAnswer

TOPIC = Topic("orders", bytes(range(16)), 3)


def read(frame: bytes | bytearray, api_key: int) -> Message:
    """The body of a request, which must fill its frame."""
    assert int.from_bytes(frame[:4], "big") == len(frame) - 4
    header, position = decode_request_header(bytes(frame), 4)
    assert (header.api_key, header.api_version, header.client_id) == (api_key, wire.VERSIONS[api_key], "benchmark")
    body, end = decode(request_class(api_key), header.api_version, bytes(frame), position)
    assert end == len(frame)
    return body


def answer(message: Message, api_key: int) -> bytes:
    version = wire.VERSIONS[api_key]
    return frame_response(0, response_header_version(api_key, version), encode(message, version))


def test_produce_carries_one_batch_to_one_partition() -> None:
    request = read(wire.produce_request("orders", 2, b"b" * 300, -1), wire.PRODUCE)
    assert isinstance(request, produce.ProduceRequest)
    (topic,) = request.topic_data
    (partition,) = topic.partition_data
    assert (topic.name, partition.index, bytes(partition.records or b"")) == ("orders", 2, b"b" * 300)
    assert (request.acks, request.transactional_id) == (-1, None)


def test_the_error_of_a_produce_stands_where_it_is_looked_for() -> None:
    failed = produce.PartitionProduceResponse(index=2, error_code=ErrorCode.CORRUPT_MESSAGE, base_offset=-1)
    topic = produce.TopicProduceResponse(name="orders", partition_responses=[failed])
    found = answer(produce.ProduceResponse(responses=[topic]), wire.PRODUCE)
    at = wire.produce_error_at("orders")
    assert int.from_bytes(found[at : at + 2], "big") == ErrorCode.CORRUPT_MESSAGE


def test_fetch_asks_each_partition_from_its_own_offset() -> None:
    request = wire.FetchRequest(TOPIC, max_wait_ms=500, min_bytes=1)
    for partition in range(3):
        request.ask_from(partition, 100 + partition)
    body = read(request.frame, wire.FETCH)
    assert isinstance(body, fetch.FetchRequest)
    (topic,) = body.topics
    assert topic.topic_id == TOPIC.topic_id
    assert [(p.partition, p.fetch_offset) for p in topic.partitions] == [(0, 100), (1, 101), (2, 102)]
    assert (body.max_wait_ms, body.min_bytes, body.session_epoch) == (500, 1, -1)


def test_fetched_records_are_found_in_the_answer() -> None:
    partitions = [fetch.PartitionData(partition_index=i, records=bytes([i]) * (200 * i)) for i in range(3)]
    topic = fetch.FetchableTopicResponse(topic_id=TOPIC.topic_id, partitions=partitions)
    found = memoryview(answer(fetch.FetchResponse(responses=[topic]), wire.FETCH))
    slices = wire.fetched_records(found)
    assert [(partition, bytes(found[start:end])) for partition, start, end in slices] == [
        (0, b""),
        (1, b"\x01" * 200),
        (2, b"\x02" * 400),
    ]


def test_a_fetch_that_failed_is_no_answer() -> None:
    failed = fetch.PartitionData(partition_index=0, error_code=ErrorCode.OFFSET_OUT_OF_RANGE, records=b"")
    topic = fetch.FetchableTopicResponse(topic_id=TOPIC.topic_id, partitions=[failed])
    found = memoryview(answer(fetch.FetchResponse(responses=[topic]), wire.FETCH))
    with pytest.raises(UnexpectedAnswer, match="error 1"):
        wire.fetched_records(found)


def test_create_topics_names_partitions_and_configs() -> None:
    request = read(wire.create_topics_request(["a", "b"], 4, {"flush.messages": "1"}), wire.CREATE_TOPICS)
    assert isinstance(request, create_topics.CreateTopicsRequest)
    assert [(t.name, t.num_partitions, t.replication_factor) for t in request.topics] == [("a", 4, 1), ("b", 4, 1)]
    assert [(c.name, c.value) for c in request.topics[1].configs] == [("flush.messages", "1")]


def test_created_topics_are_read_past_their_configs() -> None:
    config = create_topics.CreatableTopicConfigs(name="cleanup.policy", value="delete")
    results = [
        create_topics.CreatableTopicResult(
            name=name, topic_id=bytes([i]) * 16, num_partitions=4, replication_factor=1, configs=[config, config]
        )
        for i, name in enumerate("ab")
    ]
    found = answer(create_topics.CreateTopicsResponse(topics=results), wire.CREATE_TOPICS)
    assert wire.created_topics(found) == [Topic("a", bytes(16), 4), Topic("b", b"\x01" * 16, 4)]


def test_a_topic_that_was_not_created_is_named() -> None:
    refused = create_topics.CreatableTopicResult(
        name="a", error_code=ErrorCode.TOPIC_ALREADY_EXISTS, error_message="there already"
    )
    found = answer(create_topics.CreateTopicsResponse(topics=[refused]), wire.CREATE_TOPICS)
    with pytest.raises(UnexpectedAnswer, match="a answered error 36: there already"):
        wire.created_topics(found)


def test_list_offsets_asks_for_the_end_of_every_partition() -> None:
    request = read(wire.list_offsets_request([TOPIC]), wire.LIST_OFFSETS)
    assert isinstance(request, list_offsets.ListOffsetsRequest)
    (topic,) = request.topics
    assert [(p.partition_index, p.timestamp) for p in topic.partitions] == [(0, -1), (1, -1), (2, -1)]


def test_listed_offsets_are_read() -> None:
    partitions = [
        list_offsets.ListOffsetsPartitionResponse(partition_index=i, error_code=0, offset=10 * i) for i in range(2)
    ]
    topic = list_offsets.ListOffsetsTopicResponse(name="orders", partitions=partitions)
    found = answer(list_offsets.ListOffsetsResponse(topics=[topic]), wire.LIST_OFFSETS)
    assert wire.listed_offsets(found) == {("orders", 0): (0, 0), ("orders", 1): (0, 10)}


@pytest.mark.parametrize(
    ("frame", "api_key"),
    [(wire.metadata_request(), wire.METADATA), (wire.delete_topics_request([TOPIC]), wire.DELETE_TOPICS)],
    ids=["metadata", "delete topics"],
)
def test_the_other_requests_fill_their_frames(frame: bytes, api_key: int) -> None:
    read(frame, api_key)
