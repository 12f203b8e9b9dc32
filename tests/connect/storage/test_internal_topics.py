"""The topics that workers make for themselves."""

from __future__ import annotations

import asyncio
import logging

import pytest

from barnabas.kernel.kafka_clients.admin import Admin
from barnabas.kernel.kafka_clients.topic_shape import TopicShape
from connect.storage.internal_topics import COMPACT, POLICY, provide_topic
from tests.broker import BarnabasBroker


def test_fewer_copies_on_a_lone_broker_are_no_warning(
    barnabas: BarnabasBroker, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    admin = Admin({"bootstrap.servers": barnabas.address})

    async def made() -> str | None:
        await provide_topic(admin, TopicShape(topic, 2, 3), brokers=1)
        return await admin.topic_setting(topic, POLICY)

    with caplog.at_level(logging.INFO, "connect.storage.internal_topics"):
        assert asyncio.run(made()) == COMPACT
    (told,) = [record for record in caplog.records if "replicas and not 3" in record.getMessage()]
    assert told.levelno == logging.INFO
