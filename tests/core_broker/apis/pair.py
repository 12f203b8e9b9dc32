"""Our broker and Apache Kafka, which get the same requests."""

from __future__ import annotations

from barnabas.wire import apis
from barnabas.wire.errors import ErrorCode
from barnabas.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest, CreateTopicsResponse
from barnabas.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from barnabas.wire.struct import Message, Struct
from core_broker.apis.table import SERVED
from tests.core_broker.wire_socket import WireSocket
from tests.waiting import wait_for

# What names a place, a time or a thing made at random, and messages, which are our own.
DIFFERENT = ("error_message", "host", "port", "cluster_id", "topic_id")


class Pair:
    """Both brokers, each with the same topics."""

    def __init__(self, ours: str, kafka: str) -> None:
        self._addresses = {"ours": ours, "kafka": kafka}

    def ask(self, request: Message, version: int | None = None) -> dict[str, Message]:
        return {side: self.ask_one(side, request, version) for side in self._addresses}

    def ask_one(self, side: str, request: Message, version: int | None = None) -> Message:
        chosen = SERVED[request.API_KEY].max_version if version is None else version
        with WireSocket(self._addresses[side]) as wire:
            return wire.ask(request, apis.response_class(request.API_KEY), chosen)

    def agree(self, request: Message, version: int | None = None) -> None:
        answers = self.ask(request, version)
        assert plain(answers["ours"]) == plain(answers["kafka"])

    def create(self, *topics: CreatableTopic) -> None:
        """Create topics, and wait until both know them: Kafka takes a moment."""
        for answer in self.ask(CreateTopicsRequest(topics=list(topics))).values():
            assert isinstance(answer, CreateTopicsResponse)
            codes = {topic.error_code for topic in answer.topics}
            assert codes <= {ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS}
        asked = MetadataRequest(
            topics=[MetadataRequestTopic(name=topic.name) for topic in topics], allow_auto_topic_creation=False
        )

        def are_known() -> bool:
            answers = self.ask(asked).values()
            return all(
                topic.error_code == ErrorCode.NONE and topic.partitions
                for answer in answers
                if isinstance(answer, MetadataResponse)
                for topic in answer.topics
            )

        wait_for(are_known, "both brokers know the topics")


def plain(value: object) -> object:
    """A message as plain data, in an order of its own, without what cannot be the same."""
    if isinstance(value, Struct):
        return {field.name: plain(getattr(value, field.name)) for field in value.FIELDS if field.name not in DIFFERENT}
    if isinstance(value, list):
        return sorted((plain(item) for item in value), key=repr)
    return value
