"""The service on both brokers."""

import pytest

from tests.broker import BrokerProcess
from tests.rest_proxy.v3.v3_service import V3Service
from tests.waiting import wait_for

SERVICES = {"ours": ("rest_url", "barnabas"), "kafka": ("rest_on_kafka_url", "apache_kafka")}


@pytest.fixture(scope="session", params=SERVICES)
def v3(request: pytest.FixtureRequest) -> V3Service:
    url, broker = (request.getfixturevalue(name) for name in SERVICES[request.param])
    assert isinstance(broker, BrokerProcess)
    return V3Service.at(url, broker.address)


@pytest.fixture
def two_partitions(v3: V3Service, topic: str) -> str:
    """A topic that the brokers have heard of."""
    v3.create(topic, 2)
    wait_for(lambda: v3.ask("GET", f"/topics/{topic}").status == 200, "the topic")
    return topic
