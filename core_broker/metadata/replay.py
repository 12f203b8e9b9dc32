"""How metadata records change the image. Start-up replays the log; a running broker replays what it just appended: one function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Generic, TypeVar

from barnabas.wire.records.cluster_metadata import (
    BeginTransactionRecord,
    BrokerRegistrationChangeRecord,
    ClientQuotaRecord,
    ConfigRecord,
    EndTransactionRecord,
    FeatureLevelRecord,
    FenceBrokerRecord,
    NoOpRecord,
    PartitionChangeRecord,
    PartitionRecord,
    ProducerIdsRecord,
    RegisterBrokerRecord,
    RegisterControllerRecord,
    RemoveTopicRecord,
    RemoveUserScramCredentialRecord,
    TopicRecord,
    UnfenceBrokerRecord,
    UnregisterBrokerRecord,
    UserScramCredentialRecord,
    ZkMigrationStateRecord,
)
from barnabas.wire.struct import Message
from core_broker.metadata.image import (
    BrokerImage,
    ClusterImage,
    ConfigResource,
    Endpoint,
    PartitionImage,
    QuotaEntity,
    ResourceType,
    ScramCredential,
    ScramKey,
    TopicImage,
    frozen,
)

Key = TypeVar("Key")
Value = TypeVar("Value")

NO_LEADER_CHANGE = -2


class MetadataError(Exception):
    """The metadata log says something that cannot be: it is damaged, or a newer or other program wrote it."""


def replay(image: ClusterImage, records: Iterable[Message], *, offset: int, epoch: int) -> ClusterImage:
    """The image after these records, the last of which lies at `offset`."""
    pending = _Replay(image)
    for record in records:
        pending.apply(record)
    return pending.finish(offset, epoch)


class _Draft(Generic[Key, Value]):
    """One part of an image while it changes: a copy is made at the first change."""

    __slots__ = ("_copied", "_values")

    def __init__(self, values: Mapping[Key, Value]) -> None:
        self._values = values
        self._copied: dict[Key, Value] | None = None

    def get(self, key: Key) -> Value | None:
        return self._values.get(key)

    def put(self, key: Key, value: Value) -> None:
        self._changing()[key] = value

    def remove(self, key: Key) -> Value | None:
        return self._changing().pop(key, None) if key in self._values else None

    def _changing(self) -> dict[Key, Value]:
        if self._copied is None:
            self._copied = dict(self._values)
            self._values = self._copied
        return self._copied

    def finish(self) -> Mapping[Key, Value]:
        return self._values if self._copied is None else frozen(self._copied)


class _Replay:
    """A change in progress: `apply` records, then take the new image from `finish`."""

    def __init__(self, image: ClusterImage) -> None:
        self._image = image
        self._topics = _Draft(image.topics)
        self._names = _Draft(image.topic_names)
        self._configs = _Draft(image.configs)
        self._brokers = _Draft(image.brokers)
        self._features = _Draft(image.features)
        self._credentials = _Draft(image.scram_credentials)
        self._quotas = _Draft(image.client_quotas)
        self._next_producer_id = image.next_producer_id
        # Topics and configurations that records of this change touch again and again, not frozen yet.
        self._partitions: dict[str, list[PartitionImage]] = {}
        self._settings: dict[ConfigResource, dict[str, str]] = {}

    def apply(self, record: Message) -> None:
        action = _ACTIONS.get(type(record))
        if action is None:
            raise MetadataError(
                f"the metadata log holds a {type(record).__name__}, which this broker does not understand; "
                "start it with the program that wrote the log, or give it another log directory"
            )
        action(self, record)

    def finish(self, offset: int, epoch: int) -> ClusterImage:
        for name, partitions in self._partitions.items():
            topic = self._topics.get(name)
            assert topic is not None, name
            self._topics.put(name, replace(topic, partitions=tuple(partitions)))
        for resource, settings in self._settings.items():
            if settings:
                self._configs.put(resource, frozen(settings))
            else:
                self._configs.remove(resource)
        return ClusterImage(
            offset=offset,
            epoch=epoch,
            topics=self._topics.finish(),
            topic_names=self._names.finish(),
            configs=self._configs.finish(),
            brokers=self._brokers.finish(),
            features=self._features.finish(),
            scram_credentials=self._credentials.finish(),
            client_quotas=self._quotas.finish(),
            next_producer_id=self._next_producer_id,
        )

    # Topics.

    def topic(self, record: TopicRecord) -> None:
        self._topics.put(record.name, TopicImage(record.name, record.topic_id, ()))
        self._names.put(record.topic_id, record.name)

    def remove_topic(self, record: RemoveTopicRecord) -> None:
        name = self._names.remove(record.topic_id)
        if name is None:
            raise MetadataError(f"topic {record.topic_id.hex()} is removed, and there is none")
        self._topics.remove(name)
        self._partitions.pop(name, None)
        self._settings[ConfigResource(ResourceType.TOPIC, name)] = {}

    def partition(self, record: PartitionRecord) -> None:
        partitions = self._partitions_of(record.topic_id)
        if record.partition_id > len(partitions):
            raise MetadataError(f"partition {record.partition_id} follows {len(partitions)} partitions of its topic")
        image = PartitionImage(
            replicas=tuple(record.replicas),
            isr=tuple(record.isr),
            directories=tuple(record.directories),
            leader=record.leader,
            leader_epoch=record.leader_epoch,
            partition_epoch=record.partition_epoch,
        )
        if record.partition_id == len(partitions):
            partitions.append(image)
        else:
            partitions[record.partition_id] = image

    def partition_change(self, record: PartitionChangeRecord) -> None:
        partitions = self._partitions_of(record.topic_id)
        if not 0 <= record.partition_id < len(partitions):
            raise MetadataError(f"partition {record.partition_id} of {len(partitions)} changes")
        old = partitions[record.partition_id]
        elected = record.leader != NO_LEADER_CHANGE
        partitions[record.partition_id] = PartitionImage(
            replicas=old.replicas if record.replicas is None else tuple(record.replicas),
            isr=old.isr if record.isr is None else tuple(record.isr),
            directories=old.directories if record.directories is None else tuple(record.directories),
            leader=record.leader if elected else old.leader,
            leader_epoch=old.leader_epoch + elected,
            partition_epoch=old.partition_epoch + 1,
        )

    def _partitions_of(self, topic_id: bytes) -> list[PartitionImage]:
        name = self._names.get(topic_id)
        topic = None if name is None else self._topics.get(name)
        if topic is None:
            raise MetadataError(f"a partition belongs to topic {topic_id.hex()}, and there is none")
        partitions = self._partitions.get(topic.name)
        if partitions is None:
            partitions = self._partitions[topic.name] = list(topic.partitions)
        return partitions

    # The rest.

    def config(self, record: ConfigRecord) -> None:
        resource = ConfigResource(record.resource_type, record.resource_name)
        settings = self._settings.get(resource)
        if settings is None:
            settings = self._settings[resource] = dict(self._configs.get(resource) or {})
        if record.value is None:
            settings.pop(record.name, None)
        else:
            settings[record.name] = record.value

    def register_broker(self, record: RegisterBrokerRecord) -> None:
        endpoints = (
            Endpoint(point.name, point.host, point.port, point.security_protocol) for point in record.end_points
        )
        self._brokers.put(
            record.broker_id,
            BrokerImage(
                broker_id=record.broker_id,
                incarnation_id=record.incarnation_id,
                epoch=record.broker_epoch,
                endpoints=tuple(endpoints),
                rack=record.rack,
                directories=tuple(record.log_dirs),
            ),
        )

    def unregister_broker(self, record: UnregisterBrokerRecord) -> None:
        self._brokers.remove(record.broker_id)

    def feature_level(self, record: FeatureLevelRecord) -> None:
        # Level 0 is kept, too: somebody chose it, and the next start does not raise it again.
        self._features.put(record.name, record.feature_level)

    def producer_ids(self, record: ProducerIdsRecord) -> None:
        self._next_producer_id = record.next_producer_id

    def scram_credential(self, record: UserScramCredentialRecord) -> None:
        self._credentials.put(
            ScramKey(record.name, record.mechanism),
            ScramCredential(record.salt, record.stored_key, record.server_key, record.iterations),
        )

    def remove_scram_credential(self, record: RemoveUserScramCredentialRecord) -> None:
        self._credentials.remove(ScramKey(record.name, record.mechanism))

    def client_quota(self, record: ClientQuotaRecord) -> None:
        entity = QuotaEntity.of({part.entity_type: part.entity_name for part in record.entity})
        quotas = dict(self._quotas.get(entity) or {})
        if record.remove:
            quotas.pop(record.key, None)
        else:
            quotas[record.key] = record.value
        if quotas:
            self._quotas.put(entity, frozen(quotas))
        else:
            self._quotas.remove(entity)

    def ignore(self, record: Message) -> None:
        """A record of Kafka's own cluster life, which means nothing to one node."""


_ACTIONS: Mapping[type[Message], Callable[[_Replay, Any], None]] = {
    TopicRecord: _Replay.topic,
    RemoveTopicRecord: _Replay.remove_topic,
    PartitionRecord: _Replay.partition,
    PartitionChangeRecord: _Replay.partition_change,
    ConfigRecord: _Replay.config,
    RegisterBrokerRecord: _Replay.register_broker,
    UnregisterBrokerRecord: _Replay.unregister_broker,
    FeatureLevelRecord: _Replay.feature_level,
    ProducerIdsRecord: _Replay.producer_ids,
    UserScramCredentialRecord: _Replay.scram_credential,
    RemoveUserScramCredentialRecord: _Replay.remove_scram_credential,
    ClientQuotaRecord: _Replay.client_quota,
    NoOpRecord: _Replay.ignore,
    BeginTransactionRecord: _Replay.ignore,
    EndTransactionRecord: _Replay.ignore,
    BrokerRegistrationChangeRecord: _Replay.ignore,
    FenceBrokerRecord: _Replay.ignore,
    UnfenceBrokerRecord: _Replay.ignore,
    RegisterControllerRecord: _Replay.ignore,
    ZkMigrationStateRecord: _Replay.ignore,
}
