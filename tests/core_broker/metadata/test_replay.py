"""Records make images."""

from __future__ import annotations

import pytest

from barnabas.wire.records.cluster_metadata import (
    AccessControlEntryRecord,
    BrokerEndpoint,
    ConfigRecord,
    FeatureLevelRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UnregisterBrokerRecord,
    UserScramCredentialRecord,
)
from barnabas.wire.struct import Message
from core_broker.metadata.image import (
    EMPTY,
    ClusterImage,
    ConfigResource,
    Endpoint,
    PartitionImage,
    ResourceType,
    ScramCredential,
    ScramKey,
)
from core_broker.metadata.replay import MetadataError, replay

ID, OTHER_ID = b"a" * 16, b"b" * 16
DIRECTORY = b"d" * 16


def partition(index: int, topic_id: bytes = ID) -> PartitionRecord:
    return PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=[1],
        isr=[1],
        leader=1,
        leader_epoch=0,
        partition_epoch=0,
        directories=[DIRECTORY],
    )


def config(name: str, value: str | None, topic: str = "t") -> ConfigRecord:
    return ConfigRecord(resource_type=ResourceType.TOPIC, resource_name=topic, name=name, value=value)


def replayed(image: ClusterImage, *records: Message) -> ClusterImage:
    return replay(image, records, offset=image.offset + len(records), epoch=1)


TOPIC = (TopicRecord(name="t", topic_id=ID), partition(0), partition(1))


def test_a_topic_appears_with_its_partitions() -> None:
    image = replayed(EMPTY, *TOPIC)
    assert image.topics["t"].partitions == (PartitionImage((1,), (1,), (DIRECTORY,), 1, 0, 0),) * 2
    assert image.topic_by_id(ID) is image.topics["t"]
    assert image.topic_by_id(OTHER_ID) is None
    assert (image.offset, image.epoch) == (2, 1)


def test_an_image_is_never_modified_and_shares_what_stays() -> None:
    first = replayed(EMPTY, *TOPIC, config("retention.ms", "5"))
    second = replayed(first, TopicRecord(name="u", topic_id=OTHER_ID), partition(0, OTHER_ID))
    assert set(first.topics) == {"t"}
    assert set(second.topics) == {"t", "u"}
    assert second.configs is first.configs
    assert second.topics["t"] is first.topics["t"]
    with pytest.raises(TypeError):
        second.topics["v"] = first.topics["t"]  # type: ignore[index]


def test_partitions_can_be_added() -> None:
    image = replayed(replayed(EMPTY, *TOPIC), partition(2))
    assert len(image.topics["t"].partitions) == 3


def test_a_change_of_leader_raises_both_epochs_and_other_changes_one() -> None:
    image = replayed(EMPTY, *TOPIC)
    image = replayed(image, PartitionChangeRecord(partition_id=1, topic_id=ID, leader=1))
    assert [(p.leader_epoch, p.partition_epoch) for p in image.topics["t"].partitions] == [(0, 0), (1, 1)]
    image = replayed(image, PartitionChangeRecord(partition_id=1, topic_id=ID, isr=[1]))
    changed = image.topics["t"].partitions[1]
    assert (changed.leader, changed.leader_epoch, changed.partition_epoch) == (1, 1, 2)


def test_a_topic_takes_its_configuration_with_it() -> None:
    image = replayed(EMPTY, *TOPIC, config("retention.ms", "5"))
    image = replayed(image, RemoveTopicRecord(topic_id=ID))
    assert (dict(image.topics), dict(image.topic_names), dict(image.configs)) == ({}, {}, {})


def test_a_topic_can_be_made_anew_in_the_same_change() -> None:
    image = replayed(EMPTY, *TOPIC, config("retention.ms", "5"))
    again = (TopicRecord(name="t", topic_id=OTHER_ID), config("segment.ms", "6"), partition(0, OTHER_ID))
    image = replayed(image, RemoveTopicRecord(topic_id=ID), *again)
    assert image.topics["t"].topic_id == OTHER_ID
    assert len(image.topics["t"].partitions) == 1
    assert image.config(ResourceType.TOPIC, "t") == {"segment.ms": "6"}
    assert image.topic_by_id(ID) is None


def test_configurations_are_set_and_deleted() -> None:
    image = replayed(EMPTY, config("a", "1"), config("b", "2"))
    image = replayed(image, config("a", None), config("b", "3"))
    assert image.config(ResourceType.TOPIC, "t") == {"b": "3"}
    image = replayed(image, config("b", None))
    assert ConfigResource(ResourceType.TOPIC, "t") not in image.configs
    assert image.config(ResourceType.TOPIC, "t") == {}


def test_a_broker_is_registered_and_goes() -> None:
    record = RegisterBrokerRecord(
        broker_id=1,
        incarnation_id=ID,
        broker_epoch=7,
        end_points=[BrokerEndpoint(name="PLAINTEXT", host="h", port=9092, security_protocol=0)],
        rack="r",
        log_dirs=[DIRECTORY],
    )
    image = replayed(EMPTY, record)
    assert image.brokers[1].endpoints == (Endpoint("PLAINTEXT", "h", 9092, 0),)
    assert (image.brokers[1].epoch, image.brokers[1].rack, image.brokers[1].directories) == (7, "r", (DIRECTORY,))
    assert not replayed(image, UnregisterBrokerRecord(broker_id=1, broker_epoch=7)).brokers


def test_features_producer_ids_and_credentials() -> None:
    credential = UserScramCredentialRecord(
        name="u", mechanism=1, salt=b"s", stored_key=b"k", server_key=b"v", iterations=4096
    )
    image = replayed(
        EMPTY,
        FeatureLevelRecord(name="metadata.version", feature_level=30),
        FeatureLevelRecord(name="group.version", feature_level=1),
        ProducerIdsRecord(broker_id=1, next_producer_id=1000),
        credential,
        NoOpRecord(),
    )
    assert image.features == {"metadata.version": 30, "group.version": 1}
    assert image.next_producer_id == 1000
    assert image.scram_credentials == {ScramKey("u", 1): ScramCredential(b"s", b"k", b"v", 4096)}
    image = replayed(
        image,
        FeatureLevelRecord(name="group.version", feature_level=0),
        RemoveUserScramCredentialRecord(name="u", mechanism=1),
    )
    assert image.features == {"metadata.version": 30, "group.version": 0}
    assert not image.scram_credentials


@pytest.mark.parametrize(
    ("record", "complaint"),
    [
        (AccessControlEntryRecord(), "AccessControlEntryRecord, which this broker does not understand"),
        (partition(0, OTHER_ID), "belongs to topic"),
        (partition(5), "partition 5 follows 2 partitions"),
        (PartitionChangeRecord(partition_id=9, topic_id=ID), "partition 9 of 2"),
        (RemoveTopicRecord(topic_id=OTHER_ID), "is removed, and there is none"),
    ],
)
def test_records_that_cannot_be(record: Message, complaint: str) -> None:
    image = replayed(EMPTY, *TOPIC)
    with pytest.raises(MetadataError, match=complaint):
        replayed(image, record)
