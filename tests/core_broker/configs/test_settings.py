"""Every setting of the broker, and what it does here."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Settings, resolve
from core_broker.configs.broker import BROKER_CATALOGUE, DYNAMIC_CATALOGUE
from core_broker.configs.group_overrides import GROUP_CATALOGUE
from core_broker.configs.log import log_directory
from core_broker.configs.relations import completed
from core_broker.configs.setting import Effect, KafkaSetting, UpdateMode
from core_broker.configs.topics import TOPIC_CATALOGUE

# Apache Kafka 4.3.0 lists 340 broker configurations, knows 20 more that it does not list, and 34 topic configurations.
KAFKA_LISTED, KAFKA_INTERNAL, KAFKA_TOPIC, KAFKA_GROUP = 340, 20, 34, 17
OWN_LISTED = {
    "connection.max.group.members",
    "durability",
    "group.max.members.and.pending",
    "group.max.metadata.bytes",
    "metrics.listener",
    "metrics.per.partition",
    "request.log",
    "request.log.slow.ms",
    "validation",
}
OWN_INTERNAL = {"super.users", "allow.everyone.if.no.acl.found"}

STOCK_PROPERTIES = """
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs=/tmp/kraft-combined-logs
num.partitions=1
num.recovery.threads.per.data.dir=1
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.segment.bytes=1073741824
log.retention.check.interval.ms=300000
"""


def settings_of(**flags: str) -> Settings:
    return resolve(BROKER_CATALOGUE, {name.replace("_", "."): text for name, text in flags.items()}, {}, None)


def test_all_of_kafkas_configurations_are_declared() -> None:
    listed = {name for name, setting in BROKER_CATALOGUE.items() if not setting.internal and not setting.many}
    internal = {name for name, setting in BROKER_CATALOGUE.items() if setting.internal}
    assert len(listed - OWN_LISTED) == KAFKA_LISTED
    assert len(internal - OWN_INTERNAL) == KAFKA_INTERNAL
    assert len(set(TOPIC_CATALOGUE) - OWN_LISTED) == KAFKA_TOPIC
    assert len(GROUP_CATALOGUE) == KAFKA_GROUP


@pytest.mark.parametrize("setting", [*DYNAMIC_CATALOGUE.values(), *TOPIC_CATALOGUE.values()], ids=lambda s: s.name)
def test_each_default_is_valid_and_each_limit_has_its_reason(setting: KafkaSetting) -> None:
    default = setting.format(setting.default_value())
    if default is not None:
        assert setting.parse(default) == setting.default_value()
    assert (setting.why != "") == (setting.effect is not Effect.ACTS)
    assert setting.doc.endswith(".")


def test_the_settings_that_are_refused() -> None:
    refused = {name for name, setting in BROKER_CATALOGUE.items() if setting.effect is Effect.REFUSED}
    assert refused == {
        "alter.config.policy.class.name",
        "authorizer.class.name",
        "client.quota.callback.class",
        "config.providers",
        "cordoned.log.dirs",
        "create.topic.policy.class.name",
        "default.replication.factor",
        "delegation.token.secret.key",
        "metadata.log.dir",
        "min.insync.replicas",
        "principal.builder.class",
        "remote.log.storage.system.enable",
        "security.providers",
        "transaction.two.phase.commit.enable",
        "unstable.api.versions.enable",
        "unstable.feature.versions.enable",
    }
    topic = {name for name, setting in TOPIC_CATALOGUE.items() if setting.effect is Effect.REFUSED}
    assert topic == {
        "min.insync.replicas",
        "remote.log.copy.disable",
        "remote.log.delete.on.disable",
        "remote.storage.enable",
    }


def test_a_refused_value_says_why() -> None:
    with pytest.raises(SettingError, match=r"min\.insync\.replicas='2': refused: this broker keeps one replica"):
        settings_of(min_insync_replicas="2")
    assert settings_of(min_insync_replicas="1")["min.insync.replicas"] == 1


def test_one_log_directory_is_taken_and_several_are_refused() -> None:
    assert log_directory(settings_of(log_dirs="/data/kafka")) == Path("/data/kafka")
    assert log_directory(settings_of(log_dir="/data/other")) == Path("/data/other")
    with pytest.raises(SettingError, match="several log directories are not supported"):
        settings_of(log_dirs="/one,/two")
    with pytest.raises(SettingError, match="there is no log directory"):
        log_directory(settings_of())


def test_an_unknown_name_gets_the_nearest_valid_one() -> None:
    with pytest.raises(
        SettingError,
        match=r"log\.retention\.minuts='5': there is no such setting; did you mean log\.retention\.minutes\?",
    ):
        settings_of(log_retention_minuts="5")


def test_the_properties_file_that_kafka_ships_is_taken_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text(STOCK_PROPERTIES)
    settings = completed(resolve(BROKER_CATALOGUE, {}, {}, file))
    assert settings.items_of("process.roles") == ("broker", "controller")
    assert settings.items_of("controller.listener.names") == ("CONTROLLER",)
    assert settings["broker.id"] == 1


def test_the_variables_of_kafkas_container_image_are_taken() -> None:
    environ = {
        "KAFKA_NODE_ID": "5",
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
        "KAFKA_CONTROLLER_QUORUM_VOTERS": "5@localhost:9093",
        "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
    }
    settings = completed(resolve(BROKER_CATALOGUE, {}, environ, None))
    assert (settings["node.id"], settings["broker.id"]) == (5, 5)


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        ({"node_id": "1", "broker_id": "2"}, "node.id is 1"),
        ({"controller_quorum_voters": "7@localhost:9093"}, "this node is 1"),
        ({"log_retention_ms": "0"}, "-1 keeps them for ever"),
    ],
)
def test_settings_that_contradict_each_other_are_refused(flags: dict[str, str], complaint: str) -> None:
    with pytest.raises(SettingError, match=complaint):
        completed(settings_of(**flags))


def test_the_older_name_of_the_node_number_works_alone() -> None:
    assert completed(settings_of(broker_id="7"))["node.id"] == 7


@pytest.mark.parametrize(
    ("name", "text", "complaint"),
    [
        ("process.roles", "controller", "name both roles"),
        ("process.roles", "broker,worker", "expected one of broker, controller"),
        ("controller.quorum.voters", "1@a:1,2@b:2", "a quorum of several controllers"),
        ("listeners", "", "an empty value is not allowed"),
        ("listener.security.protocol.map", "PLAINTEXT:TELNET", "no pair NAME:PROTOCOL"),
        ("max.connections.per.ip.overrides", "127.0.0.1", "no pair ADDRESS:NUMBER"),
        ("compression.gzip.level", "0", "expected at least 1"),
        ("log.segment.bytes", "1000", "expected at least 1048576"),
        ("group.consumer.assignors", "range,range", "the same item twice"),
        ("group.consumer.migration.policy", "sideways", "expected one of"),
    ],
)
def test_values_that_are_refused(name: str, text: str, complaint: str) -> None:
    with pytest.raises(SettingError, match=complaint):
        BROKER_CATALOGUE[name].parse(text)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("compression.gzip.level", "-1", -1),
        ("max.connections.per.ip.overrides", "127.0.0.1:7,[::1]:9", "127.0.0.1:7,[::1]:9"),
        ("group.consumer.migration.policy", "UPGRADE", "UPGRADE"),
        ("process.roles", "broker", ("broker",)),
        ("log.cleanup.policy", "", ()),
    ],
)
def test_values_that_are_taken(name: str, text: str, value: object) -> None:
    assert BROKER_CATALOGUE[name].parse(text) == value


def test_what_can_change_while_the_broker_runs() -> None:
    modes = {mode: sum(setting.mode is mode for setting in DYNAMIC_CATALOGUE.values()) for mode in UpdateMode}
    # Kafka has 37 and 65. Its listeners and their protocols are read at start here; two families and four settings are new.
    assert (modes[UpdateMode.PER_BROKER], modes[UpdateMode.CLUSTER_WIDE]) == (37, 69)
    assert BROKER_CATALOGUE["listeners"].mode is UpdateMode.READ_ONLY


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("latest", True),
        ("earliest", True),
        ("by_duration:PT1H", True),
        ("by_duration:P1DT2H3M4.5S", True),
        ("by_duration:", False),
        ("by_duration:P", False),
        ("by_duration:PT", False),
        ("newest", False),
    ],
)
def test_where_a_share_group_may_begin(text: str, valid: bool) -> None:
    setting = GROUP_CATALOGUE["share.auto.offset.reset"]
    if valid:
        assert setting.parse(text) == text
    else:
        with pytest.raises(SettingError, match="expected latest, earliest or by_duration"):
            setting.parse(text)
