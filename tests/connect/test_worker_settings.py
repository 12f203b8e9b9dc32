"""The settings of the service: Kafka Connect's files can be used as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import Settings
from barnabas.services import CONNECT
from connect.worker_settings import WorkerSettings

KAFKA_CONNECT = """
    access.control.allow.methods access.control.allow.origin admin.listeners bootstrap.servers client.dns.lookup
    client.id config.providers config.storage.replication.factor config.storage.topic connect.protocol
    connections.max.idle.ms connector.client.config.override.policy exactly.once.source.support group.id header.converter
    header.converter.plugin.version heartbeat.interval.ms inter.worker.key.generation.algorithm inter.worker.key.size
    inter.worker.key.ttl.ms inter.worker.signature.algorithm inter.worker.verification.algorithms key.converter
    key.converter.plugin.version listeners metadata.max.age.ms metadata.recovery.rebootstrap.trigger.ms
    metadata.recovery.strategy metric.reporters metrics.num.samples metrics.recording.level metrics.sample.window.ms
    offset.flush.interval.ms offset.flush.timeout.ms offset.storage.partitions offset.storage.replication.factor
    offset.storage.topic plugin.discovery plugin.path rebalance.timeout.ms receive.buffer.bytes reconnect.backoff.max.ms
    reconnect.backoff.ms request.timeout.ms response.http.headers.config rest.advertised.host.name
    rest.advertised.listener rest.advertised.port rest.extension.classes retry.backoff.max.ms retry.backoff.ms
    sasl.client.callback.handler.class sasl.jaas.config sasl.kerberos.kinit.cmd sasl.kerberos.min.time.before.relogin
    sasl.kerberos.service.name sasl.kerberos.ticket.renew.jitter sasl.kerberos.ticket.renew.window.factor
    sasl.login.callback.handler.class sasl.login.class sasl.login.connect.timeout.ms sasl.login.read.timeout.ms
    sasl.login.refresh.buffer.seconds sasl.login.refresh.min.period.seconds sasl.login.refresh.window.factor
    sasl.login.refresh.window.jitter sasl.login.retry.backoff.max.ms sasl.login.retry.backoff.ms sasl.mechanism
    sasl.oauthbearer.assertion.algorithm sasl.oauthbearer.assertion.claim.aud
    sasl.oauthbearer.assertion.claim.exp.seconds sasl.oauthbearer.assertion.claim.iss
    sasl.oauthbearer.assertion.claim.jti.include sasl.oauthbearer.assertion.claim.nbf.seconds
    sasl.oauthbearer.assertion.claim.sub sasl.oauthbearer.assertion.file sasl.oauthbearer.assertion.private.key.file
    sasl.oauthbearer.assertion.private.key.passphrase sasl.oauthbearer.assertion.template.file
    sasl.oauthbearer.client.credentials.client.id sasl.oauthbearer.client.credentials.client.secret
    sasl.oauthbearer.clock.skew.seconds sasl.oauthbearer.expected.audience sasl.oauthbearer.expected.issuer
    sasl.oauthbearer.header.urlencode sasl.oauthbearer.jwks.endpoint.refresh.ms
    sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms sasl.oauthbearer.jwks.endpoint.retry.backoff.ms
    sasl.oauthbearer.jwks.endpoint.url sasl.oauthbearer.jwt.retriever.class sasl.oauthbearer.jwt.validator.class
    sasl.oauthbearer.scope sasl.oauthbearer.scope.claim.name sasl.oauthbearer.sub.claim.name
    sasl.oauthbearer.token.endpoint.url scheduled.rebalance.max.delay.ms security.protocol send.buffer.bytes
    session.timeout.ms socket.connection.setup.timeout.max.ms socket.connection.setup.timeout.ms ssl.cipher.suites
    ssl.client.auth ssl.enabled.protocols ssl.endpoint.identification.algorithm ssl.engine.factory.class ssl.key.password
    ssl.keymanager.algorithm ssl.keystore.certificate.chain ssl.keystore.key ssl.keystore.location ssl.keystore.password
    ssl.keystore.type ssl.protocol ssl.provider ssl.secure.random.implementation ssl.trustmanager.algorithm
    ssl.truststore.certificates ssl.truststore.location ssl.truststore.password ssl.truststore.type
    status.storage.partitions status.storage.replication.factor status.storage.topic task.shutdown.graceful.timeout.ms
    topic.creation.enable topic.tracking.allow.reset topic.tracking.enable value.converter value.converter.plugin.version
    worker.sync.timeout.ms worker.unsync.backoff.ms
    offset.storage.file.filename
