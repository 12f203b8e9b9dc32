"""The service on both brokers, and topics with records."""

from collections.abc import Callable, Sequence

import pytest
from confluent_kafka import Producer

from tests.broker import BrokerProcess
from tests.rest_proxy.v3.v3_service import V3Service

SERVICES = {"ours": ("rest_url", "barnabas"), "kafka": ("rest_on_kafka_url", "apache_kafka")}
FIRST_MS = 1_700_000_000_000
FOREVER = "-1"
"""For topics with records of that age, which else may be gone at any time."""
STEP_MS = 1000
FLUSH_S = 90.0

Write = Callable[..., None]


@pytest.fixture(scope="session", params=SERVICES)
def service(request: pytest.FixtureRequest) -> V3Service:
    url, broker = (request.getfixturevalue(name) for name in SERVICES[request.param])
    assert isinstance(broker, BrokerProcess)
    return V3Service.at(url, broker.address)


@pytest.fixture
def write(service: V3Service) -> Write:
    """Writes records to a topic, with a header and a second between each of them."""
    producer = Producer({"bootstrap.servers": service.bootstrap})

    def write_records(topic: str, values: Sequence[bytes], partition: int = 0, key: bytes | None = None) -> None:
        for index, value in enumerate(values):
            producer.produce(
                topic, value, key, partition, timestamp=FIRST_MS + STEP_MS * index, headers=[("h", b"v"), ("n", None)]
            )
        assert producer.flush(FLUSH_S) == 0

    return write_records
