"""A tool's connection to a cluster: finds the broker that a request must go to, and tries again as long as Java's client does.

One `Session` serves a whole run of a tool: `run(work)` opens the event loop, `Session.open(...)` the cluster.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from barnabas.client.client_config import COMMAND_CONFIG, ClientConfig, load_properties
from barnabas.client.client_error import ClientError
from barnabas.kernel.java.kafka_exceptions import error_of
from barnabas.wire.apis import API_NAMES
from barnabas.wire.client import GROUP_COORDINATOR, Connection, parse_address
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
    MetadataResponseTopic,
)
from barnabas.wire.struct import Message

R = TypeVar("R", bound=Message)
T = TypeVar("T")

# Retriable errors that are the answer to what was asked: asking again would only take time.
_ANSWERS: Final = frozenset(
    (
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.ELECTION_NOT_NEEDED,
        ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
        ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
        ErrorCode.THROTTLING_QUOTA_EXCEEDED,
        ErrorCode.KAFKA_STORAGE_ERROR,
    )
)
_LOST: Final = (ErrorCode.NETWORK_EXCEPTION,)
_BATCHED_COORDINATORS_VERSION: Final = 4
_CONTROLLER_ENDPOINTS: Final = 2

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Node:
    """A broker (or a controller) of the cluster."""

    id: int
    host: str
    port: int
    rack: str | None = None

    @property
    def address(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.host}:{self.port} (id: {self.id} rack: {self.rack or 'null'})"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Who is there, as any broker tells it."""

    cluster_id: str | None
    controller_id: int
    nodes: Mapping[int, Node]


def run(work: Coroutine[object, object, T]) -> T:
    """Runs a tool's asynchronous part to its end."""
    return asyncio.run(work)


