"""The data path over a raw socket: topics, batches, produce and fetch, each call one request of a chosen version."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from barnabas.wire.batch import Record, build_batch, iterate_batches, iterate_records
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic, PartitionData
from barnabas.wire.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)
from barnabas.wire.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
)
from tests.core_broker.wire_socket import WireSocket

PRODUCE_VERSION = 12
FETCH_VERSION = 12
LIST_OFFSETS_VERSION = 9
FETCH_MAX_BYTES = 10_000_000


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def records(*values: bytes | None, key: bytes | None = b"k", timestamp: int | None = None) -> list[Record]:
    time_ms = now_ms() if timestamp is None else timestamp
    return [Record(position, time_ms, key, value) for position, value in enumerate(values)]


class BrokerClient(WireSocket):
    def create(self, topic: str, partitions: int = 1, **configs: str) -> None:
        created = CreatableTopic(
            name=topic,
            num_partitions=partitions,
            replication_factor=1,
            configs=[CreatableTopicConfig(name=name.replace("_", "."), value=value) for name, value in configs.items()],
        )
        answer = self.ask(CreateTopicsRequest(topics=[created], timeout_ms=30_000), CreateTopicsResponse, 7)
        assert answer.topics[0].error_code == ErrorCode.NONE, answer.topics[0].error_message

    def produce(
        self,
        topic: str,
        batch: bytes | bytearray | None,
        *,
        partition: int = 0,
        acks: int = -1,
        version: int = PRODUCE_VERSION,
    ) -> PartitionProduceResponse:
        answer = self.ask(produce_request({(topic, partition): batch}, acks), ProduceResponse, version)
        return answer.responses[0].partition_responses[0]

    def append(self, topic: str, *values: bytes | None, partition: int = 0) -> int:
        """Produces values with no more ado, and returns the first one's offset."""
        answer = self.produce(topic, build_batch(records(*values)), partition=partition)
        assert answer.error_code == ErrorCode.NONE, answer.error_message
        return answer.base_offset

    def fetch(
        self,
        topic: str,
        offset: int,
        *,
        partition: int = 0,
        max_wait_ms: int = 0,
        min_bytes: int = 1,
        max_bytes: int = FETCH_MAX_BYTES,
        isolation_level: int = 0,
        version: int = FETCH_VERSION,
    ) -> PartitionData:
        asked = FetchPartition(partition=partition, fetch_offset=offset, partition_max_bytes=max_bytes)
        request = FetchRequest(
            max_wait_ms=max_wait_ms,
            min_bytes=min_bytes,
            max_bytes=FETCH_MAX_BYTES,
            isolation_level=isolation_level,
            topics=[FetchTopic(topic=topic, partitions=[asked])],
        )
        return self.ask(request, FetchResponse, version).responses[0].partitions[0]

    def read_all(self, topic: str, partition: int = 0) -> list[Record]:
        found: list[Record] = []
        offset = self.list_offset(topic, -2, partition=partition).offset
        while True:
            data = self.fetch(topic, offset, partition=partition)
            assert data.error_code == ErrorCode.NONE
            fresh = [record for record in records_in(data) if record.offset >= offset]
            if not fresh:
                return found
            found.extend(fresh)
            offset = fresh[-1].offset + 1

    def list_offset(
        self, topic: str, timestamp: int, *, partition: int = 0, version: int = LIST_OFFSETS_VERSION
    ) -> ListOffsetsPartitionResponse:
        asked = ListOffsetsPartition(partition_index=partition, timestamp=timestamp)
        request = ListOffsetsRequest(topics=[ListOffsetsTopic(name=topic, partitions=[asked])])
        return self.ask(request, ListOffsetsResponse, version).topics[0].partitions[0]


def produce_request(batches: Mapping[tuple[str, int], bytes | bytearray | None], acks: int = -1) -> ProduceRequest:
    return ProduceRequest(
        acks=acks,
        timeout_ms=30_000,
        topic_data=[
            TopicProduceData(name=topic, partition_data=[PartitionProduceData(index=partition, records=batch)])
            for (topic, partition), batch in batches.items()
        ],
    )


def records_in(data: PartitionData) -> list[Record]:
    blob = data.records or b""
    return [record for position, _ in iterate_batches(blob) for record in iterate_records(blob, position)]


def values(found: Sequence[Record]) -> list[bytes | None]:
    return [record.value for record in found]
