"""The same words to Apache Kafka and to us: members of a group that speak to both at once, and compare the answers."""

from __future__ import annotations

import secrets
from typing import TypeVar

from barnabas.wire import apis
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse
from barnabas.wire.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from barnabas.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from barnabas.wire.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from barnabas.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from barnabas.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from barnabas.wire.struct import Message, Struct
from core_broker.apis.table import SERVED
from tests.core_broker.wire_socket import WireSocket
from tests.waiting import wait_for

REBALANCE_TIMEOUT_MS = 60_000
TIMEOUT_MS = 10_000
GROUP_RESOURCE = 32
Owned = dict[str, list[int]]

M = TypeVar("M", bound=Message)


class Side:
    """One of the brokers."""

    def __init__(self, address: str) -> None:
        self._address = address
        self.names: dict[bytes, str] = {}
        self.ids: dict[str, bytes] = {}

    def ask(self, request: Message, response: type[M], version: int | None = None) -> M:
        chosen = SERVED[request.API_KEY].max_version if version is None else version
        with WireSocket(self._address) as wire:
            return wire.ask(request, response, chosen)

    def create(self, topics: dict[str, int]) -> None:
        self.ask(
            CreateTopicsRequest(
                topics=[
                    CreatableTopic(name=name, num_partitions=count, replication_factor=1)
                    for name, count in topics.items()
                ],
                timeout_ms=TIMEOUT_MS,
            ),
            CreateTopicsResponse,
        )
        asked = MetadataRequest(
            topics=[MetadataRequestTopic(name=name) for name in topics], allow_auto_topic_creation=False
        )

        def told() -> bool:
            answer = self.ask(asked, MetadataResponse)
            for topic in answer.topics:
                if topic.error_code == ErrorCode.NONE and topic.name is not None:
                    self.names[topic.topic_id] = topic.name
                    self.ids[topic.name] = topic.topic_id
            return topics.keys() <= self.ids.keys()

        wait_for(told, f"{self._address} knows the topics")
        self._wait_for_coordinator(list(topics))

    def _wait_for_coordinator(self, topics: list[str]) -> None:
        """Kafka's coordinator hears of topics a moment later than its clients do."""
        group_id = f"probe-{secrets.token_hex(4)}"
        self.configure_group(group_id, {"consumer.assignment.interval.ms": "0"})
        self.coordinate(group_id)
        probe = ConsumerGroupHeartbeatRequest(
            group_id=group_id,
            member_id="probe",
            member_epoch=0,
            rebalance_timeout_ms=REBALANCE_TIMEOUT_MS,
            subscribed_topic_names=topics,
            topic_partitions=[],
        )

        def assigns() -> bool:
            assignment = self.ask(probe, ConsumerGroupHeartbeatResponse).assignment
            return assignment is not None and len(assignment.topic_partitions) == len(topics)

        wait_for(assigns, f"the coordinator of {self._address} knows the topics")

    def configure_group(self, group_id: str, configs: dict[str, str]) -> None:
        changes = [AlterableConfig(name=name, value=value) for name, value in configs.items()]
        resource = AlterConfigsResource(resource_type=GROUP_RESOURCE, resource_name=group_id, configs=changes)
        (answer,) = self.ask(
            IncrementalAlterConfigsRequest(resources=[resource]), IncrementalAlterConfigsResponse
        ).responses
        assert answer.error_code == ErrorCode.NONE
        asked = DescribeConfigsRequest(
            resources=[DescribeConfigsResource(resource_type=GROUP_RESOURCE, resource_name=group_id)]
        )

        def told() -> bool:
            (described,) = self.ask(asked, DescribeConfigsResponse).results
            values = {config.name: config.value for config in described.configs}
            return configs.items() <= values.items()

        wait_for(told, f"{self._address} has the group's configuration")

    def coordinate(self, group_id: str) -> None:
        asked = FindCoordinatorRequest(key_type=0, coordinator_keys=[group_id])

        def found() -> bool:
            (answer,) = self.ask(asked, FindCoordinatorResponse).coordinators
            probe = ConsumerGroupHeartbeatRequest(group_id=group_id, member_id="probe", member_epoch=1)
            loaded = self.ask(probe, ConsumerGroupHeartbeatResponse).error_code == ErrorCode.GROUP_ID_NOT_FOUND
            return answer.error_code == ErrorCode.NONE and loaded

        wait_for(found, f"{self._address} coordinates {group_id}")

    def heartbeat(self, request: ConsumerGroupHeartbeatRequest, owned: Owned | None, version: int) -> object:
        request.topic_partitions = (
            None
            if owned is None
            else [TopicPartitions(topic_id=self.ids[name], partitions=parts) for name, parts in owned.items()]
        )
        return self.plain(self.ask(request, ConsumerGroupHeartbeatResponse, version))

    def plain(self, value: object) -> object:
        """As data that can be compared: topics by name, lists in an order of their own, no words, no address."""
        if isinstance(value, Struct):
            return {
                field.name: self.plain(getattr(value, field.name))
                for field in value.FIELDS
                if field.name not in ("error_message", "client_host")
            }
        if isinstance(value, list):
            return sorted((self.plain(item) for item in value), key=repr)
        return self.names.get(value, value) if isinstance(value, bytes) else value


