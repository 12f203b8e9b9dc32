"""A broker reduced to what the admin handlers use: real metadata on a real disk, and partitions with real logs."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from barnabas.kernel.settings import Settings, resolve
from barnabas.wire import apis
from barnabas.wire.batch import Record, build_batch, parse_header
from barnabas.wire.codec import decode, encode
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from barnabas.wire.struct import Message
from core_broker.apis.table import SERVED
from core_broker.configs.broker import BROKER_CATALOGUE
from core_broker.context import Listener, RequestContext
from core_broker.disk_health import DiskFinding
from core_broker.log.config import LogConfig
from core_broker.log.disk import Disk
from core_broker.log.partition_log import PartitionLog
from core_broker.metadata.store import MetadataStore
from core_broker.metadata.topics import Node
from core_broker.quotas.client_quotas import ClientQuotas
from core_broker.quotas.rate import Windows
from core_broker.request_log import RequestLog
from core_broker.security.authorizer import AllowAll, Authorizer, Operation, ResourceType
from core_broker.security.principal import ANONYMOUS

if TYPE_CHECKING:
    from core_broker.broker import Broker

QUOTA_WINDOWS = Windows(11, 1000)
NODE_ID = 1
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
DIRECTORY_ID = bytes(range(16))
NOW_MS = 1_700_000_000_000
LISTENER = Listener("PLAINTEXT", "127.0.0.1", 9092, "broker.example", 19092)

Response = TypeVar("Response", bound=Message)


class Partition:
    def __init__(self, log: PartitionLog) -> None:
        self.log = log

    @property
    def high_watermark(self) -> int:
        return self.log.log_end_offset

    def notify(self) -> None:
        """Nobody waits here."""

    def check_leader_epoch(self, epoch: int) -> None:
        if epoch > self.log.leader_epoch:
            raise KafkaError(ErrorCode.UNKNOWN_LEADER_EPOCH)
        if 0 <= epoch < self.log.leader_epoch:
            raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH)


class Denies:
    """An authorizer that forbids some operations on some resources, and nothing else."""

    def __init__(self, *denied: tuple[Operation, ResourceType, str]) -> None:
        self._denied = set(denied)

    def allows(self, context: RequestContext, operation: Operation, resource: ResourceType, name: str) -> bool:
        return (operation, resource, name) not in self._denied


class KnownHealth:
    """What is known of the disk, without a look at it."""

    def __init__(self) -> None:
        self.finding = DiskFinding()

    async def look(self) -> DiskFinding:
        return self.finding


class AdminBroker:
    """Asks handlers as a connection would: through the bytes of a version, both ways."""

    def __init__(self, path: Path, settings: Mapping[str, str] | None = None, *, disk: Disk | None = None) -> None:
        self.settings: Settings = resolve(BROKER_CATALOGUE, {"log.dirs": str(path), **(settings or {})}, {}, None)
        self.node_id = NODE_ID
        self.cluster_id = CLUSTER_ID
        self.listeners = [LISTENER]
        self.authorizer: Authorizer = AllowAll()
        self.quotas = ClientQuotas(QUOTA_WINDOWS, QUOTA_WINDOWS)
        self.request_log = RequestLog()
        self.disk = disk or Disk()
        self.disk_health = KnownHealth()
        self.metadata = MetadataStore.open(path, Node(NODE_ID, DIRECTORY_ID), disk=self.disk, clock_ms=self.clock_ms)
        self.metadata.begin(self.listeners, None, unclean=False)
        self._path = path
        self._partitions: dict[tuple[str, int], Partition] = {}

    def clock_ms(self) -> int:
        return NOW_MS

    def partition(self, topic: str, index: int) -> Partition | None:
        found = self.metadata.image.topics.get(topic)
        if found is None or not 0 <= index < len(found.partitions):
            return None
        if (topic, index) not in self._partitions:
            log = PartitionLog.open(self._path / f"{topic}-{index}", LogConfig(), self.disk, self.clock_ms)
            self._partitions[topic, index] = Partition(log)
        return self._partitions[topic, index]

    async def apply(self, records: Sequence[Message]) -> None:
        await self.metadata.append_off_loop(records)

    def ask(self, request: Message, version: int | None = None, *, expect: type[Response]) -> Response:
        """The answer in a version, the newest that is served unless said otherwise."""
        key = request.API_KEY
        served = SERVED[key]
        version = served.max_version if version is None else version
        assert served.covers(version)
        context = RequestContext(key, version, 1, "test", ANONYMOUS, LISTENER, "127.0.0.1")
        received, _ = decode(apis.request_class(key), version, encode(request, version))
        handle = importlib.import_module(served.module).handle
        response: Any = handle(cast("Broker", self), context, received)
        if inspect.isawaitable(response):
            response = asyncio.run(_completed(response))
        answer, _ = decode(expect, version, encode(response, version))
        return answer

    def create(self, name: str, partitions: int = 1, **configs: str) -> bytes:
        """Creates a topic and returns its id; underscores in the names of configurations stand for dots."""
        topic = CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=1,
            configs=[CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()],
        )
        (result,) = self.ask(CreateTopicsRequest(topics=[topic]), expect=CreateTopicsResponse).topics
        assert result.error_code == ErrorCode.NONE, result.error_message
        return result.topic_id

    def append(self, topic: str, index: int, records: int, *, producer_id: int = -1) -> None:
        """Writes one batch of records into a partition."""
        partition = self.partition(topic, index)
        assert partition is not None
        batch = build_batch(
            [Record(number, NOW_MS, None, b"value") for number in range(records)],
            producer_id=producer_id,
            producer_epoch=0 if producer_id >= 0 else -1,
            base_sequence=0 if producer_id >= 0 else -1,
        )
        partition.log.append(memoryview(batch), parse_header(batch), now_ms=NOW_MS)


async def _completed(answer: Any) -> Any:
    return await answer
