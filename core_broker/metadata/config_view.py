"""The configurations that are in force by an image, above what the broker was started with."""

from __future__ import annotations

from barnabas.kernel.settings import Settings
from core_broker.configs.broker_config import BrokerConfig
from core_broker.configs.topic_config import TopicConfig
from core_broker.metadata.image import ClusterImage, ResourceType

ALL_BROKERS = ""


def broker_config(settings: Settings, image: ClusterImage, node_id: int) -> BrokerConfig:
    return BrokerConfig(
        settings,
        cluster=image.config(ResourceType.BROKER, ALL_BROKERS),
        node=image.config(ResourceType.BROKER, str(node_id)),
    )


def topic_config(settings: Settings, image: ClusterImage, node_id: int, topic: str) -> TopicConfig:
    return TopicConfig(broker_config(settings, image, node_id), image.config(ResourceType.TOPIC, topic))
