"""Settings of Java's clients, told to librdkafka."""

from __future__ import annotations

import pytest
from confluent_kafka import KafkaException, Producer

from barnabas.kernel.kafka_clients.client_names import EQUALS, LIBRDKAFKA
from barnabas.kernel.kafka_clients.librdkafka import librdkafka_settings


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"fetch.max.wait.ms": "5"}, {"fetch.wait.max.ms": "5"}),
        ({"max.request.size": "2000000"}, {"message.max.bytes": "2000000"}),
        ({"receive.buffer.bytes": "-1"}, {"socket.receive.buffer.bytes": "0"}),
        ({"ssl.endpoint.identification.algorithm": ""}, {"ssl.endpoint.identification.algorithm": "none"}),
        ({"ssl.truststore.location": "/ca.pem"}, {"ssl.ca.location": "/ca.pem"}),
        (
            {"ssl.keystore.location": "/both.pem", "ssl.keystore.type": "PEM"},
            {"ssl.certificate.location": "/both.pem", "ssl.key.location": "/both.pem"},
        ),
        ({"ssl.keystore.location": "/keys.p12", "ssl.keystore.type": "PKCS12"}, {"ssl.keystore.location": "/keys.p12"}),
        (
            {"partition.assignment.strategy": "org.apache.kafka.clients.consumer.RangeAssignor, roundrobin"},
            {"partition.assignment.strategy": "range,roundrobin"},
        ),
        (
            {"sasl.jaas.config": "a.ScramLoginModule required username=me password='x y';"},
            {"sasl.username": "me", "sasl.password": "x y"},
        ),
        ({"buffer.memory": "much"}, {"queue.buffering.max.kbytes": "much"}),
        ({"linger.ms": "5"}, {"linger.ms": "5"}),
    ],
)
def test_what_javas_clients_call_otherwise_is_translated(given: dict[str, str], told: dict[str, str]) -> None:
    assert librdkafka_settings(given) == told


def test_librdkafka_knows_the_names_that_it_is_told() -> None:
    unknown = [name for name in sorted(LIBRDKAFKA | set(EQUALS.values())) if not knows(name)]
    assert not unknown


def knows(name: str) -> bool:
    # The second name is refused in any case, so that no client is made.
    with pytest.raises(KafkaException) as caught:
        Producer({name: "?", "there.is.no.such.setting": "?"})
    return f'No such configuration property: "{name}"' not in str(caught.value)