class Dialogue:
    """Both brokers, with groups and topics of the same names."""

    def __init__(self, ours: str, kafka: str) -> None:
        self.sides = {"ours": Side(ours), "kafka": Side(kafka)}

    def create(self, **topics: int) -> None:
        for side in self.sides.values():
            side.create(topics)

    def new_group(self) -> str:
        """A group that assigns as soon as there is a reason to, so that answers do not depend on the time between them."""
        group_id = f"g-{secrets.token_hex(4)}"
        for side in self.sides.values():
            side.configure_group(group_id, {"consumer.assignment.interval.ms": "0"})
            side.coordinate(group_id)
        return group_id

    def heartbeat(
        self, request: ConsumerGroupHeartbeatRequest, owned: Owned | None = None, version: int = 1
    ) -> dict[str, object]:
        answers = {name: side.heartbeat(request, owned, version) for name, side in self.sides.items()}
        answer = _agreed(answers)
        assert isinstance(answer, dict)
        return answer

    def heartbeat_until_assigned(self, request: ConsumerGroupHeartbeatRequest, owned: Owned) -> dict[str, object]:
        """Asks each broker as often as it takes to be told of partitions; what it is told then is the same."""
        answers: dict[str, object] = {}
        for name, side in self.sides.items():

            def told(name: str = name, side: Side = side) -> bool:
                answer = side.heartbeat(request, owned, 1)
                answers[name] = answer
                assert isinstance(answer, dict)
                return bool(answer["error_code"] or answer["assignment"])

            wait_for(told, f"{name} assigns partitions")
        answer = _agreed(answers)
        assert isinstance(answer, dict)
        return answer

    def agree(self, request: Message, version: int | None = None) -> object:
        response = apis.response_class(request.API_KEY)
        answers = {name: side.plain(side.ask(request, response, version)) for name, side in self.sides.items()}
        return _agreed(answers)

    def describe(self, group_id: str) -> None:
        asked = ConsumerGroupDescribeRequest(group_ids=[group_id], include_authorized_operations=True)
        answers = {
            name: side.plain(side.ask(asked, ConsumerGroupDescribeResponse)) for name, side in self.sides.items()
        }
        _agreed(answers)


def _agreed(answers: dict[str, object]) -> object:
    assert answers["ours"] == answers["kafka"], f"ours:  {answers['ours']}\nkafka: {answers['kafka']}"
    return answers["ours"]


class Talker:
    """A member of the same id in both groups. It takes what it is given and says what it has, as a consumer does."""

    def __init__(self, dialogue: Dialogue, group_id: str, member_id: str, **fields: object) -> None:
        self._dialogue = dialogue
        self.group_id = group_id
        self.member_id = member_id
        self._fields = fields
        self.epoch = 0
        self.owned: Owned = {}

    def join(self, *topics: str, **fields: object) -> dict[str, object]:
        self.epoch = 0
        names = {} if "subscribed_topic_regex" in {**self._fields, **fields} else {"subscribed_topic_names": [*topics]}
        said: dict[str, object] = {"rebalance_timeout_ms": REBALANCE_TIMEOUT_MS, **names, **self._fields, **fields}
        return self._say({}, said)

    def beat(self) -> dict[str, object]:
        return self.say(owned=self.owned)

    def leave(self, epoch: int = -1) -> dict[str, object]:
        self.epoch = epoch
        fields = {"instance_id": self._fields["instance_id"]} if "instance_id" in self._fields else {}
        return self._say(None, fields)

    def wait_for_assignment(self) -> None:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group_id, member_id=self.member_id, member_epoch=self.epoch
        )
        self._hear(self._dialogue.heartbeat_until_assigned(request, self.owned))

    def say(self, owned: Owned | None = None, **fields: object) -> dict[str, object]:
        return self._say(owned, fields)

    def _say(self, owned: Owned | None, fields: dict[str, object]) -> dict[str, object]:
        request = ConsumerGroupHeartbeatRequest(
            group_id=self.group_id,
            member_id=self.member_id,
            member_epoch=self.epoch,
            **fields,  # type: ignore[arg-type]  # each test knows the fields that it sets
        )
        answer = self._dialogue.heartbeat(request, owned)
        self._hear(answer)
        return answer

    def _hear(self, answer: dict[str, object]) -> None:
        if not answer["error_code"]:
            assert isinstance(answer["member_epoch"], int)
            self.epoch = answer["member_epoch"]
            assignment = answer["assignment"]
            if isinstance(assignment, dict):
                self.owned = {part["topic_id"]: part["partitions"] for part in assignment["topic_partitions"]}
