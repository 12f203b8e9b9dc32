"""Which group a topic is created by."""

from __future__ import annotations

import pytest

from connect.errors import ConnectError
from connect.tasks.topic_creation import topic_groups

CONFIG = {
    "topic.creation.default.replication.factor": "3",
    "topic.creation.default.partitions": "5",
    "topic.creation.default.cleanup.policy": "delete",
    "topic.creation.orders.include": r"orders\..*, bookings",
    "topic.creation.orders.exclude": r".*\.dead",
    "topic.creation.orders.partitions": "9",
    "topic.creation.orders.retention.ms": "1000",
}


@pytest.mark.parametrize(
    ("topic", "group", "partitions", "config"),
    [
        ("orders.new", "orders", 9, {"retention.ms": "1000"}),
        ("bookings", "orders", 9, {"retention.ms": "1000"}),
        ("bookings.more", "default", 5, {"cleanup.policy": "delete"}),
        ("orders.dead", "default", 5, {"cleanup.policy": "delete"}),
    ],
)
def test_the_first_group_that_covers_a_topic_creates_it(
    topic: str, group: str, partitions: int, config: dict[str, str]
) -> None:
    found = next(each for each in topic_groups(CONFIG, ("orders",)) if each.covers(topic))
    assert (found.name, found.partitions, found.replication_factor, found.config) == (group, partitions, 3, config)


def test_without_a_default_the_brokers_create_topics() -> None:
    assert topic_groups({"topic.creation.orders.include": ".*"}, ("orders",)) == ()


def test_a_pattern_that_is_none_is_refused() -> None:
    with pytest.raises(ConnectError, match=r"\( is no regular expression: missing \)"):
        topic_groups({**CONFIG, "topic.creation.orders.include": "("}, ("orders",))
