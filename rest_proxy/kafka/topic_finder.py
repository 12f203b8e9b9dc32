"""Whether topics are there, for a producer that must not make them by chance."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any, Final

from confluent_kafka import KafkaError, Producer

from rest_proxy.kafka.repeated_lines import RepeatedLines

METADATA_TIMEOUT_S: Final = 5.0
MAKING_TRIES: Final = 5
MAKING_PAUSE_S: Final = 0.1
"""A cluster may say that a topic is unknown while it makes it."""

CREATES: Final = "allow.auto.create.topics"

logger = logging.getLogger(__name__)
logger.addFilter(RepeatedLines())


class TopicFinder:
    """Asks for topics by name. Its calls block.

    librdkafka asks every few minutes for all topics that it ever wrote to, and a broker that makes topics for those who ask would make
    one again that was deleted meanwhile. So the producer always asks without that wish, and a client that lives for this one question
    asks with it when there is a record to be written.
    """

    def __init__(self, producer: Producer, settings: Mapping[str, Any]) -> None:
        self._producer = producer
        self._settings = {CREATES: True, **settings}

    def find(self, topic: str) -> bool:
        """Whether there is such a topic, perhaps only since now; the producer then knows all its partitions."""
        problem = _problem(self._producer, topic)
        if problem is not None and problem.code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
            self._make(topic)
            problem = _problem(self._producer, topic)
        return problem is None

    def _make(self, topic: str) -> None:
        maker = Producer(self._settings, logger=logger)
        for _ in range(MAKING_TRIES):
            problem = _problem(maker, topic)
            if problem is None or not problem.retriable():
                break
            time.sleep(MAKING_PAUSE_S)


def _problem(client: Producer, topic: str) -> KafkaError | None:
    error: KafkaError | None = client.list_topics(topic, METADATA_TIMEOUT_S).topics[topic].error
    return error