class Session:
    """Connections to the brokers of one cluster, opened when they are first needed."""

    def __init__(self, bootstrap: str, config: ClientConfig, *, controllers: bool = False) -> None:
        self.config = config
        self._bootstrap = _addresses(bootstrap, "bootstrap.controllers" if controllers else "bootstrap.servers")
        self._controllers = controllers
        self._any: Connection | None = None
        self._connections: dict[int, Connection] = {}
        self._cluster: Cluster | None = None
        self._warned = False

    @classmethod
    def open(
        cls,
        bootstrap: str,
        command_config: str | None = None,
        extra: Mapping[str, str] | None = None,
        *,
        controllers: bool = False,
        option: str = COMMAND_CONFIG,
    ) -> Session:
        """`command_config` names a properties file, which was given with `option`; `extra` are properties that win over it.

        Connects when first used.
        """
        properties = load_properties(command_config, option) | dict(extra or {})
        return cls(bootstrap, ClientConfig.of(properties), controllers=controllers)

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def close(self) -> None:
        opened = [*self._connections.values(), *([self._any] if self._any else [])]
        self._connections, self._any = {}, None
        await asyncio.gather(*(connection.close() for connection in opened))

    async def cluster(self) -> Cluster:
        """The brokers; asked once, and again after `forget`."""
        if self._cluster is None:
            self._cluster = await (self._controller_cluster() if self._controllers else self._broker_cluster())
        return self._cluster

    def forget(self) -> None:
        """Asks who leads and who is there anew, the next time it matters."""
        self._cluster = None

    async def send(
        self,
        request: Message,
        response: type[R],
        *,
        node: int | None = None,
        version: int | None = None,
        call: str | None = None,
        check: Callable[[R], int] | None = None,
    ) -> R:
        """Sends to a node, or to any. A lost connection is tried again until `default.api.timeout.ms`, and so is the
        error code that `check` finds in the answer if waiting can help. `call` is what Java's client calls the request.
        """

        async def attempt() -> R:
            connection = await self.connection(node)
            answer = await connection.send(
                request, response, version=version, timeout_ms=self.config.request_timeout_ms
            )
            code = ErrorCode(check(answer)) if check else ErrorCode.NONE
            if code.retriable and code not in _ANSWERS:
                raise KafkaError(code)
            return answer

        return await self.retry(attempt, call or _call_name(request))

    async def send_to_controller(
        self,
        request: Message,
        response: type[R],
        *,
        call: str | None = None,
        check: Callable[[R], int] | None = None,
    ) -> R:
        """As `send`, to the controller that the metadata names (with KRaft, a broker that passes it on)."""
        cluster = await self.cluster()
        node = cluster.controller_id if cluster.controller_id in cluster.nodes else None
        return await self.send(request, response, node=node, call=call, check=check)

    async def retry(self, attempt: Callable[[], Awaitable[T]], call: str) -> T:
        """Repeats what fails with a retriable KafkaError, with growing pauses, as long as an API call may take."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self.config.api_timeout_ms / 1000
        pause_ms = self.config.retry_backoff_ms
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    return await attempt()
            except TimeoutError:
                raise KafkaError(ErrorCode.REQUEST_TIMED_OUT, f"Call(callName={call}) timed out") from None
            except KafkaError as error:
                if not error.code.retriable:
                    raise
                if loop.time() + pause_ms / 1000 >= deadline:
                    raise _out_of_time(error, call) from error
                self.forget()
            await asyncio.sleep(pause_ms / 1000)
            pause_ms = min(pause_ms * 2, self.config.retry_backoff_max_ms)

    async def metadata(self, topics: Sequence[str] | None = None) -> MetadataResponse:
        """The metadata of `topics`, or of all; topics are never created by asking."""
        wanted = None if topics is None else [MetadataRequestTopic(name=name) for name in topics]
        request = MetadataRequest(topics=wanted, allow_auto_topic_creation=False)
        answer = await self.send(request, MetadataResponse, call="listTopics" if topics is None else "describeTopics")
        nodes = {
            broker.node_id: Node(broker.node_id, broker.host, broker.port, broker.rack) for broker in answer.brokers
        }
        self._cluster = Cluster(answer.cluster_id, answer.controller_id, nodes)
        return answer

    async def topics(self, names: Sequence[str]) -> dict[str, MetadataResponseTopic]:
        """The metadata of each topic, with its error code if it has one; those between two leaders are waited for."""

        async def attempt() -> dict[str, MetadataResponseTopic]:
            answer = await self.metadata(names)
            found = {topic.name: topic for topic in answer.topics if topic.name is not None}
            waiting = [topic for topic in found.values() if topic.error_code == ErrorCode.LEADER_NOT_AVAILABLE]
            if waiting:
                raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE)
            return found

        return await self.retry(attempt, "describeTopics")

    async def leaders(self, partitions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], int]:
        """The node that leads each partition. Raises the topic's error, and LEADER_NOT_AVAILABLE after the time limit."""
        wanted = list(partitions)

        async def attempt() -> dict[tuple[str, int], int]:
            found: dict[tuple[str, int], int] = {}
            for name, topic in (await self.topics(sorted({topic for topic, _ in wanted}))).items():
                if topic.error_code:
                    raise error_of(topic.error_code, None)
                found |= {(name, one.partition_index): one.leader_id for one in topic.partitions if one.leader_id >= 0}
            missing = [partition for partition in wanted if partition not in found]
            if missing:
                raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE)
            return {partition: found[partition] for partition in wanted}

        return await self.retry(attempt, "metadata")

    async def leaders_now(self, partitions: Iterable[tuple[str, int]]) -> dict[tuple[str, int], int | KafkaError]:
        """The node that leads each partition at this moment, or why none is known."""
        wanted = list(partitions)
        answer = await self.metadata(sorted({topic for topic, _ in wanted}))
        found: dict[tuple[str, int], int] = {}
        failures: dict[str, KafkaError] = {}
        for topic in answer.topics:
            if topic.name is not None:
                if topic.error_code:
                    failures[topic.name] = error_of(topic.error_code, None)
                found |= {
                    (topic.name, one.partition_index): one.leader_id for one in topic.partitions if one.leader_id >= 0
                }
        unknown = KafkaError(ErrorCode.LEADER_NOT_AVAILABLE)
        return {partition: found.get(partition, failures.get(partition[0], unknown)) for partition in wanted}

    async def coordinator(self, key: str, key_type: int = GROUP_COORDINATOR) -> int:
        """The node that coordinates a group or, with TRANSACTION_COORDINATOR, a transactional id."""
        from barnabas.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse

        async def attempt() -> int:
            connection = await self.connection()
            version = connection.version_of(FindCoordinatorRequest)
            batched = version >= _BATCHED_COORDINATORS_VERSION
            request = FindCoordinatorRequest(
                key_type=key_type, coordinator_keys=[key] if batched else [], key="" if batched else key
            )
            answer = await connection.send(
                request, FindCoordinatorResponse, version=version, timeout_ms=self.config.request_timeout_ms
            )
            found = answer.coordinators[0] if batched else answer
            if found.error_code:
                raise error_of(found.error_code, found.error_message)
            return found.node_id

        return await self.retry(attempt, "findCoordinator")

    async def connection(self, node: int | None = None) -> Connection:
        """An open connection to a node, or to any."""
        if node is None:
            if self._any is None or not self._any.is_open:
                self._any = await self._connect_any()
            return self._any
        known = self._connections.get(node)
        if known is not None and known.is_open:
            return known
        cluster = await self.cluster()
        if node not in cluster.nodes:
            raise KafkaError(
                ErrorCode.BROKER_NOT_AVAILABLE, f"the cluster has no node {node}; it has {sorted(cluster.nodes)}"
            )
        address = cluster.nodes[node].address
        if self._any is not None and self._any.is_open and self._any.address == address:
            return self._any
        self._connections[node] = opened = await self._connect(address)
        return opened

    async def _broker_cluster(self) -> Cluster:
        await self.metadata([])
        assert self._cluster is not None
        return self._cluster

    async def _controller_cluster(self) -> Cluster:
        """Controllers know no Metadata request; they describe themselves."""
        from barnabas.wire.messages.describe_cluster import DescribeClusterRequest, DescribeClusterResponse

        request = DescribeClusterRequest(endpoint_type=_CONTROLLER_ENDPOINTS)
        answer = await self.send(request, DescribeClusterResponse, call="listNodes")
        if answer.error_code:
            raise error_of(answer.error_code, answer.error_message)
        nodes = {one.broker_id: Node(one.broker_id, one.host, one.port, one.rack) for one in answer.brokers}
        return Cluster(answer.cluster_id, answer.controller_id, nodes)

    async def _connect_any(self) -> Connection:
        failures: list[str] = []
        for address in self._bootstrap:
            try:
                return await self._connect(address)
            except KafkaError as error:
                failures.append(error.message)
        raise KafkaError(ErrorCode.NETWORK_EXCEPTION, "; ".join(failures))

    async def _connect(self, address: str) -> Connection:
        try:
            return await Connection.open(
                address, client_id=self.config.client_id, timeout_ms=self.config.request_timeout_ms
            )
        except KafkaError as error:
            if not self._warned:
                self._warned = True
                limit_s = self.config.api_timeout_ms / 1000
                _logger.warning("%s (trying again for %g s)", error.message, limit_s)
            raise


