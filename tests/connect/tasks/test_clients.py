"""What a connector's clients are made with."""

from __future__ import annotations

import logging

import pytest

from connect.tasks.clients import ClientKind, client_settings
from connect.tasks.spec import WorkerConfig

PROPERTIES = {
    "bootstrap.servers": "PLAINTEXT://one:9092, two:9092",
    "security.protocol": "SASL_SSL",
    "sasl.mechanism": "PLAIN",
    "sasl.jaas.config": 'x.PlainLoginModule required username="me" password="mine";',
    "group.id": "the-workers-own",
    "producer.buffer.memory": "1048576",
    "consumer.fetch.max.wait.ms": "7",
    "consumer.max.poll.records": "9",
    "producer.interceptor.classes": "com.example.Spy",
}
WORKER = WorkerConfig("worker", "group", PROPERTIES, None)


@pytest.mark.parametrize(
    ("kind", "config", "made"),
    [
        (ClientKind.PRODUCER, {}, {"queue.buffering.max.kbytes": "1024", "acks": "all"}),
        (ClientKind.PRODUCER, {"producer.override.acks": "1"}, {"queue.buffering.max.kbytes": "1024", "acks": "1"}),
        (ClientKind.PRODUCER, {"producer.override.buffer.memory": "4096"}, {"queue.buffering.max.kbytes": "4"}),
        (ClientKind.CONSUMER, {"producer.override.acks": "1"}, {"fetch.wait.max.ms": "7", "acks": "all"}),
        (ClientKind.ADMIN, {"admin.override.bootstrap.servers": "SSL://three:1"}, {"bootstrap.servers": "three:1"}),
    ],
)
def test_each_layer_beats_those_below(kind: ClientKind, config: dict[str, str], made: dict[str, str]) -> None:
    settings = client_settings(WORKER, config, kind, "me", {"acks": "all"})
    expected = {"bootstrap.servers": "one:9092,two:9092", "client.id": "me", "acks": "all", **made}
    assert expected.items() <= settings.items()
    assert (settings["sasl.username"], settings["sasl.password"]) == ("me", "mine")
    assert (settings["security.protocol"], settings["sasl.mechanism"]) == ("SASL_SSL", "PLAIN")
    assert "group.id" not in settings
    assert "max.poll.records" not in settings


def test_what_librdkafka_does_not_know_is_passed_over_and_told(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        settings = client_settings(WORKER, {"producer.override.max.block.ms": "5"}, ClientKind.PRODUCER, "me")
    assert "max.block.ms" not in settings
    assert "interceptor.classes, max.block.ms" in caplog.text
