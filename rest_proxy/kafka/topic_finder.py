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
"""A cluster may say that a topic is unknown while it makes it, and one of its brokers for a moment longer than another."""

CREATES: Final = "allow.auto.create.topics"

_NOT_YET: Final = frozenset({KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.LEADER_NOT_AVAILABLE})

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

    def find(self, topic: str) -> KafkaError | None:
        """Look for a topic, which may be made by that. If it is there, the producer knows all its partitions; else the result says why not."""
        problem = _problem(self._producer, topic)
        if is_unknown(problem):
            problem = _awaited(Producer(self._settings, logger=logger), topic) or _awaited(self._producer, topic)
        return problem


def is_unknown(problem: KafkaError | None) -> bool:
    """Whether a topic is not there, and will not be made either."""
    return problem is not None and problem.code() == KafkaError.UNKNOWN_TOPIC_OR_PART


def _awaited(client: Producer, topic: str) -> KafkaError | None:
    problem = _problem(client, topic)
    for _ in range(MAKING_TRIES - 1):
        if problem is None or problem.code() not in _NOT_YET:
            break
        time.sleep(MAKING_PAUSE_S)
        problem = _problem(client, topic)
    return problem


def _problem(client: Producer, topic: str) -> KafkaError | None:
    error: KafkaError | None = client.list_topics(topic, METADATA_TIMEOUT_S).topics[topic].error
    return error
