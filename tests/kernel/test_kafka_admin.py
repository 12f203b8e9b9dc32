"""What services ask Kafka's administration for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence

import pytest
from confluent_kafka import Consumer

from barnabas.kernel.kafka_clients import admin as admin_module
from barnabas.kernel.kafka_clients.admin import VISIBLE_TIMEOUT_S, Admin, KafkaRefusal, TopicReaders
from barnabas.kernel.kafka_clients.topic_shape import TopicShape
from barnabas.wire.client import Client
from barnabas.wire.membership import Generation, GroupMember, GroupSettings, MemberOffer
from tests.broker import BarnabasBroker
from tests.clients.confluent_client import create_topic
from tests.waiting import wait_for

UNREADABLE = b"\xff\xfe\x01"
ANSWERS_DEADLINE_S = 60


class OddParticipant:
    """Calls itself a consumer, and writes what no consumer reads."""

    def __init__(self) -> None:
        self.is_assigned = asyncio.Event()

    def protocols(self) -> Sequence[tuple[str, bytes]]:
        return [("range", UNREADABLE)]

    def assign(self, protocol: str, members: Sequence[MemberOffer]) -> Mapping[str, bytes]:
        return {member.member_id: UNREADABLE for member in members}

    async def on_assigned(self, generation: Generation) -> None:
        self.is_assigned.set()

    async def on_revoked(self, generation: Generation) -> None:
        self.is_assigned.clear()


def test_readers_are_told_though_one_group_cannot_be_described(barnabas: BarnabasBroker, topic: str) -> None:
    create_topic(barnabas.address, topic)
    consumer = Consumer({"bootstrap.servers": barnabas.address, "group.id": topic})
    consumer.subscribe([topic])
    wait_for(lambda: consumer.poll(0.1) or consumer.assignment(), "the assignment")

    async def run() -> None:
        participant = OddParticipant()
        async with Client(barnabas.address) as client:
            member = GroupMember(client, GroupSettings(f"{topic}-odd", "consumer"), participant)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(member.run())
                await participant.is_assigned.wait()
                found = await Admin({"bootstrap.servers": barnabas.address}).readers()
                member.stop()
        assert found[topic] == TopicReaders(consumers=1, groups=1)

    try:
        asyncio.run(run())
    finally:
        consumer.close()


def test_a_topic_that_somebody_else_has_deleted_is_not_waited_for(barnabas: BarnabasBroker, topic: str) -> None:
    async def run() -> None:
        own, other = (Admin({"bootstrap.servers": barnabas.address}) for _ in range(2))
        await own.create_topic(TopicShape(topic, 1, 1, {}))
        await other.delete_topic(topic)
        began_s = time.monotonic()
        assert await own.layout(topic) is None
        assert time.monotonic() - began_s < VISIBLE_TIMEOUT_S / 2

    asyncio.run(run())


def test_each_of_many_who_ask_at_once_is_answered_though_each_tries_again_with_a_new_client(
    barnabas: BarnabasBroker, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admin_module, "_PATIENCE_S", dict.fromkeys(admin_module._PATIENCE_S, 1.0))

    async def run() -> list[object]:
        admin = Admin({"bootstrap.servers": barnabas.address})
        async with asyncio.timeout(ANSWERS_DEADLINE_S):
            # There is no such topic, which may be one that the broker has not heard of yet.
            return list(await asyncio.gather(*(admin.ends(topic, [0]) for _ in range(5)), return_exceptions=True))

    found = asyncio.run(run())
    assert [type(each) for each in found] == [KafkaRefusal] * 5
