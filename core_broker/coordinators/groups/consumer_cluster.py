"""The broker as consumer groups see it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from barnabas.wire.errors import ErrorCode, KafkaError
from core_broker.context import RequestContext
from core_broker.coordinators.groups.consumer_settings import ConsumerSettings
from core_broker.metadata.config_view import broker_config
from core_broker.metadata.image import ClusterImage, ResourceType
from core_broker.metadata.store import GROUP_VERSION
from core_broker.security.authorizer import Operation
from core_broker.security.authorizer import ResourceType as ProtectedType

if TYPE_CHECKING:
    from core_broker.broker import Broker

Result = TypeVar("Result")


class ConsumerCluster:
    def __init__(self, broker: Broker) -> None:
        self._broker = broker
        self._configs: object = None
        self._settings = ConsumerSettings.of(broker.settings)
        # What came while this broker was not running nobody has matched yet.
        self.new_topics_version = broker.metadata.image.offset

    @property
    def image(self) -> ClusterImage:
        return self._broker.metadata.image

    def settings_of(self, group_id: str) -> ConsumerSettings:
        image = self.image
        if image.configs is not self._configs:
            # Something was set since, for a group or for the broker.
            self._configs = image.configs
            effective = broker_config(self._broker.settings, image, self._broker.node_id).effective()
            self._settings = ConsumerSettings.of(effective)
        return self._settings.for_group(image.config(ResourceType.GROUP, group_id))

    def check_enabled(self) -> None:
        """KafkaError unless operators let the consumer protocol be used."""
        protocols = self._broker.settings.items_of("group.coordinator.rebalance.protocols")
        if "consumer" not in protocols or self.image.features.get(GROUP_VERSION, 0) < 1:
            raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)

    def may_describe(self, context: RequestContext, topic: str) -> bool:
        return self._broker.authorizer.allows(context, Operation.DESCRIBE, ProtectedType.TOPIC, topic)

    def in_background(self, work: Callable[[], Result], done: Callable[[Result | Exception], None]) -> None:
        self._broker.in_background(work, done)

    def changed_topics(self, before: ClusterImage) -> frozenset[str]:
        """Which topics were created, grown, deleted or made anew."""
        old, new = before.topics, self.image.topics
        if old.keys() != new.keys() and not new.keys() <= old.keys():
            self.new_topics_version = self.image.offset
        return frozenset(name for name in old.keys() | new.keys() if old.get(name) is not new.get(name))
