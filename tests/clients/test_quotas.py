"""Quotas as clients set, see and feel them."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from confluent_kafka import Consumer, Producer, ThrottleEvent, TopicPartition

from barnabas.wire.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    RequestEntryData,
)
from tests.broker import BarnabasBroker, BrokerProcess
from tests.clients.confluent_client import create_topic
from tests.clients.java_client import JavaTools
from tests.conftest import StartBroker
from tests.core_broker.apis.test_quotas_same_as_kafka import entry
from tests.core_broker.wire_socket import WireSocket
from tests.oracle import ApacheKafka
from tests.waiting import wait_for

CONFIGS = "kafka.admin.ConfigCommand"
MESSAGES = 60
MESSAGE_BYTES = 1000


def test_config_command_says_the_same_on_both_brokers(
    barnabas: BarnabasBroker, apache_kafka: ApacheKafka, java_tools: JavaTools
) -> None:
    """The same commands, each on both brokers at once, print the same."""

    def both(*words: str) -> str:
        def run(broker: BrokerProcess) -> tuple[int, str]:
            done = java_tools.attempt(CONFIGS, "--bootstrap-server", broker.address, *words)
            return done.returncode, done.stdout

        with ThreadPoolExecutor(2) as pool:
            ours, kafkas = pool.map(run, (barnabas, apache_kafka))
        assert ours == kafkas
        return ours[1]

    # Nobody is called so: what is set touches no other client of the brokers that all tests share.
    user = ("--entity-type", "users", "--entity-name", "quota-person")
    tool = ("--entity-type", "clients", "--entity-name", "quota-tool")
    address = ("--entity-type", "ips", "--entity-name", "192.0.2.9")
    limits = "producer_byte_rate=1024,consumer_byte_rate=2048,request_percentage=12.5,controller_mutation_rate=0.25"
    assert "Completed updating config" in both(*user, *tool, "--alter", "--add-config", limits)
    both(*address, "--alter", "--add-config", "connection_creation_rate=77")
    shown = both(*user, *tool, "--describe")
    assert "Quota configs for user-principal 'quota-person', client-id 'quota-tool' are " in shown
    assert "producer_byte_rate=1024.0" in shown
    assert "connection_creation_rate=77.0" in both(*address, "--describe")
    names = [part.partition("=")[0] for part in limits.split(",")]
    for broker in (barnabas, apache_kafka):
        change(
            broker.address,
            entry({"user": "quota-person", "client-id": "quota-tool"}, **dict.fromkeys(names)),
            entry({"ip": "192.0.2.9"}, connection_creation_rate=None),
        )


@pytest.fixture
def limited(start_broker: StartBroker) -> BarnabasBroker:
    broker = start_broker()
    create_topic(broker.address, "limited")
    return broker


def change(address: str, *entries: RequestEntryData) -> None:
    with WireSocket(address) as wire:
        answer = wire.ask(AlterClientQuotasRequest(entries=list(entries)), AlterClientQuotasResponse, 1)
    assert {entry.error_code for entry in answer.entries} == {0}, answer


class Throttles:
    """What librdkafka tells of pauses: events, and averages in its statistics."""

    def __init__(self) -> None:
        self.events: list[float] = []
        self.most_ms = 0

    def event(self, event: ThrottleEvent) -> None:
        self.events.append(event.throttle_time)

    def statistics(self, text: str) -> None:
        for broker in json.loads(text)["brokers"].values():
            self.most_ms = max(self.most_ms, broker["throttle"]["max"])


def test_librdkafkas_producer_is_slowed_down(limited: BarnabasBroker) -> None:
    change(limited.address, entry({"client-id": "slow"}, producer_byte_rate=4000.0))
    told = Throttles()
    producer = Producer(
        {
            "bootstrap.servers": limited.address,
            "client.id": "slow",
            "linger.ms": 0,
            "batch.num.messages": 5,
            "throttle_cb": told.event,
        }
    )
    started = time.monotonic()
    for _ in range(MESSAGES):
        producer.produce("limited", b"x" * MESSAGE_BYTES)
        producer.poll(0)
    assert producer.flush(60) == 0
    elapsed_s = time.monotonic() - started
    assert told.events
    assert max(told.events) > 0.1
    # Ten windows' worth is free; the rest comes at the rate.
    assert elapsed_s >= (MESSAGES * MESSAGE_BYTES - 44_000) / 4000 * 0.8


def test_librdkafkas_consumer_is_slowed_down(limited: BarnabasBroker) -> None:
    producer = Producer({"bootstrap.servers": limited.address, "batch.num.messages": 5})
    for number in range(MESSAGES):
        producer.produce("limited", str(number).encode() * 500)
        producer.poll(0)
    assert producer.flush(60) == 0
    change(limited.address, entry({"client-id": "slow"}, consumer_byte_rate=5000.0))
    told = Throttles()
    consumer = Consumer(
        {
            "bootstrap.servers": limited.address,
            "group.id": "none",
            "client.id": "slow",
            "fetch.max.bytes": 10_000,
            "message.max.bytes": 10_000,
            "statistics.interval.ms": 200,
            "stats_cb": told.statistics,
            "throttle_cb": told.event,
        }
    )
    consumer.assign([TopicPartition("limited", 0, 0)])
    seen: list[bytes] = []

    def all_seen() -> bool:
        message = consumer.poll(0.2)
        if message is not None and message.error() is None:
            seen.append(message.value() or b"")
        return len(seen) == MESSAGES

    try:
        wait_for(all_seen, "every message", 60)
    finally:
        consumer.close()
    assert seen == [str(number).encode() * 500 for number in range(MESSAGES)], "nothing is lost or repeated"
    assert told.events or told.most_ms > 0
