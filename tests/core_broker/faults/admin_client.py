"""Topics and their configurations over a raw socket, with answers that may be errors."""

from __future__ import annotations

from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopic,
)
from barnabas.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from barnabas.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from barnabas.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from barnabas.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from barnabas.wire.messages.metadata import MetadataRequest, MetadataResponse, MetadataResponseTopic
from tests.core_broker.broker_client import FETCH_MAX_BYTES, FETCH_VERSION, BrokerClient

TIMEOUT_MS = 30_000
TOPIC_RESOURCE = 2
SET = 0


class AdminClient(BrokerClient):
    def try_create(self, topic: str, partitions: int = 1, **configs: object) -> CreatableTopicResult:
        """Underscores in the names of configurations stand for dots."""
        asked = CreatableTopic(
            name=topic,
            num_partitions=partitions,
            replication_factor=1,
            configs=[
                CreatableTopicConfig(name=name.replace("_", "."), value=str(value)) for name, value in configs.items()
            ],
        )
        answer = self.ask(CreateTopicsRequest(topics=[asked], timeout_ms=TIMEOUT_MS), CreateTopicsResponse, 7)
        return answer.topics[0]

    def delete(self, topic: str) -> ErrorCode:
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name=topic)], timeout_ms=TIMEOUT_MS)
        return ErrorCode(self.ask(request, DeleteTopicsResponse, 6).responses[0].error_code)

    def topics(self) -> dict[str, MetadataResponseTopic]:
        answer = self.ask(MetadataRequest(topics=None), MetadataResponse, 12)
        return {topic.name or "": topic for topic in answer.topics}

    def leader_epoch(self, topic: str, partition: int = 0) -> int:
        found = self.topics()[topic].partitions
        return next(entry.leader_epoch for entry in found if entry.partition_index == partition)

    def set_config(self, topic: str, name: str, value: str) -> ErrorCode:
        change = AlterableConfig(name=name, config_operation=SET, value=value)
        resource = AlterConfigsResource(resource_type=TOPIC_RESOURCE, resource_name=topic, configs=[change])
        answer = self.ask(IncrementalAlterConfigsRequest(resources=[resource]), IncrementalAlterConfigsResponse, 1)
        return ErrorCode(answer.responses[0].error_code)

    def config(self, topic: str, name: str) -> str | None:
        resource = DescribeConfigsResource(resource_type=TOPIC_RESOURCE, resource_name=topic, configuration_keys=[name])
        answer = self.ask(DescribeConfigsRequest(resources=[resource]), DescribeConfigsResponse, 4)
        assert answer.results[0].error_code == ErrorCode.NONE, answer.results[0].error_message
        return answer.results[0].configs[0].value

    def delete_records(self, topic: str, offset: int, partition: int = 0) -> DeleteRecordsPartitionResult:
        asked = DeleteRecordsPartition(partition_index=partition, offset=offset)
        request = DeleteRecordsRequest(
            topics=[DeleteRecordsTopic(name=topic, partitions=[asked])], timeout_ms=TIMEOUT_MS
        )
        return self.ask(request, DeleteRecordsResponse, 2).topics[0].partitions[0]

    def start_fetch(self, topic: str, offset: int, *, max_wait_ms: int, min_bytes: int = 1) -> None:
        """Sends a fetch of one partition and does not wait for its answer."""
        asked = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=FETCH_MAX_BYTES)
        request = FetchRequest(
            max_wait_ms=max_wait_ms,
            min_bytes=min_bytes,
            max_bytes=FETCH_MAX_BYTES,
            topics=[FetchTopic(topic=topic, partitions=[asked])],
        )
        self.send(request, FETCH_VERSION)

    def init_producer_id(self) -> InitProducerIdResponse:
        request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=60_000)
        return self.ask(request, InitProducerIdResponse, 4)
