"""The cluster as one immutable value. It is never modified: replaying records makes a new one that shares what did not change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple, TypeVar

NO_OFFSET: Final = -1
NO_LEADER: Final = -1

Key = TypeVar("Key")
Value = TypeVar("Value")


def frozen(values: dict[Key, Value]) -> Mapping[Key, Value]:
    """A read-only view of a dictionary that nobody else holds."""
    return MappingProxyType(values)


def _nothing() -> Mapping[Key, Value]:
    return MappingProxyType({})


class ResourceType:
    """What a configuration belongs to; the numbers of Kafka's ConfigResource."""

    TOPIC: Final = 2
    BROKER: Final = 4
    BROKER_LOGGER: Final = 8
    CLIENT_METRICS: Final = 16
    GROUP: Final = 32


class ConfigResource(NamedTuple):
    """The owner of configurations: a topic, a broker, a group... The broker of no name stands for all brokers."""

    type: int
    name: str


class Endpoint(NamedTuple):
    """A listener as it is registered."""

    name: str
    host: str
    port: int
    security_protocol: int


@dataclass(frozen=True, slots=True)
class BrokerImage:
    """A registration: this node's, made anew at each start. The epoch is the offset of its record."""

    broker_id: int
    incarnation_id: bytes
    epoch: int
    endpoints: tuple[Endpoint, ...]
    rack: str | None
    directories: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class PartitionImage:
    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    directories: tuple[bytes, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int


@dataclass(frozen=True, slots=True)
class TopicImage:
    """A topic; its partitions stand in the order of their numbers, which have no gaps."""

    name: str
    topic_id: bytes
    partitions: tuple[PartitionImage, ...]


@dataclass(frozen=True, slots=True)
class ScramCredential:
    """What a broker keeps of a user's password: enough to check it, not to use it."""

    salt: bytes
    stored_key: bytes
    server_key: bytes
    iterations: int


class ScramKey(NamedTuple):
    user: str
    mechanism: int


class QuotaPart(NamedTuple):
    """One part of whom a quota is for: a type (user, client-id, ip) and a name; no name means everybody who has no quota."""

    type: str
    name: str | None


class QuotaEntity(tuple[QuotaPart, ...]):
    """Whom a quota is for; the parts stand in the order of their types."""

    __slots__ = ()

    @classmethod
    def of(cls, names: Mapping[str, str | None]) -> QuotaEntity:
        return cls(QuotaPart(kind, names[kind]) for kind in sorted(names))

    def names(self) -> dict[str, str | None]:
        return {part.type: part.name for part in self}

    def __str__(self) -> str:
        return ", ".join(f"{kind} {'(default)' if name is None else repr(name)}" for kind, name in self)


@dataclass(frozen=True, slots=True)
class ClusterImage:
    """Everything that the metadata log says, up to and including `offset`."""

    offset: int = NO_OFFSET
    epoch: int = 0
    topics: Mapping[str, TopicImage] = field(default_factory=_nothing)
    topic_names: Mapping[bytes, str] = field(default_factory=_nothing)
    configs: Mapping[ConfigResource, Mapping[str, str]] = field(default_factory=_nothing)
    brokers: Mapping[int, BrokerImage] = field(default_factory=_nothing)
    features: Mapping[str, int] = field(default_factory=_nothing)
    scram_credentials: Mapping[ScramKey, ScramCredential] = field(default_factory=_nothing)
    client_quotas: Mapping[QuotaEntity, Mapping[str, float]] = field(default_factory=_nothing)
    next_producer_id: int = 0

    def topic_by_id(self, topic_id: bytes) -> TopicImage | None:
        name = self.topic_names.get(topic_id)
        return None if name is None else self.topics[name]

    def config(self, resource_type: int, name: str) -> Mapping[str, str]:
        """The configurations that somebody set for a resource."""
        return self.configs.get(ConfigResource(resource_type, name), _NO_CONFIG)


_NO_CONFIG: Final[Mapping[str, str]] = MappingProxyType({})
EMPTY: Final = ClusterImage()
