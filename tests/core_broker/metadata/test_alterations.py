"""Changing configurations, without a disk."""

from __future__ import annotations

import pytest

from barnabas.kernel.settings import resolve
from barnabas.wire.errors import ErrorCode, KafkaError
from barnabas.wire.records.cluster_metadata import TopicRecord
from core_broker.configs.broker import BROKER_CATALOGUE
from core_broker.configs.broker_config import BrokerConfig
from core_broker.metadata.alterations import Alteration, AlterationContext, Operation, alter, replace
from core_broker.metadata.image import EMPTY, ClusterImage, ConfigResource, ResourceType
from core_broker.metadata.replay import replay

TOPIC = ConfigResource(ResourceType.TOPIC, "t")
BROKER = ConfigResource(ResourceType.BROKER, "1")
ALL_BROKERS = ConfigResource(ResourceType.BROKER, "")
GROUP = ConfigResource(ResourceType.GROUP, "g")
SUBSCRIPTION = ConfigResource(ResourceType.CLIENT_METRICS, "s")

SET, DELETE, APPEND, SUBTRACT = Operation


class Configs:
    """The configurations of one cluster, changed as the broker changes them."""

    def __init__(self) -> None:
        self.image: ClusterImage = replay(EMPTY, [TopicRecord(name="t", topic_id=b"i" * 16)], offset=0, epoch=1)
        self._context = AlterationContext(1, BrokerConfig(resolve(BROKER_CATALOGUE, {}, {}, None), {}, {}))

    def alter(self, resource: ConfigResource, *alterations: tuple[str, int, str | None]) -> dict[str, str]:
        records = alter(self.image, self._context, resource, [Alteration(*each) for each in alterations])
        self.image = replay(self.image, records, offset=0, epoch=1)
        return dict(self.image.config(*resource))

    def replace(self, resource: ConfigResource, **values: str) -> dict[str, str]:
        pairs = [(name.replace("_", "."), value) for name, value in values.items()]
        records = replace(self.image, self._context, resource, pairs)
        self.image = replay(self.image, records, offset=0, epoch=1)
        return dict(self.image.config(*resource))


@pytest.fixture
def configs() -> Configs:
    return Configs()


def test_single_configurations_change_and_others_stay(configs: Configs) -> None:
    configs.alter(TOPIC, ("retention.ms", SET, "5"), ("segment.ms", SET, "6"))
    assert configs.alter(TOPIC, ("retention.ms", SET, "7")) == {"retention.ms": "7", "segment.ms": "6"}
    assert configs.alter(TOPIC, ("retention.ms", DELETE, None), ("nope", DELETE, None)) == {"segment.ms": "6"}


def test_lists_grow_and_shrink(configs: Configs) -> None:
    assert configs.alter(TOPIC, ("cleanup.policy", APPEND, "compact")) == {"cleanup.policy": "delete,compact"}
    assert configs.alter(TOPIC, ("cleanup.policy", APPEND, "compact")) == {"cleanup.policy": "delete,compact"}
    assert configs.alter(TOPIC, ("cleanup.policy", SUBTRACT, "delete,nope")) == {"cleanup.policy": "compact"}
    assert configs.alter(TOPIC, ("cleanup.policy", SUBTRACT, "compact")) == {"cleanup.policy": ""}


def test_an_unchanged_value_makes_no_record(configs: Configs) -> None:
    configs.alter(TOPIC, ("retention.ms", SET, "5"))
    assert alter(configs.image, configs._context, TOPIC, [Alteration("retention.ms", SET, "5")]) == []


def test_the_older_request_replaces_everything(configs: Configs) -> None:
    configs.replace(TOPIC, retention_ms="5", cleanup_policy="compact")
    assert configs.replace(TOPIC, segment_ms="6") == {"segment.ms": "6"}
    assert configs.replace(TOPIC) == {}


def test_what_can_change_on_brokers_groups_and_subscriptions(configs: Configs) -> None:
    assert configs.alter(BROKER, ("log.retention.ms", SET, "5")) == {"log.retention.ms": "5"}
    assert configs.alter(ALL_BROKERS, ("log.cleanup.policy", APPEND, "compact")) == {
        "log.cleanup.policy": "delete,compact"
    }
    name = "listener.name.internal.ssl.keystore.location"
    assert configs.alter(BROKER, (name, SET, "/keys")) == {"log.retention.ms": "5", name: "/keys"}
    assert configs.alter(GROUP, ("consumer.session.timeout.ms", SET, "50000"))
    assert configs.alter(
        SUBSCRIPTION, ("interval.ms", SET, "1000"), ("match", SET, "client_id=a.*,client_source_port=1")
    )


