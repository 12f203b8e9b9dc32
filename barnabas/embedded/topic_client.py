"""Topics of a broker and what is in them, for tests: a few calls, none of them fast."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from barnabas.wire.batch import Record, build_batch, iterate_batches, iterate_records
from barnabas.wire.client import Client
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from barnabas.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)

TIMEOUT_MS: Final = 30_000
FETCH_MAX_BYTES: Final = 50_000_000
ALL_REPLICAS: Final = -1
EARLIEST: Final = -2
LATEST: Final = -1
READ_COMMITTED: Final = 1
# The last versions that name topics and not their ids.
_PRODUCE_VERSION: Final = 12
_FETCH_VERSION: Final = 12
_DELETE_VERSION: Final = 5
Header = tuple[str, bytes | None]


@dataclass(frozen=True, slots=True)
class TopicRecord:
    """A record as it lies in a topic."""

    partition: int
    offset: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None
    headers: tuple[Header, ...]


async def create_topic(client: Client, name: str, partitions: int, configs: Mapping[str, str]) -> None:
    topic = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=-1,
        configs=[CreatableTopicConfig(name=config, value=value) for config, value in configs.items()],
    )
    request = CreateTopicsRequest(topics=[topic], timeout_ms=TIMEOUT_MS)
    (answer,) = (await client.send(request, CreateTopicsResponse)).topics
    _check(answer.error_code, f"topic {name!r}: {answer.error_message or ''}")


async def topics(client: Client) -> list[str]:
    answer = await client.send(MetadataRequest(topics=None, allow_auto_topic_creation=False), MetadataResponse)
    return [topic.name for topic in answer.topics if topic.name is not None and not topic.is_internal]


async def delete_topics(client: Client, names: Iterable[str]) -> None:
    request = DeleteTopicsRequest(topic_names=list(names), timeout_ms=TIMEOUT_MS)
    for answer in (await client.send(request, DeleteTopicsResponse, version=_DELETE_VERSION)).responses:
        if answer.error_code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            _check(answer.error_code, f"topic {answer.name!r}")


async def append(
    client: Client,
    topic: str,
    partition: int,
    key: bytes | None,
    values: Sequence[bytes | None],
    headers: Sequence[Header],
) -> int:
    """Write records with one key; returns the offset of the first."""
    now_ms = time.time_ns() // 1_000_000
    batch = build_batch([Record(place, now_ms, key, value, tuple(headers)) for place, value in enumerate(values)])
    data = TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=partition, records=batch)])
    request = ProduceRequest(acks=ALL_REPLICAS, timeout_ms=TIMEOUT_MS, topic_data=[data])
    answer = await client.send(request, ProduceResponse, version=_PRODUCE_VERSION)
    (written,) = answer.responses[0].partition_responses
    _check(written.error_code, f"topic {topic!r}, partition {partition}: {written.error_message or ''}")
    return written.base_offset


async def read_all(client: Client, topic: str) -> list[TopicRecord]:
    """Everything that a reader of committed records sees now, partition by partition."""
    request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)], allow_auto_topic_creation=False)
    (described,) = (await client.send(request, MetadataResponse)).topics
    _check(described.error_code, f"topic {topic!r}")
    found: list[TopicRecord] = []
    for partition in sorted(entry.partition_index for entry in described.partitions):
        found += await _read_partition(client, topic, partition)
    return found


async def _read_partition(client: Client, topic: str, partition: int) -> list[TopicRecord]:
    offset = await _offset(client, topic, partition, EARLIEST)
    end = await _offset(client, topic, partition, LATEST)
    found: list[TopicRecord] = []
    while offset < end:
        asked = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=FETCH_MAX_BYTES)
        request = FetchRequest(
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=FETCH_MAX_BYTES,
            isolation_level=READ_COMMITTED,
            topics=[FetchTopic(topic=topic, partitions=[asked])],
        )
        answer = await client.send(request, FetchResponse, version=_FETCH_VERSION)
        data = answer.responses[0].partitions[0]
        if data.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            # Retention has moved the start since it was asked for: what lay before it is gone.
            start = await _offset(client, topic, partition, EARLIEST)
            if start > offset:
                offset = start
                continue
        _check(data.error_code, f"topic {topic!r}, partition {partition}")
        records, offset_behind = _committed(data, partition)
        if offset_behind <= offset:
            break
        found += [record for record in records if offset <= record.offset < end]
        offset = offset_behind
    return found


def _committed(data: PartitionData, partition: int) -> tuple[list[TopicRecord], int]:
    """The records of a fetch without those of aborted transactions, and the offset behind them."""
    blob = data.records or b""
    starts = sorted((one.first_offset, one.producer_id) for one in data.aborted_transactions or ())
    aborted: set[int] = set()
    found: list[TopicRecord] = []
    behind = -1
    for position, header in iterate_batches(blob):
        behind = header.last_offset + 1
        while starts and starts[0][0] <= header.last_offset:
            aborted.add(starts.pop(0)[1])
        if header.is_control:
            # A marker ends what is aborted of its producer.
            aborted.discard(header.producer_id)
        elif not (header.is_transactional and header.producer_id in aborted):
            found += [
                TopicRecord(partition, one.offset, one.timestamp, one.key, one.value, tuple(one.headers))
                for one in iterate_records(blob, position)
            ]
    return found, behind


async def _offset(client: Client, topic: str, partition: int, place: int) -> int:
    asked = ListOffsetsPartition(partition_index=partition, timestamp=place)
    request = ListOffsetsRequest(
        isolation_level=READ_COMMITTED, topics=[ListOffsetsTopic(name=topic, partitions=[asked])]
    )
    answer = (await client.send(request, ListOffsetsResponse)).topics[0].partitions[0]
    _check(answer.error_code, f"topic {topic!r}, partition {partition}")
    return answer.offset


def _check(code: int, what: str) -> None:
    if code:
        error = ErrorCode(code)
        raise KafkaError(error, f"{what.rstrip(': ')}: {error.message}")