"""
"""Every setting of a worker of Kafka Connect 4.3.0."""

DISTRIBUTED = """
bootstrap.servers=localhost:9092
group.id=connect-cluster
key.converter=org.apache.kafka.connect.json.JsonConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
key.converter.schemas.enable=true
value.converter.schemas.enable=true
offset.storage.topic=connect-offsets
offset.storage.replication.factor=1
config.storage.topic=connect-configs
config.storage.replication.factor=1
config.storage.min.insync.replicas=1
status.storage.topic=connect-status
status.storage.replication.factor=1
offset.flush.interval.ms=10000
producer.linger.ms=5
producer.max.block.ms=1000
plugin.discovery=hybrid_warn
"""


def resolved(tmp_path: Path, content: str, **flags: str) -> Settings:
    file = tmp_path / "worker.properties"
    file.write_text(content)
    named = {name.replace("_", "."): text for name, text in flags.items()}
    return CONNECT.resolve(named, {}, file).settings


def test_every_setting_of_kafka_connect_is_known() -> None:
    catalogue = CONNECT.catalogue()
    assert [name for name in KAFKA_CONNECT.split() if catalogue.find(name) is None] == []


def test_the_file_of_a_distributed_worker(tmp_path: Path) -> None:
    settings = resolved(tmp_path, DISTRIBUTED)
    own = WorkerSettings(settings)
    assert not own.is_standalone
    assert own.topics.config.settings == {"min.insync.replicas": "1"}
    assert (own.topics.offsets.partitions, own.topics.status.replication_factor) == (25, 1)
    assert own.properties["value.converter.schemas.enable"] == "true"
    assert {remark.partition(": ")[2].partition(" ")[0] for remark in settings.remarks} == {
        "producer.max.block.ms",
        "plugin.discovery",
    }


def test_without_converters_values_are_plain_json(tmp_path: Path) -> None:
    settings = resolved(tmp_path, "bootstrap.servers=localhost:9092")
    shown = {row.name: row.text for row in settings.explain()}
    assert shown["key.converter"] == shown["value.converter"] == "org.apache.kafka.connect.json.JsonConverter"
    own = WorkerSettings(settings)
    assert own.properties["value.converter"] == "org.apache.kafka.connect.json.JsonConverter"
    assert own.properties["value.converter.schemas.enable"] == "false"


def test_the_file_of_a_standalone_worker(tmp_path: Path) -> None:
    own = WorkerSettings(resolved(tmp_path, "offset.storage.file.filename=/tmp/connect.offsets"))
    assert (own.is_standalone, own.offsets_file, own.worker_config("w").offsets_topic) == (
        True,
        Path("/tmp/connect.offsets"),
        None,
    )


@pytest.mark.parametrize(
    ("flags", "addresses", "expected"),
    [
        ({}, [("127.0.0.1", 8083)], ("127.0.0.1:8083", "http://127.0.0.1:8083")),
        ({"listeners": "http://[::1]:0"}, [("::1", 5)], ("[::1]:5", "http://[::1]:5")),
        (
            {"listeners": "http://a:1,https://b:2", "rest_advertised_listener": "https"},
            [("a", 1), ("b", 2)],
            ("b:2", "https://b:2"),
        ),
        (
            {"rest_advertised_host_name": "worker", "rest_advertised_port": "80"},
            [("0.0.0.0", 8083)],
            ("worker:80", "http://worker:80"),
        ),
    ],
)
def test_how_other_workers_reach_this_one(
    tmp_path: Path, flags: dict[str, str], addresses: list[tuple[str, int]], expected: tuple[str, str]
) -> None:
    identity = WorkerSettings(resolved(tmp_path, "", **flags)).identity(addresses)
    assert (identity.worker_id, identity.url) == expected


def test_a_login_that_workers_could_not_use_is_refused(tmp_path: Path) -> None:
    settings = resolved(tmp_path, "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN")
    with pytest.raises(SettingError, match="SASL_SSL"):
        WorkerSettings(settings)
