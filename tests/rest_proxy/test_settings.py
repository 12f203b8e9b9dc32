"""A file of Confluent's proxy is taken as it is: what its names do here, and what is said of those that do nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from barnabas.kernel.setting_errors import SettingError
from barnabas.kernel.settings import resolve
from rest_proxy.assembly import Instance
from rest_proxy.clients import Clients
from rest_proxy.kafka.client_settings import CONSUMER, PRODUCER, client_settings
from rest_proxy.settings import REST_CATALOGUE

STARTS = 20
NOBODY = "127.0.0.1:1"
ACTING = """
id=proxy-1
bootstrap.servers=PLAINTEXT://one:9092,SASL_SSL://two:9093
schema.registry.url=http://registry:8081
schema.registry.basic.auth.user.info=user:word
listeners=http://0.0.0.0:8082
host.name=proxy.example
consumer.request.timeout.ms=2000
consumer.threads=10
client.security.protocol=SASL_PLAINTEXT
client.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="a\\\\"b";
producer.acks=1
producer.buffer.memory=33554432
consumer.auto.offset.reset=none
consumer.client.id=reader
"""
INERT = """
kafka.rest.extension.classes=io.confluent.kafkarest.KafkaRestResourceExtension
consumer.interceptor.classes=a.Class
producer.confluent.monitoring.interceptor.topic=t
producer.threads=5
producer.max.block.ms=6000
consumer.iterator.backoff.ms=50
consumer.max.poll.records=30
simpleconsumer.pool.size.max=25
client.timeout.ms=500
client.sasl.kerberos.ticket.renew.jitter=0.05
api.v3.produce.rate.limit.enabled=true
streaming.connection.max.duration.ms=1000
schema.registry.max.schemas.per.subject=10
confluent.license.topic=_l
metrics.jmx.prefix=kafka.rest
ssl.keystore.location=/etc/keys.jks
dos.filter.enabled=true
thread.pool.max=200
"""


async def start_and_stop(setting: dict[str, str]) -> None:
    await Clients(resolve(REST_CATALOGUE, {"bootstrap.servers": NOBODY, **setting}, {})).stop()


def names(text: str) -> list[str]:
    return [line.partition("=")[0] for line in text.split()]


def test_a_file_of_confluents_proxy_is_taken_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "kafka-rest.properties"
    file.write_text(ACTING + INERT)
    settings = resolve(REST_CATALOGUE, {}, {}, file)
    told = [remark.split(" changes nothing: ")[0].rpartition(" ")[2] for remark in settings.remarks]
    assert sorted(told) == sorted(names(INERT))
    assert all(remark.startswith(f"{file}:") for remark in settings.remarks)
    assert client_settings(settings, PRODUCER) == {
        "bootstrap.servers": "one:9092,two:9093",
        "client.id": "barnabas-rest",
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.username": "me",
        "sasl.password": 'a"b',
        "acks": "1",
        "queue.buffering.max.kbytes": "32768",
    }
    consumer = client_settings(settings, CONSUMER, {"client.id": "default", "fetch.min.bytes": 1})
    assert (consumer["auto.offset.reset"], consumer["client.id"], consumer["fetch.min.bytes"]) == ("error", "reader", 1)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("producer.compresion.type", "producer.compression.type"),
        ("consumer.max.pol.records", "consumer.max.poll.records"),
        ("client.securty.protocol", "client.security.protocol"),
        ("consumer.instance.timout.ms", "consumer.instance.timeout.ms"),
    ],
)
def test_a_name_that_nobody_knows_is_refused(name: str, meant: str) -> None:
    with pytest.raises(SettingError, match=f"{name}='1': there is no such setting; did you mean {meant}"):
        resolve(REST_CATALOGUE, {name: "1"}, {})


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ({"producer.acks": "many"}, "acks"),
        ({"consumer.session.timeout.ms": "0"}, 'property "session.timeout.ms" value 0 is outside allowed range'),
        ({"admin.socket.timeout.ms": "0"}, 'property "socket.timeout.ms" value 0 is outside allowed range'),
    ],
)
def test_values_that_clients_refuse_are_told_at_the_start(setting: dict[str, str], reason: str) -> None:
    with pytest.raises(SettingError, match=reason):
        asyncio.run(start_and_stop(setting))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("bootstrap.servers=", "bootstrap.servers=: expected the address of at least one broker"),
        ("schema.registry.url=localhost", "schema.registry.url: 'localhost' is no address of a registry"),
        ("producer.acks=5", "producer.acks: "),
        ("client.compression.type=gzp", "client.compression.type: .*gzp"),
        ("producer.max.in.flight.requests.per.connection=10", "producer.max.in.flight.requests.per.connection: "),
        ("consumer.fetch.max.wait.ms=-5", "consumer.fetch.max.wait.ms: "),
    ],
)
def test_a_value_that_is_refused_is_named_with_its_place(tmp_path: Path, line: str, reason: str) -> None:
    file = tmp_path / "kafka-rest.properties"
    file.write_text(f"producer.linger.ms=1\nclient.client.id=rest\n{line}\n")

    async def start() -> None:
        Instance(resolve(REST_CATALOGUE, {}, {}, file))

    with pytest.raises(SettingError, match=f"^{file}:3: {reason}"):
        asyncio.run(start())


def test_clients_write_nothing_past_the_log(capfd: pytest.CaptureFixture[str]) -> None:
    for _ in range(STARTS):
        asyncio.run(start_and_stop({}))
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("setting", [{"producer.acks": "1"}, {"producer.retries": "0"}, {"client.acks": "0"}])
def test_settings_with_which_no_producer_is_idempotent_do_not_stop_the_service(setting: dict[str, str]) -> None:
    asyncio.run(start_and_stop(setting))
