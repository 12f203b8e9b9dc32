"""Topics that tasks create: those of sources by the groups of `topic.creation.*`, and dead-letter queues."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from connect.api.pattern import InvalidPattern, compiled
from connect.errors import ConnectError, Retry
from connect.tasks.clients import given_settings

logger = logging.getLogger(__name__)

ADMIN_TIMEOUT_S: Final = 30.0
DEFAULT_GROUP: Final = "default"
BROKERS_DEFAULT: Final = -1
PREFIX: Final = "topic.creation."

_OWN: Final = frozenset({"include", "exclude", "partitions", "replication.factor"})


@dataclass(frozen=True, slots=True)
class TopicGroup:
    """Topics that are created alike. The rest of the group's settings are configurations of the topics."""

    name: str
    include: tuple[Any, ...]
    exclude: tuple[Any, ...]
    partitions: int
    replication_factor: int
    config: Mapping[str, str]

    def covers(self, topic: str) -> bool:
        return _matches(self.include, topic) and not _matches(self.exclude, topic)


def topic_groups(config: Mapping[str, str], names: Iterable[str]) -> tuple[TopicGroup, ...]:
    """The groups in the order in which they are asked; none if the configuration leaves topics to the brokers."""
    if f"{PREFIX}{DEFAULT_GROUP}.replication.factor" not in config:
        return ()
    default = _group(DEFAULT_GROUP, config, BROKERS_DEFAULT, BROKERS_DEFAULT)
    named = (
        _group(name, config, default.partitions, default.replication_factor) for name in names if name != default.name
    )
    return (*named, default)


class Topics:
    """Looks whether topics exist, and creates them. Each call has a client of its own, since it happens once for a topic."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = dict(settings)

    def ensure(self, new: NewTopic) -> None:
        """Create the topic if it is missing. Retry while Kafka is away; ConnectError when it cannot be created."""
        admin = AdminClient(self._settings)
        if self._exists(admin, new.topic):
            return
        try:
            admin.create_topics([new], request_timeout=ADMIN_TIMEOUT_S)[new.topic].result(ADMIN_TIMEOUT_S)
            logger.info("created the topic %s", new.topic)
        except (KafkaException, TimeoutError) as problem:
            _raise_unless(problem, KafkaError.TOPIC_ALREADY_EXISTS, f"the topic {new.topic} cannot be created")

    def broker_count(self) -> int:
        # A client that nobody holds is gone before its answer.
        admin = AdminClient(self._settings)
        try:
            cluster = admin.describe_cluster(request_timeout=ADMIN_TIMEOUT_S).result(ADMIN_TIMEOUT_S)
        except (KafkaException, TimeoutError) as problem:
            raise Retry(f"Kafka does not answer: {_text(problem)}") from problem
        return len(cluster.nodes)

    @staticmethod
    def _exists(admin: AdminClient, topic: str) -> bool:
        described = admin.describe_topics(TopicCollection([topic]), request_timeout=ADMIN_TIMEOUT_S)[topic]
        try:
            described.result(ADMIN_TIMEOUT_S)
        except (KafkaException, TimeoutError) as problem:
            _raise_unless(problem, KafkaError.UNKNOWN_TOPIC_OR_PART, f"the topic {topic} cannot be looked up")
            return False
        return True


class TopicCreation:
    """Creates the topics of a source when it first writes to them."""

    def __init__(self, groups: tuple[TopicGroup, ...], topics: Topics) -> None:
        self._groups = groups
        self._topics = topics

    def ensure(self, topic: str) -> None:
        group = next((each for each in self._groups if each.covers(topic)), None)
        if group is not None:
            self._topics.ensure(
                NewTopic(
                    topic,
                    num_partitions=group.partitions,
                    replication_factor=group.replication_factor,
                    config=dict(group.config),
                )
            )


def _group(name: str, config: Mapping[str, str], partitions: int, replication_factor: int) -> TopicGroup:
    own = given_settings(config, f"{PREFIX}{name}.")
    return TopicGroup(
        name,
        _patterns(own.get("include", ".*")),
        _patterns(own.get("exclude", "")),
        int(own.get("partitions", partitions)),
        int(own.get("replication.factor", replication_factor)),
        {key: value for key, value in own.items() if key not in _OWN},
    )


def _patterns(text: str) -> tuple[Any, ...]:
    try:
        return tuple(compiled(part.strip()) for part in text.split(",") if part.strip())
    except InvalidPattern as problem:
        raise ConnectError(f"{PREFIX}…: {text} is no regular expression: {problem}") from problem


def _matches(patterns: tuple[Any, ...], topic: str) -> bool:
    return any(pattern.fullmatch(topic) for pattern in patterns)


def _raise_unless(problem: KafkaException | TimeoutError, expected: int, what: str) -> None:
    error = problem.args[0] if isinstance(problem, KafkaException) else None
    if error is not None and error.code() == expected:
        return
    if error is None or error.retriable() or error.code() in (KafkaError._TIMED_OUT, KafkaError._TRANSPORT):
        raise Retry(f"{what}: {_text(problem)}") from problem
    raise ConnectError(f"{what}: {_text(problem)}") from problem


def _text(problem: KafkaException | TimeoutError) -> str:
    return str(problem.args[0].str()) if isinstance(problem, KafkaException) else "no answer in time"