def _addresses(bootstrap: str, setting: str) -> list[str]:
    """Java's rules: each entry needs a port, and at least one host must have an address."""
    import socket

    found: list[str] = []
    for text in (entry.strip() for entry in bootstrap.split(",")):
        if not text:
            continue
        host, colon, port = text.rpartition(":")
        if not colon or not host or not port.isdigit():
            raise ClientError(f"Invalid url in {setting}: {text}")
        try:
            host, number = parse_address(text.rpartition("://")[2])
            socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)
        except ValueError:
            raise ClientError(f"Invalid port in {setting}: {text}") from None
        except OSError:
            _logger.warning("%s of %s has no address: is the name right?", host, setting)
            continue
        found.append(text.rpartition("://")[2])
    if not found:
        raise ClientError(f"No resolvable bootstrap urls given in {setting}")
    return found


def _out_of_time(error: KafkaError, call: str) -> KafkaError:
    """Java's words for a time limit; the last failure says why."""
    if error.code in _LOST:
        message = f"Timed out waiting for a node assignment. Call: {call}"
        return KafkaError(ErrorCode.REQUEST_TIMED_OUT, message)
    return error


def _call_name(request: Message) -> str:
    name = API_NAMES[request.API_KEY]
    return name[0].lower() + name[1:]