@pytest.mark.parametrize(
    ("resource", "alteration", "code", "part"),
    [
        (TOPIC, ("retention.ms", SET, None), ErrorCode.INVALID_REQUEST, "there is no value"),
        (TOPIC, ("retention.ms", 9, "1"), ErrorCode.INVALID_REQUEST, "operation 9"),
        (TOPIC, ("retention.ms", SET, "x"), ErrorCode.INVALID_CONFIG, "expected a whole number"),
        (TOPIC, ("nope", SET, "x"), ErrorCode.INVALID_CONFIG, "no such setting"),
        (TOPIC, ("retention.ms", APPEND, "1"), ErrorCode.INVALID_CONFIG, "not a list"),
        (TOPIC, ("cleanup.policy", APPEND, "foo"), ErrorCode.INVALID_CONFIG, "expected one of"),
        (TOPIC, ("min.insync.replicas", SET, "2"), ErrorCode.INVALID_CONFIG, "one replica"),
        (TOPIC._replace(name=""), ("retention.ms", SET, "1"), ErrorCode.INVALID_REQUEST, "name one topic"),
        (TOPIC._replace(name="a b"), ("retention.ms", SET, "1"), ErrorCode.INVALID_TOPIC_EXCEPTION, "'a b'"),
        (TOPIC._replace(name="u"), ("retention.ms", SET, "1"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "no topic u"),
        (BROKER, ("node.id", SET, "3"), ErrorCode.INVALID_REQUEST, "cannot change while the broker runs"),
        (BROKER, ("listeners", SET, "A://b:1"), ErrorCode.INVALID_REQUEST, "cannot change while the broker runs"),
        (BROKER, ("log.segment.bytes", SET, "3"), ErrorCode.INVALID_REQUEST, "at least 1048576"),
        (BROKER, ("nope.x", SET, "3"), ErrorCode.INVALID_REQUEST, "no such setting"),
        (BROKER, ("log.retention.ms", APPEND, "3"), ErrorCode.INVALID_CONFIG, "not a list"),
        (BROKER, ("ssl.keystore.password", SET, "s"), ErrorCode.INVALID_REQUEST, "listener.name.NAME"),
        (BROKER, ("min.insync.replicas", SET, "2"), ErrorCode.INVALID_REQUEST, "one replica"),
        (BROKER._replace(name="2"), ("log.retention.ms", SET, "3"), ErrorCode.INVALID_REQUEST, "no broker '2'"),
        (BROKER._replace(name="x"), ("log.retention.ms", SET, "3"), ErrorCode.INVALID_REQUEST, "no broker 'x'"),
        (ALL_BROKERS, ("sasl.jaas.config", SET, "x"), ErrorCode.INVALID_REQUEST, "a single broker"),
        (GROUP, ("nope", SET, "5"), ErrorCode.INVALID_CONFIG, "no such setting"),
        (GROUP, ("consumer.session.timeout.ms", SET, "5"), ErrorCode.INVALID_CONFIG, "group.consumer.min.session"),
        (GROUP, ("consumer.heartbeat.interval.ms", SET, "99999"), ErrorCode.INVALID_CONFIG, "max.heartbeat"),
        (GROUP, ("streams.num.standby.replicas", SET, "9"), ErrorCode.INVALID_CONFIG, "max.standby.replicas=2"),
        (GROUP._replace(name=""), ("consumer.session.timeout.ms", SET, "50000"), ErrorCode.INVALID_REQUEST, "group"),
        (SUBSCRIPTION, ("interval.ms", SET, "10"), ErrorCode.INVALID_REQUEST, "at least 100"),
        (SUBSCRIPTION, ("nope", SET, "10"), ErrorCode.INVALID_REQUEST, "no such setting"),
        (SUBSCRIPTION, ("match", SET, "foo"), ErrorCode.INVALID_CONFIG, "FIELD=PATTERN"),
        (SUBSCRIPTION, ("match", SET, "client_id=["), ErrorCode.INVALID_CONFIG, "FIELD=PATTERN"),
        (SUBSCRIPTION, ("metrics", APPEND, "c."), ErrorCode.INVALID_CONFIG, "not a list"),
        (SUBSCRIPTION._replace(name=""), ("interval.ms", SET, "1000"), ErrorCode.INVALID_REQUEST, "needs a name"),
        (ConfigResource(7, "x"), ("a", SET, "1"), ErrorCode.INVALID_REQUEST, "resource type 7"),
    ],
)
def test_changes_that_are_refused(
    configs: Configs, resource: ConfigResource, alteration: tuple[str, int, str | None], code: ErrorCode, part: str
) -> None:
    before = configs.image
    with pytest.raises(KafkaError) as caught:
        configs.alter(resource, alteration)
    assert caught.value.code is code
    assert part in caught.value.message
    assert configs.image is before


def test_a_name_cannot_come_twice(configs: Configs) -> None:
    with pytest.raises(KafkaError, match=r"more than once: retention\.ms"):
        configs.alter(TOPIC, ("retention.ms", SET, "1"), ("retention.ms", SET, "2"))


def test_what_was_set_before_counts_when_values_must_agree(configs: Configs) -> None:
    configs.alter(TOPIC, ("max.compaction.lag.ms", SET, "5"))
    with pytest.raises(KafkaError, match=r"is above max\.compaction\.lag\.ms=5"):
        configs.alter(TOPIC, ("min.compaction.lag.ms", SET, "10"))
