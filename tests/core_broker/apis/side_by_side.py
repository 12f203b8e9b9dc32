"""The same conversation with Apache Kafka and with us, word for word, but for the names that each broker makes up."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import TracebackType
from typing import Self

from barnabas.wire import apis
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from barnabas.wire.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from barnabas.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from barnabas.wire.struct import Message, Struct
from tests.core_broker.wire_socket import WireSocket
from tests.waiting import wait_for

DIFFERENT = ("error_message", "host", "port", "topic_id")
SOME_GROUPS = [f"g{number}" for number in range(200)]
"""So many that there is one in each partition of the offsets topic."""

_MADE_UP = re.compile(r"(.*)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.DOTALL)


class Side:
    """One broker, and what was said so far."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._sockets: dict[str, WireSocket] = {}
        self._names: dict[str, str] = {}
        self.said: list[object] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        for wire in self._sockets.values():
            wire.socket.close()

    def ask(self, request: Message, version: int, who: str = "somebody") -> Message:
        self.send(request, version, who)
        return self.receive(request, version, who)

    def send(self, request: Message, version: int, who: str = "somebody") -> None:
        """`who` names a connection."""
        if who not in self._sockets:
            self._sockets[who] = WireSocket(self._address)
        self._sockets[who].send(fitting(request, version), version)

    def receive(self, request: Message, version: int, who: str = "somebody") -> Message:
        _, answer = self._sockets[who].receive(apis.response_class(request.API_KEY), version)
        self.said.append((type(answer).__name__, version, self._plain(answer)))
        return answer

    def topic_id(self, name: str) -> bytes:
        with WireSocket(self._address) as wire:
            request = MetadataRequest(topics=[MetadataRequestTopic(name=name)], allow_auto_topic_creation=False)
            return wire.ask(request, MetadataResponse, 12).topics[0].topic_id

    def prepare(self, topic: str, partitions: int) -> None:
        """A topic, and coordinators that are there."""
        created = CreateTopicsRequest(
            topics=[CreatableTopic(name=topic, num_partitions=partitions, replication_factor=1)], timeout_ms=10_000
        )
        with WireSocket(self._address) as wire:
            answer = wire.ask(created, CreateTopicsResponse, 5)
            assert answer.topics[0].error_code in (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)

            def are_found() -> bool:
                wire.ask(FindCoordinatorRequest(key_type=0, coordinator_keys=["g"]), FindCoordinatorResponse, 4)
                described = wire.ask(DescribeGroupsRequest(groups=SOME_GROUPS), DescribeGroupsResponse, 4)
                return all(group.error_code == ErrorCode.NONE for group in described.groups)

            wait_for(are_found, "there are coordinators")

    def _plain(self, value: object) -> object:
        if isinstance(value, Struct):
            return {
                field.name: self._plain(getattr(value, field.name))
                for field in value.FIELDS
                if field.name not in DIFFERENT
            }
        if isinstance(value, list):
            return sorted((self._plain(item) for item in value), key=repr)
        return self._renamed(value) if isinstance(value, str) else value

    def _renamed(self, text: str) -> str:
        """Names that the broker made up are numbered."""
        made_up = _MADE_UP.fullmatch(text)
        if made_up is None:
            return text
        return self._names.setdefault(text, f"{made_up[1]}-#{len(self._names)}")


def fitting(request: Message, version: int) -> Message:
    """A request without what a version cannot say."""
    values = {field.name: getattr(request, field.name) for field in request.FIELDS if field.present_in(version)}
    return type(request)(**values)


Script = Callable[[Side], None]


class SideBySide:
    def __init__(self, ours: str, kafka: str) -> None:
        self._addresses = (ours, kafka)

    def prepare(self, topic: str, partitions: int) -> None:
        for address in self._addresses:
            with Side(address) as side:
                side.prepare(topic, partitions)

    def agree(self, script: Script) -> None:
        """Runs a conversation with each, and compares what was said line by line."""
        transcripts = []
        for address in self._addresses:
            with Side(address) as side:
                script(side)
                transcripts.append(side.said)
        ours, kafkas = transcripts
        assert len(ours) == len(kafkas)
        for number, (own, kafka) in enumerate(zip(ours, kafkas, strict=True)):
            assert own == kafka, f"line {number} of the conversation: ours is {own}\nand Kafka's {kafka}"
