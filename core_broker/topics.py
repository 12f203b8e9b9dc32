"""The topics that the metadata names, with their partitions, which are opened when somebody first needs them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from core_broker.log.checkpoints import TopicPartition
from core_broker.metadata.image import ClusterImage, ConfigResource, ResourceType, TopicImage
from core_broker.partition import Partition
from core_broker.topic_settings import TopicSettings
from core_broker.traffic import Traffic


class Topic:
    __slots__ = ("configs", "id", "name", "partitions", "settings", "traffic")

    def __init__(self, image: TopicImage, configs: tuple[object, ...], settings: TopicSettings) -> None:
        self.name = image.name
        self.id = image.topic_id
        self.configs = configs
        self.settings = settings
        self.partitions: list[Partition | None] = [None] * len(image.partitions)
        self.traffic = Traffic()


OpenPartition = Callable[[Topic, int], Partition]


class Topics:
    """Follows the image. A partition costs nothing until it is used: a thousand new ones are a thousand entries here."""

    def __init__(
        self, node_id: int, open_partition: OpenPartition, settings_of: Callable[[ClusterImage, str], TopicSettings]
    ) -> None:
        self._node_name = str(node_id)
        self._open_partition = open_partition
        self._settings_of = settings_of
        self._topics: dict[str, Topic] = {}
        self._names: dict[bytes, str] = {}

    def name(self, topic_id: bytes) -> str | None:
        return self._names.get(topic_id)

    def partition(self, topic: str, index: int) -> Partition | None:
        """A partition, opened if need be; None if there is no such partition."""
        found = self._topics.get(topic)
        if found is None or not 0 <= index < len(found.partitions):
            return None
        return found.partitions[index] or self._open(found, index)

    def find(self, name: str) -> Topic | None:
        return self._topics.get(name)

    def all(self) -> list[Topic]:
        return list(self._topics.values())

    def opened(self) -> Iterator[Partition]:
        """Every partition that is open. Safe while others are opened or deleted."""
        for topic in list(self._topics.values()):
            for partition in list(topic.partitions):
                if partition is not None:
                    yield partition

    def every(self) -> Iterator[TopicPartition]:
        for topic in self._topics.values():
            for index in range(len(topic.partitions)):
                yield TopicPartition(topic.name, index)

    def compacted(self) -> Iterator[TopicPartition]:
        """Those whose cleanup.policy includes `compact`."""
        for topic in self._topics.values():
            if topic.settings.log.compacts:
                for index in range(len(topic.partitions)):
                    yield TopicPartition(topic.name, index)

    def follow(self, image: ClusterImage) -> list[Topic]:
        """Takes over a new image; returns the topics that it no longer has, for the caller to remove."""
        gone: list[Topic] = []
        for topic in list(self._topics.values()):
            now = image.topics.get(topic.name)
            if now is None or now.topic_id != topic.id:
                gone.append(topic)
                del self._topics[topic.name]
                del self._names[topic.id]
        shared = tuple(image.configs.get(ConfigResource(ResourceType.BROKER, name)) for name in ("", self._node_name))
        for name, wanted in image.topics.items():
            known = self._topics.get(name)
            # An image shares what did not change with the one before it, so that identity tells.
            configs = (image.configs.get(ConfigResource(ResourceType.TOPIC, name)), *shared)
            if known is None:
                self._topics[name] = Topic(wanted, configs, self._settings_of(image, name))
                self._names[wanted.topic_id] = name
                continue
            known.partitions.extend([None] * (len(wanted.partitions) - len(known.partitions)))
            if any(now is not before for now, before in zip(configs, known.configs, strict=True)):
                known.configs = configs
                self._reconfigure(known, self._settings_of(image, name))
        return gone

    def _reconfigure(self, topic: Topic, settings: TopicSettings) -> None:
        topic.settings = settings
        for partition in topic.partitions:
            if partition is not None:
                partition.configure(settings)

    def _open(self, topic: Topic, index: int) -> Partition:
        partition = topic.partitions[index] = self._open_partition(topic, index)
        return partition
