"""Keeps an eye on topics: whether they are there, which ones they are, and how many partitions they have."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient

from barnabas.kernel.kafka_clients.cluster_news import CLUSTER_NEWS

INTERVAL_S: Final = 10.0
MISSING_INTERVAL_S: Final = 0.5
"""While one of the topics is not there."""
ANSWER_S: Final = 10.0

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TopicState:
    """A topic that is deleted and made anew has another id."""

    id: str
    partitions: int


class TopicWatch:
    """One thread asks for all topics. What is not known yet, and what is not there, is None."""

    def __init__(self, settings: Mapping[str, Any], interval_s: float = INTERVAL_S) -> None:
        self._settings = dict(settings)
        self._interval_s = interval_s
        self._topics: dict[str, int] = {}
        self._states: dict[str, TopicState] = {}
        self._problem: str | None = None
        self.answered_s = 0.0
        """When Kafka has answered last, by the monotonic clock."""
        self._changed = threading.Condition()
        self._wake = threading.Event()
        self._is_stopped = False
        self._thread = threading.Thread(target=self._run, name="watch topics", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._is_stopped = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()

    def add(self, topic: str) -> None:
        with self._changed:
            self._topics[topic] = self._topics.get(topic, 0) + 1
        self._wake.set()

    def remove(self, topic: str) -> None:
        with self._changed:
            self._topics[topic] -= 1
            if not self._topics[topic]:
                del self._topics[topic]
                self._states.pop(topic, None)

    def state(self, topic: str) -> TopicState | None:
        return self._states.get(topic)

    def wait(self, topic: str, timeout_s: float) -> TopicState | None:
        """The topic when it is there, after so many seconds at most."""
        with self._changed:
            self._changed.wait_for(lambda: topic in self._states, timeout_s)
            return self._states.get(topic)

    def problem(self, topic: str) -> str:
        """Why there is no state."""
        return self._problem or f"There is no topic {topic}."

    # --- on the thread ---

    def _run(self) -> None:
        admin = AdminClient({**CLUSTER_NEWS, **self._settings})
        while not self._is_stopped:
            self._wake.clear()
            topics = list(self._topics)
            self._look(admin, topics)
            is_missing = any(topic not in self._states for topic in topics)
            self._wake.wait(MISSING_INTERVAL_S if is_missing else self._interval_s)

    def _look(self, admin: AdminClient, topics: list[str]) -> None:
        if not topics:
            return
        asked_s = time.monotonic()
        try:
            states = _described(admin, topics)
        except KafkaException as error:
            # Whatever they are, they stay as they were known: brokers that are away do not change topics.
            self._problem = f"Kafka does not answer: {error.args[0].str()}"
            _logger.debug("topics could not be looked at: %s", error)
            return
        with self._changed:
            self._problem = None
            self.answered_s = asked_s
            for topic in topics:
                self._note(topic, states.get(topic))
            self._changed.notify_all()

    def _note(self, topic: str, state: TopicState | None) -> None:
        if topic in self._topics and state is not None:
            self._states[topic] = state
        else:
            self._states.pop(topic, None)


def described(settings: Mapping[str, Any], topic: str) -> TopicState | None:
    """A topic as it is now; None: there is none. KafkaException."""
    return _described(AdminClient(dict(settings)), [topic]).get(topic)


def _described(admin: AdminClient, topics: Iterable[str]) -> Mapping[str, TopicState]:
    """Those that there are. KafkaException."""
    found = {}
    asked = admin.describe_topics(TopicCollection(list(topics)), request_timeout=ANSWER_S)
    for topic, answer in asked.items():
        try:
            description = answer.result()
        except KafkaException as error:
            if error.args[0].code() != KafkaError.UNKNOWN_TOPIC_OR_PART:
                raise
        else:
            found[topic] = TopicState(str(description.topic_id), len(description.partitions))
    return found
