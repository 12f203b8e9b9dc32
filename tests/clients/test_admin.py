"""Topics made, changed and deleted by the administration clients of the three libraries."""

import asyncio
from concurrent.futures import Future

import pytest
from confluent_kafka import KafkaError, KafkaException

from tests.clients import aiokafka_client, kafka_python_client
from tests.clients.confluent_client import (
    ADMIN_DEADLINE_S,
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    create_topic,
)
from tests.clients.kcat_client import kcat
from tests.waiting import wait_for, wait_for_async

TOPIC = ConfigResource.Type.TOPIC
ONE_HOUR_MS = "3600000"
TWO_HOURS_MS = "7200000"


class TestConfluentKafka:
    @pytest.fixture
    def admin(self, broker_address: str) -> AdminClient:
        return AdminClient({"bootstrap.servers": broker_address})

    def test_topics_come_and_go(self, admin: AdminClient, topic: str) -> None:
        new = NewTopic(topic, num_partitions=3, replication_factor=1, config={"retention.ms": ONE_HOUR_MS})
        admin.create_topics([new])[topic].result(ADMIN_DEADLINE_S)
        wait_for(lambda: partitions_of(admin, topic) == [0, 1, 2], "the topic to appear")
        admin.create_partitions([NewPartitions(topic, 5)])[topic].result(ADMIN_DEADLINE_S)
        wait_for(lambda: partitions_of(admin, topic) == [0, 1, 2, 3, 4], "the topic to grow")
        admin.delete_topics([topic])[topic].result(ADMIN_DEADLINE_S)
        wait_for(lambda: partitions_of(admin, topic) is None, "the topic to go")

    def test_a_topic_that_is_only_checked_is_not_made(self, admin: AdminClient, topic: str) -> None:
        admin.create_topics([NewTopic(topic, 1, 1)], validate_only=True)[topic].result(ADMIN_DEADLINE_S)
        # One that is made afterwards appears, the checked one does not.
        marker = f"{topic}-made"
        admin.create_topics([NewTopic(marker, 1, 1)])[marker].result(ADMIN_DEADLINE_S)
        wait_for(lambda: partitions_of(admin, marker) is not None, "the other topic to appear")
        assert partitions_of(admin, topic) is None

    def test_wrong_requests_are_refused(self, admin: AdminClient, broker_address: str, topic: str) -> None:
        create_topic(broker_address, topic, 2)
        assert refusal(admin.create_topics([NewTopic(topic, 1, 1)])[topic]) == KafkaError.TOPIC_ALREADY_EXISTS
        missing = f"{topic}-missing"
        assert refusal(admin.create_topics([NewTopic(missing, 1, 3)])[missing]) == (
            KafkaError.INVALID_REPLICATION_FACTOR
        )
        assert refusal(admin.create_topics([NewTopic("not/legal", 1, 1)])["not/legal"]) == (KafkaError.TOPIC_EXCEPTION)
        nonsense = NewTopic(missing, 1, 1, config={"retention.ms": "soon"})
        assert refusal(admin.create_topics([nonsense])[missing]) == KafkaError.INVALID_CONFIG
        assert refusal(admin.delete_topics([missing])[missing]) == KafkaError.UNKNOWN_TOPIC_OR_PART
        assert refusal(admin.create_partitions([NewPartitions(topic, 1)])[topic]) == KafkaError.INVALID_PARTITIONS

    def test_configs_are_changed_one_by_one(self, admin: AdminClient, broker_address: str, topic: str) -> None:
        create_topic(broker_address, topic, configs={"retention.ms": ONE_HOUR_MS})
        change = [
            ConfigEntry("retention.ms", TWO_HOURS_MS, incremental_operation=AlterConfigOpType.SET),
            ConfigEntry("cleanup.policy", "compact", incremental_operation=AlterConfigOpType.APPEND),
        ]
        resource = ConfigResource(TOPIC, topic, incremental_configs=change)
        admin.incremental_alter_configs([resource])[resource].result(ADMIN_DEADLINE_S)
        wait_for(lambda: self.describe(admin, topic)["retention.ms"].value == TWO_HOURS_MS, "the new value")
        policies = self.describe(admin, topic)["cleanup.policy"].value
        assert policies is not None
        assert set(policies.split(",")) == {"delete", "compact"}
        undo = [ConfigEntry("retention.ms", None, incremental_operation=AlterConfigOpType.DELETE)]
        resource = ConfigResource(TOPIC, topic, incremental_configs=undo)
        admin.incremental_alter_configs([resource])[resource].result(ADMIN_DEADLINE_S)
        wait_for(lambda: self.describe(admin, topic)["retention.ms"].is_default, "the default to be back")
        assert self.describe(admin, topic)["retention.ms"].value == "604800000"

    def test_the_broker_tells_its_configs(self, admin: AdminClient) -> None:
        (broker_id,) = admin.list_topics(timeout=ADMIN_DEADLINE_S).brokers
        resource = ConfigResource(ConfigResource.Type.BROKER, str(broker_id))
        configs = admin.describe_configs([resource])[resource].result(ADMIN_DEADLINE_S)
        assert configs["num.partitions"].value == "1"
        assert configs["log.segment.bytes"].value == str(1024**3)
        assert configs["auto.create.topics.enable"].value == "true"

    def test_the_cluster_describes_itself(self, admin: AdminClient, broker_address: str) -> None:
        cluster = admin.describe_cluster().result(ADMIN_DEADLINE_S)
        (node,) = cluster.nodes
        assert f"{node.host}:{node.port}" == broker_address
        assert cluster.controller.id == node.id
        assert cluster.cluster_id

    def describe(self, admin: AdminClient, topic: str) -> dict[str, ConfigEntry]:
        resource = ConfigResource(TOPIC, topic)
        configs: dict[str, ConfigEntry] = admin.describe_configs([resource])[resource].result(ADMIN_DEADLINE_S)
        return configs


