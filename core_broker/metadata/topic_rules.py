"""What the broker fills in when a topic is created."""

from __future__ import annotations

from typing import TYPE_CHECKING

from core_broker.metadata.config_view import broker_config
from core_broker.metadata.topics import TopicRules

if TYPE_CHECKING:
    from core_broker.broker import Broker


def topic_rules(broker: Broker) -> TopicRules:
    store = broker.metadata
    return TopicRules(
        node=store.node,
        broker_config=broker_config(broker.settings, store.image, broker.node_id),
        partitions=broker.settings.integer("num.partitions"),
        new_id=store.new_uuid,
    )
