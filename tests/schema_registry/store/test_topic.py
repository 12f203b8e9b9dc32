"""The topic is made as it must be, and one that would lose schemas is refused."""

import asyncio

import pytest

from barnabas.wire.client import Client
from barnabas.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from schema_registry.store.failures import TopicUnfit
from schema_registry.store.topic import TopicSettings, describe, provide
from tests.broker import BrokerProcess


async def create(client: Client, name: str, partitions: int, policy: str) -> None:
    topic = CreatableTopic(
        name=name,
        num_partitions=partitions,
        replication_factor=1,
        assignments=[],
        configs=[CreatableTopicConfig(name="cleanup.policy", value=policy)],
    )
    answer = await client.send(CreateTopicsRequest(topics=[topic]), CreateTopicsResponse)
    assert answer.topics[0].error_code == 0


def test_a_missing_topic_is_made_once_by_many(kafka: BrokerProcess, topic: str) -> None:
    async def scenario() -> None:
        async with Client(kafka.address) as one, Client(kafka.address) as other:
            settings = TopicSettings(topic, 3, {"max.message.bytes": "2000000"})
            await asyncio.gather(*(provide(client, settings) for client in (one, other, one, other)))
            found, _ = await describe(one, topic)
            assert [len(partition.replica_nodes) for partition in found.partitions] == [1]

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("partitions", "policy", "reason"),
    [
        (2, "compact", "should have only 1 partition but has 2"),
        (1, "delete", "Expected cleanup.policy to be 'compact' but it is delete"),
        (1, "compact,delete", "Expected cleanup.policy to be 'compact' but it is compact,delete"),
    ],
)
def test_an_unfit_topic_is_refused(kafka: BrokerProcess, topic: str, partitions: int, policy: str, reason: str) -> None:
    async def scenario() -> None:
        async with Client(kafka.address) as client:
            await create(client, topic, partitions, policy)
            with pytest.raises(TopicUnfit, match=reason):
                await provide(client, TopicSettings(topic))

    asyncio.run(scenario())