def partitions_of(admin: AdminClient, topic: str) -> list[int] | None:
    found = admin.list_topics(timeout=ADMIN_DEADLINE_S).topics.get(topic)
    return None if found is None else sorted(found.partitions)


def refusal(future: Future[None]) -> int:
    with pytest.raises(KafkaException) as refused:
        future.result(ADMIN_DEADLINE_S)
    return int(refused.value.args[0].code())


def test_kafka_python_administers(broker_address: str, topic: str) -> None:
    admin = kafka_python_client.KafkaAdminClient(bootstrap_servers=broker_address)
    resource = kafka_python_client.ConfigResource

    def partitions() -> list[int]:
        (described,) = admin.describe_topics([topic])
        return sorted(partition["partition_index"] for partition in described["partitions"])

    def retention() -> str:
        described = admin.describe_configs([resource("TOPIC", topic)])
        return str(described["topic"][topic]["retention.ms"]["value"])

    try:
        admin.create_topics({topic: {"num_partitions": 2, "configs": {"retention.ms": ONE_HOUR_MS}}})
        wait_for(lambda: topic in admin.list_topics(), "the topic to appear")
        admin.create_partitions({topic: 4})
        wait_for(lambda: partitions() == [0, 1, 2, 3], "the topic to grow")
        assert retention() == ONE_HOUR_MS
        admin.alter_configs([resource("TOPIC", topic, {"retention.ms": TWO_HOURS_MS})])
        wait_for(lambda: retention() == TWO_HOURS_MS, "the new value")
        assert len(admin.describe_log_dirs()) == 1
        admin.delete_topics([topic])
        wait_for(lambda: topic not in admin.list_topics(), "the topic to go")
    finally:
        admin.close()


def test_aiokafka_administers(broker_address: str, topic: str) -> None:
    asyncio.run(administer_with_aiokafka(broker_address, topic))


async def administer_with_aiokafka(address: str, topic: str) -> None:
    def resource(value: str | None) -> aiokafka_client.ConfigResource:
        return aiokafka_client.ConfigResource(aiokafka_client.ConfigResourceType.TOPIC, topic, {"retention.ms": value})

    async with aiokafka_client.administrator(address) as admin:

        async def is_listed() -> bool:
            return topic in await admin.list_topics()

        async def is_gone() -> bool:
            return not await is_listed()

        async def has_four_partitions() -> bool:
            (described,) = await admin.describe_topics([topic])
            return sorted(partition["partition"] for partition in described["partitions"]) == [0, 1, 2, 3]

        async def has_new_value() -> bool:
            (answer,) = await admin.describe_configs([resource(None)])
            (name, value, *_) = answer.resources[0][4][0]
            return (name, value) == ("retention.ms", TWO_HOURS_MS)

        new = aiokafka_client.NewTopic(topic, 2, 1, topic_configs={"retention.ms": ONE_HOUR_MS})
        await admin.create_topics([new])
        await wait_for_async(is_listed, "the topic to appear")
        await admin.create_partitions({topic: aiokafka_client.NewPartitions(4)})
        await wait_for_async(has_four_partitions, "the topic to grow")
        await admin.alter_configs([resource(TWO_HOURS_MS)])
        await wait_for_async(has_new_value, "the new value")
        await admin.delete_topics([topic])
        await wait_for_async(is_gone, "the topic to go")


def test_kcat_lists_topics(broker_address: str, topic: str) -> None:
    create_topic(broker_address, topic, 3)
    printed = wait_for(lambda: listing(broker_address, topic), "the topic to appear")
    assert f" at {broker_address} (controller)" in printed


def listing(address: str, topic: str) -> str | None:
    printed = kcat(address, "-L", "-t", topic).decode()
    return printed if f'topic "{topic}" with 3 partitions' in printed else None
