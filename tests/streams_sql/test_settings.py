"""Settings as ksqlDB's users have them: its file, and the variables of its container image."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Settings
from barnabas.services import SQL
from streams_sql.engine_settings import EngineSettings
from streams_sql.kafka_access import Kafka

FILE = """
listeners=http://0.0.0.0:8088
bootstrap.servers=PLAINTEXT://one:9092,two:9092
compression.type=snappy
ksql.service.id=orders_
ksql.schema.registry.url=http://registry:8081
ksql.advertised.listener=http://sql-1:8088
ksql.internal.topic.min.insync.replicas=2
ksql.logging.processing.topic.auto.create=true
ksql.logging.processing.stream.auto.create=true
ksql.persistence.default.format.value=AVRO
ksql.query.pull.table.scan.enabled=true
ksql.sink.partitions=4
ksql.streams.auto.offset.reset=earliest
ksql.streams.consumer.max.partition.fetch.bytes=2097152
ksql.streams.num.standby.replicas=1
ksql.streams.processing.guarantee=exactly_once_v2
ksql.streams.producer.acks=all
ksql.streams.producer.delivery.timeout.ms=2147483647
ksql.streams.producer.max.request.size=4194304
ksql.streams.replication.factor=3
ksql.streams.state.dir=/var/lib/state
ksql.of.a.later.release=1
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    file = tmp_path / "ksql-server.properties"
    file.write_text(FILE)
    return SQL.resolve({}, {}, file).settings


def test_the_file_of_ksqldb_is_taken(settings: Settings) -> None:
    own = EngineSettings(settings)
    assert own.service_id == "orders_"
    assert own.command_topic == "_confluent-ksql-orders__command_topic"
    assert own.replicas == 3
    assert own.registry is not None
    assert own.registry.url == "http://registry:8081"
    assert own.defaults.value_format == "AVRO"
    assert own.queries.properties["auto.offset.reset"] == "earliest"
    assert own.queries.properties["processing.guarantee"] == "exactly_once_v2"


def test_settings_of_clients_reach_those_that_they_are_for(settings: Settings) -> None:
    access = Kafka.of(settings).for_spark()
    assert access.bootstrap_servers == "one:9092,two:9092"
    assert access.java == {"max.partition.fetch.bytes": "2097152"}
    assert access.producer == {"compression.type": "snappy", "message.max.bytes": "4194304"}


def test_what_changes_nothing_is_told(settings: Settings) -> None:
    told = "\n".join(settings.remarks)
    for name in (
        "ksql.of.a.later.release",
        "ksql.sink.partitions",
        "ksql.streams.state.dir",
        "ksql.streams.producer.acks",
    ):
        assert f"{name} changes nothing" in told
    for name in ("compression.type", "ksql.streams.auto.offset.reset", "ksql.service.id"):
        assert name not in told


def test_variables_of_the_container_image_are_taken() -> None:
    variables = {
        "KSQL_BOOTSTRAP_SERVERS": "broker:29092",
        "KSQL_LISTENERS": "http://0.0.0.0:8088",
        "KSQL_KSQL_SERVICE_ID": "from_image_",
        "KSQL_KSQL_SCHEMA_REGISTRY_URL": "http://registry:8081",
        "KSQL_KSQL_STREAMS_AUTO_OFFSET_RESET": "earliest",
        "KSQL_KSQL_STREAMS_PRODUCER_COMPRESSION_TYPE": "zstd",
        "KSQL_KSQL_QUERIES_FILE": "/queries.sql",
        "KSQL_KSQL_CONNECT_URL": "http://connect:8083",
        "KSQL_KSQL_CONNECT_WORKER_CONFIG": "/worker.properties",
        "KSQL_HEAP_OPTS": "-Xmx2G",
    }
    settings = SQL.resolve({}, variables, None).settings
    own = EngineSettings(settings)
    assert settings.items_of("listeners") == ("http://0.0.0.0:8088",)
    assert (own.service_id, own.queries_file) == ("from_image_", Path("/queries.sql"))
    assert own.registry is not None
    assert own.registry.url == "http://registry:8081"
    assert own.queries.properties["auto.offset.reset"] == "earliest"
    access = Kafka.of(settings).for_spark()
    assert (access.bootstrap_servers, access.producer) == ("broker:29092", {"compression.type": "zstd"})
    assert own.connect.url == "http://connect:8083"
    assert [remark for remark in settings.remarks if "KSQL_KSQL_CONNECT_WORKER_CONFIG" in remark]


def test_the_user_of_connect_stands_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "user.properties"
    flags = {
        "ksql.connect.basic.auth.credentials.source": "FILE",
        "ksql.connect.basic.auth.credentials.file": str(file),
    }
    own = EngineSettings(SQL.resolve(flags, {}, None).settings)
    with pytest.raises(SettingError, match="the file cannot be read"):
        _ = own.connect
    file.write_text("username=ada\n")
    with pytest.raises(SettingError, match="needs a username and a password"):
        _ = own.connect
    file.write_text("username=ada\npassword=lovelace\n")
    assert own.connect.credentials == ("ada", "lovelace")
    assert "lovelace" not in repr(own.connect)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("ksql.streams.producer.compression.type", "paper", "paper"),
        ("ksql.streams.session.timeout.ms", "long", "whole number"),
        ("ksql.streams.heartbeat.interval.ms", "9000", "a third"),
        ("ksql.streams.replication.factor", "-2", "whole number"),
    ],
)
def test_values_that_make_no_sense_are_refused(name: str, value: str, reason: str) -> None:
    settings = SQL.resolve({name: value}, {}, None).settings
    own = EngineSettings(settings)
    with pytest.raises(SettingError, match=reason):
        _ = own.queries, own.election, own.replicas, Kafka.of(settings).for_spark()


@pytest.mark.parametrize("prefix", ["ksql.streams.", ""])
@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("auto.offset.reset", "sometimes", "expected one of earliest, latest"),
        ("processing.guarantee", "exactly_once_v1", r"expected one of .*; did you mean exactly_once_v2\?"),
    ],
)
def test_what_queries_cannot_do_is_refused_before_anything_starts(
    prefix: str, name: str, value: str, reason: str
) -> None:
    with pytest.raises(SettingError, match=reason):
        SQL.resolve({f"{prefix}{name}": value}, {}, None)


def test_what_would_keep_nobody_out_is_refused() -> None:
    with pytest.raises(SettingError, match=r"ksql\.security\.extension\.class"):
        SQL.resolve({"ksql.security.extension.class": "org.example.Guard"}, {}, None)


def test_a_checkpoint_uri_may_be_shared_by_services() -> None:
    given = {"sql.checkpoint.uri": "hdfs://cluster/checkpoints/", "ksql.service.id": "mine_"}
    assert (
        EngineSettings(SQL.resolve(given, {}, None).settings).queries.checkpoint_uri
        == "hdfs://cluster/checkpoints/mine_"
    )
