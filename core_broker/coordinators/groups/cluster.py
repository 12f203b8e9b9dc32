"""What consumer groups need of the broker around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

from core_broker.context import RequestContext
from core_broker.coordinators.groups.consumer_settings import ConsumerSettings
from core_broker.metadata.image import ClusterImage

Result = TypeVar("Result")


class Cluster(Protocol):
    @property
    def image(self) -> ClusterImage: ...

    @property
    def new_topics_version(self) -> int:
        """The offset of the last metadata change that brought topics; patterns that were resolved before it are out of date."""

    def settings_of(self, group_id: str) -> ConsumerSettings: ...

    def may_describe(self, context: RequestContext, topic: str) -> bool: ...

    def in_background(self, work: Callable[[], Result], done: Callable[[Result | Exception], None]) -> None:
        """Works on another thread and calls back on the event loop."""
